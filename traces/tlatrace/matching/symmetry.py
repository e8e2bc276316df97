"""States that are the same but for a renaming of values that nothing tells apart any more.

Two candidates for the events up to k have the same future if one becomes the other by a permutation
of values that the specification mixes up and that the events after k do not name, or name in a way
that the permutation keeps. So one of them is enough: what explains the rest of the trace from one
explains it from the other, renamed. Which values the specification mixes up is the model's answer,
see `tlatrace.oracle.interchange`; which the events name is found here, from the last one backwards.

Only the *key* under which a candidate is remembered is renamed, never the candidate: a trace is
accepted on account of steps that the model allowed as they are. A key is the state under some
permutation that depends on the state; a poor choice makes two keys where one would do, no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final, TypeAlias

from tlatrace.matching.observation import Observation
from tlatrace.oracle.cached import MEMO
from tlatrace.oracle.interchange import atoms_in, renamed, split_by
from tlatrace.oracle.oracle import Oracle
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import Atom, Boolean, Fcn, LazyValue, RuntimeValue
from tlatrace.values import Fcn as FcnValue
from tlatrace.values import ModelValue, TlaSet

__all__ = ["Symmetry", "futures"]

Classes: TypeAlias = tuple[tuple[RuntimeValue, ...], ...]

_MASK: Final = (1 << 61) - 1
_MAX_LOOKS: Final = 24
"""Looks at a state in which values stand beside each other; those still alike stay in order."""


class Symmetry:
    """The permutations of some classes of values."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        self._class_of = {one: at for at, some in enumerate(classes) for one in some}
        self._start = {one: _mix(at) for one, at in self._class_of.items()}
        self._places = lru_cache(MEMO)(self._in_variable)
        self._movable = lru_cache(MEMO)(self._movable_in)

    def key(self, state: ModelState) -> ModelState:
        """Return a state that is this one with some of the values swapped."""
        places = [self._places(at, value) for at, value in enumerate(state)]
        colors = dict(self._start)
        for found, _ in places:
            for one, place in found:
                colors[one] = (colors[one] + place) & _MASK
        if any(related for _, related in places):
            colors = self._refined(state, colors)
        names: dict[RuntimeValue, RuntimeValue] = {}
        for some in self.classes:
            ordered = sorted(some, key=colors.__getitem__)
            names.update((old, new) for old, new in zip(ordered, some, strict=True) if old != new)
        if not names:
            return state
        return tuple([self._renamed(value, names) for value in state])

    def _renamed(
        self, value: RuntimeValue, names: Mapping[RuntimeValue, RuntimeValue]
    ) -> RuntimeValue:
        if type(value) is str or isinstance(value, Atom):
            return names.get(value, value)
        if not any(one in names for one in self._movable(value)):
            return value
        if type(value) is frozenset:
            return frozenset([self._renamed(part, names) for part in value])
        if type(value) is tuple:
            return tuple([self._renamed(part, names) for part in value])
        return renamed(value, names)

    def _movable_in(self, value: RuntimeValue) -> frozenset[RuntimeValue]:
        return frozenset([one for one in atoms_in(value) if one in self._class_of])

    # ---- where a value stands in a state --------------------------------------------------

    def _in_variable(
        self, at: int, value: RuntimeValue
    ) -> tuple[tuple[tuple[RuntimeValue, int], ...], bool]:
        """Say where the values stand in a variable, as numbers, and whether beside each other."""
        look = _Look(self._start, {})
        look.at(value, _mix(at))
        return tuple(look.places.items()), look.related

    def _refined(
        self, state: ModelState, colors: dict[RuntimeValue, int]
    ) -> dict[RuntimeValue, int]:
        """Tell values apart by those beside which they stand, until nothing new is seen.

        Where some are alike then, the first of them is set apart: mostly it does not matter which.
        """
        kinds = len(set(colors.values()))
        for _ in range(_MAX_LOOKS):
            if kinds == len(colors):
                break
            look = _Look(colors, {})
            for at, value in enumerate(state):
                look.at(value, _mix(at))
            colors = {one: _mix(color, look.places.get(one, 0)) for one, color in colors.items()}
            before, kinds = kinds, len(set(colors.values()))
            if kinds == before:
                first: dict[int, RuntimeValue] = {}
                alike = [c for one, c in colors.items() if one is not first.setdefault(c, one)]
                one = first[min(alike)]
                colors[one] = _mix(colors[one], 1)
                kinds += 1
        return colors


class _Look:
    """Adds up where each value stands; what stands there too is seen by its color."""

    def __init__(
        self, colors: Mapping[RuntimeValue, int], seen: dict[RuntimeValue, tuple[int, int]]
    ) -> None:
        self._colors = colors
        self._seen = seen
        self.places: dict[RuntimeValue, int] = {}
        self.related = False

    def at(self, value: RuntimeValue, place: int) -> None:
        """Look into a value that stands at a place."""
        if type(value) is str or isinstance(value, Atom):
            if value in self._colors:
                self.places[value] = (self.places.get(value, 0) + place) & _MASK
            return
        if not isinstance(value, tuple | frozenset | Fcn | LazyValue) or not self._blind(value)[1]:
            return
        match value:
            case tuple():
                for at, part in enumerate(value, start=1):
                    self.at(part, _mix(place, at))
            case frozenset():
                for part in value:
                    self._beside(part, place, self._blind(part))
            case Fcn():
                for key, image in value.items():
                    color, atoms = self._blind(key)
                    if not atoms:
                        self.at(image, _mix(place, color))
                        continue
                    other, more = self._blind(image)
                    both = _mix(color, other), atoms + more
                    self._beside(key, _mix(place, 1), both)
                    self._beside(image, _mix(place, 2), both)
            case LazyValue():
                self.at(value.whole(), place)

    def _beside(self, value: RuntimeValue, place: int, whole: tuple[int, int]) -> None:
        color, atoms = whole
        self.related = self.related or atoms > 1
        self.at(value, _mix(place, color))

    def _blind(self, value: RuntimeValue) -> tuple[int, int]:
        """Return the color of a value, and how many values that may be swapped are in it."""
        match value:
            case int():
                return _mix(value), 0
            case str() | Atom():
                color = self._colors.get(value)
                if color is not None:
                    return color, 1
                return _text(value if isinstance(value, str) else f"={value.name}"), 0
            case Boolean():
                return _text(repr(value)), 0
            case _:
                found = self._seen.get(value)
                if found is None:
                    found = self._seen[value] = self._composite(value)
                return found

    def _composite(self, value: RuntimeValue) -> tuple[int, int]:
        match value:
            case tuple():
                parts = [self._blind(part) for part in value]
                return _mix(5, *[color for color, _ in parts]), sum([atoms for _, atoms in parts])
            case frozenset():
                parts = [self._blind(part) for part in value]
            case Fcn():
                pairs = [(self._blind(k), self._blind(v)) for k, v in value.items()]
                parts = [(_mix(k[0], v[0]), k[1] + v[1]) for k, v in pairs]
            case LazyValue():
                return self._blind(value.whole())
            case _:
                raise AssertionError(f"no value: {value!r}")
        number = sum([_mix(color) for color, _ in parts]) & _MASK
        return _mix(6, len(parts), number), sum([atoms for _, atoms in parts])


def _mix(*numbers: int) -> int:
    """Return a number that depends on all of these: the same in every process."""
    return hash(numbers) & _MASK


@lru_cache(MEMO)
def _text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest())


# ---- which values the events name ---------------------------------------------------------


def futures(model: Oracle, events: Sequence[Observation]) -> list[Symmetry | None]:
    """Say for each number k of events which permutations all events from k on keep.

    None where there is none but the identity.
    """
    found: list[Symmetry | None] = [None] * (len(events) + 1)
    classes = tuple(model.interchangeable())
    known: dict[Classes, Symmetry] = {}
    split = lru_cache(MEMO)(split_by)
    for at in range(len(events), 0, -1):
        if not classes:
            break
        found[at] = known.setdefault(classes, Symmetry(classes))
        named = _named(model, events[at - 1])
        movable = {one for some in classes for one in some}
        values = [value for value in named if any(one in movable for one in atoms_in(value))]
        if values:
            classes = split(classes, tuple(values))
    return found


def _named(model: Oracle, seen: Observation) -> list[RuntimeValue]:
    """List all values of an event."""
    found: list[RuntimeValue] = []

    def look(item: object) -> None:
        match item:
            case Atom() | Boolean() | frozenset() | Fcn() | LazyValue():
                found.append(item)
            case bool() | int() | str() | ModelValue() | TlaSet() | FcnValue():
                found.append(model.adopt_value(item))
            case tuple():
                for part in item:
                    look(part)
            case _ if is_dataclass(item) and not isinstance(item, type):
                for one in fields(item):
                    look(getattr(item, one.name))
            case _:
                assert item is None, f"an event holds {item!r}"

    look(tuple([getattr(seen, one.name) for one in fields(seen) if one.name != "event"]))
    return found
