"""Whether TLC can build a value at all.

TLC orders the elements of a set and the domain of a function, and stops at two values that it
cannot compare, such as 1 and "a". In a batch such a value is worse than an error: TLC gives up to
evaluate the table that holds it beforehand, and evaluates it again at every use. So steps with a
doubtful value are judged one by one. The test here is stricter than TLC, which may find a
difference before it comes to the parts that it cannot compare.

Source: the `compareTo` methods of tlc2.value.impl.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from tlatrace.values import ExactString, Fcn, ModelValue, State, TlaSet, Value, canonical

__all__ = ["is_doubtful", "state_is_doubtful"]

_ATOMS: Final = frozenset({bool, int, str, ModelValue})


def state_is_doubtful(state: State, clean: set[str]) -> bool:
    """Tell whether TLC may fail to build a variable of a state.

    `clean` collects the canonical texts of values that are known to be fine.
    """
    for value in state.values():
        if type(value) in _ATOMS:
            continue
        text = canonical(value)
        if text not in clean:
            if is_doubtful(value):
                return True
            clean.add(text)
    return False


def is_doubtful(value: Value) -> bool:
    """Tell whether TLC may fail to build a value."""
    if type(value) in _ATOMS:
        return False
    match value:
        case tuple():
            return _any_is_doubtful(value)
        case TlaSet():
            return _any_is_doubtful(value.elements) or not _alike(value.elements)
        case Fcn():
            keys = [key for key, _ in value.pairs]
            images = [image for _, image in value.pairs]
            return _any_is_doubtful(images) or _any_is_doubtful(keys) or not _alike(keys)
        case _:
            return False


def _any_is_doubtful(values: Iterable[Value]) -> bool:
    # Most parts are atoms, and this is asked of each part of each state.
    return any(is_doubtful(value) for value in values if type(value) not in _ATOMS)


def _alike(values: Sequence[Value]) -> bool:
    """Tell whether each value can be compared with the first one of its own shape."""
    types = set(map(type, values))
    if len(types) <= 1 and types <= _ATOMS:
        return True
    kinds: set[str] = set()
    firsts: dict[str, Value] = {}
    elements: list[Value] = []
    for value in values:
        match value:
            case ModelValue():
                continue  # can be compared with everything
            case bool() | int() | str():
                kinds.add(type(value).__name__)
            case ExactString():
                kinds.add("str")
            case TlaSet():
                kinds.add("set")
                elements += value.elements
            case tuple() | Fcn():
                kinds.add("function")
                if not _comparable(firsts.setdefault(_shape(value), value), value):
                    return False
            case _ as unreachable:
                assert_never(unreachable)
    return len(kinds) <= 1 and (not elements or _alike(elements))


def _shape(value: tuple[Value, ...] | Fcn) -> str:
    if isinstance(value, tuple):
        return str(len(value))
    return canonical(tuple([key for key, _ in value.pairs]))


def _comparable(left: Value, right: Value) -> bool:
    match left, right:
        case tuple(), tuple() if len(left) == len(right):
            return all(_comparable(a, b) for a, b in zip(left, right, strict=True))
        case Fcn(), Fcn() if len(left) == len(right):
            pairs = zip(left.pairs, right.pairs, strict=True)
            return all(_comparable(a, b) for (_, a), (_, b) in pairs)
        case _:
            return _alike([left, right])
