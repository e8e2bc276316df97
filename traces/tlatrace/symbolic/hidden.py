r"""Values that are not looked at: of variables whose shape is HIDDEN, and what depends on them.

Of a step that reads such a value nothing is known but that it is possible for some value: each
formula about it is a Boolean that may be either, and each number that it comes to, where a number
is looked at, may be any. So the steps that are looked at are all steps of the specification, and
more. What holds of all of them holds of the specification, as long as what is hidden has the types
that it is used with (TypeOK).

An invariant must not read such values: to suppose what may be either would suppose too much.
"""

from __future__ import annotations

import z3

from tlatrace.errors import EvaluationError
from tlatrace.symbolic.shapes import BOOLEAN, HIDDEN, INTEGER, AtMost, Enumeration, FunctionOn
from tlatrace.symbolic.values import (
    Choice,
    Function,
    Hidden,
    Sequence,
    Set,
    Shape,
    Symbolic,
    Tuple,
    all_of,
    equal,
    set_of,
)

__all__ = ["Unknowns", "filled", "has_hidden", "same"]


class Unknowns:
    """Makes the Booleans and numbers of one step of which nothing is known; `None`: of no step."""

    def __init__(self, step: str | None) -> None:
        self._step = step
        self.made = 0
        """How many there are."""

    def truth(self) -> z3.BoolRef:
        """Return a Boolean that is either.

        Raises:
            EvaluationError: this is no step.
        """
        found = self.leaf(z3.BoolSort())
        assert isinstance(found, z3.BoolRef)
        return found

    def leaf(self, sort: z3.SortRef) -> z3.ExprRef:
        """Return any value of a sort.

        Raises:
            EvaluationError: this is no step.
        """
        if self._step is None:
            raise EvaluationError("a formula about a value that is not looked at")
        self.made += 1
        return z3.Const(f"{self._step}?{self.made}", sort)


def has_hidden(value: Symbolic) -> bool:
    """Tell whether a value is hidden, or a part of it."""
    match value:
        case Hidden():
            return True
        case Tuple():
            return any(map(has_hidden, value.items))
        case Function():
            return any(map(has_hidden, value.values))
        case Set():
            return any(has_hidden(element) for _, element in value.elements)
        case Choice():
            return any(has_hidden(option) for _, option in value.options)
        case Sequence():
            return has_hidden(value.at(z3.IntVal(1)))
        case _:
            return False


def same(left: Symbolic, right: Symbolic, unknowns: Unknowns) -> z3.BoolRef:
    """Say that two values are the same, as far as they are looked at."""
    match left, right:
        case Function(), Function() if left.keys == right.keys:
            pairs = zip(left.values, right.values, strict=True)
        case Tuple(), Tuple() if len(left.items) == len(right.items):
            pairs = zip(left.items, right.items, strict=True)
        case _:
            return unknowns.truth() if has_hidden(left) or has_hidden(right) else equal(left, right)
    return all_of([same(one, other, unknowns) for one, other in pairs])


def filled(shape: Shape, value: Symbolic, unknowns: Unknowns) -> Symbolic:
    """Put any value of the shape in the place of each part that is hidden, and is looked at.

    Raises:
        EvaluationError: such a part has another shape than Booleans, integers or one of several.
    """
    if shape is HIDDEN:
        return Hidden()
    if not has_hidden(value):
        return value
    match shape, value:
        case FunctionOn(), Function() if shape.has_keys(value):
            shapes = dict(shape.fields)
            pairs = zip(value.keys, value.values, strict=True)
            return Function(
                value.keys, tuple([filled(shapes[key], image, unknowns) for key, image in pairs])
            )
        case AtMost(), Set():
            return set_of(
                [(guard, filled(shape.element, e, unknowns)) for guard, e in value.elements]
            )
        case _, Choice():
            return Choice(
                tuple([(guard, filled(shape, one, unknowns)) for guard, one in value.options])
            )
        case _, Hidden() if shape in (BOOLEAN, INTEGER) or isinstance(shape, Enumeration):
            return shape.build([unknowns.leaf(sort) for _, sort in shape.sorts()])
        case _:
            raise EvaluationError("a value that is not looked at where one is")
