"""Shapes: what a variable's value looks like when all that is known is its type.

A shape builds a value from leaves (z3 terms), and takes a value apart into leaves again. What does
not come out as it went in does not have the shape: `fits` says that it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Final

import z3

from tlatrace.errors import EvaluationError
from tlatrace.runtime.values import RuntimeValue
from tlatrace.symbolic.elements import length_of
from tlatrace.symbolic.functions import applied
from tlatrace.symbolic.values import (
    NO,
    Choice,
    Constant,
    Function,
    Hidden,
    Leaf,
    Nothing,
    Sequence,
    Set,
    Shape,
    Symbolic,
    Tuple,
    all_of,
    any_of,
    equal,
    implies,
    merge,
    negation,
    options_of,
    set_of,
)

__all__ = [
    "BOOLEAN",
    "HIDDEN",
    "INTEGER",
    "LENGTH",
    "AtMost",
    "Enumeration",
    "FunctionOn",
    "OneOf",
    "PartialMap",
    "SequenceAtMost",
    "SequenceOf",
    "TupleOf",
    "constant_of",
    "record",
]


def constant_of(shape: Shape, name: str) -> Symbolic:
    """Return a value of which nothing but its shape is known."""
    return shape.build([z3.Const(f"{name}{path}", sort) for path, sort in shape.sorts()])


@dataclass(frozen=True, slots=True)
class _Scalar:
    sort: z3.SortRef

    def sorts(self) -> list[Leaf]:
        return [("", self.sort)]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        (leaf,) = leaves
        return leaf

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        return [value]

    def fits(self, value: Symbolic) -> z3.BoolRef:
        return z3.BoolVal(isinstance(value, z3.ExprRef) and value.sort() == self.sort)


INTEGER: Final = _Scalar(z3.IntSort())
BOOLEAN: Final = _Scalar(z3.BoolSort())
LENGTH: Final = " length"
"""How the name of a leaf ends that is the length of a sequence."""


@dataclass(frozen=True, slots=True)
class _Anything:
    def sorts(self) -> list[Leaf]:
        return []

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        assert not leaves
        return Hidden()

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:  # noqa: ARG002
        return []

    def fits(self, value: Symbolic) -> z3.BoolRef:  # noqa: ARG002
        return z3.BoolVal(True)


HIDDEN: Final = _Anything()
"""Any value, which is not looked at: see `tlatrace.symbolic.hidden`."""


@dataclass(frozen=True, slots=True)
class Enumeration:
    """One of several strings or model values."""

    values: tuple[RuntimeValue, ...]

    def sorts(self) -> list[Leaf]:
        """One condition for each value but the last: it is this one, and none before."""
        return [(f" is {value}", z3.BoolSort()) for value in self.values[:-1]]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Choose the first value whose condition holds."""
        found: Symbolic = Constant(self.values[-1])
        for leaf, value in zip(reversed(leaves), reversed(self.values[:-1]), strict=True):
            found = merge(leaf, Constant(value), found)
        return found

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Compare with each value."""
        return [equal(value, Constant(one)) for one in self.values[:-1]]

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that it is one of the values."""
        return any_of(equal(value, Constant(one)) for one in self.values)


@dataclass(frozen=True, slots=True)
class FunctionOn:
    """A function on known keys, or a record: (key, shape of the image)."""

    fields: tuple[tuple[RuntimeValue, Shape], ...]

    def sorts(self) -> list[Leaf]:
        """Those of the images."""
        return [
            (f".{key}{path}", sort) for key, shape in self.fields for path, sort in shape.sorts()
        ]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Build all images."""
        values: list[Symbolic] = []
        at = 0
        for _, shape in self.fields:
            size = len(shape.sorts())
            values.append(shape.build(leaves[at : at + size]))
            at += size
        return Function(tuple([key for key, _ in self.fields]), tuple(values))

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Take all images apart."""
        images = self._images(value)
        return [
            leaf
            for image, (_, shape) in zip(images, self.fields, strict=True)
            for leaf in shape.leaves(image)
        ]

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that the domain is right, and every image."""
        if not self.has_keys(value):
            return NO
        images = self._images(value)
        return all_of(
            shape.fits(image) for image, (_, shape) in zip(images, self.fields, strict=True)
        )

    def has_keys(self, value: Symbolic) -> bool:
        """Tell whether a value is a function on these keys."""
        return isinstance(value, Function) and set(value.keys) == {key for key, _ in self.fields}

    def _images(self, value: Symbolic) -> list[Symbolic]:
        if not isinstance(value, Function) or not self.has_keys(value):
            raise EvaluationError("a function has another domain than its shape")
        images = dict(zip(value.keys, value.values, strict=True))
        return [images[key] for key, _ in self.fields]


def record(fields: Mapping[str, Shape]) -> FunctionOn:
    """Return the shape of a record."""
    return FunctionOn(tuple(fields.items()))


@dataclass(frozen=True, slots=True)
class TupleOf:
    """A tuple of so many items, each of a shape."""

    items: tuple[Shape, ...]

    def sorts(self) -> list[Leaf]:
        """Those of the items."""
        return [
            (f"[{at}]{path}", sort)
            for at, shape in enumerate(self.items, start=1)
            for path, sort in shape.sorts()
        ]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Build all items."""
        rest = iter(leaves)
        return Tuple(
            tuple([shape.build(list(islice(rest, len(shape.sorts())))) for shape in self.items])
        )

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Take all items apart."""
        if not isinstance(value, Tuple) or len(value.items) != len(self.items):
            raise EvaluationError("a tuple has another length than its shape")
        pairs = zip(self.items, value.items, strict=True)
        return [leaf for shape, item in pairs for leaf in shape.leaves(item)]

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that there are as many items, and that each fits."""
        if not isinstance(value, Tuple) or len(value.items) != len(self.items):
            return NO
        pairs = zip(self.items, value.items, strict=True)
        return all_of(shape.fits(item) for shape, item in pairs)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A record of the shape, or else one constant record."""

    shape: FunctionOn
    otherwise: Function

    def sorts(self) -> list[Leaf]:
        """Whether it has the shape, and the leaves of that."""
        return [(" is", z3.BoolSort()), *self.shape.sorts()]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Choose."""
        return merge(leaves[0], self.shape.build(leaves[1:]), self.otherwise)

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Find the option that has the shape; without one, the leaves say nothing."""
        found = [(g, option) for g, option in options_of(value) if self.shape.has_keys(option)]
        if not found:
            return [NO, *[z3.Const("unused", sort) for _, sort in self.shape.sorts()]]
        ((guard, option),) = found
        return [guard, *self.shape.leaves(option)]

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that every option is one or the other."""
        return all_of(
            implies(
                guard,
                self.shape.fits(option)
                if self.shape.has_keys(option)
                else equal(option, self.otherwise),
            )
            for guard, option in options_of(value)
        )


@dataclass(frozen=True, slots=True)
class PartialMap:
    """A set of <<key, integer>> with at most one integer for each key."""

    keys: tuple[RuntimeValue, ...]

    def sorts(self) -> list[Leaf]:
        """For each key, whether it is there, and its integer."""
        return [
            leaf
            for key in self.keys
            for leaf in ((f" has {key}", z3.BoolSort()), (f".{key}", z3.IntSort()))
        ]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Build the set."""
        pairs = zip(self.keys, leaves[0::2], leaves[1::2], strict=True)
        return set_of([(has, Tuple((Constant(key), number))) for key, has, number in pairs])

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Look for each key; of several integers the first one that is in."""
        found: list[z3.ExprRef] = []
        for key in self.keys:
            mine = self._of(key, value)
            number: z3.ExprRef = mine[-1][1] if mine else z3.IntVal(0)
            for guard, other in reversed(mine[:-1]):
                number = merge(guard, other, number)
            found += [any_of(guard for guard, _ in mine), number]
        return found

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that no key has two integers."""
        return all_of(
            implies(all_of([g, h]), one == other)
            for key in self.keys
            for (g, one), (h, other) in combinations(self._of(key, value), 2)
        )

    def _of(self, key: RuntimeValue, value: Symbolic) -> list[tuple[z3.BoolRef, z3.ExprRef]]:
        """Return the integers of a key, with their conditions."""
        found: list[tuple[z3.BoolRef, z3.ExprRef]] = []
        for guard, option in options_of(value):
            if not isinstance(option, Set):
                raise EvaluationError("a set of pairs is no set")
            for also, element in option.elements:
                if not (
                    isinstance(element, Tuple)
                    and len(element.items) == 2
                    and isinstance(element.items[0], Constant)
                    and element.items[0].value in self.keys
                ):
                    raise EvaluationError("a set of pairs has an element that is no such pair")
                if element.items[0].value == key:
                    found.append((all_of([guard, also]), element.items[1]))
        return found


@dataclass(frozen=True, slots=True)
class AtMost:
    """A set of at most so many elements of one shape.

    With `sampled`, the number is that of the elements that are looked at, of a set of any size: see
    `tlatrace.symbolic.samples` for when that is enough.
    """

    count: int
    element: Shape
    sampled: bool = False

    def sorts(self) -> list[Leaf]:
        """For each element, whether it is there, and its leaves."""
        return [
            leaf
            for at in range(1, self.count + 1)
            for leaf in (
                (f" has {at}", z3.BoolSort()),
                *((f".{at}{path}", sort) for path, sort in self.element.sorts()),
            )
        ]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Build the set; elements may be the same."""
        size = 1 + len(self.element.sorts())
        parts = [leaves[at : at + size] for at in range(0, len(leaves), size)]
        return Set(tuple([(part[0], self.element.build(part[1:])) for part in parts]))

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Not needed: such sets do not stand within other values."""
        raise EvaluationError(f"a {type(value).__name__} of structured elements in a structure")

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that all elements fit, and that no more than `count` are different."""
        fitting = [implies(guard, self.element.fits(element)) for guard, element in _guarded(value)]
        return all_of([*fitting, *([] if self.sampled else [self.few(value)])])

    def few(self, value: Symbolic) -> z3.BoolRef:
        """Say that no more than `count` elements are different."""
        return all_of(
            any_of(
                [
                    *(negation(guard) for guard, _ in some),
                    *(equal(one, other) for (_, one), (_, other) in combinations(some, 2)),
                ]
            )
            for some in combinations(_guarded(value), self.count + 1)
        )


def _guarded(value: Symbolic) -> list[tuple[z3.BoolRef, Symbolic]]:
    """Return the elements of a set, each with its condition."""
    return [
        (all_of([guard, also]), element)
        for guard, option in options_of(value)
        for also, element in (option.elements if isinstance(option, Set) else ())
    ]


@dataclass(frozen=True, slots=True)
class SequenceOf:
    """A sequence of any length whose entries have a shape."""

    entry: Shape

    def sorts(self) -> list[Leaf]:
        """The length, and an array for each leaf of the entries."""
        arrays = [
            (f"[]{path}", z3.ArraySort(z3.IntSort(), sort)) for path, sort in self.entry.sorts()
        ]
        return [(LENGTH, z3.IntSort()), *arrays]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Build the sequence."""
        return Sequence(leaves[0], self.entry, tuple(leaves[1:]))

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Take it apart; what is in the arrays behind the end does not matter."""
        if isinstance(value, Tuple):
            arrays = [z3.Const("unused", sort) for _, sort in self.sorts()[1:]]
            for place, item in enumerate(value.items, start=1):
                leaves = zip(arrays, self.entry.leaves(item), strict=True)
                arrays = [z3.Store(array, place, leaf) for array, leaf in leaves]
            return [z3.IntVal(len(value.items)), *arrays]
        if not isinstance(value, Sequence):
            raise EvaluationError("no sequence within a structure")
        return [value.length, *value.leaves]

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that the entries fit; those of a `Sequence` do, by the way it is made."""
        return all_of(implies(guard, self._fits(option)) for guard, option in options_of(value))

    def _fits(self, value: Symbolic) -> z3.BoolRef:
        if isinstance(value, Tuple):
            return all_of(self.entry.fits(item) for item in value.items)
        return z3.BoolVal(isinstance(value, Sequence))


@dataclass(frozen=True, slots=True)
class SequenceAtMost:
    """A sequence of at most so many entries of a shape."""

    most: int
    entry: Shape

    def sorts(self) -> list[Leaf]:
        """The length, and the leaves of each entry that there may be."""
        return [
            (LENGTH, z3.IntSort()),
            *[
                (f"[{at}]{path}", sort)
                for at in range(1, self.most + 1)
                for path, sort in self.entry.sorts()
            ],
        ]

    def build(self, leaves: Many[z3.ExprRef]) -> Symbolic:
        """Choose by the length; one that is too small or too large is the next one that is not."""
        size = len(self.entry.sorts())
        items = [
            self.entry.build(leaves[at : at + size]) for at in range(1, 1 + self.most * size, size)
        ]
        length = leaves[0]
        assert isinstance(length, z3.ArithRef)
        lengths = [length <= 0, *[length == n for n in range(1, self.most)], length >= self.most]
        return Choice(tuple([(here, Tuple(tuple(items[:n]))) for n, here in enumerate(lengths)]))

    def leaves(self, value: Symbolic) -> list[z3.ExprRef]:
        """Take the longest apart that it may be; an entry that is not there has any leaves."""
        unused = [z3.Const("unused", sort) for _, sort in self.entry.sorts()]
        found: list[z3.ExprRef] = [length_of(value)]
        for at in range(1, self.most + 1):
            entry = applied(value, z3.IntVal(at))
            found += unused if isinstance(entry, Nothing) else self.entry.leaves(entry)
        return found

    def fits(self, value: Symbolic) -> z3.BoolRef:
        """Say that it is not longer, and that the entries fit."""
        return all_of(
            implies(
                guard,
                all_of(self.entry.fits(item) for item in option.items)
                if isinstance(option, Tuple) and len(option.items) <= self.most
                else NO,
            )
            for guard, option in options_of(value)
        )
