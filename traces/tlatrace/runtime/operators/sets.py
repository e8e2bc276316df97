"""Sets: constructors, operators, CHOOSE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.runtime.lazy import (
    MAX_ELEMENTS,
    Filtered,
    LazySet,
    Union,
    elements_of,
    finite,
    member,
    typical,
)
from tlatrace.runtime.operators.ordering import order
from tlatrace.runtime.values import (
    FALSE,
    TRUE,
    Atom,
    Fcn,
    RuntimeValue,
    all_comparable,
    kind,
)

__all__ = [
    "BOOLEAN",
    "big_union",
    "cardinality",
    "choose",
    "choose_first",
    "difference",
    "few",
    "intersection",
    "is_finite",
    "largest",
    "make_set",
    "smallest",
    "subset",
    "union",
]

BOOLEAN: Final[frozenset[RuntimeValue]] = frozenset([TRUE, FALSE])


def few(*sets: Iterable[RuntimeValue]) -> list[Iterable[RuntimeValue]]:
    """Return the sets of a comprehension as they were, unless it has too many elements."""
    listed = [list(among) if isinstance(among, LazySet) else among for among in sets]
    size = 1
    for among in listed:
        assert isinstance(among, Sized)
        size *= len(among)
    if size > MAX_ELEMENTS:
        raise EvaluationError(f"a set or function has more than {MAX_ELEMENTS} elements")
    return listed


def make_set(elements: Iterable[RuntimeValue]) -> frozenset[RuntimeValue]:
    """Return the set of the elements; TLC compares them, so they must be comparable."""
    found = frozenset(elements)
    if len(found) > 1:
        _one_kind(found)
    return found


def _one_kind(found: frozenset[RuntimeValue]) -> None:
    kinds = set(map(type, found))
    if len(kinds) > 1:
        kinds.discard(Atom)
        if len(kinds) > 1:
            names = {kind(value) for value in found} - {"a model value"}
            if len(names) > 1:
                raise EvaluationError(f"a set holds {' and '.join(sorted(names))}")


def union(left: RuntimeValue, right: RuntimeValue) -> RuntimeValue:
    if type(left) is frozenset and type(right) is frozenset:
        if not left:
            return right
        if not right:
            return left
        return make_set(left | right)
    _sets(left, right)
    return Union(left, right)


def intersection(left: RuntimeValue, right: RuntimeValue) -> RuntimeValue:
    if type(left) is frozenset and type(right) is frozenset:
        _comparable(left, right)
        return left & right
    _sets(left, right)
    if isinstance(left, LazySet):
        left, right = right, left
    if isinstance(left, LazySet):
        other = right
        return Filtered(left, lambda value: member(value, other))
    return frozenset([value for value in elements_of(left) if member(value, right)])


def difference(left: RuntimeValue, right: RuntimeValue) -> RuntimeValue:
    if type(left) is frozenset and type(right) is frozenset:
        _comparable(left, right)
        return left - right
    _sets(left, right)
    if isinstance(left, LazySet):
        return Filtered(left, lambda value: not member(value, right))
    return frozenset([value for value in elements_of(left) if not member(value, right)])


def subset(left: RuntimeValue, right: RuntimeValue) -> bool:
    if type(left) is frozenset and type(right) is frozenset:
        if left <= right:
            return True
        _comparable(left, right)
        return False
    _sets(left, right)
    if left is right:
        return True
    return all(member(value, right) for value in elements_of(left))


def big_union(sets: RuntimeValue) -> frozenset[RuntimeValue]:
    return make_set([value for part in elements_of(sets) for value in elements_of(part)])


def cardinality(collection: RuntimeValue) -> int:
    return len(finite(collection))


def is_finite(collection: RuntimeValue) -> bool:
    if isinstance(collection, frozenset):
        return True
    if not isinstance(collection, LazySet):
        raise EvaluationError(f"{kind(collection)} is not a set")
    try:
        collection.whole()
    except EvaluationError as error:
        if "cannot be enumerated" in error.reason:
            return False
        raise
    return True


def _sets(left: RuntimeValue, right: RuntimeValue) -> None:
    for value in (left, right):
        if not isinstance(value, frozenset | LazySet):
            raise EvaluationError(f"{kind(value)} is not a set")


def _comparable(left: frozenset[RuntimeValue], right: frozenset[RuntimeValue]) -> None:
    one, other = typical(left), typical(right)
    if one is None or other is None:
        return
    if type(one) is not type(other) or isinstance(one, tuple | Fcn):
        kinds = set(map(type, left)) | set(map(type, right))
        if len(kinds - {Atom}) > 1:
            all_comparable(left, right)


def choose(found: Sequence[RuntimeValue], what: str) -> RuntimeValue:
    """Return the only element that CHOOSE may choose.

    Raises:
        EvaluationError: there is none, or more than one.
    """
    if len(found) == 1:
        return found[0]
    if not found:
        raise EvaluationError(f"{what}: no element satisfies the predicate")
    raise EvaluationError(
        f"{what}: {len(found)} elements satisfy the predicate, and only TLC knows which it takes"
        " (if it does not matter, mark the definition with \\* CHOOSE ANY, or say --choose-any)"
    )


def choose_first(found: Iterable[RuntimeValue], what: str) -> RuntimeValue:
    """Return the first element, in the order of TLC as far as it can be known."""
    elements = list(found)
    if not elements:
        raise EvaluationError(f"{what}: no element satisfies the predicate")
    return min(elements, key=order)


def largest(collection: RuntimeValue) -> int:
    return max(_some_integers(collection))


def smallest(collection: RuntimeValue) -> int:
    return min(_some_integers(collection))


def _some_integers(collection: RuntimeValue) -> list[int]:
    found = [value for value in elements_of(collection) if type(value) is int]
    if not found or len(found) < len(finite(collection)):
        raise EvaluationError("the largest of what is not a set of integers, or is empty")
    return found
