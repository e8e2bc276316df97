"""How many different transitions a corpus has, and a random sample of them, from any partition.

Both use the rank of a transition, 63 bits that its fingerprint and a seed give, or the number that
machine code draws from it: one or the other in all workers of a run. Ranks are uniform, so the `n`
transitions with the smallest ranks are a random sample of the different ones, however often each
occurs and whatever worker reads which file; and where the smallest `k` ranks end tells how many
there are.

Source: Bar-Yossef et al., "Counting Distinct Elements in a Data Stream" (2002), k minimum values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = [
    "RANKS",
    "SPAN",
    "Distinct",
    "Ranks",
    "distinct_of",
    "rank_of",
    "ranks_of",
    "smallest_of",
]

RANKS: Final = 16_384
"""Ranks that are kept: the error of the estimate is 0.8 %."""

SPAN: Final = 1 << 63
"""All ranks are below."""
_FACTOR: Final = 0x9E3779B97F4A7C15  # the golden ratio, as 64 bits


def rank_of(key: bytes, seed: int, drawn: int = 0) -> int:
    """Return the rank of a transition: less than 2^63, another order for another seed.

    It is that of its fingerprint, or of the number that machine code has drawn from it, if any.
    """
    if drawn:
        return int(ranks_of(np.array([drawn]), seed)[0])
    # An odd factor permutes the ranks, so different fingerprints keep different ones.
    return ((int.from_bytes(key[8:], "little") ^ seed) * _FACTOR) & (SPAN - 1)


def ranks_of(drawn: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.uint64]:
    """Return the ranks of transitions from which machine code has drawn numbers."""
    mixed = (drawn.astype(np.uint64) ^ np.uint64(seed)) * np.uint64(_FACTOR)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(_FACTOR)
    return (mixed ^ (mixed >> np.uint64(29))) & np.uint64(SPAN - 1)


@dataclass(slots=True)
class Ranks:
    """The smallest different ranks that were added."""

    limit: int = RANKS
    below: int = SPAN
    """Only ranks below it can be among the smallest."""
    _ranks: list[int] = field(default_factory=list)

    def add(self, rank: int) -> None:
        """Add a rank."""
        if rank < self.below:
            self._ranks.append(rank)
            if len(self._ranks) >= 4 * self.limit:
                self._shrink()

    def add_all(self, ranks: npt.NDArray[np.uint64]) -> None:
        """Add many ranks."""
        self._ranks += ranks[ranks < self.below].tolist()
        if len(self._ranks) >= 4 * self.limit:
            self._shrink()

    def _shrink(self) -> None:
        self._ranks = sorted(set(self._ranks))[: self.limit]
        if self._ranks and len(self._ranks) == self.limit:
            self.below = self._ranks[-1]

    def packed(self) -> bytes:
        """Return the smallest ranks, 8 bytes each, little-endian."""
        self._shrink()
        return np.array(self._ranks, dtype="<u8").tobytes()


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many different transitions there are."""

    count: int
    exact: bool


def distinct_of(packed: Iterable[bytes], limit: int = RANKS) -> Distinct:
    """Count from the ranks of all workers; exact below `limit`, else within about 1 %."""
    parts = [np.frombuffer(part, dtype="<u8") for part in packed]
    ranks = np.unique(np.concatenate(parts)) if parts else np.array([], dtype="<u8")
    if len(ranks) < limit:
        return Distinct(count=len(ranks), exact=True)
    last = int(ranks[limit - 1]) + 1
    return Distinct(count=round((limit - 1) * SPAN / last), exact=False)


def smallest_of(packed: Iterable[bytes], size: int) -> list[int]:
    """Return the smallest different ranks of all workers, sorted."""
    parts = [np.frombuffer(part, dtype="<u8") for part in packed]
    return [int(rank) for rank in np.unique(np.concatenate(parts))[:size]] if parts else []
