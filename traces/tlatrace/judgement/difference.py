"""Where two states differ: paths such as `link.b2.cur.e`, with both values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tlatrace.errors import ModelGapError
from tlatrace.harmless import harmless
from tlatrace.tla_text import is_identifier, to_tla
from tlatrace.values import Fcn, ModelValue, State, TlaSet, Value, canonical

__all__ = ["Change", "brief", "call_text", "difference"]

_BRIEF: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One place in which two states differ."""

    path: str
    """Variable, then fields and indexes; an index counts from 1, as in TLA+."""
    left: Value | None
    """None: there is no such place on this side."""
    right: Value | None

    def text(self, arrow: str = "->") -> str:
        """Write the change in a line."""
        return f"{self.path}: {_side(self.left)} {arrow} {_side(self.right)}"


def difference(left: State, right: State) -> tuple[Change, ...]:
    """List the deepest places in which two states differ, by variable and path."""
    changes: list[Change] = []
    for name in sorted({*left, *right}):
        _compare(name, left.get(name), right.get(name), changes)
    return tuple(changes)


def _compare(path: str, left: Value | None, right: Value | None, changes: list[Change]) -> None:
    if left is not None and right is not None:
        if canonical(left) == canonical(right):
            return
        match left, right:
            case TlaSet(), TlaSet():
                gone = [element for element in left if element not in right]
                new = [element for element in right if element not in left]
                changes += [Change(path=f"{path}{{}}", left=one, right=None) for one in gone]
                changes += [Change(path=f"{path}{{}}", left=None, right=one) for one in new]
                return
            case _:
                ours, theirs = _parts(left), _parts(right)
                same_kind = isinstance(left, tuple) == isinstance(right, tuple)
                if same_kind and ours.keys() & theirs.keys():
                    for step in [*ours, *[step for step in theirs if step not in ours]]:
                        _compare(path + step, ours.get(step), theirs.get(step), changes)
                    return
    changes.append(Change(path=path, left=left, right=right))


def _parts(value: Value) -> dict[str, Value]:
    match value:
        case tuple():
            return {f"[{at}]": element for at, element in enumerate(value, start=1)}
        case Fcn():
            return {_step(key): image for key, image in value.pairs}
        case _:
            return {}


def _step(key: Value) -> str:
    match key:
        case str() if is_identifier(key):
            return f".{key}"
        case ModelValue():
            return f".{key.name}"
        case _:
            return f"[{brief(key)}]"


def brief(value: Value, limit: int = _BRIEF) -> str:
    """Write a value as TLA+, cut off after `limit` characters."""
    try:
        text = to_tla(value)
    except ModelGapError:
        text = canonical(value)
    text = harmless(text)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def call_text(action: str | None, params: tuple[Value, ...]) -> str:
    """Write an action with its parameters: `Transfer("b1", "b2", 2)`."""
    if action is None:
        return "an unnamed step"
    return action + (f"({', '.join([brief(param, 40) for param in params])})" if params else "")


def _side(value: Value | None) -> str:
    return "nothing" if value is None else brief(value)
