"""JSON as RocketMQ's peers write it, read strictly.

Texts are UTF-8. Members are written in the order of their names and without spaces, as fastjson
does. Two spellings of fastjson are not JSON, and one of them is real: a map with numbers for keys
is written as `{1:"a"}`. Both that and `{"1":"a"}` are read; `member_map` writes the former.

Refused: what is not JSON, a name twice in an object, NaN and Infinity, fractions and exponents (no
number of this protocol has one), integers of more than 20 digits, lone surrogates, and nesting
deeper than the parser can follow.

Source: remoting/protocol `RemotingSerializable` (fastjson 1.2.83)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NoReturn, TypeAlias

import msgspec

from rocketha.errors import PacketError
from rocketha.types import INT64_MAX, INT64_MIN

__all__ = [
    "JsonObject",
    "JsonValue",
    "as_array",
    "as_integer",
    "as_object",
    "as_text",
    "integer_at",
    "member_map",
    "optional_integer_at",
    "optional_text_at",
    "read_json",
    "text_at",
    "write_json",
]

JsonValue: TypeAlias = "bool | int | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
JsonObject: TypeAlias = Mapping[str, JsonValue]

_INTEGER_DIGITS_MAX: Final = 20
_MAYBE_BARE_NAME: Final = re.compile(r"[{,]\s*-?[0-9]")
# A text without end is matched as a whole, too: else each quote in it begins a new search.
_STRING_OR_BARE_NAME: Final = re.compile(
    r'"(?:[^"\\]|\\[\s\S])*+(?:"|\\?\Z)|([{,]\s*)(-?[0-9]{1,19})(\s*:)'
)


def read_json(data: bytes, what: str, *, bare_names: bool = True) -> JsonValue:
    """Read one JSON text; `what` names it in the error.

    Without `bare_names` numbers for names need quotes, as in JSON; looking for them takes as long
    as all the rest.

    Raises: PacketError
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PacketError(what, offset=error.start, reason="is not UTF-8") from None
    try:
        if bare_names and _MAYBE_BARE_NAME.search(text):
            text = _STRING_OR_BARE_NAME.sub(_quoted, text)
        value: JsonValue = _DECODER.decode(text)
        if "\\u" in text:  # half a pair can be written as an escape
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise PacketError(what, offset=error.pos, reason=f"is not JSON: {error.msg}") from None
    except UnicodeEncodeError:
        raise PacketError(what, offset=0, reason="has half a surrogate pair") from None
    except ValueError as error:
        raise PacketError(what, offset=0, reason=str(error)) from None
    except RecursionError:
        raise PacketError(what, offset=0, reason="is nested too deeply") from None
    return value


def write_json(value: JsonValue) -> bytes:
    """Write one JSON text."""
    return _ENCODER.encode(value)


def member_map(members: Iterable[tuple[int, str]]) -> str:
    """Write a map with numbers for keys as fastjson does: without quotes around them."""
    pairs = (f"{key}:{json.dumps(text, ensure_ascii=False)}" for key, text in sorted(members))
    return "{" + ",".join(pairs) + "}"


def as_object(value: JsonValue, what: str) -> JsonObject:
    """Take a value for an object. Raises: PacketError"""
    if not isinstance(value, Mapping):
        _wrong(what, value, "an object")
    return value


def as_array(value: JsonValue, what: str) -> Sequence[JsonValue]:
    """Take a value for an array. Raises: PacketError"""
    if isinstance(value, str) or not isinstance(value, Sequence):
        _wrong(what, value, "an array")
    return value


def as_text(value: JsonValue, what: str) -> str:
    """Take a value for a text. Raises: PacketError"""
    if not isinstance(value, str):
        _wrong(what, value, "a text")
    return value


def as_integer(
    value: JsonValue, what: str, *, least: int = INT64_MIN, most: int = INT64_MAX
) -> int:
    """Take a value for an integer in a range. Raises: PacketError"""
    if isinstance(value, bool) or not isinstance(value, int):
        _wrong(what, value, "an integer")
    if not least <= value <= most:
        _wrong(what, value, f"in {least} .. {most}")
    return value


def text_at(value: JsonObject, name: str) -> str:
    """Read a text that must be there. Raises: PacketError"""
    return as_text(value.get(name), name)


def optional_text_at(value: JsonObject, name: str) -> str | None:
    """Read a text that may be missing or null. Raises: PacketError"""
    return None if value.get(name) is None else text_at(value, name)


def integer_at(
    value: JsonObject, name: str, *, least: int = INT64_MIN, most: int = INT64_MAX
) -> int:
    """Read an integer that must be there. Raises: PacketError"""
    return as_integer(value.get(name), name, least=least, most=most)


def optional_integer_at(
    value: JsonObject, name: str, *, least: int = INT64_MIN, most: int = INT64_MAX
) -> int | None:
    """Read an integer that may be missing or null. Raises: PacketError"""
    return None if value.get(name) is None else integer_at(value, name, least=least, most=most)


def _quoted(match: re.Match[str]) -> str:
    before, key, after = match.groups()
    return match[0] if key is None else f'{before}"{key}"{after}'


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("has a name twice in an object")
    return members


def _integer(digits: str) -> int:
    if len(digits) > _INTEGER_DIGITS_MAX:
        raise ValueError(f"has an integer of {len(digits)} digits")
    return int(digits)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"has the number {text[:40]}, which is no integer")


_ENCODER: Final = msgspec.json.Encoder(order="sorted")
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_no_number,
    parse_constant=_no_number,
)


def _wrong(what: str, value: JsonValue, wanted: str) -> NoReturn:
    shown = "missing or null" if value is None else ascii(value)[:60]
    raise PacketError(what, offset=0, reason=f"is {shown}, not {wanted}")
