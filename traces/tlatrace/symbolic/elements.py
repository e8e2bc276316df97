"""Elements of sets, and places of sequences, one by one."""

from __future__ import annotations

import z3

from tlatrace.errors import EvaluationError
from tlatrace.runtime.values import RuntimeValue
from tlatrace.symbolic.values import (
    YES,
    Choice,
    Constant,
    Function,
    Interval,
    Nothing,
    Sequence,
    Set,
    Symbolic,
    Tuple,
    all_of,
    literal,
    merge,
    options_of,
    set_of,
)

__all__ = ["constant_in", "domain_of", "elements_of", "function_of", "length_of", "part_of"]


def elements_of(among: Symbolic) -> tuple[tuple[z3.BoolRef, Symbolic], ...] | None:
    """Return the elements of a set, each with its condition; None: they cannot be listed."""
    found: list[tuple[z3.BoolRef, Symbolic]] = []
    for guard, option in options_of(among):
        match option:
            case Set():
                elements = option.elements
            case Interval():
                low, high = constant_in(option.low), constant_in(option.high)
                if not isinstance(low, int) or not isinstance(high, int):
                    return None
                elements = tuple([(YES, z3.IntVal(at)) for at in range(low, high + 1)])
            case _:
                return None
        found += [(all_of([guard, also]), element) for also, element in elements]
    return set_of(found).elements if isinstance(among, Choice) else tuple(found)


def constant_in(value: Symbolic) -> RuntimeValue | None:
    """Return the number, string or model value that this is; None: it is not known."""
    if isinstance(value, z3.ArithRef):
        number = z3.simplify(value)
        return int(number.as_long()) if isinstance(number, z3.IntNumRef) else None
    return value.value if isinstance(value, Constant) else None


def function_of(images: dict[RuntimeValue, Symbolic]) -> Symbolic:
    """Return a function whose domain is known; one on 1..n is a sequence."""
    places = range(1, len(images) + 1)
    if set(images) == set(places):
        return Tuple(tuple([images[place] for place in places]))
    return Function(tuple(images), tuple(images.values()))


def domain_of(function: Symbolic) -> Symbolic:
    """Return DOMAIN of a function; that of a sequence of any length is an interval."""
    match function:
        case Choice():
            return Choice(tuple([(guard, domain_of(one)) for guard, one in function.options]))
        case Function():
            return set_of([(YES, literal(key)) for key in function.keys])
        case Tuple():
            return set_of([(YES, z3.IntVal(at)) for at in range(1, len(function.items) + 1)])
        case _:
            return Interval(z3.IntVal(1), length_of(function))


def length_of(sequence: Symbolic) -> z3.ArithRef:
    """Return Len of a sequence.

    Raises:
        EvaluationError: it is none.
    """
    match sequence:
        case Tuple():
            return z3.IntVal(len(sequence.items))
        case Sequence():
            return sequence.length
        case Choice():
            found: Symbolic = Nothing()
            for guard, option in reversed(sequence.options):
                found = merge(guard, length_of(option), found)
            assert isinstance(found, z3.ArithRef)
            return found
        case _:
            raise EvaluationError(f"a {type(sequence).__name__} is no sequence")


def part_of(sequence: Symbolic, low: z3.ArithRef, high: z3.ArithRef) -> Symbolic:
    """Return SubSeq of a sequence of any length.

    Raises:
        EvaluationError: it is of another kind.
    """
    if not isinstance(sequence, Sequence):
        raise EvaluationError(f"a part of a {type(sequence).__name__}")
    length = z3.If(high < low, z3.IntVal(0), high - low + 1)
    if constant_in(low) == 1:
        return Sequence(length, sequence.shape, sequence.leaves)
    place = z3.Int("place")
    moved = [z3.Lambda([place], z3.Select(leaf, place + low - 1)) for leaf in sequence.leaves]
    return Sequence(length, sequence.shape, tuple(moved))
