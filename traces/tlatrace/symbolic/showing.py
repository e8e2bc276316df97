"""Show symbolic values as z3's model of them has them: as TLA+ text."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Many

import z3

from tlatrace.errors import EvaluationError
from tlatrace.runtime.values import (
    FALSE,
    TRUE,
    RuntimeValue,
    from_runtime,
    function,
    model_value,
)
from tlatrace.symbolic.values import (
    Choice,
    Constant,
    Function,
    Hidden,
    Nothing,
    Sequence,
    Set,
    Symbolic,
    Tuple,
)
from tlatrace.tla_text import to_tla

__all__ = ["shown", "shown_changes", "shown_state", "value_in"]

_MAX_ENTRIES = 6
_ANY = model_value("any")
"""Stands for a part that is not looked at."""


def value_in(value: Symbolic, model: z3.ModelRef) -> RuntimeValue:
    """Return the value that a model gives; what does not matter is 0, FALSE or the last choice.

    Raises:
        EvaluationError: a sequence too long to be shown.
    """
    match value:
        case Constant():
            return value.value
        case Hidden():
            return _ANY
        case Tuple():
            return tuple([value_in(item, model) for item in value.items])
        case Function():
            images = [value_in(image, model) for image in value.values]
            return function(dict(zip(value.keys, images, strict=True)))
        case Set():
            return frozenset(
                [value_in(element, model) for guard, element in value.elements if _is(guard, model)]
            )
        case Choice():
            chosen = [option for guard, option in value.options if _is(guard, model)]
            return value_in(chosen[0] if chosen else value.options[-1][1], model)
        case Sequence():
            length = value_in(value.length, model)
            if not isinstance(length, int) or not 0 <= length <= _MAX_ENTRIES:
                raise EvaluationError(f"a sequence of length {length}")
            return tuple([value_in(value.at(z3.IntVal(i)), model) for i in range(1, length + 1)])
        case z3.BoolRef():
            return TRUE if _is(value, model) else FALSE
        case z3.ArithRef():
            return int(model.eval(value, model_completion=True).as_long())
        case _:
            raise EvaluationError(f"a {type(value).__name__} is not shown")


def _is(condition: z3.BoolRef, model: z3.ModelRef) -> bool:
    return bool(z3.is_true(model.eval(condition, model_completion=True)))


def shown(value: Symbolic, model: z3.ModelRef) -> str:
    """Write a value as TLA+; a sequence that is too long by its last entries."""
    if isinstance(value, Sequence):
        length = value_in(value.length, model)
        assert isinstance(length, int)
        if not 0 <= length <= _MAX_ENTRIES:
            last = [shown(value.at(z3.IntVal(at)), model) for at in (length - 1, length)]
            return f"{length} entries, the last are {', '.join(last)}"
    if isinstance(value, Function) and any(isinstance(image, Sequence) for image in value.values):
        pairs = zip(value.keys, value.values, strict=True)
        images = [f"{key} :> {shown(image, model)}" for key, image in pairs]
        return f"({' @@ '.join(images)})"
    return to_tla(from_runtime(value_in(value, model)))


def shown_state(variables: Many[str], state: Many[Symbolic], model: z3.ModelRef) -> Iterator[str]:
    """Yield a line for each variable that has a value."""
    for name, value in zip(variables, state, strict=True):
        if not isinstance(value, Nothing):
            yield f"{name} = {shown(value, model)}"


def shown_changes(
    variables: Many[str],
    before: Many[Symbolic],
    after: Many[Symbolic],
    model: z3.ModelRef,
) -> tuple[list[str], list[str]]:
    """Return the lines of a state, and those of what is other after it, of what is looked at."""
    first: list[str] = []
    changed: list[str] = []
    for name, old, new in zip(variables, before, after, strict=True):
        if isinstance(old, Hidden):
            continue
        was, is_ = shown(old, model), shown(new, model)
        first.append(f"{name} = {was}")
        if was != is_:
            changed.append(f"{name}' = {is_}")
    return first, changed
