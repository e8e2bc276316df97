"""Hypothesis strategies for histories of master epochs: what an epoch cache can come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import strategies as st

BROKERS = 3


@dataclass(frozen=True, slots=True)
class BecomeMaster:
    """A broker is elected; it writes nothing yet."""

    broker: int


@dataclass(frozen=True, slots=True)
class Write:
    """A broker writes so many bytes as master, unless it has followed somebody since."""

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


HistoryStep: TypeAlias = BecomeMaster | Write | Follow | Lose


def brokers() -> st.SearchStrategy[int]:
    """Numbers of brokers."""
    return st.integers(0, BROKERS - 1)


def steps() -> st.SearchStrategy[HistoryStep]:
    """One step of a history; elections are as unclean as can be."""
    sizes = st.integers(0, 4)
    return st.one_of(
        st.builds(BecomeMaster, brokers()),
        st.builds(Write, brokers(), sizes),
        st.builds(Follow, brokers(), brokers(), sizes),
        st.builds(Lose, brokers(), sizes),
    )


def histories() -> st.SearchStrategy[list[HistoryStep]]:
    """Histories of a group that begins empty."""
    return st.lists(steps(), max_size=30)
