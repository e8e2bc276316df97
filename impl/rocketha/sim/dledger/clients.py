"""Clients of the register service, and what they saw.

A client asks one node at a time, and waits. What was refused without effect is a FAIL, what may
still happen is UNKNOWN; a client with an UNKNOWN write goes on under another name, as that call
never returns.

Reads are made both ways: by an entry in the log, and by the read index.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

from rocketha.dledger.node_state import AnswerApplied, ReadAsked, RefuseClient
from rocketha.dledger.register import read_entry, write_entry
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import AppendEntryRequest
from rocketha.histories.history import Outcome
from rocketha.histories.linearizability.operation import Kind, Operation, Value
from rocketha.sim.dledger.machine import Member, SavedClient
from rocketha.sim.engine.faults import Fault, FaultCounts
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId

__all__ = ["Clients", "How", "Servers"]

_PATIENCE_MS: Final = 700
_LATE_MS: Final = 30
_MAY_HAPPEN: Final = (
    DLedgerResponseCode.TERM_CHANGED,
    DLedgerResponseCode.WAIT_QUORUM_ACK_TIMEOUT,
)
"""Of what is refused so, the entry may still be agreed on."""


@dataclass(frozen=True, slots=True)
class How:
    """How a register is asked."""

    kind: Kind
    by_log: bool
    """By an entry in the log, as every write is; else by the read index."""


@dataclass(slots=True)
class _Call:
    client: int
    key: str
    how: How
    value: int | None
    rng: Random
    """Says what the way does to the request, and to the answer."""
    called_at: int
    node: BrokerId
    then: Callable[[], None]


class Servers(Protocol):
    """Whom clients ask."""

    @property
    def members(self) -> Mapping[BrokerId, Member]:
        """Return the members of the group."""
        ...

    @property
    def scheduler(self) -> Scheduler:
        """Return the clock."""
        ...

    @property
    def counts(self) -> FaultCounts:
        """Return where faults are counted."""
        ...


class Clients:
    """All clients of a run; calls and returns are numbered in the order in which they happen."""

    def __init__(self, cluster: Servers) -> None:
        """Begin without clients."""
        self._cluster = cluster
        self._tickets = 0
        self._moments = 0
        self._values = 0
        self._calls: dict[int, _Call] = {}
        self._names = 0
        self.operations: list[Operation] = []
        self.loss_percent = 0
        """Of requests, and of answers."""
        self.answered_reads: dict[bool, int] = {True: 0, False: 0}
        """By the log, by the read index."""
        self.answered_writes = 0

    def new_client(self) -> int:
        """Return a number for a client that has no call under way."""
        self._names += 1
        return self._names

    def call(
        self,
        client: int,
        node: BrokerId,
        key: str,
        how: How,
        *,
        rng: Random,
        then: Callable[[int], None],
    ) -> None:
        """Ask a node; `then` is told as whom to go on when it is over.

        `rng` says what the way does to the request, and to the answer.
        """
        self._tickets += 1
        ticket, value = self._tickets, None
        if how.kind is Kind.WRITE:
            self._values += 1
            value = self._values
        call = _Call(client, key, how, value, rng, self._moment(), node, lambda: None)
        self._calls[ticket] = call

        def go_on() -> None:
            then(call.client)

        call.then = go_on
        if not self._is_lost(rng):
            self._cluster.scheduler.after(
                1 + rng.randrange(_LATE_MS), lambda: self._arrive(ticket, call)
            )
        self._cluster.scheduler.after(_PATIENCE_MS, lambda: self._give_up(ticket))

    def _arrive(self, ticket: int, call: _Call) -> None:
        member = self._cluster.members[call.node]
        if not member.host.is_up:
            return
        if call.how.kind is Kind.READ and not call.how.by_log:
            member.asked(ReadAsked(ticket=ticket))
            return
        body = read_entry(call.key)
        if call.how.kind is Kind.WRITE:
            assert call.value is not None
            body = write_entry(call.key, call.value)
        config = member.config
        request = AppendEntryRequest(group=config.group, remote_id=config.self_id, body=body)
        member.asked(request, ticket)

    def waits(self, ticket: int) -> bool:
        """Tell whether somebody waits for the answer to a call."""
        return ticket in self._calls

    def answered(self, told: SavedClient) -> None:
        """Hear an answer, which may be lost on its way."""
        ticket = told.answer.ticket
        call = self._calls.get(ticket)
        if call is None or self._is_lost(call.rng):
            return
        value: Value = None
        if call.how.kind is Kind.READ:
            if isinstance(told.answer, AnswerApplied):
                assert told.outcome is None or isinstance(told.outcome, int)
                value = told.outcome
            else:
                value = told.registers.get(call.key)
        self._cluster.scheduler.after(
            1 + call.rng.randrange(_LATE_MS), lambda: self._hear(ticket, told, value)
        )

    def _hear(self, ticket: int, told: SavedClient, value: Value) -> None:
        call = self._calls.pop(ticket, None)
        if call is None:
            return
        outcome = _outcome(told)
        if outcome is not Outcome.OK:
            self._end(call, outcome, None)
            return
        if call.how.kind is Kind.READ:
            self.answered_reads[call.how.by_log] += 1
        else:
            self.answered_writes += 1
        self._end(call, Outcome.OK, value)

    def _give_up(self, ticket: int) -> None:
        call = self._calls.pop(ticket, None)
        if call is not None:
            self._end(call, Outcome.UNKNOWN, None)

    def _end(self, call: _Call, outcome: Outcome, value: Value) -> None:
        if call.how.kind is Kind.READ and outcome is not Outcome.OK:
            outcome = Outcome.FAIL
        self.operations.append(
            Operation(
                client=call.client,
                key=call.key,
                kind=call.how.kind,
                value=call.value if call.how.kind is Kind.WRITE else value,
                called_at=call.called_at,
                returned_at=None if outcome is Outcome.UNKNOWN else self._moment(),
                outcome=outcome,
            )
        )
        if outcome is Outcome.UNKNOWN:
            call.client = self.new_client()
        call.then()

    def pending(self) -> list[Operation]:
        """Return the writes whose calls are not over: they may happen at any time."""
        return [
            Operation(
                client=call.client,
                key=call.key,
                kind=Kind.WRITE,
                value=call.value,
                called_at=call.called_at,
                returned_at=None,
                outcome=Outcome.UNKNOWN,
            )
            for call in self._calls.values()
            if call.how.kind is Kind.WRITE
        ]

    def _moment(self) -> int:
        self._moments += 1
        return self._moments

    def _is_lost(self, rng: Random) -> bool:
        is_lost = self.loss_percent > 0 and rng.randrange(100) < self.loss_percent
        if is_lost:
            self._cluster.counts.add(Fault.CLIENT_LOSS)
        return is_lost


def _outcome(told: SavedClient) -> Outcome:
    """Return what a client knows then of its request."""
    if told.said is None:
        return Outcome.FAIL if isinstance(told.answer, RefuseClient) else Outcome.OK
    if told.said.code == DLedgerResponseCode.SUCCESS:
        return Outcome.OK
    return Outcome.UNKNOWN if told.said.code in _MAY_HAPPEN else Outcome.FAIL
