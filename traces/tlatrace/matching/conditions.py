"""Conditions of a mapping on a line of a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from tlatrace.matching.log_line import MISSING, Keys, LineError, find, path_text
from tlatrace.matching.toml_tables import FaultError, Table, read_path
from tlatrace.values import Json

__all__ = ["Condition", "holds", "read_condition"]

_JOINTS: Final = ("all", "any", "none")
_COMPARISONS: Final = ("same", "differs", "less")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldIs:
    """What one field looks like; exactly one of the three is not None."""

    path: Keys
    equals: tuple[Json, ...] | None = None
    differs: tuple[Json, ...] | None = None
    present: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """How a field relates to another one: "same", "differs" or "less"; neither may be missing."""

    path: Keys
    relation: str
    other: Keys | int
    """A number to be less than may stand in the mapping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Conditions of which "all", "any" or "none" hold."""

    how: str
    parts: tuple[Condition, ...]


Condition: TypeAlias = FieldIs | Compared | Joined


def read_condition(table: Table) -> Condition:
    """Read a condition.

    Raises:
        FaultError: it is none.
    """
    for how in _JOINTS:
        if table.has(how):
            parts = table.array(how)
            table.end()
            if not parts:
                raise FaultError(f"{how} of {table.what} joins nothing", how)
            return Joined(
                how=how, parts=tuple([read_condition(Table(one, table.what)) for one in parts])
            )
    path = read_path(table.take("field"), table.what)
    compared = [relation for relation in _COMPARISONS if table.has(relation)]
    equals, differs, present = table.take("is"), table.take("not"), table.truth("present")
    given = len(compared) + sum(test is not None for test in (equals, differs, present))
    if given != 1:
        raise FaultError(
            f"a {table.what} has exactly one of is, not, present, {', '.join(_COMPARISONS)}",
            table.what.strip("[]"),
        )
    if compared:
        other = table.take(compared[0])
        table.end()
        is_limit = compared[0] == "less" and isinstance(other, int) and not isinstance(other, bool)
        return Compared(
            path=path,
            relation=compared[0],
            other=other if is_limit and isinstance(other, int) else read_path(other, compared[0]),
        )
    table.end()
    return FieldIs(
        path=path,
        equals=None if equals is None else _values(equals),
        differs=None if differs is None else _values(differs),
        present=present,
    )


def _values(obj: Json) -> tuple[Json, ...]:
    return tuple(obj) if isinstance(obj, list) else (obj,)


def holds(condition: Condition, obj: Json) -> bool:
    """Tell whether a line fulfils a condition.

    Raises:
        LineError: a field that is to be compared with another one is missing or, for "less", no
            number.
    """
    match condition:
        case FieldIs():
            return _is(condition, find(obj, condition.path))
        case Compared():
            return _compare(condition, obj)
        case Joined(how="all"):
            return all(holds(part, obj) for part in condition.parts)
        case Joined(how="any"):
            return any(holds(part, obj) for part in condition.parts)
        case Joined():
            return not any(holds(part, obj) for part in condition.parts)
        case _ as unreachable:
            assert_never(unreachable)


def _is(condition: FieldIs, found: object) -> bool:
    if condition.present is not None:
        return (found is not MISSING) == condition.present
    if condition.equals is not None:
        return any(_equal(found, wanted) for wanted in condition.equals)
    return not any(_equal(found, wanted) for wanted in condition.differs or ())


def _compare(condition: Compared, obj: Json) -> bool:
    left = _there(obj, condition.path)
    right = condition.other
    found: object = right if isinstance(right, int) else _there(obj, right)
    if condition.relation == "less":
        for one in (left, found):
            if isinstance(one, bool) or not isinstance(one, int):
                raise LineError(
                    f"the field {path_text(condition.path)} is compared as a number, and is none, "
                    "or the other field is not"
                )
        assert isinstance(left, int)
        assert isinstance(found, int)
        return left < found
    return _equal(left, found) == (condition.relation == "same")


def _there(obj: Json, path: Keys) -> object:
    found = find(obj, path)
    if found is MISSING:
        raise LineError(f"the line has no field {path_text(path)}, which is compared")
    return found


def _equal(found: object, wanted: object) -> bool:
    """Compare as JSON does: true is not 1, at any depth."""
    if isinstance(found, list) and isinstance(wanted, list):
        pairs = zip(found, wanted, strict=False)
        return len(found) == len(wanted) and all(_equal(a, b) for a, b in pairs)
    if isinstance(found, dict) and isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(_equal(found[k], wanted[k]) for k in found)
    return type(found) is type(wanted) and found == wanted
