"""Parts of a state as JSON: dataclasses by their fields, mappings by pairs, sets in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import msgspec

from rocketha.recording.record import Json

__all__ = ["as_json"]


def as_json(value: object, *, tagged: bool = False) -> Json:
    """Return a value as JSON; a mapping is an array of pairs, as keys need not be texts.

    Of bytes it is their number. If it is `tagged`, each dataclass says in `is` which one it is.

    Raises:
        TypeError: what is in it has no form in JSON: a function, a float.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, int | str):
        return value
    if isinstance(value, tuple | list):
        return [as_json(part, tagged=tagged) for part in value]
    if isinstance(value, bytes):
        return {"size": len(value)}
    if isinstance(value, frozenset | set):
        return sorted((as_json(part, tagged=tagged) for part in value), key=_text)
    if isinstance(value, Mapping):
        return _mapping(value, tagged=tagged)
    if is_dataclass(value) and not isinstance(value, type):
        said: dict[str, Json] = {"is": type(value).__name__} if tagged else {}
        for name in _fields(type(value)):
            said[name] = as_json(getattr(value, name), tagged=tagged)
        return said
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _mapping(value: Mapping[Any, Any], *, tagged: bool) -> Json:
    pairs: list[Json] = [
        [as_json(key, tagged=tagged), as_json(part, tagged=tagged)] for key, part in value.items()
    ]
    return sorted(pairs, key=_text)


def _text(value: Json) -> bytes:
    return msgspec.json.encode(value)


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))
