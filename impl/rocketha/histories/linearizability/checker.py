"""Is a history of registers linearizable?

Each key is checked by itself: a history is linearizable if and only if each of its objects is. A
key whose written values are unique is checked by zones, any other one by a search with a budget. A
search whose budget ends says nothing of its key; a history with such a key and without a wrong one
is `Exhausted`, which is no pass. Nor is a history without an answered read or CAS: it is undecided,
as whatever was written, nobody looked.

Source: Herlihy, Wing, "Linearizability: A Correctness Condition for Concurrent Objects", 1990,
theorem 1 (locality)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from rocketha.histories.history import Outcome
from rocketha.histories.linearizability.operation import (
    Kind,
    Operation,
    RegisterHistory,
    shown,
)
from rocketha.histories.linearizability.wing_gong import Found, Spent, Stuck, search
from rocketha.histories.linearizability.zones import are_unique, find_conflict
from rocketha.histories.verdicts import AllKept, Broken, Promise, Undecided

__all__ = [
    "DEFAULT_BUDGET",
    "Exhausted",
    "LinearizabilityVerdict",
    "Linearizable",
    "Method",
    "NotLinearizable",
    "check_key",
    "check_linearizability",
]

DEFAULT_BUDGET: Final = 1_000_000
"""Choices of a search of one key: some seconds."""

_FEW: Final = 16
"""Choices between two writes: at most one of each of their orders, and of each part of one."""


class Method(StrEnum):
    """How keys are checked."""

    FITTING = "fitting"
    """By zones where values are unique, else by search."""
    SEARCH = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Linearizable(AllKept):
    """There is an order of all operations that explains every answer."""

    answers: int
    """Of reads and CAS that were explained."""
    operations: int
    """That may have had an effect or an answer."""
    keys: int
    by_zones: int
    """Keys that were checked by zones."""

    @property
    def counted(self) -> int:
        """Return the number of answers."""
        return self.answers

    def in_words(self) -> str:
        """Say it in a line."""
        what = f"{self.answers} answers, {self.operations} operations, {self.keys} keys"
        return f"linearizable: {what}, {self.by_zones} of them by zones"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotLinearizable(Broken):
    """No order of the operations of a key explains their answers."""

    key: str
    stuck: Operation
    """No order explains all of `operations` that had returned when it did."""
    prefix: tuple[Operation, ...]
    """An order that explains all of them that returned before."""
    operations: tuple[Operation, ...]
    """Operations of the key that are not linearizable by themselves; by zones, those of one or two
    values, else all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhausted(Undecided):
    """The budget ended before keys were checked, and no other key is wrong."""

    keys: tuple[str, ...]
    """That were not checked."""
    budget: int


LinearizabilityVerdict: TypeAlias = Linearizable | NotLinearizable | Undecided
"""Of which `Exhausted` is one."""


def check_linearizability(
    history: RegisterHistory, *, budget: int = DEFAULT_BUDGET, method: Method = Method.FITTING
) -> LinearizabilityVerdict:
    """Check each key of a history; `budget` is in choices of a search, for each key anew."""
    answers = operations = by_zones = 0
    unchecked: list[str] = []
    keys = history.by_key()
    for key, of_key in keys.items():
        unique = method is Method.FITTING and are_unique(of_key)
        wrong = _by_zones(key, of_key) if unique else _by_search(key, of_key, budget)
        if isinstance(wrong, NotLinearizable):
            return wrong
        if isinstance(wrong, Exhausted):
            unchecked.append(key)
        by_zones += unique
        operations += len(of_key)
        answers += _answers(of_key)
    if unchecked:
        some = ", ".join([f"{shown(key)}" for key in unchecked[:3]])
        reason = f"{budget} choices were not enough for {len(unchecked)} keys: {some}"
        return Exhausted(reason=reason, keys=tuple(unchecked), budget=budget)
    if not answers:
        return Undecided(reason="no read and no CAS was answered")
    return Linearizable(answers=answers, operations=operations, keys=len(keys), by_zones=by_zones)


def check_key(
    key: str, operations: Sequence[Operation], budget: int
) -> NotLinearizable | Exhausted | None:
    """Check operations of one key, as `RegisterHistory.by_key` gives them; None: linearizable."""
    if are_unique(operations):
        return _by_zones(key, operations)
    return _by_search(key, operations, budget)


def _by_zones(key: str, operations: Sequence[Operation]) -> NotLinearizable | None:
    conflict = find_conflict(operations)
    if conflict is None:
        return None
    few = [one for one in operations if one.value in conflict.values]
    found = search(few, budget=_FEW)
    assert isinstance(found, Stuck), "both checkers say the same"
    return _stuck(key, few, found, conflict.reason)


def _by_search(
    key: str, operations: Sequence[Operation], budget: int
) -> NotLinearizable | Exhausted | None:
    found = search(operations, budget=budget)
    if isinstance(found, Found):
        return None
    if isinstance(found, Spent):
        return Exhausted(reason="the budget ended", keys=(key,), budget=budget)
    one = found.operation
    before = f"{len(found.order)} operations before it have an order, none with it"
    return _stuck(key, operations, found, f"{one.in_words()}: {before}")


def _stuck(key: str, operations: Sequence[Operation], found: Stuck, reason: str) -> NotLinearizable:
    return NotLinearizable(
        promise=Promise.LINEARIZABLE,
        reason=f"key {shown(key)}: {reason}",
        key=key,
        stuck=found.operation,
        prefix=found.order,
        operations=tuple(operations),
    )


def _answers(operations: Sequence[Operation]) -> int:
    ok, write = Outcome.OK, Kind.WRITE
    return sum([one.outcome is ok and one.kind is not write for one in operations])
