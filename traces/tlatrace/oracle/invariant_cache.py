"""All invariants at once, in a state that differs little from one in which they were TRUE.

A *slot* is a variable, or what it is at one argument, as an `InvariantInstance` reads it. When
a slot changes, the groups of instances that read it are asked again, and a group that has met the
same values before is known to be TRUE. A set of groups is an int: to join two costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import Fcn, RuntimeValue

__all__ = ["InvariantCache", "InvariantInstance"]

_MAX_SETS: Final = 20_000
"""Sets of groups that are kept as lists."""
_MAX_KNOWN: Final = 50_000
"""Values that a group remembers to be TRUE of."""


@dataclass(frozen=True, slots=True)
class InvariantInstance:
    """An instance of a conjunct of an invariant, asked by `holds(state, None, arguments)`."""

    holds: Callable[..., bool]
    arguments: tuple[RuntimeValue, ...]
    reads: tuple[tuple[int, RuntimeValue | None], ...]
    """(position of a variable, the argument that it is applied to; None: all of the variable)."""


class _Group:
    """Instances that read the same slots."""

    __slots__ = ("instances", "known", "take")

    def __init__(self, slots: Sequence[int]) -> None:
        self.instances: list[tuple[Callable[..., Any], tuple[RuntimeValue, ...]]] = []
        self.take: Callable[[list[Any]], object] = itemgetter(*slots) if slots else _nothing
        self.known: dict[object, object] = {}
        """Ids of the values in the slots -> these values: as long as they live, so do their ids."""


def _nothing(_: list[Any]) -> object:
    return ()


class InvariantCache:
    """Instances by what they read, and the values of which they are known to be TRUE."""

    __slots__ = ("_asked", "_clean", "_groups", "_ids", "_places", "_readers", "_values", "_whole")

    def __init__(self, instances: Sequence[InvariantInstance], variables: int) -> None:
        """Sort the instances about states of so many variables."""
        self._clean: ModelState | None = None
        """The state whose values are in the slots; every instance is TRUE in it."""
        self._values: list[RuntimeValue | None] = [None] * variables
        """The first slots are the variables, in their order."""
        self._places: list[dict[RuntimeValue, int]] = [{} for _ in range(variables)]
        """Slot of each argument at which an instance reads a variable."""
        groups: dict[tuple[int, ...], _Group] = {}
        for instance in instances:
            slots = tuple(sorted({self._slot(at, place) for at, place in instance.reads}))
            group = groups.setdefault(slots, _Group(slots))
            group.instances.append((instance.holds, instance.arguments))
        self._groups = list(groups.values())
        self._ids = [id(None)] * len(self._values)
        self._readers = [0] * len(self._values)
        """The groups that read each slot."""
        for number, slots in enumerate(groups):
            for slot in slots:
                self._readers[slot] |= 1 << number
        self._whole = list(self._readers[:variables])
        """The groups that read anything of a variable."""
        for at, places in enumerate(self._places):
            for slot in places.values():
                self._whole[at] |= self._readers[slot]
        self._asked: dict[int, list[_Group]] = {}

    def _slot(self, at: int, place: RuntimeValue | None) -> int:
        if place is None:
            return at
        slot = self._places[at].setdefault(place, len(self._values))
        if slot == len(self._values):
            self._values.append(None)
        return slot

    def hold(self, state: ModelState) -> bool:
        """Tell whether all instances are TRUE; False, too, where one has no value."""
        asked = self._changed(state)
        if not asked:
            self._clean = state
            return True
        self._clean = None  # until all have said so
        for group in self._asked.get(asked) or self._listed(asked):
            key = group.take(self._ids)
            if key in group.known:
                continue
            try:
                for holds, arguments in group.instances:
                    if not holds(state, None, arguments):
                        return False
            except Exception:  # an expression without a value is not TRUE
                return False
            if len(group.known) >= _MAX_KNOWN:
                group.known.clear()
            group.known[key] = group.take(self._values)
        self._clean = state
        return True

    def _changed(self, state: ModelState) -> int:
        """Put the values of a state into the slots; return the groups that have to be asked."""
        clean, ids, values = self._clean, self._ids, self._values
        if clean is None:
            for at, value in enumerate(state):
                self._fill(at, value)
            return (1 << len(self._groups)) - 1
        asked = 0
        for at, value in enumerate(state):
            before = clean[at]
            if value is before:
                continue
            if type(value) is not Fcn or type(before) is not Fcn or len(value) != len(before):
                self._fill(at, value)
                asked |= self._whole[at]
                continue
            asked |= self._readers[at]
            ids[at], values[at] = id(value), value
            places = self._places[at]
            for place, image in value.items():
                if place not in before:
                    self._fill(at, value)
                    asked |= self._whole[at]
                    break
                if before[place] is not image and place in places:
                    slot = places[place]
                    ids[slot], values[slot] = id(image), image
                    asked |= self._readers[slot]
        return asked

    def _fill(self, at: int, value: RuntimeValue) -> None:
        """Put a variable into its slots; what it has no value at is a slot with None."""
        self._values[at] = value
        for place, slot in self._places[at].items():
            if isinstance(value, Fcn):
                self._values[slot] = value.get(place)
            elif isinstance(value, tuple) and isinstance(place, int) and 0 < place <= len(value):
                self._values[slot] = value[place - 1]
            else:
                self._values[slot] = None
            self._ids[slot] = id(self._values[slot])
        self._ids[at] = id(value)

    def _listed(self, asked: int) -> list[_Group]:
        if len(self._asked) >= _MAX_SETS:
            self._asked.clear()
        found = [group for number, group in enumerate(self._groups) if asked >> number & 1]
        self._asked[asked] = found
        return found
