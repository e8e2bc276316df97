"""What is said of the clients of a run, whatever its protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

__all__ = ["AllKept", "AnyVerdict", "Broken", "Promise", "Undecided"]


class Promise(StrEnum):
    """A promise of a protocol here; see `rocketha.histories.checker` and the other checkers."""

    DURABLE = "durable"
    REFUSED = "refused"
    VISIBLE = "visible"
    AGREEMENT = "agreement"
    ONCE = "once"
    ORDER = "order"
    IN_TURN = "in turn"
    """Of consumers that process queues in order, see `rocketha.histories.ordered`."""
    EXACT = "exact"
    """Of a node with registers, as those below, see `rocketha.histories.registers`."""
    FORWARD = "forward"
    STAYS = "stays"
    REFUSAL = "refusal"
    COMPLETE = "complete"
    WRITTEN = "written"
    """Of whoever reads replicas, as those below, see `rocketha.histories.replicas`."""
    GROWS = "grows"
    ALIKE = "alike"
    COPIED = "copied"
    LINEARIZABLE = "linearizable"
    """Of registers that clients read and write, see `rocketha.histories.linearizability`."""
    WRITABLE = "writable"
    """Of clients that ask name servers, as the next one, see `rocketha.histories.routes`."""
    NEWEST = "newest"
    CARRIED = "carried over"
    """Of consumers that commit, see `rocketha.histories.offsets`."""
    IN_TIME = "in time"
    """Of what escapes to other masters, as those below, see `rocketha.histories.escaped`."""
    COMMITTED = "committed"
    DONE_WITH = "done with"
    DELIVERED = "delivered"


class AllKept(ABC):
    """All promises are kept, and some were put to the test."""

    __slots__ = ()

    @property
    @abstractmethod
    def counted(self) -> int:
        """Return how much was put to the test: messages, reads; never 0."""

    @property
    def parts(self) -> Mapping[str, int]:
        """Return it by kinds, where it has any; each is a plural, or a clause."""
        return {}

    @abstractmethod
    def in_words(self) -> str:
        """Say it in a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A promise is broken: the first one that is, in the order of the table."""

    promise: str
    """Of `Promise`, or a protocol's own."""
    reason: str
    """What happened, a clause without a full stop."""
    also: tuple[str, ...] = ()
    """Other promises that are broken, of checkers that look on."""

    def in_words(self) -> str:
        """Say it in a line."""
        also = f"; broken, too: {', '.join(self.also)}" if self.also else ""
        return f"broken ({self.promise}): {self.reason}{also}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """Nothing was put to the test, or not all of it."""

    reason: str

    def in_words(self) -> str:
        """Say it in a line."""
        return f"undecided: {self.reason}"


AnyVerdict: TypeAlias = AllKept | Broken | Undecided
"""What is said of the clients of some protocol."""
