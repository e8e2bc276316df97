"""The values that compiled models compute with: as exact as `tlatrace.values`, and faster.

| TLA+                    | Python here                                                     |
|-------------------------|-----------------------------------------------------------------|
| TRUE, FALSE             | `TRUE`, `FALSE`: objects of their own, because Python has 1 == True |
| integer, string         | int, str                                                        |
| model value             | `Atom`, one object a name                                      |
| tuple, sequence         | tuple                                                           |
| finite set              | frozenset, or a lazy set of `tlatrace.runtime.lazy`             |
| any other function      | `Fcn`, a dict with a hash; records are functions over strings   |

A function with the domain 1..n is always a tuple, the empty function `()`. So two values are the
same TLA+ value iff Python's == says so; `eq` also refuses what TLC cannot compare, such as 1 and
"a". No value is ever changed once it is built.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import product
from string import ascii_letters, digits
from typing import Final, TypeAlias

from tlatrace.errors import EvaluationError
from tlatrace.tla_text import to_tla
from tlatrace.values import ExactString, ModelValue, TlaSet, Value, fcn, tla_set
from tlatrace.values import Fcn as FcnValue

__all__ = [
    "FALSE",
    "TRUE",
    "Atom",
    "Boolean",
    "Fcn",
    "RuntimeValue",
    "all_comparable",
    "comparable",
    "differ",
    "eq",
    "from_runtime",
    "function",
    "kind",
    "model_value",
    "part_of",
    "short",
    "to_runtime",
]


class Boolean:
    """TRUE or FALSE; there are exactly two objects."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __reduce__(self) -> str:
        return self._name  # the global of that name: unpickled, it is the same object


TRUE: Final = Boolean("TRUE")
FALSE: Final = Boolean("FALSE")


class Atom:
    """A model value; `model_value` gives the one object of a name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return model_value, (self.name,)


class TypedAtom(Atom):
    """A model value with a type, `T_a`: TLC compares it with those of type T and untyped ones.

    There is a class for each type, so that who asks for kinds finds them different.
    Source: Specifying Systems' TLC, "typed model values"; TLC's `ModelValue`
    """

    __slots__ = ()


class Fcn(dict["RuntimeValue", "RuntimeValue"]):
    """A function whose domain is not 1..n; never changed once it is built."""

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]  # dict says None: ours are not changed
        try:
            return self._hash
        except AttributeError:
            self._hash = hash(frozenset(self.items()))
            return self._hash


class LazyValue:
    """A value that is built when it is looked at as a whole (see `tlatrace.runtime.lazy`).

    It is no ABC: of nearly every value is asked whether it is one, which is slow of those.
    """

    __slots__ = ()

    def whole(self) -> RuntimeValue:
        """Build the value.

        Raises:
            EvaluationError: it is infinite or too large.
        """
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self is other or self.whole() == (
            other.whole() if isinstance(other, LazyValue) else other
        )

    def __hash__(self) -> int:
        return hash(self.whole())


RuntimeValue: TypeAlias = (
    Boolean
    | int
    | str
    | Atom
    | tuple["RuntimeValue", ...]
    | frozenset["RuntimeValue"]
    | Fcn
    | LazyValue
)
"""One value as a model has it: hashable, and equal iff it is the same TLA+ value."""

_TYPED: Final[dict[str, type[TypedAtom]]] = {
    letter: type(f"TypedAtom_{letter}", (TypedAtom,), {"__slots__": ()})
    for letter in f"{ascii_letters}{digits}_"
}
_WITHOUT_PARTS: Final = frozenset({Boolean, int, str, Atom, *_TYPED.values()})

_STRINGS: Final = frozenset({str})

_FEW_COMPARED: Final = 32
"""So many elements of a set are compared each for itself."""

_MODELS: Final[dict[str, Atom]] = {}


def model_value(name: str) -> Atom:
    """Return the model value of a name: the same object for the same name."""
    found = _MODELS.get(name)
    if found is None:
        typed = _TYPED.get(name[0]) if len(name) > 2 and name[1] == "_" else None
        found = _MODELS.setdefault(name, (typed or Atom)(name))
    return found


def function(pairs: dict[RuntimeValue, RuntimeValue]) -> RuntimeValue:
    """Return the function with these pairs: a tuple if its domain is 1..n."""
    if 1 in pairs:
        size = len(pairs)
        if all(index in pairs for index in range(1, size + 1)):
            return tuple([pairs[index] for index in range(1, size + 1)])
    elif not pairs:
        return ()
    return Fcn(pairs)


def part_of(value: RuntimeValue, at: Iterable[RuntimeValue]) -> RuntimeValue | None:
    """Apply a value to arguments one by one; None where one is outside of its domain."""
    for argument in at:
        if isinstance(value, LazyValue):
            value = value.whole()
        if isinstance(value, Fcn) and argument in value:
            value = value[argument]
        elif isinstance(value, tuple) and type(argument) is int and 0 < argument <= len(value):
            value = value[argument - 1]
        else:
            return None
    return value


# ---- equality -----------------------------------------------------------------------------


def eq(left: RuntimeValue, right: RuntimeValue) -> bool:
    """Tell whether two values are equal.

    Raises:
        EvaluationError: TLC cannot compare them, as 1 and "a".
    """
    if left is right or left == right:
        return True
    if type(left) is type(right) and type(left) in _WITHOUT_PARTS:
        return False
    if type(left) is Fcn and type(right) is Fcn:
        _functions(left, right)
        return False
    return differ(left, right)


def kind(value: object) -> str:
    """Name the kind of a value; TLC compares values of one kind only."""
    match value:
        case Boolean():
            return "a boolean"
        case int():
            return "an integer"
        case str():
            return "a string"
        case TypedAtom(name=name):
            return f"a model value of type {name[0]}"
        case Atom():
            return "a model value"
        case frozenset():
            return "a set"
        case tuple() | Fcn():
            return "a function"
        case LazyValue():
            return kind(value.whole())
        case _:
            return f"a Python {type(value).__name__}"


def differ(left: RuntimeValue, right: RuntimeValue) -> bool:
    """Return False for values that are known to be unequal, if TLC can tell, too.

    Raises:
        EvaluationError: TLC cannot compare them.
    """
    if type(left) is type(right):
        if type(left) in _WITHOUT_PARTS:
            return False
        if isinstance(left, Fcn) and isinstance(right, Fcn):
            _functions(left, right)
            return False
        if isinstance(left, tuple) and isinstance(right, tuple):
            if len(left) == len(right):
                _first_difference(zip(left, right, strict=True))
            return False
        if isinstance(left, frozenset) and isinstance(right, frozenset):
            _one_of_each(left, right)
            return False
    if isinstance(left, LazyValue):
        return differ(left.whole(), right)
    if isinstance(right, LazyValue):
        return differ(left, right.whole())
    if type(left) is Atom or type(right) is Atom:
        return False
    if kind(left) != kind(right):
        raise EvaluationError(
            f"{kind(left)} cannot be compared with {kind(right)}: {short(left)} = {short(right)}"
        )
    if isinstance(left, tuple) and isinstance(right, Fcn):  # and neither is empty, or both are
        _domains(len(left), 1, len(right), _kept(right, Fcn()))
        _numbered(left, right)
    elif isinstance(left, Fcn) and isinstance(right, tuple):
        _domains(len(left), _kept(left, Fcn()), len(right), 1)
        _numbered(right, left)
    return False


def _functions(left: Fcn, right: Fcn) -> None:
    """Refuse what TLC may refuse: it compares keys and values in an order of its own.

    So all of them must be comparable.
    """
    if len(left) == len(right):
        pairs: list[tuple[RuntimeValue, RuntimeValue]] = []
        for key, image in left.items():
            other = right.get(key)
            if other is None:
                break
            if image is not other and not (
                type(image) is type(other) and type(image) in _WITHOUT_PARTS
            ):
                pairs.append((image, other))
        else:
            if pairs:
                comparable(pairs)
            return
    elif _STRINGS.issuperset(map(type, left)) and _STRINGS.issuperset(map(type, right)):
        return  # two records, which are the most
    _domains(len(left), _kept(left, right), len(right), _kept(right, left))
    if len(left) == len(right):
        comparable([(left[key], right[key]) for key in left if key in right])


def _kept(one: Fcn, other: Fcn) -> RuntimeValue:
    """Return a key that only one function has, if there is any, and no model value if it can be."""
    own = [key for key in one if key not in other] or list(one)
    found = _representatives(own) or own
    return found[0] if len(found) == 1 else min(found, key=_order)


def comparable(pairs: Iterable[tuple[RuntimeValue, RuntimeValue]]) -> None:
    """Do nothing if TLC can compare each pair of values.

    Raises:
        EvaluationError: it cannot; in the same words in whatever order the pairs are.
    """
    reasons: list[str] = []
    for one, other in pairs:
        if one is other or (type(one) is type(other) and type(one) in _WITHOUT_PARTS):
            continue
        if one != other:
            try:
                differ(one, other)
            except EvaluationError as error:
                reasons.append(error.reason)
    if reasons:
        raise EvaluationError(min(reasons))


def _domains(size: int, key: RuntimeValue, other_size: int, other: RuntimeValue) -> None:
    """Compare a key of each of two functions, as TLC does where it compares the domains.

    A record on the left is compared with records only.
    """
    if size == other_size or (type(key) is str and other_size):
        eq(key, other)


def _numbered(sequence: tuple[RuntimeValue, ...], other: Fcn) -> None:
    """Refuse what TLC refuses: it compares the numbers of a tuple with the keys of a function.

    A model value is comparable with every number, but not as a key.
    """
    if len(sequence) == len(other) and any(isinstance(key, Atom) for key in other):
        raise EvaluationError("a tuple cannot be compared with a function of model values")


def _first_difference(pairs: Iterable[tuple[RuntimeValue, RuntimeValue]]) -> None:
    for one, other in pairs:
        if not (one is other or one == other):
            differ(one, other)
            return


def _one_of_each(left: frozenset[RuntimeValue], right: frozenset[RuntimeValue]) -> None:
    if len(left) == len(right) and not _plain_alike(left, right):
        all_comparable(left - right, right - left)


def all_comparable(some: Collection[RuntimeValue], others: Collection[RuntimeValue]) -> None:
    """Do nothing if TLC can compare each of some values with each of the others.

    Raises:
        EvaluationError: it cannot; in the same words in whatever order the values are.
    """
    if len(some) == len(others) == 1:
        (one,), (other,) = some, others
        if type(one) is not Atom and type(other) is not Atom and one != other:
            differ(one, other)
        return
    if _plain_alike(some, others) or _alike(some, others):
        return
    comparable(product(_representatives(some), _representatives(others)))


def _plain_alike(some: Iterable[RuntimeValue], others: Iterable[RuntimeValue]) -> bool:
    """Tell whether all values are numbers, strings or booleans, besides model values."""
    kinds = {*map(type, some), *map(type, others)} - {Atom}
    return len(kinds) < 2 and kinds <= _WITHOUT_PARTS


def _alike(some: Iterable[RuntimeValue], others: Iterable[RuntimeValue]) -> bool:
    """Tell whether the forms of the values say that TLC can compare each with each."""
    mine, its = set(map(_form, some)), set(map(_form, others))
    return not [other for one in mine for other in its if not _meet(one, other)]


def _representatives(elements: Iterable[RuntimeValue]) -> list[RuntimeValue]:
    """Return elements such that what can be compared with them can be compared with all.

    Elements without parts are of one kind, besides model values: one of them will do. Of the others
    there are all, or of many one for each form.
    """
    found = [element for element in elements if type(element) is not Atom]
    if set(map(type, found)) in ({int}, {str}, {Boolean}):
        return [min(found, key=str)]
    if len(found) <= _FEW_COMPARED:
        return found
    return list({_form(element): element for element in found}.values())


@lru_cache(100_000)
def _form(value: RuntimeValue) -> object:
    """Return what a value has in common with all that can be compared with the same values."""
    match value:
        case tuple():
            return "tuple", tuple([_form(part) for part in value])
        case Fcn():
            return "function", frozenset([(key, _form(image)) for key, image in value.items()])
        case frozenset():
            return "set", len(value), frozenset([_form(part) for part in value])
        case _:
            return type(value)


@lru_cache(10_000)
def _meet(one: object, other: object) -> bool:
    """Tell whether TLC can compare whatever has one form with whatever has another.

    FALSE says nothing: it may hang on the values.
    """
    match one, other:
        case ("tuple", tuple() as parts), ("tuple", tuple() as others):
            return len(parts) != len(others) or all(map(_meet, parts, others))
        case ("function", frozenset() as parts), ("function", frozenset() as others):
            mine, its = dict(parts), dict(others)
            if mine.keys() != its.keys() and any(type(key) is not str for key in {**mine, **its}):
                return False
            return all(_meet(mine[key], its[key]) for key in mine.keys() & its.keys())
        case ("set", size, frozenset() as parts), ("set", other_size, frozenset() as others):
            return size != other_size or all(_meet(mine, its) for mine in parts for its in others)
        case _:
            return Atom in (one, other) or (one is other and one in _WITHOUT_PARTS)


def short(value: RuntimeValue) -> str:
    """Return the beginning of a value's TLA+ text, or a name for what cannot be listed."""
    try:
        text = " ".join(to_tla(from_runtime(value)).split())
    except (EvaluationError, RecursionError):
        text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


@lru_cache(100_000)
def _order(value: RuntimeValue) -> str:
    """Return what one value is chosen by; the keys of a bag that grows are asked for often."""
    return short(value)


# ---- from and to tlatrace.values ----------------------------------------------------------


def to_runtime(value: Value) -> RuntimeValue:
    """Turn a value of a trace or a configuration into one of the domain."""
    match value:
        case bool():
            return TRUE if value else FALSE
        case int() | str():
            return value
        case ExactString():
            return value.text
        case ModelValue():
            return model_value(value.name)
        case tuple():
            return tuple([to_runtime(element) for element in value])
        case TlaSet():
            return frozenset([to_runtime(element) for element in value])
        case FcnValue():
            return Fcn({to_runtime(key): to_runtime(image) for key, image in value.pairs})


def from_runtime(value: RuntimeValue) -> Value:
    """Turn a value of the domain into one that can be shown, written and compared.

    Raises:
        EvaluationError: an infinite or too large set.
    """
    match value:
        case Boolean():
            return value is TRUE
        case int() | str():
            return value
        case Atom():
            return ModelValue(value.name)
        case tuple():
            return tuple([from_runtime(element) for element in value])
        case frozenset():
            return tla_set([from_runtime(element) for element in value])
        case Fcn():
            return fcn([(from_runtime(key), from_runtime(image)) for key, image in value.items()])
        case LazyValue():
            return from_runtime(value.whole())
