"""Places inside values, and other values of the same type for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import TypeAlias

from tlatrace.values import ExactString, Fcn, ModelValue, TlaSet, Value, canonical, fcn, tla_set

__all__ = ["Path", "Pool", "changed"]

Path: TypeAlias = tuple[int, ...]
"""Which element of a tuple or set, or which pair of a function, from the outside in; from 0."""


class Pool:
    """Values that traces have had, by the shape of the place where they stood."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._by_shape: dict[str, dict[str, Value]] = {}

    def learn(self, shape: str, value: Value) -> None:
        """Note the names in a value that stands at a place of this shape."""
        for path, leaf in _places(value):
            if isinstance(leaf, str | ExactString | ModelValue):
                inner = shape + _shape(value, path)
                for key in (inner, _last_name(inner)):
                    self._by_shape.setdefault(key, {})[canonical(leaf)] = leaf

    def others(self, shape: str, value: Value) -> list[Value]:
        """Return other names of a place, else of places with the same last name."""
        for key in (shape, _last_name(shape)):
            known: Mapping[str, Value] = self._by_shape.get(key, {})
            own = canonical(value)
            found = [known[text] for text in sorted(known) if text != own]
            if found:
                return found
        return []


def changed(value: Value, shape: str, pool: Pool, draw: Random) -> Value | None:
    """Change one place in a value; None where the place that was drawn has no other value."""
    places = list(_places(value))
    path, part = places[draw.randrange(len(places))]
    others = _others(part, shape + _shape(value, path), pool)
    if not others:
        return None
    return _put(value, path, others[draw.randrange(len(others))])


def _others(part: Value, shape: str, pool: Pool) -> list[Value]:
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
            gone = range(len(part))
            return [tla_set([one for at, one in enumerate(part) if at != out]) for out in gone]
        case Fcn():
            return []  # a function with another domain is of another type


def _places(value: Value, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    yield path, value
    for at, part in enumerate(_parts(value)):
        yield from _places(part, (*path, at))


def _parts(value: Value) -> tuple[Value, ...]:
    match value:
        case tuple():
            return value
        case TlaSet():
            return value.elements
        case Fcn():
            return tuple([image for _, image in value.pairs])
        case _:
            return ()


def _put(value: Value, path: Path, new: Value) -> Value:
    if not path:
        return new
    at, rest = path[0], path[1:]
    parts = list(_parts(value))
    parts[at] = _put(parts[at], rest, new)
    match value:
        case tuple():
            return tuple(parts)
        case TlaSet():
            return tla_set(parts)
        case Fcn():
            keys = [key for key, _ in value.pairs]
            return fcn(list(zip(keys, parts, strict=True)))
        case _:
            raise AssertionError(f"a path into {value!r}")


def _shape(value: Value, path: Path) -> str:
    """Write the fields and arguments on a path; all elements of a sequence or set are alike."""
    shape = ""
    for at in path:
        match value:
            case Fcn():
                shape += "." + canonical(value.pairs[at][0])
            case _:
                shape += ".*"
        value = _parts(value)[at]
    return shape


def _last_name(shape: str) -> str:
    return shape.rpartition(".")[2]
