"""The search of Wing and Gong for an order that explains a register, with Lowe's memory.

An operation may be next in the order if no other one, not yet in it, returned before it was called:
if it was called before the first return that is not accounted for. The search takes one, goes on,
and takes another if that leads nowhere. A configuration is (returns accounted for, which of the
later operations are in the order, what the register holds); one that was met before is not searched
again. Which operations are in the order is a bitmask: each call has a bit of its own until its
return, after which the number of returns says the same, so masks are as wide as the clients are
many. An operation of UNKNOWN outcome never returns, has its bit for ever, and may be left out.

What leaves the register as it is and is explained by what it holds is put into the order at once:
whatever follows is explained with it as without it. So only writes are chosen between. An unknown
write is none to choose if the register holds its value, or if nothing but its value could ever tell
that it happened and nobody read that; of two that write the same, the earlier call is enough.

Time: O(n * 2^c * v) for n operations, c of them at once (with all unknown ones so far), v values.

Source: Wing, Gong, "Testing and Verifying Concurrent Objects", 1993; Lowe, "Testing for
linearizability", 2017
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, TypeAlias

from rocketha.histories.history import Outcome
from rocketha.histories.linearizability.operation import Kind, Operation, Value

__all__ = ["Found", "Search", "Spent", "Stuck", "search"]

_ANY: Final = -1
"""Needs nothing of the register."""
_KEEP: Final = -1
"""Leaves the register as it is."""
_OTHER_THAN: Final = -2
"""This less v: needs another value than v."""
_AT_A_STEP: Final = 8
"""To look at so many unknown operations counts as a step, so that a budget ends in time."""


@dataclass(frozen=True, slots=True)
class Found:
    """The operations are linearizable."""

    order: tuple[Operation, ...]
    """All that were answered, and unknown ones that they need."""
    steps: int


@dataclass(frozen=True, slots=True)
class Stuck:
    """They are not."""

    order: tuple[Operation, ...]
    """Of a longest prefix: it explains all that returned before `operation` did."""
    operation: Operation
    """No order explains all that returned until it did."""
    steps: int


@dataclass(frozen=True, slots=True)
class Spent:
    """The budget ended first."""

    steps: int


Search: TypeAlias = Found | Stuck | Spent


def search(operations: Sequence[Operation], *, budget: int) -> Search:
    """Search an order of the operations of one key; `budget` is in choices between operations,
    some hundred thousand of which are made in a second.

    The operations are as `RegisterHistory.by_key` gives them: none that failed, no read unanswered.
    """
    calls = _Calls(operations)
    order, prefix, steps = calls.search(len(calls.returns), budget)
    if order is not None:
        return Found(order=calls.named(order), steps=steps)
    if steps > budget:
        return Spent(steps=budget)
    explained, _, _ = calls.search(prefix, steps)
    assert explained is not None, "the same search has come so far before"
    stuck = calls.operations[calls.returns[prefix]]
    return Stuck(order=calls.named(explained), operation=stuck, steps=steps)


class _Calls:
    """The operations, numbered by their calls, as lists of integers."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = sorted(operations, key=attrgetter("called_at"))
        self.needs: list[int] = []
        """Of each: a value's number, _ANY, or _OTHER_THAN less one."""
        self.puts: list[int] = []
        """Of each: a value's number, or _KEEP."""
        self.is_direct = self._number()
        """Nothing but a write, whatever the register holds, can make it hold a value."""
        self.returns: list[int] = []
        """Answered operations, by their returns."""
        self.pending: list[tuple[int, ...]] = []
        """At each return: the answered ones, called by then and not returned before."""
        self.unknown: list[int] = []
        self.unknown_by: list[int] = []
        """At each return: how many of those were called by then."""
        self.bits: list[int] = []
        self._sweep()

    def named(self, order: Sequence[int]) -> tuple[Operation, ...]:
        """Return operations for their numbers."""
        operations = self.operations
        return tuple([operations[number] for number in order])

    def _number(self) -> bool:
        """Give numbers to values; return whether there is no CAS."""
        numbers: dict[Value, int] = {None: 0}
        needs, puts = self.needs, self.puts
        read, write = Kind.READ, Kind.WRITE
        is_direct = True
        for one in self.operations:
            value = numbers.setdefault(one.value, len(numbers))
            if one.kind is read:
                needs.append(value)
                puts.append(_KEEP)
            elif one.kind is write:
                needs.append(_ANY)
                puts.append(value)
            else:
                is_direct = False
                expected = numbers.setdefault(one.expected, len(numbers))
                needs.append(expected if one.swapped else _OTHER_THAN - expected)
                puts.append(value if one.swapped else _KEEP)
        return is_direct

    def _sweep(self) -> None:
        """Go from return to return, and give bits to calls."""
        operations, bits, pending = self.operations, self.bits, self.pending
        ok = Outcome.OK
        calls = [one.called_at for one in operations]
        ends = [0 if one.returned_at is None else one.returned_at for one in operations]
        answered = [number for number, one in enumerate(operations) if one.outcome is ok]
        self.returns = sorted(answered, key=ends.__getitem__)
        bits[:] = [0] * len(operations)
        free: list[int] = []
        width = 0
        waiting: list[int] = []
        called = 0
        total = len(operations)
        for number in self.returns:
            end = ends[number]
            while called < total and calls[called] <= end:
                if operations[called].outcome is ok:
                    if not free:
                        free.append(1 << width)
                        width += 1
                    bits[called] = free.pop()
                    waiting.append(called)
                else:
                    self._take_unknown(called)
                called += 1
            pending.append(tuple(waiting))
            self.unknown_by.append(len(self.unknown))
            waiting.remove(number)
            free.append(bits[number])
        for place, number in enumerate(self.unknown, start=width):
            bits[number] = 1 << place

    def _take_unknown(self, number: int) -> None:
        """Keep an unknown operation, if anybody could ever tell that it happened."""
        if not self.is_direct or self.puts[number] in self._read():
            self.unknown.append(number)

    def _read(self) -> frozenset[int]:
        """Return the numbers of all values that were read."""
        if self._values_read is None:
            self._values_read = frozenset(self.needs)
        return self._values_read

    _values_read: frozenset[int] | None = None

    def search(self, limit: int, budget: int) -> tuple[list[int] | None, int, int]:
        """Explain the first `limit` returns.

        Returns an order or None, to which return it came, and in how many steps; more than the
        budget if that ended.
        """
        returns, needs, puts, bits = self.returns, self.needs, self.puts, self.bits
        pending, unknown_by = self.pending, self.unknown_by
        met: set[tuple[int, int, int]] = set()
        chosen: list[tuple[int, int, int, int, list[int]]] = []
        order: list[int] = []
        done = mask = holds = furthest = steps = 0
        while True:
            while True:
                if done == limit:
                    return order, limit, steps
                number = returns[done]
                bit = bits[number]
                if mask & bit:
                    mask ^= bit
                elif needs[number] == holds and puts[number] < 0:
                    order.append(number)
                else:
                    break
                done += 1
            steps += 1
            if steps > budget:
                return None, max(furthest, done), steps
            choices = []
            for other in pending[done]:
                if not mask & bits[other]:
                    need = needs[other]
                    if puts[other] >= 0:
                        if need < 0 or need == holds:
                            choices.append(other)
                    elif need == holds or (need <= _OTHER_THAN and need != _OTHER_THAN - holds):
                        mask |= bits[other]
                        order.append(other)
            if mask & bit:
                continue
            configuration = (done, mask, holds)
            if configuration in met:
                choices = []
            else:
                met.add(configuration)
                if unknown_by[done]:
                    steps += unknown_by[done] // _AT_A_STEP
                    choices = self._unknown_choices(done, mask, holds) + choices
                if len(choices) > 1:
                    choices = self._best_last(choices, number)
            if not choices:
                furthest = max(furthest, done)
                if not chosen:
                    return None, furthest, steps
                done, mask, holds, length, choices = chosen.pop()
                del order[length:]
            choice = choices.pop()
            if choices:
                chosen.append((done, mask, holds, len(order), choices))
            mask |= bits[choice]
            holds = puts[choice]
            order.append(choice)

    def _unknown_choices(self, done: int, mask: int, holds: int) -> list[int]:
        """Return the unknown operations that may come next, the earlier of two that are alike."""
        found: dict[tuple[int, int], int] = {}
        for number in self.unknown[: self.unknown_by[done]]:
            need, put = self.needs[number], self.puts[number]
            if not mask & self.bits[number] and put != holds and need in (_ANY, holds):
                found.setdefault((need, put), number)
        return list(found.values())

    def _best_last(self, choices: list[int], waits: int) -> list[int]:
        """Sort choices so that the last one most likely lets the operation `waits` return.

        If it waits for a value that only a write can make, and none does, there is no choice.
        """
        need = self.needs[waits]
        if need >= 0:
            makers = [number for number in choices if self.puts[number] == need]
            if makers:
                return [number for number in choices if self.puts[number] != need] + makers
            return [] if self.is_direct else choices
        return choices
