"""Whoever reads all registers of a simulated node, after every action."""

from __future__ import annotations

from collections.abc import Mapping

from rocketha.histories.clients import RegisterReads
from rocketha.histories.registers import (
    Damaged,
    Given,
    Healed,
    Installed,
    Keeping,
    Refused,
    RegisterEvent,
    Shown,
    Started,
)
from rocketha.sim.snapshot_loading.cluster import SnapshotCluster, SnapshotObserver
from rocketha.sim.snapshot_loading.steps import SnapshotAction, SnapshotActionName

__all__ = ["RegisterReader"]


class RegisterReader:
    """Records what goes into a node and what it shows; of equal reads in a life the first one."""

    def __init__(self, then: SnapshotObserver | None = None) -> None:
        """Begin; tell `then` of everything, too."""
        self.events: list[RegisterEvent] = []
        self.made: tuple[Mapping[str, int], ...] = ()
        self.keeping = Keeping(files=0, every=0)
        self.agreed = 0
        self._then = then
        self._shown: Mapping[str, int] | None = None
        self._has_refused = False

    def reads(self, *, healed_at_ms: int | None) -> RegisterReads:
        """Return all that was read; a node that healed says when."""
        healed = (
            [Healed(agreed=self.agreed, at_ms=healed_at_ms)] if healed_at_ms is not None else []
        )
        return RegisterReads(made=self.made, keeping=self.keeping, events=(*self.events, *healed))

    def started(self, world: SnapshotCluster) -> None:
        """Begin the first life of the node."""
        self.made = world.history.states
        self.keeping = Keeping(
            files=world.options.max_snapshot_reserved_num,
            every=world.options.snapshot_threshold,
        )
        self.events.append(Started(at_ms=world.now_ms))
        self._read(world)
        if self._then is not None:
            self._then.started(world)

    def acted(self, world: SnapshotCluster, action: SnapshotAction) -> None:
        """Note what the action means to the outside, and read."""
        self.agreed = world.agreed
        match action.name:
            case SnapshotActionName.START:
                self.events.append(Started(at_ms=world.now_ms))
                self._shown, self._has_refused = None, False
            case SnapshotActionName.APPEND_ENTRY:
                assert action.index is not None
                self.events.append(Given(index=int(action.index), at_ms=world.now_ms))
            case SnapshotActionName.INSTALL:
                self.events.append(Installed(agreed=world.agreed, at_ms=world.now_ms))
            case SnapshotActionName.ROT:
                self.events.append(Damaged(at_ms=world.now_ms))
            case _:
                pass
        self._read(world)
        if self._then is not None:
            self._then.acted(world, action)

    def _read(self, world: SnapshotCluster) -> None:
        node = world.node
        if self._has_refused:
            return
        if world.has_refused:
            self._has_refused = True
            self.events.append(Refused(at_ms=world.now_ms))
        elif node is not None and node.machine.values != self._shown:
            self._shown = dict(node.machine.values)
            self.events.append(
                Shown(registers=self._shown, agreed=world.agreed, at_ms=world.now_ms)
            )
