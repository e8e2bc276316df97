"""What the clients of any simulated protocol saw: something to check, and bytes to compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rocketha.histories.acting_master import ActingMasterHistory, check_acting_master
from rocketha.histories.checker import Verdict, check_history
from rocketha.histories.escaped import EscapeEvent, Outcome, check_escaped
from rocketha.histories.history import History
from rocketha.histories.jsonl import dump_history
from rocketha.histories.linearizability.checker import (
    LinearizabilityVerdict,
    check_linearizability,
)
from rocketha.histories.linearizability.operation import Operation, RegisterHistory
from rocketha.histories.offsets import OffsetEvent, check_offsets
from rocketha.histories.ordered import OrderVerdict, Processed, check_order
from rocketha.histories.registers import Keeping, ReadVerdict, RegisterEvent, check_reads
from rocketha.histories.replicas import ReplicaReads, ReplicaVerdict, check_replicas
from rocketha.histories.routes import Election, RouteAnswer, check_routes
from rocketha.histories.verdicts import AnyVerdict

__all__ = [
    "ActingMasterClients",
    "ClientHistory",
    "EscapeClients",
    "GroupClients",
    "LinearizableClients",
    "OffsetClients",
    "OrderlyConsumers",
    "RegisterReads",
    "ReplicaReaders",
    "RouteClients",
]


class ClientHistory(Protocol):
    """All that clients saw of one run."""

    def check(self) -> AnyVerdict:
        """Hold it against what is promised."""
        ...

    def content(self) -> bytes:
        """Return all of it; the same run, the same bytes."""
        ...


@dataclass(frozen=True, slots=True)
class GroupClients:
    """Producers and consumers of a group."""

    history: History

    def check(self) -> Verdict:
        """Hold it against what a group promises."""
        return check_history(self.history)

    def content(self) -> bytes:
        """Return the file of the history."""
        return dump_history(self.history)


@dataclass(frozen=True, slots=True)
class OrderlyConsumers:
    """Consumers that process queues in order."""

    processed: tuple[Processed, ...]

    def check(self) -> OrderVerdict:
        """Hold it against the promise of order."""
        return check_order(self.processed)

    def content(self) -> bytes:
        """Return all that was processed."""
        return repr(self.processed).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterReads:
    """Whoever reads the registers of a node."""

    made: tuple[Mapping[str, int], ...]
    """The registers after so many entries."""
    keeping: Keeping
    events: tuple[RegisterEvent, ...]

    def check(self) -> ReadVerdict:
        """Hold what was read against what is promised."""
        return check_reads(self.made, self.events, self.keeping)

    def content(self) -> bytes:
        """Return all that was read."""
        return repr(self.events).encode()


@dataclass(frozen=True, slots=True)
class LinearizableClients:
    """Clients that read and write registers of a group."""

    operations: tuple[Operation, ...]

    def check(self) -> LinearizabilityVerdict:
        """Hold what they saw against one register for each name."""
        return check_linearizability(RegisterHistory(self.operations))

    def content(self) -> bytes:
        """Return all calls and what became of them."""
        return repr(self.operations).encode()


@dataclass(frozen=True, slots=True)
class RouteClients:
    """Clients that ask name servers where to write and to read."""

    elections: tuple[Election, ...]
    answers: tuple[RouteAnswer, ...]
    has_acting: bool

    def check(self) -> AnyVerdict:
        """Hold what they were told against who was elected."""
        return check_routes(self.elections, self.answers, has_acting=self.has_acting)

    def content(self) -> bytes:
        """Return all that they were told."""
        return repr((self.elections, self.answers)).encode()


@dataclass(frozen=True, slots=True)
class OffsetClients:
    """Consumers that ask how far they are, and commit."""

    events: tuple[OffsetEvent, ...]

    def check(self) -> AnyVerdict:
        """Hold what they were told against what a group keeps while its master is gone."""
        return check_offsets(self.events)

    def content(self) -> bytes:
        """Return all that happened to them and to brokers."""
        return repr(self.events).encode()


@dataclass(frozen=True, slots=True)
class EscapeClients:
    """Consumers and producers of a group whose slave acts."""

    events: tuple[EscapeEvent, ...]
    outcome: Outcome

    def check(self) -> AnyVerdict:
        """Hold what they saw against what is promised of what comes due."""
        return check_escaped(self.events, self.outcome)

    def content(self) -> bytes:
        """Return all that happened to them."""
        return repr((self.events, self.outcome.is_well, sorted(self.outcome.excused))).encode()


@dataclass(frozen=True, slots=True)
class ActingMasterClients:
    """All clients of groups whose slaves act."""

    history: ActingMasterHistory

    def check(self) -> AnyVerdict:
        """Hold what they saw against all that is promised to them."""
        return check_acting_master(self.history)

    def content(self) -> bytes:
        """Return all that happened to them."""
        history, outcome = self.history, self.history.outcome
        offsets = sorted(history.offsets.items())
        ended = (outcome.is_well, sorted(outcome.excused))
        return repr((history.queues, history.escaped, offsets, ended)).encode()


@dataclass(frozen=True, slots=True)
class ReplicaReaders:
    """Whoever reads the logs of replicas, and producers that wait for slaves."""

    reads: ReplicaReads

    def check(self) -> ReplicaVerdict:
        """Hold what was read against what replication promises."""
        return check_replicas(self.reads)

    def content(self) -> bytes:
        """Return all that was read."""
        reads = self.reads
        copied = [(c.at_ms, c.message, c.slaves, sorted(c.read_from)) for c in reads.copied]
        return repr((sorted(reads.written), copied, sorted(reads.logs.items()))).encode()
