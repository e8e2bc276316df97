"""Calls of a node that are left at the end of a step.

A save is one call and many steps of the specification. Where one ends, which
`rocketha.sim.snapshot_loading.steps` tells, the call is left by an exception. It goes on by being
made again, in a world that has come the same way, up to the end of a later step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rocketha.sim.snapshot_loading.cluster import SnapshotCluster
from rocketha.sim.snapshot_loading.steps import SnapshotAction, SnapshotActionName
from rocketha.types import LogIndex

__all__ = ["Operation", "Stops"]


@dataclass(slots=True)
class Operation:
    """A call of several steps, and how far it has got."""

    call: Callable[[SnapshotCluster], None]
    stop_at: int | None = 1
    """The step at whose end it is left, counted from 1; None: it is not."""
    damage: dict[int, list[LogIndex]] = field(default_factory=dict)
    """What the disk damages while it is stopped, by step."""


class Stopped(Exception):
    """The call is left here; nothing catches it on the way."""


class Stops:
    """An observer that leaves operations where they are to stop."""

    def __init__(self) -> None:
        """Begin without an operation."""
        self.passed = 0
        """Steps of the last operation that have ended."""
        self.has_ended = True
        """The last operation came to its end."""
        self._operation: Operation | None = None

    def operate(self, world: SnapshotCluster, operation: Operation) -> None:
        """Make a call, up to where it is to stop."""
        self._operation, self.passed, self.has_ended = operation, 0, False
        try:
            operation.call(world)
            self.has_ended = True
        except Stopped:
            pass
        finally:
            self._operation = None

    def started(self, world: SnapshotCluster) -> None:
        """Do nothing."""

    def acted(self, world: SnapshotCluster, action: SnapshotAction) -> None:
        """Stop at the end of a step; the last one ends with its call. Raises: Stopped"""
        operation = self._operation
        if operation is None or action.name is SnapshotActionName.ROT:
            return
        self.passed += 1
        for index in operation.damage.get(self.passed, ()):
            world.damage(index)
        if self.passed == operation.stop_at and world.is_busy:
            raise Stopped
