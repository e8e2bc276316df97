"""A smallest part of a wrong history that is wrong, too.

Only such parts count as are linearizable if the whole is; else a write would be left out that a
read needs, and the part were wrong for another reason. Whoever leaves out an operation that may
have written a value leaves out what may rest on it: what read the value, or wrote or did not write
on a condition. Two rules say what may, see `rests_by_overwriting` and `rests_by_value`.

First whatever was not known yet when the stuck operation returned is left out; a CAS that returned
later is an unknown one then. Next come operations that the first rule lets be left out, from the
latest calls on and then from the earliest on. What of the rest may be left out, that rule says
anew: a write that overwrote others may be gone. It leaves few. Last comes the second rule. It says
the same of every part, so what is left out only makes wrong parts right, never the other way round:
an operation that could not be left out at first cannot be later, and at the end every smaller part
in the sense of this rule is linearizable. In each pass the operations are halved until each half is
either left out or is one operation.

Source: Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002; Junker,
"QuickXplain", 2004, for the halving
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, TypeAlias

from rocketha.histories.history import Outcome
from rocketha.histories.linearizability.checker import (
    Exhausted,
    NotLinearizable,
    check_key,
)
from rocketha.histories.linearizability.operation import Kind, Operation

__all__ = [
    "PART_BUDGET",
    "Rests",
    "Smallest",
    "known_to",
    "rests_by_overwriting",
    "rests_by_value",
    "shrink",
    "without",
]

PART_BUDGET: Final = 100_000
"""Choices of a search of one part: less than a second, as there are some hundred parts."""

Rests: TypeAlias = Sequence[Sequence[int]]
"""Of each operation of a part, by its place: the places of what may rest on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """A part of a history that is wrong."""

    verdict: NotLinearizable
    """Of the part: `verdict.operations` are all of it."""
    is_minimal: bool
    """Every smaller part is linearizable. If not, a budget ended."""
    checks: int
    """Parts that were looked at."""


def shrink(verdict: NotLinearizable, *, budget: int = PART_BUDGET) -> Smallest:
    """Leave out of the operations of a verdict whatever it does not need.

    `budget` is in choices of a search, for each part that is looked at.
    """
    known = check_key(verdict.key, known_to(verdict.stuck, verdict.operations), budget)
    if isinstance(known, NotLinearizable):
        verdict = known
    first = _Shrinking(verdict, budget, rests_by_overwriting)
    first.leave_out(reverse=True)
    first.leave_out(reverse=False)
    second = _Shrinking(first.verdict, budget, rests_by_value)
    second.leave_out(reverse=True)
    checks = 1 + first.checks + second.checks
    return Smallest(verdict=second.verdict, is_minimal=second.is_minimal, checks=checks)


def known_to(stuck: Operation, operations: Sequence[Operation]) -> list[Operation]:
    """Return what was known of operations when one of them returned.

    If nothing before may be what it found, the first write that may be is there, too.
    """
    end = _end(stuck)
    known: list[Operation] = []
    for one in operations:
        if one.called_at <= end:
            if _end(one) <= end or one.outcome is Outcome.UNKNOWN or one.kind is Kind.WRITE:
                known.append(one)
            elif one.kind is Kind.CAS and one.swapped:
                known.append(replace(one, returned_at=None, outcome=Outcome.UNKNOWN))
    if stuck.swapped and not any(_may_write(one) and _may_explain(one, stuck) for one in known):
        writes = [one for one in operations if one.kind is Kind.WRITE and _may_explain(one, stuck)]
        known += sorted(writes, key=lambda one: one.called_at)[:1]
    return known


def without(
    operations: Sequence[Operation], places: frozenset[int], rests: Rests
) -> tuple[Operation, ...]:
    """Leave out of a part the operations at some places, and all that may rest on them."""
    gone = set(places)
    new = list(places)
    while new:
        for place in rests[new.pop()]:
            if place not in gone:
                gone.add(place)
                new.append(place)
    return tuple([one for at, one in enumerate(operations) if at not in gone])


def rests_by_overwriting(operations: Sequence[Operation]) -> Rests:
    """Say what may rest on what, by what was certainly overwritten.

    What an operation finds is of a write that was not called after it returned, and that did not
    return before the call of another one that returned before its own call. If no write of a value
    that was read is one of these, the read is a mistake in any case; it keeps the last such write
    that was called before it returned, else the first one, so that the mistake can be seen.
    """
    rests: list[list[int]] = [[] for _ in operations]
    writes = _Writes(operations)
    for place, one in enumerate(operations):
        if one.kind is Kind.WRITE:
            continue
        found = [at for at in writes.possible(one) if _may_explain(operations[at], one)]
        if not found and one.swapped:
            found = _seen_to_be_wrong(operations, writes.by_call, one)
        for at in found:
            if at != place:
                rests[at].append(place)
    return rests


def rests_by_value(operations: Sequence[Operation]) -> Rests:
    """Say what may rest on what, by values alone: the same of every part of a part.

    Only a write that was called after an operation returned is none that it may rest on; but if all
    of the value that was read were, they stay together.
    """
    rests: list[list[int]] = [[] for _ in operations]
    writes = [at for at, one in enumerate(operations) if _may_write(one)]
    for place, one in enumerate(operations):
        if one.kind is Kind.WRITE:
            continue
        returned = _end(one)
        of_value = [at for at in writes if at != place and _may_explain(operations[at], one)]
        found = [at for at in of_value if operations[at].called_at <= returned]
        for at in found if found or not one.swapped else of_value:
            rests[at].append(place)
    return rests


class _Writes:
    """The operations of a part that may write, by their times."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        writes = [at for at, one in enumerate(operations) if _may_write(one)]
        self.by_call = sorted(writes, key=lambda at: operations[at].called_at)
        self._operations = operations
        self._unknown = [at for at in self.by_call if _end(operations[at]) == math.inf]
        self._known = [at for at in self.by_call if _end(operations[at]) < math.inf]
        self._calls = [operations[at].called_at for at in self._known]
        lengths = [_end(operations[at]) - operations[at].called_at for at in self._known]
        self._longest = max(lengths, default=0)
        by_end = sorted(self._known, key=lambda at: _end(operations[at]))
        self._ends = [_end(operations[at]) for at in by_end]
        calls = (operations[at].called_at for at in by_end)
        self._latest = [-math.inf, *accumulate(calls, max)]
        """The latest call of the writes that have returned, after so many returns."""

    def possible(self, one: Operation) -> list[int]:
        """Return those called before an operation returned, and not overwritten before its call."""
        operations = self._operations
        returned = _end(one)
        overwritten = self._latest[bisect_left(self._ends, one.called_at)]
        begin = bisect_left(self._calls, overwritten - self._longest)
        end = bisect_right(self._calls, returned)
        known = [at for at in self._known[begin:end] if _end(operations[at]) >= overwritten]
        return known + [at for at in self._unknown if operations[at].called_at <= returned]


def _seen_to_be_wrong(
    operations: Sequence[Operation], by_call: Sequence[int], one: Operation
) -> list[int]:
    """Return the write of a value that shows best why it cannot be read, if there is one."""
    called = [at for at in by_call if _may_explain(operations[at], one)]
    before = [at for at in called if operations[at].called_at <= _end(one)]
    return before[-1:] or called[:1]


def _may_write(one: Operation) -> bool:
    return one.kind is Kind.WRITE or (one.kind is Kind.CAS and one.swapped)


def _may_explain(write: Operation, one: Operation) -> bool:
    """Tell whether the value of a write is one that a read or a CAS may have found."""
    if one.kind is Kind.READ:
        return write.value == one.value
    return (write.value == one.expected) == one.swapped


def _end(one: Operation) -> float:
    """Return when an operation has taken effect for sure: an unknown one never."""
    if one.outcome is Outcome.OK and one.returned_at is not None:
        return one.returned_at
    return math.inf


class _Shrinking:
    """Parts by one rule."""

    def __init__(
        self,
        verdict: NotLinearizable,
        budget: int,
        rule: Callable[[Sequence[Operation]], Rests],
    ) -> None:
        self.verdict = verdict
        self.checks = 0
        self.is_minimal = True
        self._budget = budget
        self._rule = rule
        self._rests = rule(verdict.operations)

    def leave_out(self, *, reverse: bool) -> None:
        """Leave out what can be, in the order of calls, or against it."""
        calls = sorted(self.verdict.operations, key=lambda one: one.called_at, reverse=reverse)
        self._leave_out(calls)

    def _leave_out(self, some: Sequence[Operation]) -> None:
        """Leave out of some operations as many as can be."""
        names = {id(one) for one in some}
        now = self.verdict.operations
        places = frozenset(at for at, one in enumerate(now) if id(one) in names)
        if not places:
            return
        self.checks += 1
        rest = without(now, places, self._rests)
        found = check_key(self.verdict.key, rest, self._budget)
        if isinstance(found, NotLinearizable):
            # By zones it names one or two clusters of the rest, a part as any other.
            self.verdict = found
            self._rests = self._rule(found.operations)
        elif len(some) > 1:
            middle = len(some) // 2
            self._leave_out(some[:middle])
            self._leave_out(some[middle:])
        elif isinstance(found, Exhausted):
            self.is_minimal = False
