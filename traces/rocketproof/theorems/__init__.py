"""The theorems about the protocols, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeVar

from rocketproof.theorems import (
    consistent_point,
    leader_completeness,
    lock_quorum,
    meta_monotone,
    one_leader_per_term,
    snapshot_loading,
    sync_state_set,
)
from rocketproof.theorems.inductions import Variant
from tlatrace.proofs import Induction

__all__ = ["THEOREMS", "FalseTheorem", "Theorem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseTheorem:
    """The theorem of a protocol with a bug, for a size."""

    name: str
    description: str
    state: Callable[[int], Induction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """A theorem for groups of so many brokers or nodes, caches of so many entries, or one node."""

    state: Callable[[int], Induction]
    variants: tuple[FalseTheorem, ...]
    unit: Literal["brokers", "entries", "nodes"] | None
    """What a size counts; None: there is but one size."""
    smallest: int
    largest: int
    """The sizes that are proved where nobody says otherwise."""

    def sizes(self, asked: int | None) -> Sequence[int]:
        """Return the sizes to prove; what holds of caches holds of shorter ones."""
        largest = self.largest if asked is None or self.unit is None else asked
        return range(largest if self.unit == "entries" else self.smallest, largest + 1)

    def sizes_text(self, sizes: Sequence[int]) -> str:
        """Say for which sizes something is proved."""
        match self.unit:
            case None:
                return ""
            case "entries":
                return f" for at most {sizes[-1]} entries"
            case unit:
                return f" for {sizes[0]} to {sizes[-1]} {unit}"


class _Described(Protocol):
    """A variant of a theorem, whichever module it is of."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


V = TypeVar("V", bound=_Described)


def _false(variants: Iterable[V], state: Callable[[V, int], Induction]) -> tuple[FalseTheorem, ...]:
    return tuple(
        FalseTheorem(name=one.name, description=one.description, state=partial(state, one))
        for one in variants
    )


def _of_one_node(variant: Variant, _: int) -> Induction:
    return snapshot_loading.false_variant(variant)


THEOREMS: Final[Mapping[str, Theorem]] = MappingProxyType(
    {
        consistent_point.NAME: Theorem(
            state=consistent_point.theorem,
            variants=_false(consistent_point.VARIANTS, consistent_point.false_variant),
            unit="entries",
            smallest=2,
            largest=5,
        ),
        sync_state_set.NAME: Theorem(
            state=sync_state_set.theorem,
            variants=_false(sync_state_set.VARIANTS, sync_state_set.false_variant),
            unit="brokers",
            smallest=2,
            largest=5,
        ),
        lock_quorum.NAME: Theorem(
            state=lock_quorum.theorem,
            variants=_false(lock_quorum.VARIANTS, lock_quorum.false_variant),
            unit="brokers",
            smallest=1,
            largest=7,
        ),
        snapshot_loading.NAME: Theorem(
            state=lambda _: snapshot_loading.theorem(),
            variants=_false(snapshot_loading.VARIANTS, _of_one_node),
            unit=None,
            smallest=1,
            largest=1,
        ),
        one_leader_per_term.NAME: Theorem(
            state=one_leader_per_term.theorem,
            variants=_false(one_leader_per_term.VARIANTS, one_leader_per_term.false_variant),
            unit="nodes",
            smallest=3,
            largest=5,
        ),
        leader_completeness.NAME: Theorem(
            state=leader_completeness.theorem,
            variants=_false(leader_completeness.VARIANTS, leader_completeness.false_variant),
            unit="nodes",
            smallest=3,
            largest=5,
        ),
        meta_monotone.NAME: Theorem(
            state=meta_monotone.theorem,
            variants=_false(meta_monotone.VARIANTS, meta_monotone.false_variant),
            unit="brokers",
            smallest=2,
            largest=4,
        ),
    }
)
