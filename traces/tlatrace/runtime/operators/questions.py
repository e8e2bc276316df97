"""What `tlatrace.compiler.passes.membership` asks of a value instead of building a set."""

from __future__ import annotations

from tlatrace.runtime.lazy import (
    INT,
    NAT,
    STRING,
    LazyFunction,
    finite,
    not_a_record,
    not_a_tuple,
    not_among,
)
from tlatrace.runtime.values import (
    Fcn,
    RuntimeValue,
    eq,
)

__all__ = [
    "has_domain",
    "has_fields",
    "has_length",
    "is_int",
    "is_nat",
    "is_sequence",
    "is_string",
    "shares_fields",
]


def is_nat(value: RuntimeValue) -> bool:
    if type(value) is int:
        return value >= 0
    return value in NAT


def is_int(value: RuntimeValue) -> bool:
    return type(value) is int or value in INT


def is_string(value: RuntimeValue) -> bool:
    return type(value) is str or value in STRING


def is_sequence(value: RuntimeValue) -> bool:
    if type(value) is tuple:
        return True
    if isinstance(value, LazyFunction):
        return is_sequence(value.whole())
    return not_among(value, "a set of sequences")


def has_domain(value: RuntimeValue, domain: RuntimeValue) -> bool:
    if type(value) is tuple:
        return eq(frozenset(range(1, len(value) + 1)), finite(domain))
    if type(value) is Fcn:
        wanted = finite(domain)
        return value.keys() == wanted or eq(frozenset(value), wanted)
    if isinstance(value, LazyFunction):
        return has_domain(value.whole(), domain)
    return not_among(value, "a set of functions")


def has_fields(value: RuntimeValue, names: tuple[str, ...]) -> bool:
    if type(value) is Fcn:
        if len(value) == len(names) and all(name in value for name in names):
            return True
        return not_a_record(value)
    return value != () and not_among(value, "a set of records")


def shares_fields(value: RuntimeValue, names: tuple[str, ...]) -> bool:
    """Tell whether TLC may ask fields of what has others, too: where there are as many of them."""
    return type(value) is Fcn and len(value) == len(names) and any(name in value for name in names)


def has_length(value: RuntimeValue, size: int) -> bool:
    if type(value) is tuple:
        return len(value) == size
    return not_a_tuple(value)
