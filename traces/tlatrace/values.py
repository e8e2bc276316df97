"""TLA+ values in Python, with one canonical form.

| TLA+                      | Python              | JSON                                          |
|---------------------------|---------------------|-----------------------------------------------|
| TRUE, FALSE               | bool                | true, false                                   |
| integer                   | int                 | number if |i| < 2^53, else {"#bigint": "..."} |
| string                    | str                 | string                                        |
| string, no model value    | ExactString         | {"#str": "text"}                              |
| model value               | ModelValue          | {"#model": "name"}                            |
| tuple, sequence           | tuple               | array ({"#tup": [...]} is read too)           |
| set                       | TlaSet              | {"#set": [...]}                               |
| record                    | Fcn over strings    | object                                        |
| any other function        | Fcn                 | {"#map": [[key, value], ...]}                 |

In TLA+ a tuple is a function, so a function with the domain 1..n is always a Python tuple here, and
the empty function is `()`. A record with a field that starts with "#" is written as "#map".

A trace's plain string may stand for a model value, which `tlatrace.readings` finds out with the
specification; an `ExactString` may not. Of values that are read so, none is an `ExactString`.

Python says `1 == True`; TLA+ does not. Two values are the same iff their canonical texts are
equal: never compare raw Python values where booleans and integers may mix. The canonical text is
the JSON above without spaces, with object keys in code point order, and with the elements of sets
and the pairs of maps ordered by the canonical text of the element or key.

Nesting is limited to `MAX_DEPTH`, so that no recursion here can exhaust the stack.

Source: Apalache ADR-015 (ITF) for the `#` keys; "#model" and "#str" are ours.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import Final, TypeAlias, assert_never

from tlatrace.errors import ValueFormatError

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "PLAIN_INT_LIMIT",
    "ExactString",
    "Fcn",
    "Json",
    "ModelValue",
    "State",
    "TlaSet",
    "Value",
    "canonical",
    "canonical_state",
    "fcn",
    "from_json",
    "record",
    "same",
    "state_from_json",
    "state_to_json",
    "tla_set",
    "to_json",
]

MAX_DEPTH: Final = 64
MAX_DIGITS: Final = 1000

_INT_LIMIT: Final = 10**MAX_DIGITS
PLAIN_INT_LIMIT: Final = 2**53  # beyond it, JSON readers with doubles lose digits
_BIGINT: Final = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_MODEL_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,256}", re.ASCII)
_TOO_DEEP: Final = f"the value is nested deeper than {MAX_DEPTH}"

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Value: TypeAlias = "bool | int | str | ExactString | ModelValue | tuple[Value, ...] | TlaSet | Fcn"
State: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class ModelValue:
    """A TLC model value: equal only to itself."""

    name: str


@dataclass(frozen=True, slots=True)
class ExactString:
    """A string of a trace that stands for no model value, whatever the specification declares."""

    text: str


class TlaSet:
    """A finite set; build it with `tla_set`.

    `elements` has no two elements that are the same, and is ordered by their canonical texts.
    """

    __slots__ = ("_text", "elements")

    def __init__(self, elements: tuple[Value, ...], text: str) -> None:
        self.elements = elements
        self._text = text

    def __iter__(self) -> Iterator[Value]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def __contains__(self, value: Value) -> bool:
        text = canonical(value)
        at = bisect_left(self.elements, text, key=canonical)
        return at < len(self.elements) and canonical(self.elements[at]) == text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TlaSet) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"TlaSet({self._text})"


class Fcn:
    """A function whose domain is not 1..n, records included; build it with `fcn` or `record`.

    `pairs` is ordered: by field name for records, by the canonical text of the key for others.
    """

    __slots__ = ("_is_object", "_text", "pairs")

    def __init__(self, pairs: tuple[tuple[Value, Value], ...], is_object: bool) -> None:
        self.pairs = pairs
        self._is_object = is_object
        self._text: str | None = None

    @property
    def is_object(self) -> bool:
        """Tell whether JSON writes it as an object: a record without a field named "#..."."""
        return self._is_object

    @property
    def is_record(self) -> bool:
        """Tell whether every element of the domain is a string."""
        return self._is_object or all(isinstance(key, str) for key, _ in self.pairs)

    def fields(self) -> dict[str, Value]:
        """Return the fields of a record by name; must be a record."""
        assert self.is_record, f"{self!r} is not a record"
        return {key: value for key, value in self.pairs if isinstance(key, str)}

    def __getitem__(self, key: Value) -> Value:
        text = canonical(key)
        for candidate, value in self.pairs:
            if canonical(candidate) == text:
                return value
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self.pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fcn) and canonical(self) == canonical(other)

    def __hash__(self) -> int:
        return hash(canonical(self))

    def __repr__(self) -> str:
        return f"Fcn({canonical(self)})"


# ---- constructors -------------------------------------------------------------------------


def tla_set(elements: Iterable[Value]) -> TlaSet:
    """Build the set of the given elements; the same element twice counts once."""
    return _set_of(list(elements), 1)


def fcn(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """Build a function from (key, value) pairs: a tuple if the domain is 1..n, else a `Fcn`.

    Raises:
        ValueFormatError: two pairs have the same key.
    """
    return _fcn_of(list(pairs), 1)


def record(fields: Mapping[str, Value]) -> Value:
    """Build the record with the given fields; without fields it is the empty function `()`."""
    return _record_of(fields)


def _set_of(elements: list[Value], depth: int) -> TlaSet:
    by_text = {_text(element, depth): element for element in elements}
    texts = sorted(by_text)
    return TlaSet(tuple([by_text[text] for text in texts]), '{"#set":[' + ",".join(texts) + "]}")


def _record_of(fields: Mapping[str, Value]) -> Value:
    if not fields:
        return ()
    for name in fields:
        if name.startswith("#"):
            return Fcn(tuple([(name, fields[name]) for name in sorted(fields, key=_string)]), False)
    return Fcn(tuple([(name, fields[name]) for name in sorted(fields)]), True)


def _fcn_of(pairs: list[tuple[Value, Value]], depth: int) -> Value:
    by_text: dict[str, tuple[Value, Value]] = {}
    fields: dict[str, Value] = {}
    for pair in pairs:
        key, value = pair
        by_text[_text(key, depth)] = pair
        if isinstance(key, str):
            fields[key] = value
    if len(by_text) != len(pairs):
        raise ValueFormatError("a function has the same key twice")
    if len(fields) == len(pairs):
        return _record_of(fields)
    arguments = [by_text.get(str(index)) for index in range(1, len(pairs) + 1)]
    if None not in arguments:
        return tuple([pair[1] for pair in arguments if pair is not None])
    return Fcn(tuple([by_text[text] for text in sorted(by_text)]), False)


# ---- canonical text -----------------------------------------------------------------------


def canonical(value: Value) -> str:
    """Return the canonical JSON text; equal texts iff the same TLA+ value.

    Raises:
        ValueFormatError: nested deeper than `MAX_DEPTH`, an integer of more than `MAX_DIGITS`
            digits, or a string with a lone surrogate.
    """
    return _text(value, 0)


def canonical_state(state: State) -> str:
    """Return the canonical JSON text of a state: an object, also where it is empty."""
    fields = [f"{_string(name)}:{_text(state[name], 1)}" for name in sorted(state)]
    return "{" + ",".join(fields) + "}"


def same(left: Value, right: Value) -> bool:
    """Tell whether two values are the same TLA+ value; True and 1 are not."""
    return canonical(left) == canonical(right)


def _text(value: Value, depth: int) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if -PLAIN_INT_LIMIT < value < PLAIN_INT_LIMIT:
            return str(value)
        return '{"#bigint":"' + _digits(value) + '"}'
    if depth > MAX_DEPTH:
        raise ValueFormatError(_TOO_DEEP)
    if isinstance(value, Fcn):
        if value._text is None:
            value._text = _fcn_text(value, depth + 1)
        return value._text
    if isinstance(value, tuple):
        depth += 1
        return "[" + ",".join([_text(element, depth) for element in value]) + "]"
    if isinstance(value, TlaSet):
        return value._text
    if isinstance(value, ModelValue):
        return '{"#model":' + _string(value.name) + "}"
    if isinstance(value, ExactString):
        return '{"#str":' + _string(value.text) + "}"
    raise ValueFormatError(f"a Python {type(value).__name__} is not a TLA+ value")


def _fcn_text(value: Fcn, depth: int) -> str:
    if value.is_object:
        fields = [f"{_text(key, depth)}:{_text(image, depth)}" for key, image in value.pairs]
        return "{" + ",".join(fields) + "}"
    pairs = [f"[{_text(key, depth)},{_text(image, depth)}]" for key, image in value.pairs]
    return '{"#map":[' + ",".join(pairs) + "]}"


def _string(text: str) -> str:
    if not text.isascii():
        _refuse_lone_surrogates(text)
    return encode_basestring(text)


def _refuse_lone_surrogates(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueFormatError("a string holds half of a surrogate pair") from None


def _digits(value: int) -> str:
    if not -_INT_LIMIT < value < _INT_LIMIT:
        raise ValueFormatError(f"an integer has more than {MAX_DIGITS} digits")
    return str(value)


# ---- JSON ---------------------------------------------------------------------------------


def to_json(value: Value) -> Json:
    """Encode a value as JSON data (dicts, lists, strings, numbers), in canonical order.

    Raises:
        ValueFormatError: as `canonical`.
    """
    return _encode(value, 0)


def state_to_json(state: State) -> dict[str, Json]:
    """Encode a state as a JSON object, in canonical order."""
    return {name: _encode(state[name], 1) for name in sorted(state)}


def _encode(value: Value, depth: int) -> Json:
    if isinstance(value, str):
        if not value.isascii():
            _refuse_lone_surrogates(value)
        return value
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if -PLAIN_INT_LIMIT < value < PLAIN_INT_LIMIT:
            return int(value)
        return {"#bigint": _digits(value)}
    if depth > MAX_DEPTH:
        raise ValueFormatError(_TOO_DEEP)
    depth += 1
    if isinstance(value, tuple):
        return [_encode(element, depth) for element in value]
    if isinstance(value, Fcn):
        if value.is_object:
            return {key: _encode(image, depth) for key, image in value.fields().items()}
        pairs = value.pairs
        return {"#map": [[_encode(key, depth), _encode(image, depth)] for key, image in pairs]}
    if isinstance(value, TlaSet):
        return {"#set": [_encode(element, depth) for element in value.elements]}
    if isinstance(value, ModelValue):
        return {"#model": value.name}
    if isinstance(value, ExactString):
        _refuse_lone_surrogates(value.text)
        return {"#str": value.text}
    assert_never(value)


def from_json(obj: object) -> Value:
    """Decode JSON data into a value.

    Raises:
        ValueFormatError: not an encoding of a value (null, a number with a fraction, an unknown
            "#" key, the same key of a map twice), or beyond a limit of `canonical`.
    """
    return _decode(obj, 0)


def state_from_json(obj: object) -> dict[str, Value]:
    """Decode a JSON object into a state: variable name to value.

    Raises:
        ValueFormatError: not an object, or a value as `from_json`.
    """
    if not isinstance(obj, dict):
        raise ValueFormatError(f"a state is an object of variables, not {_json_kind(obj)}")
    return {name: _decode(value, 1) for name, value in obj.items()}


def _decode(obj: object, depth: int) -> Value:
    if isinstance(obj, str):
        if not obj.isascii():
            _refuse_lone_surrogates(obj)
        return obj
    if isinstance(obj, int):
        if not -_INT_LIMIT < obj < _INT_LIMIT:
            raise ValueFormatError(f"an integer has more than {MAX_DIGITS} digits")
        return obj
    if depth > MAX_DEPTH:
        raise ValueFormatError(_TOO_DEEP)
    depth += 1
    if isinstance(obj, list):
        return tuple([_decode(element, depth) for element in obj])
    if isinstance(obj, dict):
        names = sorted(obj)
        joined = "".join(names)
        if "#" in joined or not joined.isascii():
            if len(names) == 1 and joined.startswith("#"):
                return _decode_special(joined, obj[joined], depth)
            _check_names(names)
        if not names:
            return ()
        return Fcn(tuple([(name, _decode(obj[name], depth)) for name in names]), True)
    raise ValueFormatError(f"{_json_kind(obj)} is not a TLA+ value")


def _check_names(names: list[str]) -> None:
    for name in names:
        if name.startswith("#"):
            raise ValueFormatError(f'the key "{name[:32]}" stands beside other keys')
        if not name.isascii():
            _refuse_lone_surrogates(name)


def _decode_special(key: str, payload: object, depth: int) -> Value:
    match key, payload:
        case "#set", list():
            return _set_of([_decode(element, depth) for element in payload], depth)
        case "#map", list():
            return _fcn_of([_decode_pair(pair, depth) for pair in payload], depth)
        case "#tup", list():
            return tuple([_decode(element, depth) for element in payload])
        case "#bigint", str() if len(payload) <= MAX_DIGITS + 1 and _BIGINT.fullmatch(payload):
            return _decode(int(payload), depth)
        case "#model", str() if _MODEL_NAME.fullmatch(payload):
            return ModelValue(payload)
        case "#str", str():
            _refuse_lone_surrogates(payload)
            return ExactString(payload)
        case (("#set" | "#map" | "#tup" | "#bigint" | "#model" | "#str"), _):
            raise ValueFormatError(f'"{key}" does not hold what it must')
        case _:
            raise ValueFormatError(f'the key "{key[:32]}" is unknown')


def _decode_pair(pair: object, depth: int) -> tuple[Value, Value]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueFormatError('"#map" holds something that is not a [key, value] pair')
    return _decode(pair[0], depth), _decode(pair[1], depth)


def _json_kind(obj: object) -> str:
    match obj:
        case None:
            return "null"
        case float():
            return "a number with a fraction or an exponent"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            return f"a {type(obj).__name__}"
