"""JSON as RocketMQ's library writes it, byte for byte; `json_text` reads it.

| what                 | for brokers, and clients of old releases | standard: for other clients |
|----------------------|------------------------------------------|-----------------------------|
| names of an object   | in the order given                       | sorted                      |
| numbers as names     | without quotes: `{1:"a"}`                | with quotes, sorted         |
| integers beyond 2^53 | as they are                              | in quotes                   |
| texts                | UTF-8; `"`, `\\` and what is before U+0020 escaped                      |

A name server answers both for a route. Objects have their members in alphabetic order. RocketMQ's
maps are in no order of their own, so here each has the one that it is given in: numbers below 16
ascend in RocketMQ's. 5.5.0 escapes as here, 5.3.3 more characters, which are the same when read.

Source: fastjson2 `JSON.toJSONString`, with `BrowserCompatible`, `MapSortField` in namesrv/processor
`ClientRequestProcessor`
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast

from rocketha.errors import EncodingError

__all__ = ["FastjsonValue", "write_fastjson"]

FastjsonValue: TypeAlias = (
    "bool | int | str | Sequence[FastjsonValue] | Mapping[str, FastjsonValue]"
    " | Mapping[int, FastjsonValue]"
)

_EXACT_MAX: Final = 2**53 - 1
"""Beyond it JavaScript's numbers are not all integers."""
_quoted: Final = json.JSONEncoder(ensure_ascii=False).encode
"""`json.dumps` makes an encoder for each text."""


def write_fastjson(value: FastjsonValue, *, standard: bool = False) -> bytes:
    """Write one JSON text. Raises: EncodingError if it has half a surrogate pair"""
    try:
        return _text(value, standard).encode("utf-8")
    except UnicodeEncodeError:
        raise EncodingError("JSON", reason="has half a surrogate pair") from None


def _text(value: FastjsonValue, standard: bool) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return f'"{value}"' if standard and abs(value) > _EXACT_MAX else str(value)
        case str():
            return _quoted(value)
        case Mapping():
            members = cast("list[tuple[int | str, FastjsonValue]]", list(value.items()))
            if standard:
                members.sort(key=lambda member: member[0])
            return "{" + ",".join(_member(name, of, standard) for name, of in members) + "}"
        case _:
            return "[" + ",".join(_text(item, standard) for item in value) + "]"


def _member(name: int | str, value: FastjsonValue, standard: bool) -> str:
    key = str(name) if isinstance(name, int) else _quoted(name)
    if isinstance(name, int) and standard:
        key = f'"{key}"'
    return f"{key}:{_text(value, standard)}"
