"""Hypothesis strategies for histories of reigns: what an epoch cache can come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import strategies as st

BROKERS = 3


@dataclass(frozen=True, slots=True)
class Reign:
    """A broker is elected; it writes nothing yet."""

    broker: int


@dataclass(frozen=True, slots=True)
class Write:
    """A broker writes so many bytes in its last reign, unless it has followed somebody since."""

    broker: int
    size: int


@dataclass(frozen=True, slots=True)
class Follow:
    """A broker cuts its log at the consistent point, then copies at most so many bytes."""

    broker: int
    master: int
    size: int


@dataclass(frozen=True, slots=True)
class Lose:
    """A broker crashes and loses so many bytes, if it has them."""

    broker: int
    size: int


Happening: TypeAlias = Reign | Write | Follow | Lose


def brokers() -> st.SearchStrategy[int]:
    """Numbers of brokers."""
    return st.integers(0, BROKERS - 1)


def happenings() -> st.SearchStrategy[Happening]:
    """One step of a history; elections are as unclean as can be."""
    sizes = st.integers(0, 4)
    return st.one_of(
        st.builds(Reign, brokers()),
        st.builds(Write, brokers(), sizes),
        st.builds(Follow, brokers(), brokers(), sizes),
        st.builds(Lose, brokers(), sizes),
    )


def histories() -> st.SearchStrategy[list[Happening]]:
    """Histories of a group that begins empty."""
    return st.lists(happenings(), max_size=30)
