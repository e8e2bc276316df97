"""What a test's author writes: how the system under test takes an action, and what it shows.

Model values are plain strings on both sides, as in traces. What a system shows is plain Python:
`tlatrace.testing.observed` says what stands for what.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tlatrace.testing.observed import Observed
from tlatrace.values import Value

__all__ = ["Adapter", "Closing", "Following", "Selective", "Stuttering", "close"]


class Adapter(Protocol):
    """A system under test in its initial state; each run makes a new one."""

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Make the system take an action that the model allows now.

        Whatever it raises is a failure of the system.
        """

    def observe(self) -> Observed:
        """Return the variables that the system shows: all of them, or some.

        `{"votes": {"r1": 2}, "seen": {"r1"}, "log": ["a", "b"]}`: the types of the variables decide
        whether "r1" is a string or a model value, and whether a list is a sequence or a set.
        What is not shown is left to the model: it keeps every state that fits.
        """


@runtime_checkable
class Selective(Protocol):
    """An adapter that cannot always make happen what the model allows."""

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether the system can be made to take an action now."""


@runtime_checkable
class Stuttering(Protocol):
    """An adapter with calls that are no action of the model: they must change nothing."""

    def stuttering_calls(self) -> Sequence[str]:
        """Name the calls that can be made now, in a fixed order."""

    def make_idle_call(self, name: str) -> None:
        """Make one of them.

        Whatever it raises is a failure of the system.
        """


@runtime_checkable
class Following(Protocol):
    """An adapter of a system that sometimes takes several actions at once.

    What it has taken besides is taken by the model, too, one after the other; `observe` returns
    what the system shows between them.
    """

    def follow(self) -> tuple[str, tuple[Value, ...]] | None:
        """Return the action that came behind the last one, and come to the state after it.

        None: nothing came.
        """


@runtime_checkable
class Closing(Protocol):
    """An adapter that holds something which must be given back."""

    def close(self) -> None:
        """End the system under test; called once after each run."""


def close(adapter: Adapter) -> None:
    """End the system under test, if it has to be ended."""
    if isinstance(adapter, Closing):
        adapter.close()
