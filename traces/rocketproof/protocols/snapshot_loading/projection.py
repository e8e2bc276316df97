"""Runs of `rocketha.replicated_log` as behaviours of SnapshotLoading.

After every action the whole state is read from the real one (`snapshot_values`). A node that is
down, or has refused to start, has no memory. Of a power cut the names that survived are told by
the files that are there after it.
"""

from __future__ import annotations

from typing import Final

from rocketha.sim.snapshot_loading.cluster import SnapshotCluster
from rocketha.sim.snapshot_loading.steps import SnapshotAction, SnapshotActionName
from rocketha.types import LogIndex
from rocketproof.protocols.snapshot_loading.values import (
    NO_JOB,
    NO_TERM,
    files_value,
    log_values,
    settled,
    state_value,
)
from tlatrace.trace import Event
from tlatrace.values import Fcn, State, TlaSet, Value, record, tla_set

__all__ = ["SNAPSHOT_SPEC", "SnapshotProjection", "world_value"]

SNAPSHOT_SPEC: Final = "SnapshotLoading"
_NODE: Final = "n1"
_GROUP: Final = "group"
_OF_GROUP: Final = frozenset({SnapshotActionName.AGREE, SnapshotActionName.LEADER_COMPACTS})


class SnapshotProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._world: SnapshotCluster | None = None

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as the run has them."""
        assert self._world is not None
        terms = self._world.history.terms
        return {
            "Terms": tuple(map(int, terms)),
            "Stray": int(self._world.history.stray),
            "Threshold": self._world.options.snapshot_threshold,
            "Reserved": self._world.options.max_snapshot_reserved_num,
        }

    def started(self, world: SnapshotCluster) -> None:
        """Record the initial state."""
        self._world = world
        self._record(world, _NODE, "Init", (), world_value(world))

    def acted(self, world: SnapshotCluster, action: SnapshotAction) -> None:
        """Record an action, and the state after it."""
        state = world_value(world)
        match action.name:
            case SnapshotActionName.CRASH:
                before = self.events[-1].state
                assert before is not None
                params: tuple[Value, ...] = _survivors(before["snaps"], state["snaps"])
            case SnapshotActionName.SAVE | SnapshotActionName.INSTALL:
                params = (_written(state["snaps"]),)
            case _:
                params = () if action.index is None else (int(action.index),)
        node = _GROUP if action.name in _OF_GROUP else _NODE
        self._record(world, node, str(action.name), params, state)

    def _record(
        self,
        world: SnapshotCluster,
        node: str,
        action: str,
        params: tuple[Value, ...],
        state: State,
    ) -> None:
        step = len(self.events)
        self.events.append(
            Event(
                step=step, action=action, params=params, node=node, state=state, clock=world.now_ms
            )
        )


def world_value(world: SnapshotCluster) -> State:
    """Return the state of a node and its group."""
    job = world.job
    disk = settled(world.disk) if world.is_unsure else world.disk
    logs = settled(world.disk) if world.leaves_log else disk
    state: dict[str, Value] = {
        "agreed": world.agreed,
        "kept": world.kept,
        "mode": _mode(world),
        "snaps": files_value(world.history, disk, world.damaged, writing=job is not None),
        "job": NO_JOB if job is None else record({"kind": job.kind, "idx": int(job.index)}),
        "sm": tla_set([]),
        "applied": 0,
        "commit": 0,
        "lastSnap": 0,
        "crashes": world.crashes,
        "damaged": world.damages,
        **log_values(world.history, logs),
    }
    node = world.node
    if node is not None and not world.has_refused:
        state["sm"] = state_value(world.history, node.machine.values)
        state["applied"] = int(node.caller.applied.last_included_index)
        state["commit"] = int(node.caller.commit)
        state["lastSnap"] = int(node.manager.last_snapshot)
        boundary = node.log.term_of(LogIndex(node.log.first_index - 1))
        state["bTerm"] = NO_TERM if boundary is None else int(boundary)
    return state


def _mode(world: SnapshotCluster) -> str:
    if world.has_refused:
        return "refused"
    if world.node is None:
        return "down"
    return "loading" if world.is_loading else "up"


def _written(snaps: Value) -> Value:
    """Return what is at the temporary place: a snapshot, or something that never was one."""
    return next((file["data"] for file in _files(snaps) if file["name"] == "tmp"), "good")


def _survivors(before: Value, after: Value) -> tuple[Value, Value]:
    """Return of which indexes the change of names survived a power cut, and whether one is lost."""
    was, left = _files(before), _files(after)
    new, gone = ([file for file in was if file["name"] == name] for name in ("new", "gone"))
    there = {file["idx"] for file in new if _same(file, left)}
    indexes = {file["idx"] for file in left}
    rewritten = {file["idx"] for file in new} & {file["idx"] for file in gone}
    there |= {file["idx"] for file in gone} - rewritten - indexes
    return tla_set(there), not rewritten <= indexes


def _files(snaps: Value) -> list[dict[Value, Value]]:
    assert isinstance(snaps, TlaSet)
    return [dict(file.pairs) for file in snaps if isinstance(file, Fcn)]


def _same(file: dict[Value, Value], others: list[dict[Value, Value]]) -> bool:
    return any(file["idx"] == other["idx"] and file["data"] == other["data"] for other in others)
