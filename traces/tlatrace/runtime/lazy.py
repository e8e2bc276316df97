"""Sets and functions that are infinite or large: asked for membership, enumerated only in need.

TLC does the same: `x \\in [S -> T]` looks at x, and `\\E f \\in [S -> T]` enumerates. Enumeration
stops at `MAX_ELEMENTS` with an error, so that no specification can fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain, combinations, islice, product
from math import prod
from typing import Final

from tlatrace.errors import EvaluationError
from tlatrace.runtime.values import (
    Atom,
    Fcn,
    LazyValue,
    RuntimeValue,
    all_comparable,
    eq,
    function,
    kind,
    short,
)

__all__ = [
    "INT",
    "MAX_ELEMENTS",
    "NAT",
    "STRING",
    "Functions",
    "Infinite",
    "LazyFunction",
    "LazySet",
    "Product",
    "Records",
    "Sequences",
    "Subsets",
    "Union",
    "member",
    "not_a_record",
    "not_a_tuple",
    "not_among",
    "typical",
]

MAX_ELEMENTS: Final = 2_000_000
_FEW: Final = 4_096
_WITH_PARTS: Final = frozenset({tuple, Fcn, frozenset})


class LazySet(LazyValue):
    """A set that knows its elements without a list of them."""

    __slots__ = ()

    def __contains__(self, value: RuntimeValue) -> bool:
        """Tell whether a value is an element, as TLC would."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[RuntimeValue]:
        """Enumerate the elements, each once."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.whole())

    def settled(self) -> RuntimeValue:
        r"""Return the set with its elements if it is finite and small, else itself.

        An empty one stays as it is: of 1 TLC asks whether it is in `{} \X {}`, and fails.
        """
        try:
            few = list(islice(self, _FEW + 1))
        except EvaluationError:
            return self
        return frozenset(few) if 0 < len(few) <= _FEW else self

    def whole(self) -> frozenset[RuntimeValue]:
        """Build the set.

        Raises:
            EvaluationError: it is infinite, or has more than `MAX_ELEMENTS` elements.
        """
        elements: list[RuntimeValue] = []
        for element in self:
            elements.append(element)
            if len(elements) > MAX_ELEMENTS:
                raise EvaluationError(f"{self!r} has more than {MAX_ELEMENTS} elements")
        return frozenset(elements)


def member(value: RuntimeValue, collection: RuntimeValue) -> bool:
    """Tell whether `value \\in collection`.

    Raises:
        EvaluationError: no set, or TLC cannot compare the value with the elements.
    """
    if type(collection) is frozenset:
        if value in collection:
            return True
        if collection:
            _comparable(value, collection)
        return False
    if isinstance(collection, LazySet):
        return value in collection
    raise EvaluationError(f"{kind(collection)} is not a set")


def _all_in(values: Iterable[RuntimeValue], collection: RuntimeValue) -> bool:
    """Ask each of the values, for TLC may ask them in another order than they have here."""
    asked = [member(value, collection) for value in values]
    return all(asked)


def not_among(value: RuntimeValue, where: str) -> bool:
    """Return False for a model value, which is in no set of structures; else refuse, as TLC."""
    if kind(value) == "a model value":
        return False
    raise EvaluationError(f"{kind(value)} cannot be looked for in {where}")


def not_a_tuple(value: RuntimeValue) -> bool:
    """Return False for a function or a model value; TLC refuses to look for the rest."""
    if isinstance(value, Fcn) and not all(type(name) is str for name in value):
        return False
    return not_among(value, "a Cartesian product")


def not_a_record(value: Fcn) -> bool:
    """Return False for a record; else refuse: TLC looks only for records in sets of records."""
    if all(type(name) is str for name in value):
        return False
    return not_among(value, "a set of records")


def _comparable(value: RuntimeValue, collection: frozenset[RuntimeValue]) -> None:
    """Refuse what TLC may refuse: it compares with one element after another."""
    if type(value) is Atom:
        return
    if type(value) in _WITH_PARTS or type(value) is not type(typical(collection)):
        _compared(value, collection)


@lru_cache(1_000)
def _compared(value: RuntimeValue, collection: frozenset[RuntimeValue]) -> None:
    """Compare a value with the elements of a set; remembered, if that can be done."""
    all_comparable((value,), collection)


def typical(collection: frozenset[RuntimeValue]) -> RuntimeValue | None:
    """Return an element with which others can be compared, no model value; None if all are."""
    for element in collection:
        if type(element) is not Atom:
            return element
    return None


class Infinite(LazySet):
    """Nat, Int or STRING."""

    __slots__ = ("_accepts", "_name", "_wanted")

    def __init__(self, name: str, wanted: str, accepts: Callable[[RuntimeValue], bool]) -> None:
        self._name = name
        self._wanted = wanted
        self._accepts = accepts

    def __contains__(self, value: RuntimeValue) -> bool:
        if kind(value) != self._wanted:
            if kind(value) == "a model value":
                return False
            raise EvaluationError(f"{kind(value)} cannot be looked for in {self._name}")
        return self._accepts(value)

    def __iter__(self) -> Iterator[RuntimeValue]:
        raise EvaluationError(f"{self._name} cannot be enumerated")

    def __repr__(self) -> str:
        return self._name


NAT: Final = Infinite("Nat", "an integer", lambda value: isinstance(value, int) and value >= 0)
INT: Final = Infinite("Int", "an integer", lambda _: True)
STRING: Final = Infinite("STRING", "a string", lambda _: True)


class Sequences(LazySet):
    """Seq(S)."""

    __slots__ = ("_elements",)

    def __init__(self, elements: RuntimeValue) -> None:
        self._elements = elements

    def __contains__(self, value: RuntimeValue) -> bool:
        if isinstance(value, tuple):
            return all(member(element, self._elements) for element in value)
        return not_among(value, "a set of sequences")

    def __iter__(self) -> Iterator[RuntimeValue]:
        if not self._elements:
            return iter([()])
        raise EvaluationError("Seq(...) cannot be enumerated")

    def __repr__(self) -> str:
        return "Seq(...)"


class Subsets(LazySet):
    """SUBSET S."""

    __slots__ = ("_base",)

    def __init__(self, base: RuntimeValue) -> None:
        self._base = base

    def __contains__(self, value: RuntimeValue) -> bool:
        if kind(value) == "a model value":
            return False
        return _all_in(elements_of(value), self._base)

    def __iter__(self) -> Iterator[RuntimeValue]:
        base = list(elements_of(self._base))
        _afford(self, 1 << len(base))
        sizes = range(len(base) + 1)
        return map(frozenset, chain.from_iterable(combinations(base, size) for size in sizes))

    def __repr__(self) -> str:
        return "SUBSET ..."


class Functions(LazySet):
    """[S -> T]."""

    __slots__ = ("_domain", "_range")

    def __init__(self, domain: RuntimeValue, codomain: RuntimeValue) -> None:
        self._domain = domain
        self._range = codomain

    def __contains__(self, value: RuntimeValue) -> bool:
        if isinstance(value, LazyValue):
            value = value.whole()
        if isinstance(value, tuple):
            domain: Iterable[RuntimeValue] = range(1, len(value) + 1)
            images: Iterable[RuntimeValue] = value
        elif isinstance(value, Fcn):
            domain, images = value, value.values()
        else:
            return not_among(value, "a set of functions")
        return eq(frozenset(domain), finite(self._domain)) and _all_in(images, self._range)

    def __iter__(self) -> Iterator[RuntimeValue]:
        domain = list(finite(self._domain))
        images = list(elements_of(self._range)) if domain else []
        _afford(self, len(images) ** len(domain) if len(domain) < MAX_ELEMENTS else MAX_ELEMENTS)
        for choice in product(images, repeat=len(domain)):
            yield function(dict(zip(domain, choice, strict=True)))

    def __repr__(self) -> str:
        return "[... -> ...]"


class Records(LazySet):
    """[a : S, b : T]."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict[str, RuntimeValue]) -> None:
        self._fields = fields

    def __contains__(self, value: RuntimeValue) -> bool:
        if isinstance(value, Fcn):
            if len(value) != len(self._fields):
                return not_a_record(value)
            asked = [member(value[name], of) for name, of in self._fields.items() if name in value]
            return (len(asked) == len(value) and all(asked)) or not_a_record(value)
        return value != () and not_among(value, "a set of records")

    def __iter__(self) -> Iterator[RuntimeValue]:
        names = list(self._fields)
        choices = [list(elements_of(among)) for among in self._fields.values()]
        _afford(self, prod([len(choice) for choice in choices]))
        for choice in product(*choices):
            yield Fcn(zip(names, choice, strict=True))

    def __repr__(self) -> str:
        return f"[{', '.join(self._fields)} : ...]"


class Product(LazySet):
    """S \\X T \\X ..."""

    __slots__ = ("_factors",)

    def __init__(self, *factors: RuntimeValue) -> None:
        self._factors = factors

    def __contains__(self, value: RuntimeValue) -> bool:
        if isinstance(value, tuple):
            return len(value) == len(self._factors) and all(
                member(part, among) for part, among in zip(value, self._factors, strict=True)
            )
        return not_a_tuple(value)

    def __iter__(self) -> Iterator[RuntimeValue]:
        choices = [list(elements_of(factor)) for factor in self._factors]
        _afford(self, prod([len(choice) for choice in choices]))
        return product(*choices)

    def __repr__(self) -> str:
        return " \\X ".join(["..."] * len(self._factors))


class Union(LazySet):
    """S \\cup T, of which one is lazy."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: RuntimeValue) -> None:
        self._parts = parts

    def __contains__(self, value: RuntimeValue) -> bool:
        return any(member(value, part) for part in self._parts)

    def __iter__(self) -> Iterator[RuntimeValue]:
        seen: set[RuntimeValue] = set()
        for part in self._parts:
            for element in elements_of(part):
                if element not in seen:
                    seen.add(element)
                    yield element

    def __repr__(self) -> str:
        return " \\cup ".join([repr(part) for part in self._parts])


class Filtered(LazySet):
    """{x \\in S : P(x)} or S \\ T, of which S is lazy."""

    __slots__ = ("_base", "_keeps")

    def __init__(self, base: RuntimeValue, keeps: Callable[[RuntimeValue], bool]) -> None:
        self._base = base
        self._keeps = keeps

    def __contains__(self, value: RuntimeValue) -> bool:
        return member(value, self._base) and self._keeps(value)

    def __iter__(self) -> Iterator[RuntimeValue]:
        return iter([element for element in elements_of(self._base) if self._keeps(element)])

    def __repr__(self) -> str:
        return "{... \\in ... : ...}"


class LazyFunction(LazyValue):
    """[x \\in S |-> e] over a set that is not enumerated yet, or recursive."""

    __slots__ = ("_domain", "_rule", "_seen")

    def __init__(
        self, domain: RuntimeValue, rule: Callable[[LazyFunction, RuntimeValue], RuntimeValue]
    ) -> None:
        self._domain = domain
        self._rule = rule
        self._seen: dict[RuntimeValue, RuntimeValue] = {}

    @property
    def domain(self) -> RuntimeValue:
        """The domain, perhaps infinite."""
        return self._domain

    def __getitem__(self, argument: RuntimeValue) -> RuntimeValue:
        found = self._seen.get(argument)
        if found is None:
            if not member(argument, self._domain):
                raise EvaluationError(f"{short(argument)} is not in the domain of the function")
            found = self._seen[argument] = self._rule(self, argument)
        return found

    def whole(self) -> RuntimeValue:
        """Build the function.

        Raises:
            EvaluationError: its domain is infinite or too large.
        """
        return function({argument: self[argument] for argument in elements_of(self._domain)})

    def __repr__(self) -> str:
        return "[... \\in ... |-> ...]"


def _afford(collection: LazySet, size: int) -> None:
    """Refuse to begin what cannot be finished."""
    if size > MAX_ELEMENTS:
        raise EvaluationError(f"{collection!r} has more than {MAX_ELEMENTS} elements")


def elements_of(collection: object) -> Iterable[RuntimeValue]:
    """Return the elements of a set, in any order.

    Raises:
        EvaluationError: no set, or one that cannot be enumerated.
    """
    if isinstance(collection, frozenset | LazySet):
        return collection
    raise EvaluationError(f"{kind(collection)} is not a set")


def finite(collection: RuntimeValue) -> frozenset[RuntimeValue]:
    """Return a set with all its elements.

    Raises:
        EvaluationError: no set, infinite, or too large.
    """
    if type(collection) is frozenset:
        return collection
    if isinstance(collection, LazySet):
        return collection.whole()
    raise EvaluationError(f"{kind(collection)} is not a set")
