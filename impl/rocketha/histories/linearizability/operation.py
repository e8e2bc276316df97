"""Operations on keyed registers, as clients saw them.

| outcome | the client knows  | what became of it                                           |
|---------|-------------------|-------------------------------------------------------------|
| OK      | the answer        | it took effect once, between its call and its return        |
| FAIL    | it was refused    | it never took and never takes effect                        |
| UNKNOWN | nothing for sure  | it takes effect once, at any time after its call, or never  |

A register without a write holds None. An operation comes before another if it returned before the
other was called; at equal times they are concurrent. So a coarse clock makes a check weaker, and
never wrong: whoever can, numbers the calls and returns in the order in which they were seen.

Source: Herlihy, Wing, "Linearizability: A Correctness Condition for Concurrent Objects", 1990;
Kingsbury's Jepsen for the three outcomes, where UNKNOWN is `:info`
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Final, TypeAlias

from rocketha.errors import OperationError
from rocketha.histories.history import Outcome

__all__ = ["Kind", "Operation", "RegisterHistory", "Value", "shown"]

Value: TypeAlias = int | str | None
"""What a register holds; None: nothing yet."""


_TYPES: Final = frozenset({int, str, type(None)})
"""No others: True would be 1."""


def shown(value: Value, at_most: int = 40) -> str:
    """Return a value, or a key, as one line of ASCII of at most so many characters, from 3 on."""
    text = ascii(value)
    return text if len(text) <= at_most else f"{text[: at_most - 2]}.."


class Kind(StrEnum):
    """What is asked of a register."""

    READ = "read"
    WRITE = "write"
    CAS = "cas"
    """Compare and set: write `value` if the register holds `expected`, and say whether it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A call, and what became of it."""

    client: int
    key: str
    kind: Kind
    value: Value
    """What was read, or is to be written; None for a read without an answer."""
    called_at: int
    """In any unit, of one clock for all clients."""
    returned_at: int | None
    """None: never, which only an operation of UNKNOWN outcome may. Else it was given up then."""
    outcome: Outcome = Outcome.OK
    expected: Value = None
    """By a CAS."""
    swapped: bool = True
    """Of a CAS that was answered: the register held `expected`. If not, it held something else."""

    def in_words(self) -> str:
        """Say what was asked, and what was answered, in ASCII."""
        value = shown(self.value)
        if self.kind is Kind.CAS:
            value = f"{shown(self.expected)} to {value}"
        if self.outcome is not Outcome.OK:
            said = f", {self.outcome.lower()}"
        else:
            said = "" if self.swapped else ", not held"
        end = "for ever" if self.returned_at is None else f"to {self.returned_at}"
        return f"client {self.client}, {self.called_at} {end}: {self.kind} {value}{said}"


@dataclass(frozen=True, slots=True)
class RegisterHistory:
    """Operations that can be those of clients, each with one at a time.

    Raises: OperationError if they cannot
    """

    operations: tuple[Operation, ...]

    def __post_init__(self) -> None:
        read, write = Kind.READ, Kind.WRITE
        for number, one in enumerate(self.operations):
            returned, kind = one.returned_at, one.kind
            # Most are plain ones: no call for those.
            plain = kind is read or (kind is write and one.value is not None)
            plain = plain and returned is not None and returned >= one.called_at
            if not (plain and type(one.value) in _TYPES and one.swapped and one.expected is None):
                _hold_one(number, one)
        if not self._are_in_turn():
            self._hold_turns()

    def by_key(self) -> dict[str, list[Operation]]:
        """Return the operations that may have had an effect or an answer, of each key.

        What was refused did nothing, and a read without an answer says nothing. A key all of whose
        operations are of that kind is not there. Keys are in the order of their first operations.
        """
        keys: dict[str, list[Operation]] = {}
        ok, fail, read = Outcome.OK, Outcome.FAIL, Kind.READ
        for one in self.operations:
            outcome = one.outcome
            if outcome is ok or (outcome is not fail and one.kind is not read):
                of_key = keys.get(one.key)
                if of_key is None:
                    of_key = keys[one.key] = []
                of_key.append(one)
        return keys

    def _are_in_turn(self) -> bool:
        """Tell whether no client has two operations at once; where calls are at one time, not
        surely so."""
        returns: dict[int, float] = {}
        for one in sorted(self.operations, key=attrgetter("called_at")):
            client = one.client
            if returns.get(client, -math.inf) > one.called_at:
                return False
            returned = one.returned_at
            returns[client] = math.inf if returned is None else returned
        return True

    def _hold_turns(self) -> None:
        """Hold that no client has two operations at once. Raises: OperationError"""
        numbers = {id(operation): number for number, operation in enumerate(self.operations)}
        last: dict[int, Operation] = {}
        for operation in _by_time(self.operations):
            before = last.get(operation.client)
            if before is not None:
                returned = before.returned_at
                if returned is None or returned > operation.called_at:
                    what = f"client {operation.client} calls at {operation.called_at}"
                    when = "never returns" if returned is None else f"returns at {returned}"
                    reason = f"{what}, and its call of {before.called_at} {when}"
                    raise OperationError(numbers[id(operation)], reason=reason)
            last[operation.client] = operation


def _by_time(operations: Iterable[Operation]) -> list[Operation]:
    """Sort by calls, stably; those of one client at one time by their returns, too."""
    never = math.inf
    returns = sorted(operations, key=lambda o: never if o.returned_at is None else o.returned_at)
    return sorted(returns, key=attrgetter("called_at"))


def _hold_one(number: int, operation: Operation) -> None:
    """Hold that there can be an operation. Raises: OperationError"""
    reason = _wrong(operation)
    if reason is not None:
        raise OperationError(number, reason=reason)


def _wrong(operation: Operation) -> str | None:
    """Say why there can be no such operation."""
    returned = operation.returned_at
    if returned is None:
        if operation.outcome is not Outcome.UNKNOWN:
            return f"its outcome is {operation.outcome}, and it never returned"
    elif returned < operation.called_at:
        return f"it returned at {returned}, before it was called at {operation.called_at}"
    for value in (operation.value, operation.expected):
        if type(value) not in _TYPES:
            return f"a register holds no {type(value).__name__}"
    if operation.value is None and operation.kind is not Kind.READ:
        return f"a {operation.kind} writes None, which is what a register holds before any write"
    if operation.kind is not Kind.CAS and (operation.expected is not None or not operation.swapped):
        return f"a {operation.kind} expects nothing"
    return None
