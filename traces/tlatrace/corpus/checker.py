"""What the kernel asks of a compiled model, and how a worker comes by it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeVar

from tlatrace.judgement.transition import Judgement
from tlatrace.oracle.rows import RowJudge

__all__ = ["Checker", "CheckerSource", "RowsSource"]

S = TypeVar("S")


class Checker(Protocol[S]):
    """Judges steps of one model, given as canonical JSON texts; may remember what it has read."""

    def state(self, text: str, /) -> S:
        """Read a state from its canonical text.

        Raises:
            TlatraceError: the text is no canonical state of this model.
        """
        ...

    def step(self, pre: S | None, action: str | None, params: str, post: S, /) -> Judgement:
        """Judge a step; `pre` is None where `post` is claimed to be an initial state."""
        ...

    def invariants(self, state: S, /) -> tuple[tuple[str, ...], str | None]:
        """Return the violated invariants, and why there is no value where one has none."""
        ...


class CheckerSource(Hashable, Protocol):
    """Plain data that crosses to another process and becomes a checker there."""

    def open(self) -> Checker[object]:
        """Make a checker that remembers nothing; needs no Java, and is cheap a second time."""
        ...


class RowsSource(Hashable, Protocol):
    """Plain data that crosses to another process and becomes a judge of rows there."""

    def open_rows(self) -> RowJudge:
        """Make one that remembers nothing; cheap where it has been made on this machine before."""
        ...
