"""The theorems about the protocols, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rocketproof.theorems import consistent_point, sync_state_set
from rocketproof.theorems.sync_state_set import Variant
from tlatrace.proofs import Induction, Theorem

__all__ = ["INDUCTIONS", "THEOREMS", "InductiveTheorem", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A theorem about a rule, for caches (or whatever it is about) of at most so many entries."""

    state: Callable[[int], Theorem]
    state_false: Callable[[int], Theorem]
    false_words: str
    """What is wrong in the false variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InductiveTheorem:
    """A theorem about all steps of a specification, for so many brokers."""

    state: Callable[[int], Induction]
    state_false: Callable[[Variant, int], Induction]
    variants: tuple[Variant, ...]


THEOREMS: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        consistent_point.NAME: Rule(
            state=consistent_point.theorem,
            state_false=consistent_point.false_variant,
            false_words="MinEnd: the consistent point ignores the master's end",
        )
    }
)

INDUCTIONS: Final[Mapping[str, InductiveTheorem]] = MappingProxyType(
    {
        sync_state_set.NAME: InductiveTheorem(
            state=sync_state_set.theorem,
            state_false=sync_state_set.false_variant,
            variants=sync_state_set.VARIANTS,
        )
    }
)
