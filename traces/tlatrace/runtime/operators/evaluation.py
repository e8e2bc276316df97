"""What is not computed yet, what cannot be, and what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NoReturn, TypeVar

from tlatrace.errors import EvaluationError
from tlatrace.runtime.lazy import (
    LazySet,
)
from tlatrace.runtime.operators.functions import apply
from tlatrace.runtime.values import (
    FALSE,
    TRUE,
    Fcn,
    RuntimeValue,
    kind,
    short,
)

__all__ = [
    "UNSET",
    "Broken",
    "applied",
    "attempt",
    "cell",
    "definer",
    "of_length",
    "reason_of",
    "remembered",
    "said",
    "seen",
    "stop",
    "truth",
]

_REASONS: Final = "REASONS"
"""The name under which a module holds why its constants have no value."""

T = TypeVar("T")

_MAX_REMEMBERED: Final = 50_000


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


def definer(space: dict[str, object]) -> Callable[[str, Callable[[], RuntimeValue]], None]:
    """Return the function by which a compiled module computes a constant expression once.

    A constant without a value gets no name in the module: every use of it, also inside a tuple
    that nobody looks into, is then an error of Python's, which `reason_of` can explain.
    """
    reasons: dict[str, str] = {}
    space[_REASONS] = reasons

    def define(name: str, compute: Callable[[], RuntimeValue]) -> None:
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


def attempt(compute: Callable[[], RuntimeValue]) -> RuntimeValue | Broken:
    """Return the value of an argument, or what stops if it is looked at."""
    try:
        return compute()
    except Exception as error:
        return Broken(reason_of(error))


def seen(value: T) -> T:
    """Return a value; stop if it is what stops when it is looked at."""
    if isinstance(value, Broken):
        hash(value)
    return value


def applied(function_: RuntimeValue, argument: RuntimeValue) -> RuntimeValue:
    """Return f[x], or say of which function x is no argument: `apply` has no time for that."""
    seen(function_)
    seen(argument)
    try:
        return apply(function_, argument)
    except EvaluationError:
        if type(function_) is Fcn and all(type(name) is str for name in function_):
            reason = f"the record {short(function_)} has no field {short(argument)}"
        elif type(function_) in (Fcn, tuple):
            reason = f"{short(argument)} is not in the domain of {short(function_)}"
        else:
            raise
    raise EvaluationError(reason)


def of_length(values: Iterable[RuntimeValue], length: int) -> Iterator[RuntimeValue]:
    """Go through tuples; stop at one that is longer or shorter."""
    for value in values:
        if isinstance(value, tuple) and len(value) != length:
            raise EvaluationError(f"{short(value)} is no tuple of length {length}")
        yield value


def cell(function_: RuntimeValue, argument: RuntimeValue) -> RuntimeValue | Broken:
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


def said(_: object, value: T) -> T:
    """Return a value with which TLC shows another one, which has to have been computed, too."""
    return value


def stop(reason: str) -> NoReturn:
    """Raise the error that an expression has no value."""
    raise EvaluationError(reason)


def truth(value: object) -> bool:
    """Return the Python bool of a TLA+ boolean."""
    if value is TRUE:
        return True
    if value is FALSE:
        return False
    raise EvaluationError(f"{kind(value)} is not a boolean")
