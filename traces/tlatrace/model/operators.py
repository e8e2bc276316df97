"""What the operators of TLA+ and of the standard modules do with values of the domain.

Compiled models call these functions. Each raises `EvaluationError`, or an error of Python's own
that the model turns into one, where TLC stops with an error; none guesses.

Source: Specifying Systems, chapter 16 and 18; tlc2.module and tlc2.tool.Tool of TLC for errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from functools import cmp_to_key
from itertools import permutations as all_orders
from typing import Final, NoReturn, TypeVar

from tlatrace.errors import EvaluationError
from tlatrace.model.domain import (
    FALSE,
    TRUE,
    Atom,
    Boolean,
    D,
    Fcn,
    LazyValue,
    differ,
    eq,
    function,
    kind,
)
from tlatrace.model.lazy import (
    INT,
    MAX_ELEMENTS,
    NAT,
    STRING,
    Filtered,
    LazyFunction,
    LazySet,
    Union,
    elements_of,
    finite,
    member,
    not_a_record,
    not_a_tuple,
    not_among,
)

__all__ = ["BOOLEAN", "UNSET", "definer", "reason_of", "stop"]

_REASONS: Final = "REASONS"
"""The name under which a module holds why its constants have no value."""

T = TypeVar("T")

_MAX_REMEMBERED: Final = 50_000

_MAX_BITS: Final = 4_000

BOOLEAN: Final[frozenset[D]] = frozenset([TRUE, FALSE])


class _Unset:
    """Stands for what has not been computed; no value is it."""

    __slots__ = ()


UNSET: Final = _Unset()


class Broken:
    """An argument that has no value: every look at it is an error."""

    __slots__ = ("_reason",)

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def _stop(self, *_: object) -> NoReturn:
        raise EvaluationError(self._reason)

    __bool__ = __call__ = __contains__ = __eq__ = __getitem__ = __hash__ = __iter__ = _stop
    __len__ = __add__ = __radd__ = __sub__ = __rsub__ = __lt__ = __le__ = __gt__ = __ge__ = _stop


def definer(space: dict[str, object]) -> Callable[[str, Callable[[], D]], None]:
    """Return the function by which a compiled module computes a constant expression once.

    A constant without a value gets no name in the module: every use of it, also inside a tuple
    that nobody looks into, is then an error of Python's, which `reason_of` can explain.
    """
    reasons: dict[str, str] = {}
    space[_REASONS] = reasons

    def define(name: str, compute: Callable[[], D]) -> None:
        del space[name]  # until now it was the function
        try:
            value = compute()
            space[name] = value.settled() if isinstance(value, LazySet) else value
        except Exception as error:
            reasons[name] = reason_of(error)

    return define


def reason_of(error: Exception) -> str:
    """Say why an expression has no value, from what was raised where it was evaluated."""
    if isinstance(error, EvaluationError):
        return error.reason
    if isinstance(error, NameError) and error.__traceback__ is not None:
        place = error.__traceback__
        while place.tb_next is not None:
            place = place.tb_next
        reason = place.tb_frame.f_globals.get(_REASONS, {}).get(error.name)
        if isinstance(reason, str):
            return reason
    return f"an expression has no value ({type(error).__name__}: {error})"


def attempt(compute: Callable[[], D]) -> D | Broken:
    """Return the value of an argument, or what stops if it is looked at."""
    try:
        return compute()
    except EvaluationError as error:
        return Broken(error.reason)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return Broken(f"an argument has no value: {error}")


def cell(function_: D, argument: D) -> D | Broken:
    """Return f[x], or what stops if it is looked at."""
    if type(function_) is Fcn and argument in function_:
        return function_[argument]
    return attempt(lambda: apply(function_, argument))


def remembered(compute: Callable[..., T]) -> Callable[..., T]:
    """Make a function of values remember its answers."""
    known: dict[tuple[object, ...], T] = {}

    def ask(*arguments: object) -> T:
        try:
            return known[arguments]
        except KeyError:
            pass
        except EvaluationError:  # an argument that has no value, or is infinite
            return compute(*arguments)
        answer = compute(*arguments)
        if len(known) >= _MAX_REMEMBERED:
            known.clear()
        known[arguments] = answer
        return answer

    return ask


def stop(reason: str) -> NoReturn:
    """Raise the error that an expression has no value."""
    raise EvaluationError(reason)


# ---- booleans -----------------------------------------------------------------------------


def truth(value: object) -> bool:
    """Return the Python bool of a TLA+ boolean."""
    if value is TRUE:
        return True
    if value is FALSE:
        return False
    raise EvaluationError(f"{kind(value)} is not a boolean")


# ---- integers -----------------------------------------------------------------------------


def _integers(left: object, right: object) -> None:
    if type(left) is not int or type(right) is not int:
        wrong = right if type(left) is int else left
        raise EvaluationError(f"{kind(wrong)} is not an integer")


def add(left: int, right: int) -> int:
    _integers(left, right)
    return left + right


def subtract(left: int, right: int) -> int:
    _integers(left, right)
    return left - right


def multiply(left: int, right: int) -> int:
    _integers(left, right)
    if left.bit_length() + right.bit_length() > _MAX_BITS:
        raise EvaluationError("a product is too large")
    return left * right


def negate(value: int) -> int:
    _integers(value, value)
    return -value


def power(base: int, exponent: int) -> int:
    _integers(base, exponent)
    if base == exponent == 0:
        raise EvaluationError("0 ^ 0 has no value")
    if exponent < 0:
        raise EvaluationError(f"{base} ^ {exponent}: the exponent is negative")
    if exponent * max(base.bit_length(), 1) > _MAX_BITS:
        raise EvaluationError(f"{base} ^ {exponent} is too large")
    return int(base**exponent)


def quotient(left: int, right: int) -> int:
    _integers(left, right)
    if right == 0:
        raise EvaluationError(f"{left} \\div 0")
    return left // right


def remainder(left: int, right: int) -> int:
    _integers(left, right)
    if right <= 0:
        raise EvaluationError(f"{left} % {right}: the second argument is not positive")
    return left % right


def less(left: int, right: int) -> bool:
    if type(left) is int and type(right) is int:
        return left < right
    _integers(left, right)
    return False


def less_equal(left: int, right: int) -> bool:
    if type(left) is int and type(right) is int:
        return left <= right
    _integers(left, right)
    return False


def interval(low: int, high: int) -> range:
    """Return low..high, to be enumerated."""
    _integers(low, high)
    if high - low >= MAX_ELEMENTS:
        raise EvaluationError(f"{low}..{high} has more than {MAX_ELEMENTS} elements")
    return range(low, high + 1)


def in_interval(value: D, low: int, high: int) -> bool:
    if type(value) is int:
        _integers(low, high)
        return low <= value <= high
    _integers(low, high)
    if isinstance(value, Atom):
        return False
    if low > high:
        return False
    raise EvaluationError(f"{kind(value)} cannot be looked for in {low}..{high}")


# ---- sets ---------------------------------------------------------------------------------


def few(*sets: Iterable[D]) -> list[Iterable[D]]:
    """Return the sets of a comprehension as they were, unless it has too many elements."""
    listed = [list(among) if isinstance(among, LazySet) else among for among in sets]
    size = 1
    for among in listed:
        assert isinstance(among, Sized)
        size *= len(among)
    if size > MAX_ELEMENTS:
        raise EvaluationError(f"a set or function has more than {MAX_ELEMENTS} elements")
    return listed


def make_set(elements: Iterable[D]) -> frozenset[D]:
    """Return the set of the elements; TLC compares them, so they must be comparable."""
    found = frozenset(elements)
    if len(found) > 1:
        _one_kind(found)
    return found


def _one_kind(found: frozenset[D]) -> None:
    kinds = set(map(type, found))
    if len(kinds) > 1:
        kinds.discard(Atom)
        if len(kinds) > 1:
            names = {kind(value) for value in found} - {"a model value"}
            if len(names) > 1:
                raise EvaluationError(f"a set holds {' and '.join(sorted(names))}")


def union(left: D, right: D) -> D:
    if type(left) is frozenset and type(right) is frozenset:
        if not left:
            return right
        if not right:
            return left
        return make_set(left | right)
    _sets(left, right)
    return Union(left, right)


def intersection(left: D, right: D) -> D:
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


def difference(left: D, right: D) -> D:
    if type(left) is frozenset and type(right) is frozenset:
        _comparable(left, right)
        return left - right
    _sets(left, right)
    if isinstance(left, LazySet):
        return Filtered(left, lambda value: not member(value, right))
    return frozenset([value for value in elements_of(left) if not member(value, right)])


def subset(left: D, right: D) -> bool:
    if type(left) is frozenset and type(right) is frozenset:
        if left <= right:
            return True
        _comparable(left, right)
        return False
    _sets(left, right)
    if left is right:
        return True
    return all(member(value, right) for value in elements_of(left))


def big_union(sets: D) -> frozenset[D]:
    return make_set([value for part in elements_of(sets) for value in elements_of(part)])


def cardinality(collection: D) -> int:
    return len(finite(collection))


def is_finite(collection: D) -> bool:
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


def _sets(left: D, right: D) -> None:
    for value in (left, right):
        if not isinstance(value, frozenset | LazySet):
            raise EvaluationError(f"{kind(value)} is not a set")


def _comparable(left: frozenset[D], right: frozenset[D]) -> None:
    if left and right:
        one, other = next(iter(left)), next(iter(right))
        if type(one) is not type(other) and not (isinstance(one, Atom) or isinstance(other, Atom)):
            differ(one, other)


def select(collection: D, keeps: Callable[[D], bool]) -> D:
    """Return {x \\in S : P(x)}."""
    if isinstance(collection, LazySet):
        return Filtered(collection, keeps)
    return frozenset([value for value in elements_of(collection) if keeps(value)])


def choose(found: Sequence[D], what: str) -> D:
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
        " (mark the definition with \\* CHOOSE ANY if it does not matter)"
    )


def choose_first(found: Iterable[D], what: str) -> D:
    """Return the first element, in the order of TLC as far as it can be known."""
    elements = list(found)
    if not elements:
        raise EvaluationError(f"{what}: no element satisfies the predicate")
    return min(elements, key=order)


def largest(collection: D) -> int:
    return max(_some_integers(collection))


def smallest(collection: D) -> int:
    return min(_some_integers(collection))


def _some_integers(collection: D) -> list[int]:
    found = [value for value in elements_of(collection) if type(value) is int]
    if not found or len(found) < len(finite(collection)):
        raise EvaluationError("the largest of what is not a set of integers, or is empty")
    return found


def order(value: D) -> tuple[object, ...]:
    """Return a key that orders values: integers by size, sets by size first, strings by text."""
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


# ---- questions of `tlatrace.model.membership` ----


def is_nat(value: D) -> bool:
    if type(value) is int:
        return value >= 0
    return value in NAT


def is_int(value: D) -> bool:
    return type(value) is int or value in INT


def is_string(value: D) -> bool:
    return type(value) is str or value in STRING


def is_sequence(value: D) -> bool:
    if type(value) is tuple:
        return True
    if isinstance(value, LazyFunction):
        return is_sequence(value.whole())
    return not_among(value, "a set of sequences")


def has_domain(value: D, domain: D) -> bool:
    if type(value) is tuple:
        return eq(frozenset(range(1, len(value) + 1)), finite(domain))
    if type(value) is Fcn:
        wanted = finite(domain)
        return value.keys() == wanted or eq(frozenset(value), wanted)
    if isinstance(value, LazyFunction):
        return has_domain(value.whole(), domain)
    return not_among(value, "a set of functions")


def has_fields(value: D, names: tuple[str, ...]) -> bool:
    if type(value) is Fcn:
        if len(value) == len(names) and all(name in value for name in names):
            return True
        return not_a_record(value)
    return value != () and not_among(value, "a set of records")


def has_length(value: D, size: int) -> bool:
    if type(value) is tuple:
        return len(value) == size
    return not_a_tuple(value)


# ---- functions ----------------------------------------------------------------------------


def apply(function_: D, argument: D) -> D:
    """Return f[x]."""
    if type(function_) is Fcn:
        if argument in function_:
            return function_[argument]
    elif type(function_) is tuple:
        if type(argument) is int and 0 < argument <= len(function_):
            return function_[argument - 1]
    elif isinstance(function_, LazyFunction):
        return function_[argument]
    if kind(function_) != "a function":
        raise EvaluationError(f"{kind(function_)} is applied as a function")
    raise EvaluationError(f"{argument!r} is not in the domain of the function")


def put(function_: D, argument: D, image: D) -> D:
    """Return [f EXCEPT ![x] = y]; f itself if x is not in its domain, as TLA+ says."""
    if type(function_) is Fcn:
        if argument not in function_:
            eq(argument, next(iter(function_)))  # TLC cannot look for "a" in a domain of integers
            return function_
        changed = Fcn(function_)
        changed[argument] = image
        return changed
    if type(function_) is tuple:
        if type(argument) is not int:
            raise EvaluationError(f"{kind(argument)} is no index of a sequence")
        if not 0 < argument <= len(function_):
            return function_
        return (*function_[: argument - 1], image, *function_[argument:])
    if isinstance(function_, LazyFunction):
        return put(function_.whole(), argument, image)
    raise EvaluationError(f"EXCEPT needs a function, not {kind(function_)}")


def domain_values(function_: D) -> Iterable[D]:
    """Return the domain of a function, to be enumerated; a range for sequences."""
    if type(function_) is tuple:
        return range(1, len(function_) + 1)
    if type(function_) is Fcn:
        return function_
    if isinstance(function_, LazyFunction):
        return elements_of(function_.domain)
    raise EvaluationError(f"{kind(function_)} has no DOMAIN")


def domain_of(function_: D) -> D:
    if isinstance(function_, LazyFunction):
        return function_.domain
    return frozenset(domain_values(function_))


def in_domain(argument: D, function_: D) -> bool:
    if type(function_) is tuple:
        return in_interval(argument, 1, len(function_))
    if type(function_) is Fcn and argument in function_:
        return True
    return member(argument, domain_of(function_))


def function_over(domain: Iterable[D], images: list[D]) -> D:
    """Return the function from the elements of `domain`, in their order, to the images."""
    if type(domain) is range and domain.start == 1:
        return tuple(images)
    return function(dict(zip(domain, images, strict=True)))


def function_of(pairs: dict[D, D]) -> D:
    return function(pairs)


def map_function(domain: D, rule: Callable[[D], D]) -> D:
    """Return [x \\in S |-> e] where S may be infinite."""
    if isinstance(domain, LazySet):
        return LazyFunction(domain, lambda _, value: rule(value))
    return function({value: rule(value) for value in elements_of(domain)})


def record(pairs: dict[D, D]) -> D:
    return Fcn(pairs)


def single(key: D, image: D) -> D:
    """Return key :> image."""
    return function({key: image})


def override(left: D, right: D) -> D:
    """Return left @@ right: on the common domain the left one holds."""
    first, second = _pairs(left), _pairs(right)
    if first and second:
        eq(next(iter(first)), next(iter(second)))  # TLC cannot order 1 and "a" in a domain
    return function({**second, **first})


def _pairs(value: D) -> dict[D, D]:
    if isinstance(value, LazyFunction):
        value = value.whole()
    if isinstance(value, Fcn):
        return value
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    raise EvaluationError(f"{kind(value)} is not a function")


def whole(value: D) -> D:
    """Return a value of its own: what a state or a set may hold."""
    return value.whole() if isinstance(value, LazyValue) else value


def images(value: D) -> Iterable[D]:
    """Return the values of a function, to be looked at."""
    if type(value) is tuple:
        return value
    if isinstance(value, LazyFunction):
        return images(value.whole())
    assert isinstance(value, Fcn)
    return value.values()


# ---- sequences ----------------------------------------------------------------------------


def sequence(value: D) -> tuple[D, ...]:
    if type(value) is tuple:
        return value
    if isinstance(value, LazyFunction):
        return sequence(value.whole())
    raise EvaluationError(f"{kind(value)} is not a sequence")


def length(value: D) -> int:
    if type(value) is tuple or type(value) is str:
        return len(value)
    return len(sequence(value))


def append(value: D, element: D) -> D:
    return (*sequence(value), element)


def concatenate(left: D, right: D) -> D:
    if type(left) is str and type(right) is str:
        return left + right
    first, second = sequence(left), sequence(right)
    if len(first) + len(second) > MAX_ELEMENTS:
        raise EvaluationError(f"a sequence has more than {MAX_ELEMENTS} elements")
    return first + second


def head(value: D) -> D:
    elements = sequence(value)
    if not elements:
        raise EvaluationError("Head of the empty sequence")
    return elements[0]


def tail(value: D) -> D:
    elements = sequence(value)
    if not elements:
        raise EvaluationError("Tail of the empty sequence")
    return elements[1:]


def sub_sequence(value: D, low: int, high: int) -> D:
    elements = sequence(value)
    _integers(low, high)
    if low > high:
        return ()
    if low < 1 or high > len(elements):
        size = len(elements)
        raise EvaluationError(f"SubSeq from {low} to {high} of a sequence of length {size}")
    return elements[low - 1 : high]


def select_sequence(value: D, keeps: Callable[[D], bool]) -> D:
    return tuple([element for element in sequence(value) if keeps(element)])


# ---- the module TLC -----------------------------------------------------------------------


def permutations(collection: D) -> frozenset[D]:
    elements = list(finite(collection))
    if len(elements) > 8:
        raise EvaluationError(f"Permutations of {len(elements)} elements are too many")
    return frozenset(
        [function(dict(zip(elements, images, strict=True))) for images in all_orders(elements)]
    )


def sort_sequence(value: D, before: Callable[[D, D], bool]) -> D:
    def compare(left: D, right: D) -> int:
        if eq(left, right):
            return 0
        return -1 if before(left, right) else 1

    return tuple(sorted(sequence(value), key=cmp_to_key(compare)))


def assertion(condition: bool, message: D) -> bool:
    if not condition:
        raise EvaluationError(f"Assert is violated: {message!r}")
    return True


def to_string(value: D) -> str:
    from tlatrace.model.domain import from_domain
    from tlatrace.tla_text import to_tla

    return to_tla(from_domain(value))
