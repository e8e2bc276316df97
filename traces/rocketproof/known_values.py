"""The values of a state that follows another one: what is made of the same is the same object."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from tlatrace.values import Value, record

__all__ = ["KnownValues", "itself"]

T = TypeVar("T")
V = TypeVar("V", bound=Value)


class KnownValues:
    """The values of the last state, and what they were made of.

    A value is built once for as long as it lasts, and so is its text, which it keeps.
    """

    def __init__(self) -> None:
        """Begin before the first state."""
        self._known: dict[Hashable, tuple[object, Value]] = {}

    def of(self, part: Hashable, raw: T, make: Callable[[T], Value]) -> Value:
        """Return the value of a part, made if it is of something else than the last time.

        What it is made of does not change in itself, and has no booleans in the place of integers.
        """
        known = self._known.get(part)
        if known is None or known[0] != raw:
            known = self._known[part] = raw, make(raw)
        return known[1]

    def of_each(
        self, variable: str, names: Sequence[str], raws: Sequence[T], make: Callable[[T], Value]
    ) -> Value:
        """Return a variable that has a value for each of these names."""

        def whole(of_names: Sequence[T]) -> Value:
            parts = zip(names, of_names, strict=True)
            return record({name: self.of((variable, name), raw, make) for name, raw in parts})

        return self.of(variable, raws, whole)


def itself(value: V) -> V:
    """Return a value that is made of nothing but itself."""
    return value
