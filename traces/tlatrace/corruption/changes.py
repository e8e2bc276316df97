"""Other values for a place: of its type, of its kind, or of another one."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from tlatrace.corruption.places import Pool, places, put, shape_of
from tlatrace.values import ExactString, Fcn, ModelValue, TlaSet, Value, fcn, same, tla_set

__all__ = ["Others", "changed", "of_another_kind", "of_its_kind", "of_its_type"]

Others: TypeAlias = Callable[[Value, str, Pool], list[Value]]
"""What may stand in the place of a part, which has a shape, by the names that are known."""

_ANY: Final[tuple[Value, ...]] = (0, 1, "other", True, (), (1,), tla_set([]), tla_set([1]))


def changed(value: Value, shape: str, pool: Pool, draw: Random, others: Others) -> Value | None:
    """Change one place in a value; None where the place that was drawn has no other value."""
    found = list(places(value))
    path, part = found[draw.randrange(len(found))]
    possible = others(part, shape + shape_of(value, path), pool)
    if not possible:
        return None
    return put(value, path, possible[draw.randrange(len(possible))])


def of_its_type(part: Value, shape: str, pool: Pool) -> list[Value]:
    """List what a place of a specification with types may hold: a function keeps its domain."""
    match part:
        case bool():
            return [not part]
        case int():
            return [part + 1, part - 1]
        case str() | ExactString() | ModelValue():
            return pool.others(shape, part)
        case tuple():
            return [part[:-1], (*part, part[-1])] if part else []
        case TlaSet():
            return _without_one(part)
        case Fcn():
            return []  # a function with another domain is of another type


def of_its_kind(part: Value, shape: str, pool: Pool) -> list[Value]:
    """List values of the same kind: numbers for numbers, any names, other domains and orders."""
    match part:
        case str() | ExactString() | ModelValue():
            return pool.anywhere(shape, part)
        case ():
            return [(1,)]
        case tuple():
            turned = [
                (*part[:at], part[at + 1], part[at], *part[at + 2 :]) for at in range(len(part) - 1)
            ]
            return [*of_its_type(part, shape, pool), *turned]
        case TlaSet():
            more = [one for element in part for one in of_its_kind(element, f"{shape}.*", pool)]
            return [*_without_one(part), *[tla_set([*part, one]) for one in more or [1]]]
        case Fcn():
            return _with_other_domains(part, shape, pool)
        case _:
            return of_its_type(part, shape, pool)


def of_another_kind(part: Value, _shape: str, _pool: Pool) -> list[Value]:
    """List values of other kinds, and some that happen to be of the same.

    Strings and tuples stand for each other nowhere: whether TLC can compare them hangs on how they
    were written.
    """
    texts = isinstance(part, str | tuple)
    return [one for one in _ANY if not (texts and isinstance(one, str | tuple))]


def _without_one(part: TlaSet) -> list[Value]:
    gone = range(len(part))
    return [tla_set([one for at, one in enumerate(part) if at != out]) for out in gone]


def _with_other_domains(part: Fcn, shape: str, pool: Pool) -> list[Value]:
    """List functions that lack an argument, or have another one in its place."""
    found: list[Value] = []
    for at, (key, image) in enumerate(part.pairs):
        others = [pair for number, pair in enumerate(part.pairs) if number != at]
        found.append(fcn(others))
        found += [
            fcn([*others, (new, image)])
            for new in of_its_kind(key, f"{shape}.*", pool)
            if not any(same(new, taken) for taken, _ in others)
        ]
    return found
