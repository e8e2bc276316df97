"""Application and EXCEPT: where the place is one of several, so is the result."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Many

import z3

from tlatrace.errors import EvaluationError
from tlatrace.symbolic.values import (
    Choice,
    Function,
    Nothing,
    Sequence,
    Symbolic,
    Tuple,
    equal,
    is_no,
    literal,
    merge,
    options_of,
)

__all__ = ["applied", "updated"]


def applied(function: Symbolic, place: Symbolic) -> Symbolic:
    """Return function[place]; where there is no value, some value, if there is one anywhere."""
    found: Symbolic = Nothing()
    if isinstance(function, Choice) and all(isinstance(one, Tuple) for _, one in function.options):
        return _among(_items(function), place)
    for guard, option in reversed(options_of(function)):
        found = merge(guard, _image(option, place), found)
    return found


def _image(function: Symbolic, place: Symbolic) -> Symbolic:
    match function:
        case Sequence():
            return function.at(place)
        case Tuple():
            pairs = [(z3.IntVal(at), item) for at, item in enumerate(function.items, start=1)]
            return _among(pairs, place)
        case Function():
            keys = [literal(key) for key in function.keys]
            return _among(list(zip(keys, function.values, strict=True)), place)
        case _:
            return Nothing()


def _items(sequences: Choice) -> list[tuple[Symbolic, Symbolic]]:
    """Return the places of sequences, and what is there: most of them have the same there."""
    found: list[tuple[Symbolic, Symbolic]] = []
    for guard, one in reversed(sequences.options):
        assert isinstance(one, Tuple)
        for at, item in enumerate(one.items):
            if at == len(found):
                found.append((z3.IntVal(at + 1), item))
            else:
                found[at] = found[at][0], merge(guard, item, found[at][1])
    return found


def _among(pairs: list[tuple[Symbolic, Symbolic]], place: Symbolic) -> Symbolic:
    found: Symbolic = Nothing()
    for key, image in reversed(pairs):
        here = equal(place, key)
        if not is_no(here):
            found = merge(here, image, found)
    return found


def updated(
    function: Symbolic, path: Many[Symbolic], change: Callable[[Symbolic], Symbolic]
) -> Symbolic:
    """Return [function EXCEPT !path = change(what was there)]; other places stay."""
    if not path:
        return change(function)
    if isinstance(function, Choice):
        found: Symbolic = Nothing()
        for guard, option in reversed(function.options):
            found = merge(guard, updated(option, path, change), found)
        return found
    if isinstance(function, Sequence):
        (place, *rest) = path
        entry = updated(function.at(place), rest, change)
        pairs = zip(function.leaves, function.shape.leaves(entry), strict=True)
        stored = [z3.Store(array, place, leaf) for array, leaf in pairs]
        return Sequence(function.length, function.shape, tuple(stored))
    if not isinstance(function, Function):
        raise EvaluationError(f"EXCEPT of a {type(function).__name__}")
    values: list[Symbolic] = []
    for key, old in zip(function.keys, function.values, strict=True):
        here = equal(path[0], literal(key))
        if is_no(here):
            values.append(old)
        else:
            values.append(merge(here, updated(old, path[1:], change), old))
    return Function(function.keys, tuple(values))
