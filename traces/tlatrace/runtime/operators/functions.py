"""Functions, records among them: application, EXCEPT, DOMAIN, constructors."""

from __future__ import annotations

from collections.abc import Iterable

from tlatrace.errors import EvaluationError
from tlatrace.runtime.lazy import (
    LazyFunction,
    elements_of,
    member,
)
from tlatrace.runtime.operators.integers import in_interval
from tlatrace.runtime.values import (
    Fcn,
    LazyValue,
    RuntimeValue,
    all_comparable,
    function,
    kind,
    short,
)

__all__ = [
    "apply",
    "domain_of",
    "domain_values",
    "function_of",
    "function_over",
    "images",
    "in_domain",
    "override",
    "put",
    "single",
    "whole",
]


def apply(function_: RuntimeValue, argument: RuntimeValue) -> RuntimeValue:
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
    raise EvaluationError(f"{short(argument)} is not in the domain of the function")


def put(function_: RuntimeValue, argument: RuntimeValue, image: RuntimeValue) -> RuntimeValue:
    """Return [f EXCEPT ![x] = y]; f itself if x is not in its domain, as TLA+ says."""
    if type(function_) is Fcn:
        if argument not in function_:
            # TLC cannot look for "a" in a domain of integers
            all_comparable((argument,), function_)
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


def domain_values(function_: RuntimeValue) -> Iterable[RuntimeValue]:
    """Return the domain of a function, to be enumerated; a range for sequences."""
    if type(function_) is tuple:
        return range(1, len(function_) + 1)
    if type(function_) is Fcn:
        return function_
    if isinstance(function_, LazyFunction):
        return elements_of(function_.domain)
    raise EvaluationError(f"{kind(function_)} has no DOMAIN")


def domain_of(function_: RuntimeValue) -> RuntimeValue:
    if isinstance(function_, LazyFunction):
        return function_.domain
    return frozenset(domain_values(function_))


def in_domain(argument: RuntimeValue, function_: RuntimeValue) -> bool:
    if type(function_) is tuple:
        return in_interval(argument, 1, len(function_))
    if type(function_) is Fcn and argument in function_:
        return True
    return member(argument, domain_of(function_))


def function_over(domain: Iterable[RuntimeValue], images: list[RuntimeValue]) -> RuntimeValue:
    """Return the function from the elements of `domain`, in their order, to the images."""
    if type(domain) is range and domain.start == 1:
        return tuple(images)
    made = Fcn(zip(domain, images, strict=True))
    return made if made and 1 not in made else function(made)


def function_of(pairs: dict[RuntimeValue, RuntimeValue]) -> RuntimeValue:
    return function(pairs)


def single(key: RuntimeValue, image: RuntimeValue) -> RuntimeValue:
    """Return key :> image."""
    return function({key: image})


def override(left: RuntimeValue, right: RuntimeValue) -> RuntimeValue:
    """Return left @@ right: on the common domain the left one holds."""
    first, second = _pairs(left), _pairs(right)
    if first and second and type(next(iter(first))) is not type(next(iter(second))):
        # TLC cannot order 1 and "a" in a domain
        all_comparable(first, second)
    return function({**second, **first})


def _pairs(value: RuntimeValue) -> dict[RuntimeValue, RuntimeValue]:
    if isinstance(value, LazyFunction):
        value = value.whole()
    if isinstance(value, Fcn):
        return value
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    raise EvaluationError(f"{kind(value)} is not a function")


def whole(value: RuntimeValue) -> RuntimeValue:
    """Return a value of its own: what a state or a set may hold."""
    return value.whole() if isinstance(value, LazyValue) else value


def images(value: RuntimeValue) -> Iterable[RuntimeValue]:
    """Return the values of a function, to be looked at."""
    if type(value) is tuple:
        return value
    if isinstance(value, LazyFunction):
        return images(value.whole())
    assert isinstance(value, Fcn)
    return value.values()
