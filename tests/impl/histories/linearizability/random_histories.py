"""Random histories of a register that is really atomic, and histories with one thing wrong.

A run has clients that call, take effect and return, in a random order; the effect is where the
operation is linearized, so what is recorded is linearizable. A mutation changes one operation, and
may or may not make the history wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from rocketha.histories import Outcome
from rocketha.histories.linearizability import Kind, Operation, RegisterHistory, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What histories to draw."""

    clients: int = 3
    operations: int = 8
    keys: int = 1
    values: int | None = None
    """So many are written; None: each value once, and no CAS."""
    unknown: float = 0.1
    """The share of operations whose client gives up, and of whose clients half never come back."""
    refused: float = 0.05
    coarse: int = 1
    """Events that have the same time, as far as a client can have them."""


@dataclass(slots=True)
class _Call:
    """An operation under way."""

    operation: Operation
    took_effect: bool = False


def draw_history(rng: Random, shape: Shape) -> RegisterHistory:
    """Run a register, and record what its clients see."""
    return RegisterHistory(tuple(_Run(rng, shape).finish()))


def mutate(rng: Random, history: RegisterHistory) -> RegisterHistory:
    """Change one answered operation, so that the history still can be one."""
    operations = list(history.operations)
    places = [at for at, one in enumerate(operations) if one.outcome is Outcome.OK]
    if not places:
        return history
    at = rng.choice(places)
    one = operations[at]
    values: list[Value] = [other.value for other in operations if other.key == one.key]
    if one.kind is Kind.READ:
        operations[at] = replace(one, value=rng.choice([*values, None, -1]))
    elif one.kind is Kind.CAS and rng.random() < 0.5:
        operations[at] = replace(one, swapped=not one.swapped)
    elif rng.random() < 0.5:
        operations[at] = replace(one, outcome=Outcome.FAIL)
    else:
        assert one.returned_at is not None
        operations[at] = replace(one, called_at=one.returned_at)
    return RegisterHistory(tuple(operations))


class _Run:
    """A register for each key, and clients."""

    def __init__(self, rng: Random, shape: Shape) -> None:
        self._rng = rng
        self._shape = shape
        self._now = 0
        self._holds: dict[str, Value] = {}
        self._written = 0
        self._called = 0
        self._under_way: dict[int, _Call] = {}
        self._late: list[_Call] = []
        """Given up, and perhaps of effect later."""
        self._names = list(range(shape.clients))
        """A client that never comes back has a successor."""
        self._seen: list[Operation] = []

    def finish(self) -> list[Operation]:
        """Go on until all operations have been called and have ended."""
        while self._called < self._shape.operations or self._under_way:
            self._now += 1
            if self._late and self._rng.random() < 0.2:
                self._take_effect(self._late.pop(self._rng.randrange(len(self._late))))
            client = self._rng.randrange(self._shape.clients)
            call = self._under_way.get(client)
            if call is None:
                if self._called < self._shape.operations:
                    self._called += 1
                    self._under_way[client] = _Call(self._drawn(client))
            elif not call.took_effect and self._rng.random() < 0.6:
                self._take_effect(call)
            else:
                del self._under_way[client]
                self._end(client, call)
        return self._seen

    @property
    def _time(self) -> int:
        return self._now // self._shape.coarse

    def _drawn(self, client: int) -> Operation:
        kinds = [Kind.READ, Kind.READ, Kind.WRITE, Kind.WRITE]
        if self._shape.values is not None:
            kinds.append(Kind.CAS)
        kind = self._rng.choice(kinds)
        return Operation(
            client=self._names[client],
            key=f"k{self._rng.randrange(self._shape.keys)}",
            kind=kind,
            value=None if kind is Kind.READ else self._new_value(),
            called_at=self._time,
            returned_at=None,
            outcome=Outcome.UNKNOWN,
            expected=self._rng.randrange(self._shape.values or 1) if kind is Kind.CAS else None,
        )

    def _new_value(self) -> Value:
        if self._shape.values is not None:
            return self._rng.randrange(self._shape.values)
        self._written += 1
        return self._written

    def _take_effect(self, call: _Call) -> None:
        one = call.operation
        call.took_effect = True
        holds = self._holds.get(one.key)
        if one.kind is Kind.READ:
            call.operation = replace(one, value=holds)
        elif one.kind is Kind.WRITE or holds == one.expected:
            self._holds[one.key] = one.value
        else:
            call.operation = replace(one, swapped=False)

    def _end(self, client: int, call: _Call) -> None:
        one, rng, shape = call.operation, self._rng, self._shape
        if not call.took_effect and rng.random() < shape.refused:
            self._seen.append(replace(one, returned_at=self._time, outcome=Outcome.FAIL))
        elif rng.random() < shape.unknown:
            if not call.took_effect:
                self._late.append(call)
            unseen = replace(one, value=None) if one.kind is Kind.READ else one
            unseen = replace(unseen, swapped=True)
            if rng.random() < 0.5:
                self._names[client] += shape.clients
                self._seen.append(unseen)
            else:
                self._seen.append(replace(unseen, returned_at=self._time))
        else:
            if not call.took_effect:
                self._take_effect(call)
            done = replace(call.operation, returned_at=self._time, outcome=Outcome.OK)
            self._seen.append(done)
