"""What a run of brokers and name servers is made of: what the seed draws.

All periods are shorter than RocketMQ's, so that a short run sees brokers that are silent for too
long, and registrations that come late. With RocketMQ's defaults no slave acts, and brokers are not
told of another smallest brokerId.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rocketha.acting.state import ActingOptions
from rocketha.formats.name_server_requests import TopicConfig
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.route import acting_rules, name_server_rules
from rocketha.nameserver.state import NameServerOptions
from rocketha.sim.engine.faults import ROUTE_FAULTS, Fault, FaultPlan, draw_plan
from rocketha.sim.engine.node import FIRST_NAME_SERVER, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.types import BrokerId

__all__ = ["BROKER_NAME", "CLUSTER_NAME", "TOPIC", "RoutePlan", "draw_route_run"]

CLUSTER_NAME: Final = "cluster"
BROKER_NAME: Final = "broker"
TOPIC: Final = "orders"
"""Of which clients ask; a broker has another one, too, or it would not be let in."""

_NAME_SERVERS: Final = 2
_PERM_RW: Final = 6
_LEARN_MS: Final = 40
_SLOW_LEARN_MS: Final = 800


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutePlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    brokers: tuple[ActingOptions, ...]
    """Of broker 1, 2, ..."""
    name_servers: tuple[BrokerId, ...]
    name_server: NameServerOptions
    learn_ms: int
    """Within this time a broker hears what it is."""
    elect_ms: int | None
    """Mean time between two elections."""
    stop_ms: int
    """Mean time between two brokers that stop, and say so."""
    client_ms: int
    """Mean time between two questions of clients."""
    ends_without_master: bool
    """The master is stopped when the faults end, and does not come back."""


def draw_route_run(streams: PerPurposeStreams, options: SimOptions) -> RoutePlan:
    """Draw one run. Small numbers, so that different seeds pass through equal states."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.5
    faults = draw_plan(rng, ROUTE_FAULTS, options.faults, share=share)
    drawn_steps = rng.randrange(120, 360)
    acting = not options.rocketmq_defaults
    name_servers = tuple(BrokerId(FIRST_NAME_SERVER + at) for at in range(_NAME_SERVERS))
    register_ms, poll_ms = rng.choice((150, 500)), rng.choice((150, 400))
    elect_ms = rng.choice((400, 1_200))
    return RoutePlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        brokers=tuple(
            ActingOptions(
                cluster_name=CLUSTER_NAME,
                broker_name=BROKER_NAME,
                address=broker_address(BrokerId(number)),
                own_id=BrokerId(number),
                ha_address=f"{broker_address(BrokerId(number))}:ha",
                name_servers=name_servers,
                topics=_topics(TOPIC, "more"),
                acting=acting,
                register_ms=register_ms,
                register_timeout_ms=400,
                heartbeat_ms=60,
                not_active_ms=300,
                poll_ms=poll_ms,
                poll_timeout_ms=250,
                rules=acting_rules(options.bugs),
            )
            for number in range(1, options.brokers + 1)
        ),
        name_servers=name_servers,
        name_server=NameServerOptions(
            support_acting_master=acting,
            notify_min_broker_id_changed=acting,
            scan_not_active_ms=80,
            removal_ms=rng.choice((0, 5, 60)),
            rules=name_server_rules(options.bugs),
        ),
        learn_ms=_SLOW_LEARN_MS if Fault.SLOW_POLL in faults else _LEARN_MS,
        elect_ms=elect_ms if Fault.RE_ELECTION in faults else None,
        stop_ms=rng.choice((1_000, 3_000)),
        client_ms=rng.choice((60, 200)),
        ends_without_master=options.brokers > 1 and rng.randrange(2) > 0,
    )


def _topics(*names: str) -> MappingProxyType[str, TopicConfig]:
    return MappingProxyType(
        {
            name: TopicConfig(topic_name=name, read_queue_nums=4, write_queue_nums=4, perm=_PERM_RW)
            for name in names
        }
    )
