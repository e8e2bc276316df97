"""Where a node ends in the middle of a step: a seam is between any two effects of it.

Every node counts the seams that it passes, so a run has crash points: a node, one of its seams, and
how the node ends there. A fault chooses one now and then (`Fault.CUT_IN_STEP`); a schedule may name
one, so that whoever knows how many seams a run has can try them all.

A node whose disk says what it does may also end in the middle of an effect, or while it starts or
ends in order: before an operation that changes the disk or makes something durable. It counts its
effects, starts and ends, and the operations in each.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Final

from rocketha.sim.engine.faults import Fault

__all__ = ["DISCARD", "ENDS", "START", "STOP", "CrashPoint", "CrashPoints", "DiskUse", "Ending"]

ENDS: Final = (Fault.PROCESS_CRASH, Fault.POWER_CUT, Fault.TORN_WRITE)
"""How a node may end."""
_NEAR: Final = 32
"""A step has fewer effects, with all that follows from it."""
_RESTART_MS: Final = 40
_START_OPERATIONS_MAX: Final = 16
"""A start that finds everything as it should be has fewer."""
START: Final = "start"
"""What uses the disk, if it is no effect..."""
DISCARD: Final = "start that throws the log away"
"""...or this..."""
STOP: Final = "end in order"
"""...or this."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CrashPoint:
    """A seam of a run, or an operation of a disk, and how its node ends there."""

    node: str
    seam: int = 0
    """Of this node, counted from 1; 0: it ends at an operation."""
    effect: int = 0
    """Its effect, start or end, counted from 1..."""
    operation: int = 0
    """...before whose operation it ends, counted from 1."""
    end: Fault
    """One of `ENDS`."""

    def __str__(self) -> str:
        """Say it: "b1 at seam 7 by power-cut"."""
        if self.seam:
            where = f"at seam {self.seam}"
        else:
            where = f"before disk operation {self.operation} of effect {self.effect}"
        return f"{self.node} {where} by {self.end.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUse:
    """What an effect, or a start, of a node has done to its disk."""

    number: int
    """Counted from 1, effects, starts and ends together."""
    what: str
    """The name of the effect, or `START`, `DISCARD` or `STOP`."""
    operations: list[str] = field(default_factory=list)
    """As `name path`, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a node ends when it comes to a seam, and how it comes back."""

    end: Fault
    rng: Random
    """Draws which writes survive."""
    silent: bool = False
    """Its peers are not told."""
    restart_ms: int = _RESTART_MS
    """It comes back after so long."""
    start_operations: int | None = None
    """The start with which it comes back ends, too, after so many operations, the same way."""


class CrashPoints:
    """The seams that the nodes of a run pass, and those where one ends."""

    __slots__ = ("_chosen", "_due", "_effects", "_using", "disk_use", "is_calm", "passed")

    def __init__(self, chosen: CrashPoint | None = None) -> None:
        """Let a node end at one point for certain, or only where a fault wants it."""
        self.passed: Counter[str] = Counter()
        """Node -> seams that it has passed."""
        self.is_calm = False
        """No fault strikes any more; the chosen point stays."""
        self.disk_use: dict[str, list[DiskUse]] = {}
        """Node -> its effects and starts that have changed the disk."""
        self._effects: Counter[str] = Counter()
        self._using: dict[str, DiskUse] = {}
        self._due: dict[str, tuple[int, Ending]] = {}
        self._chosen = chosen

    def arm(self, node: str, seams: int, ending: Ending) -> None:
        """Let a node end so many seams from now."""
        self._due[node] = (self.passed[node] + seams, ending)

    def disarm(self, node: str) -> None:
        """Let a node that has stopped not end for what a fault wanted of it before."""
        self._due.pop(node, None)

    def is_near(self, node: str) -> bool:
        """Tell whether a node may end in its next step."""
        seam = self.passed[node]
        chosen, due = self._chosen, self._due.get(node)
        if chosen is not None and chosen.node == node and 0 < chosen.seam - seam <= _NEAR:
            return True
        return due is not None and not self.is_calm and due[0] - seam <= _NEAR

    def passes(self, node: str) -> Ending | None:
        """Count a seam, and return how the node ends there, if it does."""
        self.passed[node] += 1
        seam = self.passed[node]
        chosen = self._chosen
        if chosen is not None and (chosen.node, chosen.seam) == (node, seam):
            return Ending(end=chosen.end, rng=Random(f"{node}/{seam}"))
        due = self._due.get(node)
        if due is None or self.is_calm or seam < due[0]:
            return None
        del self._due[node]
        return due[1]

    # ---- operations of a disk ----

    def begins(self, node: str, what: str) -> bool:
        """Count an effect, a start or an end; tell whether the node may end in the middle of it."""
        self._effects[node] += 1
        number = self._effects[node]
        self._using[node] = DiskUse(number=number, what=what)
        chosen = self._chosen
        return chosen is not None and (chosen.node, chosen.effect) == (node, number)

    def operates(self, node: str, operation: str) -> Ending | None:
        """Count an operation of what has begun; return how the node ends before it, if it does."""
        using = self._using[node]
        if not using.operations:
            self.disk_use.setdefault(node, []).append(using)
        using.operations.append(operation)
        chosen = self._chosen
        place = (node, using.number, len(using.operations))
        if chosen is None or (chosen.node, chosen.effect, chosen.operation) != place:
            return None
        rng = Random("/".join(map(str, place)))
        again = rng.randrange(_START_OPERATIONS_MAX) if rng.randrange(2) else None
        return Ending(end=chosen.end, rng=rng, start_operations=again)
