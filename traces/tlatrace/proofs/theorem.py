"""What a theorem is made of in words and formulas, and what may become of a claim."""

from __future__ import annotations

from dataclasses import dataclass

import z3

__all__ = ["Assumption", "Claim", "Proved", "Unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """Something that a theorem takes for granted; its formula is among the premises."""

    name: str
    """That of the formula in the TLA+ text."""
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that follows from all premises, if it is true."""

    name: str
    description: str
    formula: z3.BoolRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """The claim holds for all values that meet the premises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """No answer: out of time, beyond the solver, or nothing meets the premises."""

    reason: str
