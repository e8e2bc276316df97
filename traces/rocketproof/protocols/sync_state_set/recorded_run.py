"""What is known of a run from its records: all nodes, and how one thing is named by several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rocketha.recording.record import RecordError
from rocketproof.protocols.replica_group.recorded_broker import broker
from rocketproof.protocols.sync_state_set.recorded_nodes import (
    KnownProposal,
    KnownSet,
    Log,
    Losses,
    Named,
    RecordedGroup,
    RecordedReplica,
)
from rocketproof.recorded_log import RunLogs

__all__ = ["RecordedRun", "common_length"]


def common_length(one: Log, other: Log) -> int:
    """Return how many records two logs have in common, from the first one on."""
    for at, (this, that) in enumerate(zip(one, other, strict=False)):
        if this != that:
            return at
    return min(len(one), len(other))


@dataclass(slots=True)
class RecordedRun:
    """What all nodes have written last, and what is remembered of the run."""

    brokers: tuple[str, ...]
    """By their ids, as far as these are known before they start."""
    replicas: dict[str, RecordedReplica]
    losses: dict[str, Losses]
    down: set[str]
    """Brokers that do not run, or run and the controller does not know it."""
    slave_not_catchup_ms: Mapping[str, int | None]
    """Master -> how long a slave may have not everything; None: nobody knows."""
    group: RecordedGroup = field(default_factory=RecordedGroup)
    logs: RunLogs = field(default_factory=RunLogs)
    reported: dict[int, int | None] = field(default_factory=dict)
    """Connection on which a slave has reported -> its last report, if it has written that."""
    now_ms: int = 0
    _clients: dict[int, str] = field(default_factory=dict)
    """Connection -> its slave."""
    _order: dict[int, int] = field(default_factory=dict)
    """Connection -> how many there were before a master had it."""
    _ids: dict[int, str] = field(default_factory=dict)

    # ---- names ----

    def name_of(self, member: Named) -> str:
        """Return the node that a broker is: who has its id is seen when it connects.

        One of which that was never seen is `b` with its id, as simulated ones are.

        Raises:
            RecordError: there is no such node.
        """
        name = member if isinstance(member, str) else self._ids.get(member, broker(member))
        if name not in self.replicas:
            raise RecordError(f"no broker is {member!r}")
        return name

    def names_of(self, members: KnownSet | KnownProposal) -> list[str]:
        """Return the nodes of a set. Raises: RecordError"""
        return [self.name_of(member) for member in members.members]

    def by_name(self, told: Iterable[tuple[int, int]]) -> dict[str, int]:
        """Return what is said of brokers, by their nodes. Raises: RecordError"""
        return {self.name_of(number): value for number, value in told}

    def note_id(self, member: Named, name: str) -> None:
        """Note who has an id."""
        if isinstance(member, int):
            self._ids[member] = name

    # ---- logs and connections ----

    def count(self, log: Log, offset: int) -> int:
        """Return how many records of a log lie before an offset in bytes; -1 for "not yet"."""
        return -1 if offset < 0 else self.logs.count(log, offset)

    def note_connections(self, name: str) -> None:
        """Note what a broker has written of its ends of connections."""
        replica = self.replicas[name]
        client = replica.client
        if client is not None:
            self._clients[client.id] = name
            if replica.copies_over is not None:
                self.reported[client.id] = client.reported
        for conn, end in replica.servers.items():
            self._order.setdefault(conn, len(self._order))
            if end.slave is not None and conn in self._clients:
                self._ids[end.slave] = self._clients[conn]

    def slave_of(self, conn: int) -> str | None:
        """Return the slave that has a connection."""
        return self._clients.get(conn)

    def conn_of(self, master: str, slave: str) -> int | None:
        """Return a master's newest connection of a slave, once that has reported."""
        ends = self.replicas[master].servers.items()
        mine = [c for c, end in ends if end.slave is not None and self._clients.get(c) == slave]
        newest = max(mine, key=lambda conn: self._order[conn], default=None)
        return newest if newest in self.reported else None
