"""How far z3 may go for one question, and a solver in which only that question matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import z3

__all__ = ["DEFAULT_LIMITS", "Limits", "new_solver", "spent"]

_SEED: Final = 1
_MOST: Final = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where z3 gives a question up: what it counts is the same in each run, seconds are not."""

    resources: int = 250_000_000
    """z3's `rlimit`: steps of its own, some four millions in a second of a processor."""
    seconds: float = 3600.0
    """The far limit, for a machine that hangs."""

    def __post_init__(self) -> None:
        assert 0 < self.resources <= _MOST, "z3 keeps the limit in 32 bits"


DEFAULT_LIMITS: Final = Limits()


def new_solver(limits: Limits) -> z3.Solver:
    """Return a solver with a context of its own.

    What it answers, and what it counts, does not depend on what z3 was asked before: formulas have
    to be translated, `formula.translate(solver.ctx)`.
    """
    solver = z3.Solver(ctx=z3.Context())
    solver.set("rlimit", limits.resources)
    solver.set("timeout", max(1, round(limits.seconds * 1000)))
    solver.set("random_seed", _SEED)
    return solver


def spent(solver: z3.Solver) -> int:
    """Return what z3 has counted against the limit, in all questions to this solver."""
    counts = dict(list(solver.statistics()))
    return int(counts.get("rlimit count", 0))
