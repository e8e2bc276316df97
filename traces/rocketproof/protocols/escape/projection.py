"""Runs of `rocketha.escape` as behaviours of Escape, by whole states.

What a step is, and what is seen of nodes, `rocketproof.protocols.escape.follower` says. A run is
three traces: of delayed messages, of half messages, of pops.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, assert_never

from rocketha.escape.state import HALF_KEY, SlaveState, delay_key
from rocketha.formats.offset_tables import TableKind
from rocketha.recording.recorder import LongSequence
from rocketha.runtime.events import RequestArrived
from rocketha.sim.engine.node import FIRST_PRODUCER, broker_address
from rocketha.sim.escape.cluster import EscapeCluster
from rocketha.sim.escape.logged import Logged
from rocketha.sim.escape.plan import SLAVE, EscapePlan
from rocketha.sim.escape.steps import (
    EscapeStep,
    MasterStarted,
    MasterStepped,
    MasterStopped,
    ProducerStepped,
    SlaveStarted,
    SlaveStepped,
    SlaveStopped,
)
from rocketha.storage.offset_store import OffsetStore
from rocketha.types import BrokerId
from rocketproof.projected_trace import ProjectedTrace
from rocketproof.protocols.escape.follower import EscapeFollower
from rocketproof.protocols.escape.seen import Layout, SlaveSeen, TraceKind
from rocketproof.protocols.escape.world import ROUND_TO
from tlatrace.trace import Event
from tlatrace.values import State, Value

__all__ = ["ESCAPE_SPEC", "EscapeProjection"]

ESCAPE_SPEC: Final = "Escape"


class EscapeProjection:
    """An observer of a simulated run that records the events of its traces."""

    def __init__(self, round_to: int = ROUND_TO) -> None:
        """Begin without an event; the number of records is rounded up to a multiple."""
        self._round_to = round_to
        self._events: dict[TraceKind, list[Event]] = {kind: [] for kind in TraceKind}
        self._followers: dict[TraceKind, EscapeFollower] = {}
        self._cluster: EscapeCluster | None = None
        self._saved: tuple[int, dict[TraceKind, int]] = (-1, {})
        """What is on the slave's disk, and how often that had changed."""

    @property
    def traces(self) -> tuple[ProjectedTrace, ...]:
        """Return a trace of each kind, if all were there once."""
        return tuple(
            ProjectedTrace(
                constants=self._followers[kind].constants, events=events, meta={"of": kind.value}
            )
            for kind, events in self._events.items()
            if events
        )

    # ---- the observer ----

    def started(self, cluster: EscapeCluster) -> None:
        """Begin to follow."""
        self._cluster = cluster
        layout = _layout(cluster.plan, self._round_to)
        self._followers = {
            kind: EscapeFollower(kind, layout, partial(self._record, kind)) for kind in TraceKind
        }

    def stepped(self, cluster: EscapeCluster, step: EscapeStep) -> None:
        """Record the actions of a step, and the state after each."""
        for follower in self._followers.values():
            match step:
                case SlaveStepped(event=event, received=received, sent=sent, told=told):
                    follower.slave_steps(
                        self._slave_seen(cluster),
                        received=received,
                        sent=sent,
                        told=told,
                        is_asked=isinstance(event, RequestArrived),
                    )
                case SlaveStopped():
                    follower.slave_stops(self._on_disk(cluster))
                case SlaveStarted():
                    follower.slave_starts(self._slave_seen(cluster))
                case MasterStepped(master=master, sent=sent):
                    log = _items(cluster.hosted_masters[master].log())
                    follower.master_steps(_name(master), log, sent=sent)
                case MasterStopped(master=master):
                    follower.master_stops(_name(master))
                case MasterStarted(master=master):
                    log = _items(cluster.hosted_masters[master].log())
                    follower.master_starts(_name(master), log)
                case ProducerStepped():
                    follower.producer_steps(cluster.producer.running().decided)
                case _ as unreachable:
                    assert_never(unreachable)

    def _slave_seen(self, cluster: EscapeCluster) -> SlaveSeen:
        state: SlaveState = cluster.slave.running()
        delayed, halves = state.services
        return SlaveSeen(
            log=_items(cluster.hosted_slave.log()),
            progress={TraceKind.DELAYED: delayed.progress, TraceKind.HALVES: halves.progress},
            saved=self._on_disk(cluster),
            acts=state.acts,
            known=frozenset(_name(state.options.masters[name]) for name in state.known),
            waits={
                TraceKind.DELAYED: frozenset(delayed.under),
                TraceKind.HALVES: frozenset(halves.under),
            },
        )

    def _on_disk(self, cluster: EscapeCluster) -> dict[TraceKind, int]:
        """Read the slave's files, if its disk has changed."""
        disk = cluster.slave.disk
        if self._saved[0] != disk.changes:
            store = OffsetStore(disk)
            delay, consumer = store.read(TableKind.DELAY), store.read(TableKind.CONSUMER)
            level = delay_key(cluster.plan.slave.level)
            saved = {
                TraceKind.DELAYED: 0 if delay is None else delay.offsets.get(level, 0),
                TraceKind.HALVES: 0 if consumer is None else consumer.offsets.get(HALF_KEY, 0),
            }
            self._saved = disk.changes, saved
        return self._saved[1]

    def _record(
        self,
        kind: TraceKind,
        node: str | None,
        action: str,
        params: Sequence[Value],
        state: State,
    ) -> None:
        assert self._cluster is not None
        events = self._events[kind]
        events.append(
            Event(
                step=len(events),
                action=action,
                params=tuple(params),
                node=node or "none",
                state=state,
                clock=self._cluster.scheduler.now_ms,
            )
        )


def _layout(plan: EscapePlan, round_to: int) -> Layout:
    options = plan.slave
    return Layout(
        slave=_name(SLAVE),
        broker_name=options.acting.broker_name,
        masters=sorted(_name(one) for one in options.masters.values()),
        local=sorted(_name(options.masters[name]) for name in options.local),
        producer=_name(FIRST_PRODUCER),
        windows={
            TraceKind.DELAYED: options.delayed_window,
            TraceKind.HALVES: options.half_window,
        },
        pops=plan.pops_max,
        round_to=round_to,
        remote_escape=options.enable_remote_escape,
        released=options.released,
    )


def _items(log: LongSequence) -> list[Logged]:
    return [item for item in log.items if isinstance(item, Logged)]


def _name(number: BrokerId) -> str:
    return str(broker_address(number))
