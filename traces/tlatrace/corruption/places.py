"""Places inside values, and the names that values have had at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from tlatrace.values import ExactString, Fcn, ModelValue, TlaSet, Value, canonical, fcn, tla_set

__all__ = ["Path", "Pool", "places", "put", "shape_of"]

Path: TypeAlias = tuple[int, ...]
"""Which element of a tuple or set, or which pair of a function, from the outside in; from 0."""


class Pool:
    """Values that traces have had, by the shape of the place where they stood."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._by_shape: dict[str | type, dict[str, Value]] = {}

    def learn(self, shape: str, value: Value) -> None:
        """Note the names in a value that stands at a place of this shape."""
        for path, leaf in places(value):
            if isinstance(leaf, str | ExactString | ModelValue):
                inner = shape + shape_of(value, path)
                for key in (inner, _last_name(inner), type(leaf)):
                    self._by_shape.setdefault(key, {})[canonical(leaf)] = leaf

    def others(self, shape: str, value: Value) -> list[Value]:
        """Return other names of a place, else of places with the same last name."""
        return self._first_of((shape, _last_name(shape)), value, (str, ExactString, ModelValue))

    def anywhere(self, shape: str, value: Value) -> list[Value]:
        """Return other names of a place, else of any: strings for a string, ..."""
        return self._first_of((shape, _last_name(shape), type(value)), value, (type(value),))

    def _first_of(
        self, keys: Iterable[str | type], value: Value, types: tuple[type, ...]
    ) -> list[Value]:
        own = canonical(value)
        for key in keys:
            known: Mapping[str, Value] = self._by_shape.get(key, {})
            names = [known[text] for text in sorted(known) if text != own]
            found = [name for name in names if isinstance(name, types)]
            if found:
                return found
        return []


def places(value: Value, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    """Yield each place in a value with what stands there; the value itself first."""
    yield path, value
    for at, part in enumerate(_parts(value)):
        yield from places(part, (*path, at))


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


def put(value: Value, path: Path, new: Value) -> Value:
    """Return a value that has another one at a place."""
    if not path:
        return new
    at, rest = path[0], path[1:]
    parts = list(_parts(value))
    parts[at] = put(parts[at], rest, new)
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


def shape_of(value: Value, path: Path) -> str:
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
