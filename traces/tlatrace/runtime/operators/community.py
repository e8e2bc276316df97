"""What the operators of the community modules do that Python does better than their text.

A fold over a set has a value if all orders of its elements have the same one: either the compiler
has seen it in the operator's text (`folding` of `tlatrace.compiler.emit_python`), or it is tried
here. TLC takes one order, its own, which other definitions can change.

Source: tlc2.overrides of the community modules: `FiniteSetsExt.foldSet`,
`Functions.foldFunctionOnSet`, `BagsExt.foldBag`, `SequencesExt`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from tlatrace.errors import EvaluationError
from tlatrace.runtime.lazy import LazyFunction, Union, finite
from tlatrace.runtime.operators.functions import apply, domain_of
from tlatrace.runtime.operators.ordering import order
from tlatrace.runtime.operators.sequences import sequence
from tlatrace.runtime.values import FALSE, TRUE, Fcn, LazyValue, RuntimeValue, eq, kind

__all__ = [
    "fold_bag",
    "fold_function",
    "fold_function_on",
    "fold_left",
    "fold_right",
    "fold_set",
    "is_prefix",
    "map_then_fold",
    "replace_all",
    "replace_first",
    "set_to_sequence",
    "set_to_sorted",
]

Operation: TypeAlias = Callable[[RuntimeValue, RuntimeValue], RuntimeValue]
Step: TypeAlias = Callable[[RuntimeValue], RuntimeValue]

_MAX_REACHED: Final = 64
_MAX_TRIED: Final = 8


def fold_left(op: Operation, base: RuntimeValue, elements: RuntimeValue) -> RuntimeValue:
    for element in sequence(elements):
        base = op(base, element)
    return base


def fold_right(op: Operation, elements: RuntimeValue, base: RuntimeValue) -> RuntimeValue:
    for element in reversed(sequence(elements)):
        base = op(element, base)
    return base


def fold_set(
    op: Operation, base: RuntimeValue, elements: RuntimeValue, any_order: bool
) -> RuntimeValue:
    return _fold(op, base, _listed(elements), any_order)


def fold_function(
    op: Operation, base: RuntimeValue, function: RuntimeValue, any_order: bool
) -> RuntimeValue:
    """Fold the values of a function; those of a sequence from the first to the last."""
    if isinstance(function, LazyFunction):
        function = function.whole()
    if type(function) is tuple:
        for element in function:
            base = op(element, base)
        return base
    if not isinstance(function, Fcn):
        raise EvaluationError(f"{kind(function)} is not a function")
    if all(type(key) is int for key in function):
        for key in _ordered(function):
            base = op(function[key], base)
        return base
    return _fold(op, base, [function[key] for key in _ordered(function)], any_order)


def fold_function_on(
    op: Operation,
    base: RuntimeValue,
    function: RuntimeValue,
    indices: RuntimeValue,
    any_order: bool,
) -> RuntimeValue:
    if kind(function) != "a function":
        raise EvaluationError(f"{kind(function)} is not a function")
    return _fold(op, base, [apply(function, index) for index in _listed(indices)], any_order)


def fold_bag(op: Operation, base: RuntimeValue, bag: RuntimeValue, any_order: bool) -> RuntimeValue:
    """Fold a bag: the element is the right operand, as often as it is there."""
    counts: list[tuple[RuntimeValue, int]] = []
    for element in _ordered(finite(domain_of(bag))):
        count = apply(bag, element)
        if type(count) is not int or count <= 0:
            raise EvaluationError(f"a bag holds an element {count!r} times")
        counts.append((element, count))
    steps = [_repeated(op, element, count) for element, count in counts]
    return _in_any_order(steps, base, any_order)


def map_then_fold(
    op: Operation,
    base: RuntimeValue,
    image: Step,
    pick: Step | None,
    elements: RuntimeValue,
    any_order: bool,
) -> RuntimeValue:
    """Fold in the order of `pick`: what it takes first is the outermost; None takes any."""
    left = finite(elements)
    if pick is None:
        return _fold(op, base, [image(element) for element in _ordered(left)], any_order)
    taken: list[RuntimeValue] = []
    while left:
        element = pick(left)
        if element not in left:
            raise EvaluationError("an element is chosen that is not in the set")
        taken.append(element)
        left = left - {element}
    for element in reversed(taken):
        base = op(image(element), base)
    return base


def set_to_sequence(elements: RuntimeValue) -> tuple[RuntimeValue, ...]:
    """Return the elements in the order of TLC, as far as a specification can know it."""
    listed = finite(elements)
    if len(listed) > 1 and not all(type(element) is int for element in listed):
        raise EvaluationError("the order of the sequence is TLC's own, unless all are integers")
    return tuple(sorted(listed, key=order))


def set_to_sorted(
    elements: RuntimeValue, before: Callable[[RuntimeValue, RuntimeValue], bool]
) -> tuple[RuntimeValue, ...]:
    """Return the elements sorted; there must be only one way to sort them."""
    listed = _ordered(finite(elements))
    earlier = [[before(one, other) for other in listed if other is not one] for one in listed]
    # He who comes before n others is the n-th from the end, if they can be sorted in one way.
    ranked = sorted(zip([sum(row) for row in earlier], listed, strict=True), key=lambda it: -it[0])
    found = tuple([element for _, element in ranked])
    for at, one in enumerate(found):
        if not all(before(one, other) and not before(other, one) for other in found[at + 1 :]):
            raise EvaluationError("a set can be sorted in more than one way, or in none")
    return found


def is_prefix(first: RuntimeValue, second: RuntimeValue) -> RuntimeValue:
    if type(first) is str and type(second) is str:
        return TRUE if second.startswith(first) else FALSE
    one, other = sequence(first), sequence(second)
    same = len(one) <= len(other) and all(
        eq(mine, theirs) for mine, theirs in zip(one, other, strict=False)
    )
    return TRUE if same else FALSE


def replace_first(new: RuntimeValue, old: RuntimeValue, whole: RuntimeValue) -> RuntimeValue:
    if type(new) is str and type(old) is str and type(whole) is str:
        return whole.replace(old, new, 1)
    part, elements = sequence(old), sequence(whole)
    for at in _places(part, elements):
        return elements[:at] + sequence(new) + elements[at + len(part) :]
    return elements


def replace_all(new: RuntimeValue, old: RuntimeValue, whole: RuntimeValue) -> RuntimeValue:
    """Replace all parts of a string or a sequence; those of a sequence must not overlap."""
    if type(new) is str and type(old) is str and type(whole) is str:
        if old in (whole, new):
            return new if old == whole else whole
        return whole.replace(old, new) if old else "".join([new + char for char in whole])
    part, elements = sequence(old), sequence(whole)
    if eq(part, elements):
        return new
    if eq(new, part):
        return elements
    if not part:
        return tuple([item for element in elements for item in (*sequence(new), element)])
    found: list[RuntimeValue] = []
    after = 0
    for at in _places(part, elements):
        if at < after:
            raise EvaluationError("parts to be replaced overlap, and TLC takes one of its choice")
        found += [*elements[after:at], *sequence(new)]
        after = at + len(part)
    return (*found, *elements[after:])


def _places(part: tuple[RuntimeValue, ...], whole: tuple[RuntimeValue, ...]) -> list[int]:
    size = len(part)
    starts = range(len(whole) - size + 1)
    return [start for start in starts if eq(whole[start : start + size], part)]


def _listed(elements: RuntimeValue) -> list[RuntimeValue]:
    if isinstance(elements, Union):
        raise EvaluationError("TLC may fold an element of such a union twice")
    return _ordered(finite(elements))


def _ordered(elements: Iterable[RuntimeValue]) -> list[RuntimeValue]:
    """Return elements in one order, so that the first error is the same in every process."""
    return sorted(elements, key=order)


def _fold(
    op: Operation, base: RuntimeValue, elements: Sequence[RuntimeValue], any_order: bool
) -> RuntimeValue:
    if any_order:
        for element in elements:
            base = op(element, base)
        return base
    return _in_any_order([_applied(op, element) for element in elements], base, any_order)


def _applied(op: Operation, element: RuntimeValue) -> Step:
    return lambda folded: _whole(op(element, folded))


def _repeated(op: Operation, element: RuntimeValue, count: int) -> Step:
    def step(folded: RuntimeValue) -> RuntimeValue:
        for _ in range(count):
            folded = op(folded, element)
        return _whole(folded)

    return step


def _whole(value: RuntimeValue) -> RuntimeValue:
    return value.whole() if isinstance(value, LazyValue) else value


def _in_any_order(steps: Sequence[Step], base: RuntimeValue, any_order: bool) -> RuntimeValue:
    """Do all steps; unless their order is known not to matter, find out that it does not.

    Raises:
        EvaluationError: an order has no value, two have different ones, or they are too many.
    """
    if not any_order and len(steps) > 1 and not _commute(steps, base):
        if len(steps) > _MAX_TRIED:
            raise EvaluationError(
                f"a fold over {len(steps)} elements: the compiler does not see that the operator is"
                " commutative, and these are too many orders to be tried"
            )
        return _the_one_value(steps, base)
    for step in steps:
        base = step(base)
    return base


def _commute(steps: Sequence[Step], base: RuntimeValue) -> bool:
    """Tell whether any two steps may change places wherever steps lead, if that is not far."""
    reached: dict[RuntimeValue, list[RuntimeValue]] = {}
    waiting = [_whole(base)]
    try:
        while waiting:
            value = waiting.pop()
            if value in reached:
                continue
            if len(reached) >= _MAX_REACHED:
                return False
            reached[value] = [step(value) for step in steps]
            waiting += reached[value]
    except Exception:
        return False  # the steps may lead to fewer values when each is done once
    return all(
        reached[one][right] == reached[other][left]
        for after in reached.values()
        for left, one in enumerate(after)
        for right, other in enumerate(after[:left])
    )


def _the_one_value(steps: Sequence[Step], base: RuntimeValue) -> RuntimeValue:
    """Return the value that all orders have."""
    values: list[set[RuntimeValue]] = [set() for _ in range(1 << len(steps))]
    values[0].add(_whole(base))
    for done in range(len(values)):
        for at, step in enumerate(steps):
            if not done >> at & 1:
                values[done | 1 << at].update([step(value) for value in values[done]])
                if len(values[done | 1 << at]) > _MAX_REACHED:
                    raise EvaluationError("a fold leads to too many values")
    if len(values[-1]) > 1:
        raise EvaluationError(
            "a fold depends on the order of the elements, and only TLC knows which it takes"
        )
    return values[-1].pop()
