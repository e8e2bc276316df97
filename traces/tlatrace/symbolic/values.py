"""TLA+ values with unknown parts: the structure is plain Python, the leaves are z3 terms.

| TLA+                          | here                                                         |
|-------------------------------|--------------------------------------------------------------|
| Boolean, integer              | a z3 term                                                    |
| string, model value           | `Constant`                                                   |
| tuple, sequence of known size | `Tuple`                                                      |
| function on constants, record | `Function`                                                   |
| finite set                    | `Set`: elements, each with the condition under which it is in |
| sequence of any length        | `Sequence`: a length, and an array for each leaf of an entry |
| any set of numbers            | `Numbers`: an array of Booleans                              |
| one of several of the above   | `Choice`                                                     |
| no value, as NoConn.ack       | `Nothing`; it is never chosen where there is a value         |
| a value that is not looked at | `Hidden`: see `tlatrace.symbolic.hidden`                     |

A condition of a `Choice` says when the value is that one; where none holds, it is the last.
No value is ever changed once it is built.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Many
from dataclasses import dataclass
from itertools import product
from typing import Final, Protocol, TypeAlias

import z3

from tlatrace.errors import EvaluationError
from tlatrace.runtime.values import FALSE, TRUE, Atom, Fcn, RuntimeValue

__all__ = [
    "NO",
    "YES",
    "Choice",
    "Constant",
    "Function",
    "Functions",
    "Hidden",
    "Interval",
    "Leaf",
    "Naturals",
    "Nothing",
    "Numbers",
    "Powerset",
    "Sequence",
    "Set",
    "Shape",
    "Symbolic",
    "Tuple",
    "all_of",
    "any_of",
    "equal",
    "identity",
    "implies",
    "is_no",
    "is_yes",
    "literal",
    "member",
    "merge",
    "negation",
    "options_of",
    "set_of",
    "subset",
]

YES: Final = z3.BoolVal(True)
NO: Final = z3.BoolVal(False)


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A string or a model value."""

    value: RuntimeValue


@dataclass(frozen=True, slots=True, eq=False)
class Tuple:
    """A tuple, or a sequence whose length is known."""

    items: tuple[Symbolic, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function whose domain is known; a record is one on strings.

    The keys are put in one order, whatever order they come in: functions on one domain have the
    same keys.
    """

    keys: tuple[RuntimeValue, ...]
    values: tuple[Symbolic, ...]

    def __post_init__(self) -> None:
        order = sorted(range(len(self.keys)), key=lambda at: repr(self.keys[at]))
        object.__setattr__(self, "keys", tuple([self.keys[at] for at in order]))
        object.__setattr__(self, "values", tuple([self.values[at] for at in order]))


@dataclass(frozen=True, slots=True, eq=False)
class Set:
    """(condition, element): an element may stand there several times."""

    elements: tuple[tuple[z3.BoolRef, Symbolic], ...]


Leaf: TypeAlias = tuple[str, z3.SortRef]


class Shape(Protocol):
    """What is asked of a shape."""

    def sorts(self) -> list[Leaf]:
        """Return the leaves: a name that says where each stands, and its sort."""

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Build the value that has these leaves."""

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Take a value apart; of one that does not fit, any leaves are returned."""

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that a value has the shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """A sequence of any length; `leaves` has one array from 1-based places for each leaf."""

    length: z3.ArithRef
    shape: Shape
    leaves: tuple[z3.ArrayRef, ...]

    def at(self, place: z3.ArithRef) -> Symbolic:
        """Return an entry."""
        return self.shape.build([z3.Select(leaf, place) for leaf in self.leaves])


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """low..high."""

    low: z3.ArithRef
    high: z3.ArithRef


@dataclass(frozen=True, slots=True, eq=False)
class Naturals:
    """Nat."""


@dataclass(frozen=True, slots=True, eq=False)
class Powerset:
    """SUBSET of a set."""

    of: Set | Naturals


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A set of integers of which nothing is known: an array says which are in."""

    has: z3.ArrayRef


@dataclass(frozen=True, slots=True, eq=False)
class Functions:
    """[keys -> of]."""

    keys: tuple[RuntimeValue, ...]
    of: Symbolic


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """(condition, value) of values that have no structure in common."""

    options: tuple[tuple[z3.BoolRef, Symbolic], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Nothing:
    """What TLC has no value for."""


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """Any value."""


Symbolic: TypeAlias = (
    z3.ExprRef
    | Constant
    | Tuple
    | Function
    | Set
    | Sequence
    | Interval
    | Naturals
    | Powerset
    | Numbers
    | Functions
    | Choice
    | Nothing
    | Hidden
)


# ---- Formulas, with what is known beforehand left out ----


def is_yes(part: z3.BoolRef) -> bool:
    """Tell whether a formula is TRUE as it is written; z3 keeps each term once."""
    return bool(part.ast.value == YES.ast.value)


def is_no(part: z3.BoolRef) -> bool:
    """Tell whether a formula is FALSE as it is written."""
    return bool(part.ast.value == NO.ast.value)


def all_of(parts: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Conjoin."""
    left = [part for part in parts if not is_yes(part)]
    if any(is_no(part) for part in left):
        return NO
    return YES if not left else left[0] if len(left) == 1 else z3.And(left)


def any_of(parts: Iterable[z3.BoolRef]) -> z3.BoolRef:
    """Disjoin."""
    left = [part for part in parts if not is_no(part)]
    if any(is_yes(part) for part in left):
        return YES
    return NO if not left else left[0] if len(left) == 1 else z3.Or(left)


def negation(part: z3.BoolRef) -> z3.BoolRef:
    """Negate."""
    if is_yes(part) or is_no(part):
        return NO if is_yes(part) else YES
    return z3.Not(part)


def implies(premise: z3.BoolRef, conclusion: z3.BoolRef) -> z3.BoolRef:
    """Say that one follows from the other."""
    return any_of([negation(premise), conclusion])


# ---- Values ----


def literal(value: RuntimeValue) -> Symbolic:
    """Turn a value of a compiled model into one without unknown parts."""
    if value is TRUE or value is FALSE:
        return YES if value is TRUE else NO
    match value:
        case int():
            return z3.IntVal(value)
        case str() | Atom():
            return Constant(value)
        case tuple():
            return Tuple(tuple([literal(item) for item in value]))
        case frozenset():
            return set_of([(YES, literal(item)) for item in sorted(value, key=repr)])
        case Fcn():
            return Function(tuple(value), tuple([literal(item) for item in value.values()]))
        case _:
            raise EvaluationError(f"{value!r} has no symbolic form")


def options_of(value: Symbolic) -> tuple[tuple[z3.BoolRef, Symbolic], ...]:
    """Return what a value may be; a tuple is split at its parts."""
    match value:
        case Choice():
            return value.options
        case Tuple() if any(isinstance(item, Choice) for item in value.items):
            parts = [options_of(item) for item in value.items]
            return tuple(
                (all_of(guard for guard, _ in chosen), Tuple(tuple(item for _, item in chosen)))
                for chosen in product(*parts)
            )
        case _:
            return ((YES, value),)


def set_of(elements: Iterable[tuple[z3.BoolRef, Symbolic]]) -> Set:
    """Build a set; what can be said of one constant is said once."""
    found: dict[object, tuple[z3.BoolRef, Symbolic]] = {}
    for guard, element in elements:
        for also, value in options_of(element):
            condition = all_of([guard, also])
            if is_no(condition) or isinstance(value, Nothing):
                continue
            key = identity(value)
            known = found.get(key)
            found[key] = (any_of([known[0], condition]) if known else condition, value)
    return Set(tuple(found.values()))


def identity(value: Symbolic) -> object:
    """Return the same object for values that are written in the same way."""
    match value:
        case Constant():
            return value.value
        case Tuple():
            return ("tuple", *[identity(item) for item in value.items])
        case Function():
            return ("function", value.keys, *[identity(item) for item in value.values])
        case Set():
            return ("set", *[(guard.ast.value, identity(e)) for guard, e in value.elements])
        case z3.ExprRef():
            return ("term", value.ast.value)
        case _:
            return ("other", id(value))


def _kind(value: Symbolic) -> object:
    """Return the same for values that can be merged part by part."""
    match value:
        case Constant():
            return ("constant", value.value)
        case Tuple():
            return ("tuple", len(value.items))
        case Function():
            return ("function", value.keys)
        case z3.ExprRef():
            return ("term", isinstance(value, z3.BoolRef), isinstance(value, z3.ArrayRef))
        case _:
            return (type(value).__name__,)


def merge(condition: z3.BoolRef, yes: Symbolic, no: Symbolic) -> Symbolic:
    """Return the value that is `yes` under the condition, and else `no`."""
    if is_yes(condition) or yes is no or isinstance(no, Nothing):
        return yes
    if is_no(condition) or isinstance(yes, Nothing):
        return no
    if isinstance(yes, Hidden) or isinstance(no, Hidden):
        return Hidden()
    if isinstance(yes, Choice) or isinstance(no, Choice) or _kind(yes) != _kind(no):
        return _choice(condition, yes, no)
    match yes, no:
        case Constant(), Constant():
            return yes
        case Tuple(), Tuple():
            return Tuple(_merge_all(condition, yes.items, no.items))
        case Function(), Function():
            return Function(yes.keys, _merge_all(condition, yes.values, no.values))
        case Set(), Set():
            return _merge_sets(condition, yes, no)
        case Sequence(), Sequence():
            length = merge(condition, yes.length, no.length)
            return Sequence(length, yes.shape, _merge_all(condition, yes.leaves, no.leaves))
        case z3.ExprRef(), z3.ExprRef():
            return yes if yes.ast.value == no.ast.value else z3.If(condition, yes, no)
        case _:
            raise EvaluationError("values of these kinds cannot be chosen from")


def _merge_all(
    condition: z3.BoolRef, yes: Many[Symbolic], no: Many[Symbolic]
) -> tuple[Symbolic, ...]:
    return tuple([merge(condition, one, other) for one, other in zip(yes, no, strict=True)])


def _choice(condition: z3.BoolRef, yes: Symbolic, no: Symbolic) -> Symbolic:
    otherwise = negation(condition)
    found: dict[object, tuple[z3.BoolRef, Symbolic]] = {}
    for side, value in ((condition, yes), (otherwise, no)):
        for guard, option in value.options if isinstance(value, Choice) else ((YES, value),):
            here, kind = all_of([side, guard]), _kind(option)
            if kind in found:
                known, other = found[kind]
                found[kind] = any_of([known, here]), merge(here, option, other)
            else:
                found[kind] = here, option
    options = tuple(found.values())
    return options[0][1] if len(options) == 1 else Choice(options)


def _merge_sets(condition: z3.BoolRef, yes: Set, no: Set) -> Set:
    """Pair the elements that look alike, so that sets do not grow with each choice."""
    waiting: dict[object, list[tuple[z3.BoolRef, Symbolic]]] = {}
    for guard, element in no.elements:
        waiting.setdefault(_look(element), []).append((guard, element))
    found: list[tuple[z3.BoolRef, Symbolic]] = []
    for guard, element in yes.elements:
        alike = waiting.get(_look(element))
        if alike:
            other_guard, other = alike.pop(0)
            found.append((merge(condition, guard, other_guard), merge(condition, element, other)))
        else:
            found.append((all_of([condition, guard]), element))
    otherwise = negation(condition)
    for left in waiting.values():
        found += [(all_of([otherwise, guard]), element) for guard, element in left]
    return set_of(found)


def _look(value: Symbolic) -> object:
    match value:
        case Constant():
            return value.value
        case Tuple():
            return tuple([_look(item) for item in value.items])
        case _:
            return _kind(value)


# ---- Predicates ----


def equal(left: Symbolic, right: Symbolic) -> z3.BoolRef:
    """Say that two values are the same; values of different kinds never are."""
    if isinstance(left, Hidden) or isinstance(right, Hidden):
        raise EvaluationError("a value that is not looked at is compared")
    if isinstance(left, Choice) or isinstance(right, Choice):
        pairs = product(options_of(left), options_of(right))
        return any_of(all_of([g, h, equal(one, other)]) for (g, one), (h, other) in pairs)
    match left, right:
        case ((Set() | Numbers()), (Set() | Numbers())):
            return all_of([subset(left, right), subset(right, left)])
        case Sequence(), Tuple():
            entries = [equal(left.at(z3.IntVal(n)), e) for n, e in enumerate(right.items, 1)]
            return all_of([left.length == len(right.items), *entries])
        case Tuple(), Sequence():
            return equal(right, left)
        case _ if _kind(left) != _kind(right):
            return NO
        case Tuple(), Tuple():
            return all_of(map(equal, left.items, right.items))
        case Function(), Function():
            return all_of(map(equal, left.values, right.values))
        case Constant(), Constant():
            return YES
        case z3.ExprRef(), z3.ExprRef():
            return _same_term(left, right)
        case _:
            raise EvaluationError("values of these kinds are not compared")


def _same_term(left: z3.ExprRef, right: z3.ExprRef) -> z3.BoolRef:
    if left.ast.value == right.ast.value:
        return YES
    numbers = isinstance(left, z3.IntNumRef) and isinstance(right, z3.IntNumRef)
    return NO if numbers else left == right


def member(value: Symbolic, among: Symbolic) -> z3.BoolRef:
    r"""Say that value \in among."""
    match among:
        case Set():
            return any_of(all_of([guard, equal(value, item)]) for guard, item in among.elements)
        case Interval() if isinstance(value, z3.ArithRef):
            return all_of([among.low <= value, value <= among.high])
        case Naturals() if isinstance(value, z3.ArithRef):
            return value >= 0
        case Powerset():
            return subset(value, among.of)
        case Numbers() if isinstance(value, z3.ArithRef):
            return z3.Select(among.has, value)
        case Choice():
            return any_of(all_of([guard, member(value, s)]) for guard, s in among.options)
        case _:
            raise EvaluationError(f"a {type(among).__name__} has no elements")


def subset(left: Symbolic, right: Symbolic) -> z3.BoolRef:
    r"""Say that left \subseteq right."""
    if isinstance(left, Choice):
        return all_of(implies(guard, subset(option, right)) for guard, option in left.options)
    if isinstance(left, Numbers):
        number = z3.Int("number")
        return z3.ForAll([number], z3.Implies(z3.Select(left.has, number), member(number, right)))
    if not isinstance(left, Set):
        raise EvaluationError(f"the elements of a {type(left).__name__} cannot be listed")
    return all_of(implies(guard, member(item, right)) for guard, item in left.elements)
