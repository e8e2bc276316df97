"""Where a node ends in the middle of a step: a seam is between any two effects of it.

Every node counts the seams that it passes, so a run has crash points: a node, one of its seams, and
how the node ends there. A fault chooses one now and then (`Fault.CUT_IN_STEP`); a schedule may name
one, so that whoever knows how many seams a run has can try them all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Final

from rocketha.sim.engine.faults import Fault

__all__ = ["ENDS", "CrashPoint", "CrashPoints", "Ending"]

ENDS: Final = (Fault.PROCESS_CRASH, Fault.POWER_CUT, Fault.TORN_WRITE)
"""How a node may end."""
_NEAR: Final = 32
"""A step has fewer effects, with all that follows from it."""
_RESTART_MS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CrashPoint:
    """A seam of a run, and how its node ends there."""

    node: str
    seam: int
    """Of this node, counted from 1."""
    end: Fault
    """One of `ENDS`."""


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


class CrashPoints:
    """The seams that the nodes of a run pass, and those where one ends."""

    __slots__ = ("_chosen", "_due", "is_calm", "passed")

    def __init__(self, chosen: CrashPoint | None = None) -> None:
        """Let a node end at one point for certain, or only where a fault wants it."""
        self.passed: Counter[str] = Counter()
        """Node -> seams that it has passed."""
        self.is_calm = False
        """No fault strikes any more; the chosen point stays."""
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
