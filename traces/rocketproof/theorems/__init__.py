"""The theorems about the protocols, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from rocketproof.theorems import (
    consistent_point,
    lock_quorum,
    snapshot_loading,
    sync_state_set,
)
from tlatrace.proofs import Induction, Theorem

__all__ = ["INDUCTIONS", "THEOREMS", "FalseTheorem", "InductiveTheorem", "Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A theorem about a rule, for caches (or whatever it is about) of at most so many entries."""

    state: Callable[[int], Theorem]
    state_false: Callable[[int], Theorem]
    false_description: str
    """What is wrong in the false variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseTheorem:
    """The theorem of a protocol with a bug, for so many brokers."""

    name: str
    description: str
    state: Callable[[int], Induction]


@dataclass(frozen=True, slots=True, kw_only=True)
class InductiveTheorem:
    """A theorem about all steps of a specification, for so many brokers."""

    state: Callable[[int], Induction]
    variants: tuple[FalseTheorem, ...]
    smallest: int
    largest: int
    """How many brokers a group has, where nobody says otherwise."""


def _of_one_node(variant: snapshot_loading.Variant, _: int) -> Induction:
    return snapshot_loading.false_variant(variant)


THEOREMS: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        consistent_point.NAME: Rule(
            state=consistent_point.theorem,
            state_false=consistent_point.false_variant,
            false_description="MinEnd: the consistent point ignores the master's end",
        )
    }
)

INDUCTIONS: Final[Mapping[str, InductiveTheorem]] = MappingProxyType(
    {
        sync_state_set.NAME: InductiveTheorem(
            state=sync_state_set.theorem,
            variants=tuple(
                FalseTheorem(
                    name=variant.name,
                    description=variant.description,
                    state=partial(sync_state_set.false_variant, variant),
                )
                for variant in sync_state_set.VARIANTS
            ),
            smallest=2,
            largest=5,
        ),
        lock_quorum.NAME: InductiveTheorem(
            state=lock_quorum.theorem,
            variants=tuple(
                FalseTheorem(
                    name=variant.name,
                    description=variant.description,
                    state=partial(lock_quorum.false_variant, variant),
                )
                for variant in lock_quorum.VARIANTS
            ),
            smallest=1,
            largest=7,
        ),
        snapshot_loading.NAME: InductiveTheorem(
            state=lambda _: snapshot_loading.theorem(),
            variants=tuple(
                FalseTheorem(
                    name=variant.name,
                    description=variant.description,
                    state=partial(_of_one_node, variant),
                )
                for variant in snapshot_loading.VARIANTS
            ),
            smallest=1,
            largest=1,
        ),
    }
)
