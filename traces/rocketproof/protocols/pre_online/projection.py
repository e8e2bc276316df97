"""Runs of `rocketha.pre_online` as behaviours of PreOnline, by whole states.

What a step is, and what is seen of nodes, `rocketproof.protocols.pre_online.follower` says. A run
is two traces: of consumers' offsets, and of delayed messages'.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, assert_never

from rocketha.formats.offset_tables import TableKind
from rocketha.sim.engine.node import broker_address
from rocketha.sim.pre_online.cluster import PreOnlineCluster
from rocketha.sim.pre_online.plan import QUEUES
from rocketha.sim.pre_online.steps import (
    BrokerStarted,
    BrokerStepped,
    BrokerStopped,
    PreOnlineStep,
)
from rocketha.sim.route.steps import NameServerStepped, NameServerStopped
from rocketha.storage.offset_store import OffsetStore
from rocketha.types import MASTER, BrokerId
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.pre_online.follower import PreOnlineFollower
from rocketproof.protocols.pre_online.seen import (
    BrokerSeen,
    SavedSeen,
    broker_seen,
    queue_name,
    saved_seen,
)
from tlatrace.trace import Event
from tlatrace.values import State, Value, tla_set

__all__ = ["PRE_ONLINE_SPEC", "PreOnlineProjection", "constants_of", "queues_of"]

PRE_ONLINE_SPEC: Final = "PreOnline"


class PreOnlineProjection:
    """An observer of a simulated run that records the events of its traces."""

    def __init__(self) -> None:
        """Begin without an event."""
        self._events: dict[TableKind, list[Event]] = {kind: [] for kind in TableKind}
        self._followers: list[PreOnlineFollower] = []
        self._cluster: PreOnlineCluster | None = None
        self._saved: dict[BrokerId, tuple[int, dict[TableKind, SavedSeen]]] = {}
        """What is on the disk of a broker, and how often that had changed."""

    @property
    def traces(self) -> tuple[ProjectedTrace, ...]:
        """Return a trace for each table, if all were there once."""
        cluster = self._cluster
        assert cluster is not None
        steps = cluster.plan.brokers[MASTER].steps
        slaves = list(map(int, cluster.slaves))
        return tuple(
            ProjectedTrace(
                constants=constants_of(kind, slaves, steps[kind]),
                events=events,
                meta={"table": kind.value},
            )
            for kind, events in self._events.items()
            if events
        )

    # ---- the observer ----

    def started(self, cluster: PreOnlineCluster) -> None:
        """Begin to follow."""
        self._cluster = cluster
        numbers = {_name(number): int(number) for number in cluster.brokers}
        self._followers = [
            PreOnlineFollower(numbers, queues_of(kind), kind, partial(self._record, kind))
            for kind in TableKind
        ]

    def stepped(self, cluster: PreOnlineCluster, step: PreOnlineStep) -> None:
        """Record the actions of a step, and the state after each."""
        now_ms = cluster.scheduler.now_ms
        seen: BrokerSeen | None = None
        if isinstance(step, BrokerStarted | BrokerStepped):
            seen = broker_seen(
                cluster.brokers[step.broker].running(),
                self._on_disk(cluster, step.broker),
                cluster.hosted[step.broker].connections.standing,
            )
        for follower in self._followers:
            match step:
                case BrokerStepped(broker=broker, received=received, sent=sent):
                    assert seen is not None
                    follower.broker_steps(
                        _name(broker), seen, received=received, sent=sent, now_ms=now_ms
                    )
                case BrokerStopped(broker=broker):
                    follower.broker_stops(
                        _name(broker), self._on_disk(cluster, broker), now_ms=now_ms
                    )
                case BrokerStarted(broker=broker):
                    assert seen is not None
                    follower.broker_starts(_name(broker), seen, now_ms=now_ms)
                case NameServerStepped(name_server=name_server, sent=sent):
                    group = frozenset(map(int, cluster.group()))
                    follower.server_steps(_name(name_server), group, sent=sent, now_ms=now_ms)
                case NameServerStopped(name_server=name_server):
                    follower.server_stops(_name(name_server), now_ms=now_ms)
                case _ as unreachable:
                    assert_never(unreachable)

    def _on_disk(self, cluster: PreOnlineCluster, broker: BrokerId) -> dict[TableKind, SavedSeen]:
        """Read the files of a broker, if its disk has changed."""
        disk = cluster.brokers[broker].disk
        known = self._saved.get(broker)
        if known is None or known[0] != disk.changes:
            store = OffsetStore(disk)
            known = disk.changes, {kind: saved_seen(store.read(kind)) for kind in TableKind}
            self._saved[broker] = known
        return known[1]

    def _record(
        self,
        kind: TableKind,
        node: str | None,
        action: str,
        params: Sequence[Value],
        at_ms: int,
        state: State,
    ) -> None:
        events = self._events[kind]
        events.append(
            Event(
                step=len(events),
                action=action,
                params=tuple(params),
                node=node or "none",
                state=state,
                clock=at_ms,
            )
        )


def constants_of(kind: TableKind, slaves: Sequence[int], step: int) -> State:
    """Return the constants of the specification, of the trace of a table."""
    return {"Slave": tla_set(slaves), "Queue": tla_set(queues_of(kind)), "Step": step}


def queues_of(kind: TableKind) -> list[str]:
    """Return the queues of a table."""
    return [queue_name(*queue) for queue in QUEUES[kind]]


def _name(number: BrokerId) -> str:
    return str(broker_address(number))
