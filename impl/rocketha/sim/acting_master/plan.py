"""What a run of groups whose slaves act is made of: what the seed draws.

All periods are shorter than those of RocketMQ, and a delayed message waits for a second or so. With
RocketMQ's defaults nothing is put over the network, and versions decide whose tables are taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Final

from rocketha.acting.state import ActingOptions
from rocketha.acting_master.state import BrokerOptions
from rocketha.escape.master_state import MasterOptions
from rocketha.escape.state import SlaveOptions
from rocketha.formats.name_server_requests import TopicConfig
from rocketha.formats.offset_tables import TableKind
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.known_bugs.escape import escape_rules
from rocketha.known_bugs.pre_online import pre_online_rules
from rocketha.known_bugs.route import acting_rules, name_server_rules
from rocketha.nameserver.state import NameServerOptions
from rocketha.pre_online.state import PreOnlineOptions
from rocketha.sim.engine.faults import ACTING_MASTER_FAULTS, FaultPlan, draw_plan
from rocketha.sim.engine.node import FIRST_NAME_SERVER, FIRST_PRODUCER, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.escape.plan import CONSUMERS, PRODUCERS
from rocketha.types import MASTER, BrokerId, HaAddress

__all__ = [
    "BILLS",
    "DEALS",
    "LEVEL",
    "NAME_SERVERS",
    "ORDERS",
    "READERS",
    "SOME_NAME_SERVER",
    "TASKS",
    "ActingMasterPlan",
    "draw_acting_master_run",
    "group_of",
    "ha_address",
    "in_group_of",
    "is_in_group",
    "number_in_group",
]

CLUSTER_NAME: Final = "cluster"
ORDERS: Final = "orders"
"""Read in order."""
BILLS: Final = "bills"
"""Delayed."""
DEALS: Final = "deals"
"""Sent in transactions."""
TASKS: Final = "tasks"
"""Popped."""
READERS: Final = "readers"
"""The group of those who do not pop."""
LEVEL: Final = 3
SOME_NAME_SERVER: Final = BrokerId(FIRST_NAME_SERVER - 1)
"""Whichever a broker asks now."""
NAME_SERVERS: Final = (FIRST_NAME_SERVER, BrokerId(FIRST_NAME_SERVER + 1))
_GROUP_SIZE: Final = 10
"""The master of the first group is 10, and its slaves are 11, 12, ..."""
_NO_SLAVE: Final = BrokerId(_GROUP_SIZE)
"""No brokerId: a master never is the slave that acts."""
_PERM_RW: Final = 6
_DELAY_MAX_MS: Final = 150
"""Brokers wait 250 ms for an answer: where all comes later, no master ever is online again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingMasterPlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    brokers: tuple[tuple[BrokerId, BrokerOptions], ...]
    """Of all groups, by what hosts call them."""
    name_server: NameServerOptions
    sends_max: int
    invisible_ms: int
    send_ms: int
    """Mean time between two messages of producers."""
    client_ms: int
    """Time between two messages of a consumer, as long as there are faults."""
    pop_ms: int
    """Mean time between two pops, and between two decisions of the producer."""
    poll_ms: int
    """For how long a client believes what a name server has told it."""
    stop_ms: int
    """Mean time between two brokers that stop, most of them masters."""
    flush_ms: int
    step: int
    """Offsets that a master takes over may be smaller by less than that; 1: not at all."""
    late: BrokerId | None
    """A master that comes back when its slave has delivered what is due, after all faults."""


def group_of(broker: BrokerId) -> str:
    """Return the brokerName of a broker."""
    return f"group-{broker // _GROUP_SIZE}"


def number_in_group(broker: BrokerId) -> BrokerId:
    """Return the brokerId of a broker; 0: it is the master."""
    return BrokerId(broker % _GROUP_SIZE)


def is_in_group(peer: BrokerId) -> bool:
    """Tell whether a node is called by its brokerId."""
    return peer < _GROUP_SIZE


def in_group_of(broker: BrokerId, number: BrokerId) -> BrokerId:
    """Return the broker of the same group that has a brokerId."""
    return BrokerId(broker - number_in_group(broker) + number)


def ha_address(broker: BrokerId) -> HaAddress:
    """Return where a broker accepts slaves."""
    return HaAddress(f"{broker_address(broker)}:ha")


def draw_acting_master_run(streams: PerPurposeStreams, options: SimOptions) -> ActingMasterPlan:
    """Draw one run: two or three groups, of as many brokers as are asked for or two."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.5
    faults = draw_plan(rng, ACTING_MASTER_FAULTS, options.faults, share=share)
    faults = replace(faults, delay_max_ms=min(faults.delay_max_ms, _DELAY_MAX_MS))
    drawn_steps = rng.randrange(300, 800)
    groups, drawn_slaves = rng.choice((2, 2, 3)), rng.choice((1, 1, 2))
    slaves = max(1, min(options.brokers - 1, drawn_slaves))
    masters = [BrokerId(_GROUP_SIZE * group) for group in range(1, groups + 1)]
    common = _draw_common(rng, options, masters)
    late = rng.choice((*masters, *[None] * groups))
    return ActingMasterPlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        brokers=tuple(
            (BrokerId(master + one), _broker(common, BrokerId(master + one)))
            for master in masters
            for one in range(slaves + 1)
        ),
        name_server=NameServerOptions(
            support_acting_master=True,
            notify_min_broker_id_changed=rng.randrange(2) > 0,
            scan_not_active_ms=60,
            removal_ms=rng.choice((0, 5, 60)),
            rules=name_server_rules(options.bugs),
        ),
        sends_max=rng.choice((50, 90)),
        invisible_ms=rng.choice((300, 1_200)),
        send_ms=rng.choice((30, 60)),
        client_ms=rng.choice((200, 600)),
        pop_ms=rng.choice((100, 250)),
        poll_ms=rng.choice((40, 400)),
        stop_ms=rng.choice((700, 2_000)),
        flush_ms=rng.choice((1, 8)),
        step=_step(common) if options.rocketmq_defaults else 1,
        late=None if options.rocketmq_defaults else late,
    )


def _draw_common(rng: Random, options: SimOptions, masters: list[BrokerId]) -> BrokerOptions:
    """Draw what all brokers have alike."""
    period_ms = rng.choice((80, 200))
    acting = ActingOptions(
        cluster_name=CLUSTER_NAME,
        broker_name="",
        address="",
        own_id=_NO_SLAVE,
        ha_address="",
        name_servers=NAME_SERVERS,
        topics=_topics(ORDERS, BILLS, DEALS, TASKS),
        acting=True,
        register_ms=period_ms,
        register_timeout_ms=250,
        heartbeat_ms=60,
        not_active_ms=300,
        poll_ms=period_ms,
        poll_timeout_ms=250,
        rules=acting_rules(options.bugs),
    )
    services = _draw_services(rng, options, acting, masters)
    return BrokerOptions(
        services=services,
        tables=_draw_tables(rng, options, acting),
        store=MasterOptions(
            acting=acting,
            producers={PRODUCERS: FIRST_PRODUCER},
            check_ms=rng.choice((60, 250)),
            revive_ms=50,
            rules=services.rules,
        ),
        copy_log_ms=rng.choice((20, 80)),
        log_timeout_ms=250,
    )


def _draw_services(
    rng: Random, options: SimOptions, acting: ActingOptions, masters: list[BrokerId]
) -> SlaveOptions:
    return SlaveOptions(
        acting=acting,
        masters={group_of(one): one for one in masters},
        enable_remote_escape=not options.rocketmq_defaults,
        topic=TASKS,
        consumers=CONSUMERS,
        level=LEVEL,
        level_ms=rng.choice((600, 1_500)),
        delayed_window=rng.choice((1, 2, 3)),
        half_window=rng.choice((1, 2)),
        route_ms=rng.choice((60, 250)),
        serve_ms=rng.choice((20, 60)),
        half_ms=rng.choice((60, 200)),
        retry_ms=100,
        persist_ms=rng.choice((60, 400)),
        request_timeout_ms=rng.choice((60, 250)),
        rules=escape_rules(options.bugs),
    )


def _draw_tables(rng: Random, options: SimOptions, acting: ActingOptions) -> PreOnlineOptions:
    bugs = options.bugs | ({Bug.VERSIONS} if options.rocketmq_defaults else NO_BUGS)
    return PreOnlineOptions(
        cluster_name=CLUSTER_NAME,
        broker_name="",
        address="",
        broker_id=MASTER,
        ha_address=HaAddress(""),
        name_server=SOME_NAME_SERVER,
        topics=acting.topics,
        steps={kind: rng.choice((0, 1, 2, 3)) for kind in TableKind},
        copy_ms=rng.choice((40, 150)),
        persist_ms=rng.choice((50, 300)),
        pre_online_ms=rng.choice((40, 100)),
        request_timeout_ms=250,
        report_ms=250,
        reconnect_ms=150,
        transfer_ms=500,
        silent_ms=1_500,
        rules=pre_online_rules(bugs),
    )


def _step(common: BrokerOptions) -> int:
    """Return the step of consumers' offsets; where no version moves, a slave's are always taken."""
    return max(1, common.tables.steps[TableKind.CONSUMER])


def _broker(common: BrokerOptions, broker: BrokerId) -> BrokerOptions:
    number, group = number_in_group(broker), group_of(broker)
    acting = replace(
        common.services.acting,
        broker_name=group,
        address=broker_address(broker),
        own_id=number if number != MASTER else _NO_SLAVE,
        ha_address=ha_address(broker),
    )
    masters = common.services.masters
    if number != MASTER:
        masters = {name: one for name, one in masters.items() if name != group}
    return replace(
        common,
        services=replace(
            common.services,
            acting=acting,
            masters=masters,
            local=frozenset({group}) if number == MASTER else frozenset(),
        ),
        tables=replace(
            common.tables,
            broker_name=group,
            address=broker_address(broker),
            broker_id=number,
            ha_address=ha_address(broker),
        ),
        store=replace(common.store, acting=acting),
    )


def _topics(*names: str) -> MappingProxyType[str, TopicConfig]:
    return MappingProxyType(
        {
            name: TopicConfig(topic_name=name, read_queue_nums=1, write_queue_nums=1, perm=_PERM_RW)
            for name in names
        }
    )
