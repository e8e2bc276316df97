"""What a run of a master that comes back is made of: what the seed draws.

All periods are shorter than RocketMQ's, and versions move with fewer changes, so that a short run
sees a master come back often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Final

from rocketha.formats.name_server_requests import TopicConfig
from rocketha.formats.offset_tables import QueueKey, TableKind
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.pre_online import pre_online_rules
from rocketha.nameserver.state import NameServerOptions
from rocketha.pre_online.state import PreOnlineOptions
from rocketha.sim.engine.faults import (
    PRE_ONLINE_FAULTS,
    Fault,
    FaultPlan,
    draw_plan,
    with_forged_packets,
)
from rocketha.sim.engine.node import FIRST_NAME_SERVER, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.types import MASTER, BrokerId, HaAddress

__all__ = ["BROKER_NAME", "QUEUES", "PreOnlinePlan", "draw_pre_online_run", "ha_address"]

CLUSTER_NAME: Final = "cluster"
BROKER_NAME: Final = "broker"
"""As the name server of `rocketha.sim.route` has it."""
QUEUES: Final[dict[TableKind, tuple[QueueKey, ...]]] = {
    TableKind.CONSUMER: (("orders@audit", 0), ("orders@audit", 1)),
    TableKind.DELAY: (("", 1), ("", 3)),
}
"""Of the consumers of a run, and of the levels of which there are messages."""
_PERM_RW: Final = 6
_REPORT_MS: Final = (20, 250)
"""The shorter one is over before a report comes that is delayed."""
_TRANSFER_MS: Final = (200, 500)
_SILENT_PERIODS: Final = 4
"""As with RocketMQ's defaults (5 and 20 seconds)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreOnlinePlan:
    """What one run does: sizes, rates and faults. All times are virtual."""

    steps: int
    faults: FaultPlan
    bugs: Bugs
    brokers: tuple[PreOnlineOptions, ...]
    """The master, and slaves 1, 2, ..."""
    name_server: NameServerOptions
    stop_ms: int
    """Mean time between two brokers that stop."""
    leave_ms: int | None
    """Mean time after which a slave that has given its tables stops; None: it need not."""
    client_ms: int
    """Mean time between two commits of a consumer."""


def draw_pre_online_run(streams: PerPurposeStreams, options: SimOptions) -> PreOnlinePlan:
    """Draw one run; of as many brokers as are asked for one or two are slaves."""
    rng, share = streams.of("plan"), 1.0 if streams.redrawn else 0.5
    kinds = [fault for fault in PRE_ONLINE_FAULTS if fault is not Fault.FORGED_PACKET]
    faults = draw_plan(rng, kinds, options.faults, share=share)
    if not (options.bugs or Fault.FRAGMENTATION in faults):  # else parts of packets may stand there
        forged = streams.of("plan", Fault.FORGED_PACKET)
        faults = with_forged_packets(faults, forged, options.faults, share)
    drawn_steps = rng.randrange(300, 800)
    drawn_slaves = rng.choice((1, 2, 2))
    slaves = max(1, min(options.brokers - 1, drawn_slaves))
    master = _draw_master(rng, options)
    transfer_ms = streams.of("transfer").choice(_TRANSFER_MS)
    master = replace(
        master,
        transfer_ms=transfer_ms,
        silent_ms=_SILENT_PERIODS * transfer_ms,
        report_ms=streams.of("report").choice(_REPORT_MS),
    )
    return PreOnlinePlan(
        steps=drawn_steps if options.steps is None else options.steps,
        faults=faults,
        bugs=options.bugs,
        brokers=(master, *(_slave(master, BrokerId(one)) for one in range(1, slaves + 1))),
        name_server=NameServerOptions(
            scan_not_active_ms=80,
            removal_ms=rng.choice((0, 5, 60)),
        ),
        stop_ms=rng.choice((250, 700)),
        leave_ms=streams.of("leave").choice((None, 30)),
        client_ms=rng.choice((20, 60)),
    )


def _draw_master(rng: Random, options: SimOptions) -> PreOnlineOptions:
    return PreOnlineOptions(
        cluster_name=CLUSTER_NAME,
        broker_name=BROKER_NAME,
        address=broker_address(MASTER),
        broker_id=MASTER,
        ha_address=ha_address(MASTER),
        name_server=FIRST_NAME_SERVER,
        topics=_topics("orders", "more"),
        steps={kind: rng.choice((0, 1, 2, 3)) for kind in TableKind},
        register_ms=rng.choice((100, 300)),
        heartbeat_ms=60,
        not_active_ms=300,
        poll_ms=rng.choice((60, 200)),
        copy_ms=rng.choice((40, 150)),
        persist_ms=rng.choice((50, 300)),
        pre_online_ms=rng.choice((40, 100)),
        request_timeout_ms=250,
        reconnect_ms=150,
        rules=pre_online_rules(options.bugs),
    )


def _slave(master: PreOnlineOptions, broker: BrokerId) -> PreOnlineOptions:
    return replace(
        master, address=broker_address(broker), broker_id=broker, ha_address=ha_address(broker)
    )


def ha_address(broker: BrokerId) -> HaAddress:
    """Return where a broker accepts slaves."""
    return HaAddress(f"{broker_address(broker)}:ha")


def _topics(*names: str) -> MappingProxyType[str, TopicConfig]:
    return MappingProxyType(
        {
            name: TopicConfig(topic_name=name, read_queue_nums=4, write_queue_nums=4, perm=_PERM_RW)
            for name in names
        }
    )
