"""What a run of a slave that acts is made of: what the seed draws.

All periods are shorter than those of RocketMQ. Delayed messages come due one after the other,
within the first seconds; half messages are due from the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Final

from rocketha.acting.state import ActingOptions
from rocketha.escape.master_state import MasterOptions
from rocketha.escape.state import SlaveOptions
from rocketha.formats.due_messages import (
    OP_TOPIC,
    PRODUCER_GROUP,
    UNIQ_KEY,
    committed,
    delayed,
    half,
    op_message,
)
from rocketha.formats.message import Host, Message, properties_text
from rocketha.formats.name_server_requests import TopicConfig
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.escape import escape_rules
from rocketha.nameserver.state import NameServerOptions
from rocketha.sim.engine.faults import ESCAPE_FAULTS, FaultPlan, draw_plan
from rocketha.sim.engine.node import FIRST_NAME_SERVER, FIRST_PRODUCER, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.types import BrokerId, TimestampMs

__all__ = [
    "CONSUMERS",
    "FIRST_MASTER",
    "GROUP",
    "NEIGHBOUR",
    "PRODUCERS",
    "SLAVE",
    "START_MS",
    "TOPIC",
    "EscapePlan",
    "draw_escape_run",
    "group_of",
]

CLUSTER_NAME: Final = "cluster"
GROUP: Final = "group-b2"
"""The slave's brokerName."""
NEIGHBOUR: Final = BrokerId(1)
"""Another slave of the group, whose brokerId is smaller; only its registration is simulated."""
SLAVE: Final = BrokerId(2)
FIRST_MASTER: Final = BrokerId(11)
"""Masters of other groups, from this number on."""
_FIRST_OTHER_SLAVE: Final = BrokerId(21)
"""Their slaves, in the same order; only their registration is simulated."""
_OTHERS: Final = (None, False, True, True)
"""No slave of another group, one that never acts, or one that acts when its master is gone."""
TOPIC: Final = "orders"
"""What consumers pop."""
_OTHER: Final = "bills"
"""Of what is delayed, and of half messages."""
PRODUCERS: Final = "shop"
CONSUMERS: Final = "audit"
START_MS: Final = 60_000
"""What clocks show when a run begins: the group's master was there before."""
_LEVEL_MS: Final = 10_000
_RELEASED_RETRY_MS: Final = 20
"""Eleven tries of a half message take as long in proportion as with RocketMQ, whose slave waits for
100 to 1,100 ms after each."""
_POPS: Final = 16
_POPPED: Final = (4, _POPS)
"""So many messages consumers pop: few, so that they come to the end, or enough for all pops."""
_PERM_RW: Final = 6
_PORT: Final = 10911


@dataclass(frozen=True, slots=True, kw_only=True)
class EscapePlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    slave: SlaveOptions
    masters: tuple[MasterOptions, ...]
    neighbour: ActingOptions
    other_slaves: Mapping[BrokerId, ActingOptions]
    """Slaves of other groups, which nothing is to be put to."""
    name_server: NameServerOptions
    messages: tuple[Message, ...]
    """What is in the slave's log."""
    pops_max: int
    invisible_ms: int
    client_ms: int
    """Mean time between two pops, and between two decisions of the producer."""
    stop_ms: int
    """Mean time between two stops of the slave or of a master."""
    neighbour_ms: int
    """Mean time between two times at which somebody else acts."""
    flush_ms: int
    gone: BrokerId | None
    """A master that stays away in the end."""

    @property
    def released(self) -> bool:
        """Tell whether the slave does as released programs do."""
        return self.slave.released


def group_of(master: BrokerId) -> str:
    """Return the brokerName of a master."""
    return f"group-{broker_address(master)}"


def draw_escape_run(streams: PerPurposeStreams, options: SimOptions) -> EscapePlan:
    """Draw one run, with at most as many masters as brokers are asked for.

    By RocketMQ's defaults nothing is put over the network, and two masters may be in the slave's
    process, so that there is another one when the first has stopped.
    """
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.5
    faults = draw_plan(rng, ESCAPE_FAULTS, options.faults, share=share)
    drawn_steps, drawn_masters = rng.randrange(250, 600), rng.choice((2, 2, 3))
    numbers = range(max(1, min(drawn_masters, options.brokers)))
    masters = [BrokerId(FIRST_MASTER + at) for at in numbers]
    is_local, is_gone = rng.randrange(2) > 0, rng.randrange(3) == 0
    in_process = 2 if options.rocketmq_defaults else 1
    local = masters[:in_process] if is_local and len(masters) > 1 else []
    period = rng.choice((80, 200))
    rules = escape_rules(options.bugs)
    return EscapePlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        slave=_draw_slave(rng, options, masters, local, period),
        masters=tuple(
            MasterOptions(
                acting=_acting(group_of(one), one, BrokerId(0), period),
                producers={PRODUCERS: FIRST_PRODUCER},
                host=Host(bytes((127, 0, 0, one)), _PORT),
                check_ms=rng.choice((60, 250)),
                revive_ms=50,
                rules=rules,
            )
            for one in masters
        ),
        neighbour=_acting(GROUP, NEIGHBOUR, NEIGHBOUR, period),
        other_slaves=_draw_other_slaves(streams.of("other slaves"), masters, period),
        name_server=NameServerOptions(
            support_acting_master=True, scan_not_active_ms=60, removal_ms=rng.choice((0, 5, 60))
        ),
        messages=tuple(_draw_log(rng, popped=streams.of("popped").choice(_POPPED))),
        pops_max=_POPS,
        invisible_ms=rng.choice((300, 1_200)),
        client_ms=rng.choice((100, 300)),
        stop_ms=rng.choice((200, 600)),
        neighbour_ms=rng.choice((700, 2_500)),
        flush_ms=rng.choice((1, 8)),
        gone=masters[-1] if is_gone and len(masters) > 1 else None,
    )


def _draw_slave(
    rng: Random,
    options: SimOptions,
    masters: list[BrokerId],
    local: list[BrokerId],
    period_ms: int,
) -> SlaveOptions:
    slave = SlaveOptions(
        acting=_acting(GROUP, SLAVE, SLAVE, period_ms),
        masters={group_of(one): one for one in masters},
        local=frozenset(map(group_of, local)),
        enable_remote_escape=True,
        topic=TOPIC,
        consumers=CONSUMERS,
        level_ms=_LEVEL_MS,
        delayed_window=rng.choice((1, 2, 3)),
        half_window=rng.choice((1, 2)),
        route_ms=rng.choice((60, 250)),
        serve_ms=rng.choice((40, 120)),
        half_ms=rng.choice((120, 400)),
        retry_ms=100,
        persist_ms=rng.choice((60, 400)),
        request_timeout_ms=rng.choice((60, 250)),
        rules=escape_rules(options.bugs),
    )
    return _as_released(slave) if options.rocketmq_defaults else slave


def _draw_other_slaves(
    rng: Random, masters: list[BrokerId], period_ms: int
) -> Mapping[BrokerId, ActingOptions]:
    """Draw which masters have a slave, and whether it acts when its master is gone."""
    slaves = {}
    for at, master in enumerate(masters):
        acts = rng.choice(_OTHERS)
        if acts is not None:
            slave = BrokerId(_FIRST_OTHER_SLAVE + at)
            options = _acting(group_of(master), slave, BrokerId(1), period_ms)
            slaves[slave] = replace(options, acting=acts)
    return MappingProxyType(slaves)


def _as_released(slave: SlaveOptions) -> SlaveOptions:
    """Return what released programs do by their defaults, which put one record at a time.

    Source: MessageStoreConfig.enableScheduleAsyncDeliver, TransactionalMessageServiceImpl.check
    """
    return replace(
        slave,
        released=True,
        enable_remote_escape=False,
        delayed_window=1,
        half_window=1,
        retry_ms=_RELEASED_RETRY_MS,
    )


def _acting(group: str, broker: BrokerId, role: BrokerId, period_ms: int) -> ActingOptions:
    return ActingOptions(
        cluster_name=CLUSTER_NAME,
        broker_name=group,
        address=broker_address(broker),
        own_id=role,
        ha_address=f"{broker_address(broker)}:ha",
        name_servers=(FIRST_NAME_SERVER,),
        topics=_topics(TOPIC, _OTHER),
        acting=True,
        register_ms=period_ms,
        register_timeout_ms=250,
        heartbeat_ms=60,
        not_active_ms=300,
        poll_ms=period_ms,
        poll_timeout_ms=250,
    )


def _topics(*names: str) -> MappingProxyType[str, TopicConfig]:
    return MappingProxyType(
        {
            name: TopicConfig(topic_name=name, read_queue_nums=1, write_queue_nums=1, perm=_PERM_RW)
            for name in names
        }
    )


# ---- the slave's log ----


def _draw_log(rng: Random, *, popped: int) -> list[Message]:
    """Draw what the master had, in the order of its log, with the places in their queues."""
    waits = sorted(rng.randrange(6_000) for _ in range(rng.randrange(10, 20)))
    messages = [_message(TOPIC, f"m{at}", at) for at in range(1, popped + 1)]
    messages += [
        replace(
            delayed(_message(_OTHER, f"d{at}", at), 3),
            store_timestamp_ms=TimestampMs(START_MS - _LEVEL_MS + wait_ms),
        )
        for at, wait_ms in enumerate(waits, start=1)
    ]
    halves = [half(_half(f"h{at}", at)) for at in range(1, rng.randrange(6, 11))]
    messages += halves
    for place in sorted(rng.sample(range(len(halves)), rng.randrange(3))):
        if rng.randrange(2):
            messages.append(committed(halves[place]))
        messages.append(op_message((place,)))
    places: dict[tuple[str, int], int] = {}
    numbered = []
    for message in messages:
        queue = (message.topic, message.queue_id)
        numbered.append(replace(message, queue_offset=places.get(queue, 0)))
        places[queue] = places.get(queue, 0) + 1
    assert all(one.topic != OP_TOPIC or one.body for one in numbered)
    return numbered


def _message(topic: str, key: str, at: int) -> Message:
    stored_ms = TimestampMs(START_MS - 2 * _LEVEL_MS + at)
    return Message(
        topic=topic,
        body=key.encode(),
        born_timestamp_ms=stored_ms,
        store_timestamp_ms=stored_ms,
        properties=properties_text({UNIQ_KEY: key}),
    )


def _half(key: str, at: int) -> Message:
    message = _message(_OTHER, key, at)
    properties = {UNIQ_KEY: key, PRODUCER_GROUP: PRODUCERS, "TRAN_MSG": "true"}
    return replace(message, properties=properties_text(properties))
