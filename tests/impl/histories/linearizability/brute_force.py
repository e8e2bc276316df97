"""Every order of a few operations, one after the other: slow, and plainly right."""

from __future__ import annotations

from collections.abc import Sequence

from rocketha.histories import Outcome
from rocketha.histories.linearizability import Kind, Operation, RegisterHistory, Value


def is_linearizable(history: RegisterHistory) -> bool:
    """Try all orders of each key."""
    keys = {one.key for one in history.operations}
    return all(
        _some_order([one for one in history.operations if one.key == key], None) for key in keys
    )


def _some_order(left: Sequence[Operation], holds: Value) -> bool:
    """Tell whether what is left has an order, from what the register holds now.

    An operation that was refused has to be left out, one of unknown outcome may be.
    """
    if all(one.outcome is not Outcome.OK for one in left):
        return True
    for number, one in enumerate(left):
        if one.outcome is Outcome.FAIL or any(precedes(other, one) for other in left):
            continue
        explained, then = apply(one, holds)
        if explained and _some_order([*left[:number], *left[number + 1 :]], then):
            return True
    return False


def precedes(one: Operation, other: Operation) -> bool:
    if one.outcome is not Outcome.OK or one.returned_at is None:
        return False
    return one.returned_at < other.called_at


def apply(one: Operation, holds: Value) -> tuple[bool, Value]:
    """Return whether the answer is right, and what the register holds then."""
    unknown = one.outcome is Outcome.UNKNOWN
    if one.kind is Kind.READ:
        return unknown or one.value == holds, holds
    if one.kind is Kind.WRITE:
        return True, one.value
    swaps = holds == one.expected
    return unknown or swaps == one.swapped, one.value if swaps else holds
