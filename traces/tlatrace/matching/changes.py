"""What the changes that a log shows make of the value of a variable.

Source: the operators are those that recorders of TLA+ traces write (Cirstea, Kuppe, Loillier, Merz,
Validating Traces of Distributed Programs Against TLA+ Specifications, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.tla_text import to_tla
from tlatrace.trace import Change
from tlatrace.values import Fcn, TlaSet, Value, canonical, fcn, same, tla_set

__all__ = ["OPERATIONS", "PLACES", "changed"]


def changed(value: Value, changes: Sequence[Change]) -> Value:
    """Return what a variable is after changes, made one after the other.

    Raises:
        EvaluationError: a change has no value there: an index outside the domain, an element added
            to what is no set.
    """
    for change in changes:
        value = _at(value, change.at, change)
    return value


def _at(value: Value, at: tuple[Value, ...], change: Change) -> Value:
    if not at:
        _, make = OPERATIONS[change.operation]
        return make(value, change.arguments)
    pairs = _pairs(value, "the path of a change leads into")
    key = canonical(at[0])
    if all(canonical(one) != key for one, _ in pairs):
        raise EvaluationError(f"{_brief(at[0])} is not in the domain of {_brief(value)}")
    return fcn(
        [(one, _at(old, at[1:], change) if canonical(one) == key else old) for one, old in pairs]
    )


def _pairs(value: Value, what: str) -> list[tuple[Value, Value]]:
    match value:
        case tuple():
            return list(enumerate(value, start=1))
        case Fcn():
            return list(value.pairs)
        case _:
            raise EvaluationError(f"{what} {_brief(value)}, which is no function")


def _elements(value: Value, what: str) -> list[Value]:
    if not isinstance(value, TlaSet):
        raise EvaluationError(f"{what} {_brief(value)}, which is no set")
    return list(value)


def _number(value: Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise EvaluationError(f"{_brief(value)} is no number to add to")
    return value


def _brief(value: Value) -> str:
    text = to_tla(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


# ---- operations ---------------------------------------------------------------------------

_Arguments = tuple[Value, ...]


def _set(_: Value, arguments: _Arguments) -> Value:
    return arguments[0]


def _unchanged(value: Value, _: _Arguments) -> Value:
    return value


def _add(value: Value, arguments: _Arguments) -> Value:
    return tla_set([*_elements(value, "an element is added to"), *arguments])


def _add_all(value: Value, arguments: _Arguments) -> Value:
    new = _elements(arguments[0], "the elements to add are")
    return tla_set([*_elements(value, "elements are added to"), *new])


def _remove(value: Value, arguments: _Arguments) -> Value:
    gone = canonical(arguments[0])
    left = _elements(value, "an element is removed from")
    return tla_set([one for one in left if canonical(one) != gone])


def _remove_all(value: Value, arguments: _Arguments) -> Value:
    gone = tla_set(_elements(arguments[0], "the elements to remove are"))
    return tla_set(
        [one for one in _elements(value, "elements are removed from") if one not in gone]
    )


def _append(value: Value, arguments: _Arguments) -> Value:
    if not isinstance(value, tuple):
        raise EvaluationError(f"something is appended to {_brief(value)}, which is no sequence")
    return (*value, arguments[0])


def _drop_head(value: Value, _: _Arguments) -> Value:
    if not isinstance(value, tuple) or not value:
        raise EvaluationError(f"{_brief(value)} has no head to remove")
    return value[1:]


def _put(value: Value, arguments: _Arguments) -> Value:
    key, new = arguments
    pairs = _pairs(value, "a key is put into")
    return fcn([*[(k, old) for k, old in pairs if not same(k, key)], (key, new)])


def _set_key(value: Value, arguments: _Arguments) -> Value:
    key, new = arguments
    pairs = _pairs(value, "a key is set in")
    return fcn([(k, new if same(k, key) else old) for k, old in pairs])


def _drop_key(value: Value, arguments: _Arguments) -> Value:
    pairs = _pairs(value, "a key is removed from")
    return fcn([(k, old) for k, old in pairs if not same(k, arguments[0])])


def _override(value: Value, arguments: _Arguments) -> Value:
    new = {canonical(k): v for k, v in _pairs(arguments[0], "the fields to set are those of")}
    pairs = _pairs(value, "fields are set in")
    return fcn([(k, new.get(canonical(k), old)) for k, old in pairs])


def _add_copy(value: Value, arguments: _Arguments) -> Value:
    return _put(value, (arguments[0], _copies(value, arguments[0]) + 1))


def _remove_copy(value: Value, arguments: _Arguments) -> Value:
    left = _copies(value, arguments[0]) - 1
    if left > 0:
        return _put(value, (arguments[0], left))
    return _drop_key(value, arguments)


def _copies(value: Value, element: Value) -> int:
    found = [n for k, n in _pairs(value, "a copy is put into the bag") if same(k, element)]
    return _number(found[0]) if found else 0


def _plus(value: Value, arguments: _Arguments) -> Value:
    return _number(value) + _number(arguments[0])


def _minus(value: Value, arguments: _Arguments) -> Value:
    return _number(value) - _number(arguments[0])


OPERATIONS: Final[dict[str, tuple[int, Callable[[Value, _Arguments], Value]]]] = {
    "set": (1, _set),
    "unchanged": (0, _unchanged),
    "add": (1, _add),
    "add all": (1, _add_all),
    "remove": (1, _remove),
    "remove all": (1, _remove_all),
    "append": (1, _append),
    "remove head": (0, _drop_head),
    "set key": (2, _set_key),
    "put key": (2, _put),
    "remove key": (1, _drop_key),
    "set fields": (1, _override),
    "add copy": (1, _add_copy),
    "remove copy": (1, _remove_copy),
    "plus": (1, _plus),
    "minus": (1, _minus),
}
"""Name in a mapping -> the number of its arguments, and what it makes of a value."""

PLACES: Final = {
    "add": ("element",),
    "remove": ("element",),
    "append": ("image",),
    "set key": ("key", "image"),
    "put key": ("key", "image"),
    "remove key": ("key",),
    "add copy": ("key",),
    "remove copy": ("key",),
}
"""What the arguments of a change are of the changed value; those of others are like all of it."""
