"""What a theorem is: assumptions and claims, each in words and as a formula."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import z3

__all__ = ["Assumption", "Claim", "Example", "Theorem"]

Example: TypeAlias = Mapping[str, int]
"""Values of a theorem's integer constants, by their names: an example or a counterexample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """Something that a theorem takes for granted."""

    name: str
    """Where the specification has it as an invariant: the name of that."""
    description: str
    formula: z3.BoolRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that follows from all assumptions of a theorem, if it is true."""

    name: str
    description: str
    formula: z3.BoolRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """Claims that follow from assumptions.

    The constants of the formulas are integers and universally quantified: a claim holds for all
    values of them that meet the assumptions.
    """

    name: str
    statement: str
    assumptions: tuple[Assumption, ...]
    claims: tuple[Claim, ...]
    witness: Claim
    """What an example must show besides the assumptions, lest they hold of dull cases only."""
    not_shown: str
    """What a reader might take for proved, and is not."""

    def __post_init__(self) -> None:
        assert self.claims, f"the theorem {self.name} claims nothing"
