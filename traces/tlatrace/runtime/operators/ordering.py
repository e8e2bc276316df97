r"""In which order a set is looked through, where the order can be seen.

`\E x \in S : P(x)` ends with the first x for which P(x) is TRUE; if P has no value for another
element, the order decides whether there is an answer. TLC goes through numbers by size, through
FALSE before TRUE, and through several names with the first one fastest. Its order of strings and of
model values, and of all that consists of them, depends on where their names stand in the text. So
only numbers and booleans are looked through in TLC's order, up to the deciding element; of every
other set all elements are asked, and one without a value leaves the whole without.

Why something has no value is said of the first element without one in an order of our own (`each`),
so that the words are the same in every process.

Source: ContextEnumerator, SetEnumValue.elements and UniqueString.compareTo of TLC 2.15.
"""

from __future__ import annotations

from collections.abc import Iterable, ValuesView

from tlatrace.errors import EvaluationError
from tlatrace.runtime.lazy import LazySet, elements_of
from tlatrace.runtime.values import TRUE, Atom, Boolean, Fcn, LazyValue, RuntimeValue

__all__ = ["arranged", "arranged_parts", "each", "order"]


def arranged(collection: RuntimeValue) -> tuple[Iterable[RuntimeValue], bool]:
    """Return the elements of a set to be looked through, and whether that is TLC's order.

    Raises:
        EvaluationError: no set.
    """
    if type(collection) is not frozenset:
        return elements_of(collection), False
    return (collection, True) if len(collection) < 2 else _sorted(collection)


def arranged_parts(parts: Iterable[RuntimeValue]) -> tuple[Iterable[RuntimeValue], bool]:
    """Return the domain or the values of a function in the same way; a sequence's are in order."""
    if type(parts) is range or type(parts) is tuple:
        return parts, True
    if isinstance(parts, ValuesView):
        return parts, len(parts) < 2
    if isinstance(parts, Fcn):
        return (parts, True) if len(parts) < 2 else _sorted(parts)
    return parts, False


def _sorted(elements: frozenset[RuntimeValue] | Fcn) -> tuple[Iterable[RuntimeValue], bool]:
    """Return two elements and more in order, if they are numbers or booleans."""
    for first in elements:
        if type(first) is int:
            numbers = [element for element in elements if type(element) is int]
            if len(numbers) == len(elements):
                return sorted(numbers), True
        elif type(first) is Boolean and all(type(element) is Boolean for element in elements):
            return sorted(elements, key=order), True
        break
    return elements, False


def each(elements: Iterable[RuntimeValue]) -> Iterable[RuntimeValue]:
    """Return what a loop goes through in an order that is the same in every process."""
    if isinstance(elements, frozenset | dict | ValuesView):
        return sorted(elements, key=order)
    if isinstance(elements, LazySet):
        try:
            return sorted(elements.whole(), key=order)
        except EvaluationError:
            return elements
    return elements


def order(value: RuntimeValue) -> tuple[object, ...]:
    """Return a key that orders values: numbers by size, sets by size first, strings by text."""
    match value:
        case Boolean():
            return (0, value is TRUE)
        case int():
            return (1, value)
        case str():
            return (2, value)
        case Atom():
            return (3, value.name)
        case tuple():
            return (5, len(value), [order(part) for part in value])
        case frozenset():
            return (4, len(value), sorted([order(part) for part in value]))
        case Fcn():
            parts = sorted([(order(key), order(image)) for key, image in value.items()])
            return (6, len(value), parts)
        case LazyValue():
            return order(value.whole())
