"""What an adapter shows, in plain Python: the types of the variables say what it stands for.

| Python                         | TLA+                                                          |
|--------------------------------|---------------------------------------------------------------|
| bool, int                      | the same                                                      |
| str                            | a string, or the model value of that name: the type decides   |
| dict                           | a function; with strings as keys, a record if the type is one |
| tuple                          | a tuple or sequence                                           |
| list                           | a sequence, or a set: the type decides                        |
| set, frozenset                 | a set                                                         |
| a value of `tlatrace.values`   | that value                                                    |

The empty dict, list and tuple are the same in TLA+, so where the type is a set, write `set()`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tlatrace.errors import ModelGapError, ValueFormatError
from tlatrace.readings import Place, Reading
from tlatrace.values import (
    MAX_DEPTH,
    ExactString,
    Fcn,
    ModelValue,
    TlaSet,
    Value,
    canonical,
    fcn,
    tla_set,
)

__all__ = ["Observed", "values_of"]

Observed: TypeAlias = Mapping[str, object]
"""Variable -> its value, in plain Python or of `tlatrace.values`."""


def values_of(reading: Reading, observed: Observed) -> dict[str, Value]:
    """Turn what a system shows into values of a trace.

    Raises:
        ModelGapError: something is no TLA+ value, or may be several; it says what to write.
    """
    found: dict[str, Value] = {}
    for name, shown in observed.items():
        try:
            found[name] = _value(reading, shown, reading.place(name), name, 0)
            canonical(found[name])  # refuses what no trace can hold
        except ValueFormatError as error:
            raise ModelGapError(f"{name}: {error.reason}") from None
    return found


def _value(reading: Reading, shown: object, place: Place, where: str, depth: int) -> Value:
    if depth > MAX_DEPTH:
        raise ModelGapError(f"{where} is nested deeper than {MAX_DEPTH}")
    depth += 1
    match shown:
        case bool() | ExactString() | ModelValue() | TlaSet() | Fcn():
            return shown
        case int():
            return int(shown)  # of an IntEnum, too
        case str():
            return str.__str__(shown)
        case set() | frozenset():
            return _set(reading, shown, place, where, depth)
        case list() if reading.is_set(place) == reading.is_function(place):
            raise ModelGapError(
                f"the specification does not tell whether {where} is a set or a sequence: write a "
                "set or a tuple instead of a list"
            )
        case list() if reading.is_set(place):
            return _set(reading, shown, place, where, depth)
        case tuple() if reading.is_set(place) and not reading.is_function(place):
            raise ModelGapError(f"{where} is a set, and not a tuple: write a set or a list")
        case list() | tuple():
            return tuple(
                [
                    _value(reading, item, reading.image(place, at), f"{where}[{at}]", depth)
                    for at, item in enumerate(shown, start=1)
                ]
            )
        case dict():
            return _function(reading, shown, place, where, depth)
        case _:
            raise ModelGapError(
                f"{where} is a Python {type(shown).__name__}, which is no TLA+ value: write a "
                "bool, int, str, tuple, list, set or dict, or a value of tlatrace.values"
            )


def _set(
    reading: Reading,
    shown: set[object] | frozenset[object] | list[object],
    place: Place,
    where: str,
    depth: int,
) -> Value:
    inner, name = reading.element(place), f"an element of {where}"
    return tla_set([_value(reading, item, inner, name, depth) for item in shown])


def _function(
    reading: Reading, shown: dict[object, object], place: Place, where: str, depth: int
) -> Value:
    if reading.is_set(place) and not reading.is_function(place):
        raise ModelGapError(f"{where} is a set, and not a dict: write a set or a list")
    pairs: list[tuple[Value, Value]] = []
    for key, item in shown.items():
        read = _value(reading, key, reading.keys(place), f"a key of {where}", depth)
        image = reading.image(place, read)
        pairs.append((read, _value(reading, item, image, f"{where}[{key!r}]", depth)))
    return fcn(pairs)
