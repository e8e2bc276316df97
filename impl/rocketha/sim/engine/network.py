"""Connections between simulated brokers: two byte streams each, with faults.

A stream keeps the order of its bytes, as TCP does, and nothing else: it delays, cuts in pieces,
stalls while its direction is partitioned, and loses a suffix when its connection breaks.

The loss of a connection is part of the streams too: it arrives after the bytes that still arrive.
A reset is noticed by the client first and by the server when the client has noticed.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from random import Random
from typing import Final, Protocol

from rocketha.sim.engine.faults import Fault, FaultCounts, FaultPlan
from rocketha.sim.engine.node import broker_address
from rocketha.sim.engine.random_source import InjectionPoint, RandomSource
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.types import BrokerId, ConnectionId

__all__ = ["Connection", "End", "Network", "Sockets"]

_LATENCY_MAX_MS: Final = 4
_PIECES_MAX: Final = 4


class End(Enum):
    """One of the two ends of a connection."""

    CLIENT = "client"
    SERVER = "server"


class Sockets(Protocol):
    """What the network calls at an end of a connection."""

    def accepted(self, conn: ConnectionId, server: BrokerId) -> bool:
        """Tell a server that a client is there; False if nobody listens."""
        ...

    def connected(self, conn: ConnectionId, client: BrokerId) -> None:
        """Tell a client that its connection stands."""
        ...

    def received(self, conn: ConnectionId, broker: BrokerId, data: bytes) -> None:
        """Hand over bytes that arrived."""
        ...

    def lost(self, conn: ConnectionId, broker: BrokerId) -> None:
        """Tell an end that the connection is gone."""
        ...


class _Mark(Enum):
    OPEN = "open"
    CLOSE = "close"


@dataclass(slots=True)
class _Stream:
    """One direction: what is in flight, with its time of arrival."""

    sender: BrokerId
    receiver: BrokerId
    to: End
    rng: Random
    in_flight: deque[tuple[int, bytes | _Mark]] = field(default_factory=deque)
    last_arrival_ms: int = 0
    broken: bool = False


@dataclass(slots=True)
class Connection:
    """A connection between two brokers, or an attempt to make one."""

    id: ConnectionId
    client: BrokerId
    server: BrokerId
    up: _Stream
    down: _Stream
    client_open: bool = True
    server_open: bool = False
    half_open: bool = False
    """The server is not told when the client's end closes."""

    def broker_at(self, end: End) -> BrokerId:
        """Return the broker at an end."""
        return self.client if end is End.CLIENT else self.server

    def is_open(self, end: End) -> bool:
        """Tell whether an end is open: neither closed here nor told that the other one is."""
        return self.client_open if end is End.CLIENT else self.server_open


class Network:
    """All connections of a cluster."""

    def __init__(
        self,
        scheduler: Scheduler,
        random_source: RandomSource,
        *,
        counts: FaultCounts,
        plan: FaultPlan,
        servers_linger: bool = True,
    ) -> None:
        """Make a network without connections; `plan` may be replaced while it runs.

        Without `servers_linger` nothing arrives any more that a server sent before it died.
        """
        self.plan = plan
        self._servers_linger = servers_linger
        self._scheduler = scheduler
        self._random_source = random_source
        self._counts = counts
        self._sockets: Sockets | None = None
        self._connections: dict[ConnectionId, Connection] = {}
        self._blocked: set[tuple[BrokerId, BrokerId]] = set()
        self._last_id = 0
        self._numbers: Counter[tuple[str, str]] = Counter()

    def attach(self, sockets: Sockets) -> None:
        """Say who is told what arrives; once, before the first connection."""
        assert self._sockets is None
        self._sockets = sockets

    def connections(self) -> list[Connection]:
        """Return the connections of which an end is open, oldest first."""
        return list(self._connections.values())

    def find(self, conn: ConnectionId) -> Connection | None:
        """Return a connection, unless both of its ends are closed."""
        return self._connections.get(conn)

    def holds(self, conn: ConnectionId, end: End) -> bool:
        """Tell whether an end of a connection is open, whatever its broker believes."""
        found = self._connections.get(conn)
        return found is not None and found.is_open(end)

    # ---- what the ends do ----

    def connect(self, client: BrokerId, server: BrokerId) -> ConnectionId:
        """Begin to connect; `connected` or `lost` comes later."""
        self._last_id += 1
        conn = Connection(
            id=ConnectionId(self._last_id),
            client=client,
            server=server,
            up=self._stream(client, server, End.SERVER),
            down=self._stream(server, client, End.CLIENT),
        )
        self._connections[conn.id] = conn
        self._put(conn, conn.up, _Mark.OPEN)
        return conn.id

    def send(self, conn_id: ConnectionId, sender: BrokerId, data: bytes) -> None:
        """Send bytes; they are lost if the connection is."""
        conn = self._connections.get(conn_id)
        if conn is None:
            return
        end = End.CLIENT if sender == conn.client else End.SERVER
        stream = conn.up if end is End.CLIENT else conn.down
        if not conn.is_open(end) or stream.broken:
            return
        pieces = [data]
        if _happens(stream.rng, self.plan.fragment_percent):
            cuts = sorted(stream.rng.randrange(len(data) + 1) for _ in range(_PIECES_MAX - 1))
            if self._takes(stream, Fault.FRAGMENTATION, "bytes come in pieces"):
                bounds = [0, *cuts, len(data)]
                pieces = [data[a:b] for a, b in pairwise(bounds) if a < b]
        for piece in pieces:
            self._put(conn, stream, piece)

    def close(self, conn_id: ConnectionId, closer: BrokerId, *, lingers: bool) -> None:
        """Close an end. What it has sent still arrives if it lingers, and is lost otherwise."""
        conn = self._connections.get(conn_id)
        if conn is None:
            return
        end = End.CLIENT if closer == conn.client else End.SERVER
        if conn.is_open(end):
            stream = conn.up if end is End.CLIENT else conn.down
            self._shut(conn, end, keep=len(stream.in_flight) if lingers else 0)

    # ---- what goes wrong ----

    def reset(self, conn: Connection, *, half_open: bool = False) -> None:
        """Break a connection: of what is in flight in each direction, a suffix is lost.

        With `half_open` only the client notices.
        """
        conn.half_open = half_open and conn.server_open
        for stream in (conn.up, conn.down):
            self._lose_suffix(stream, stream.rng.randrange(len(stream.in_flight) + 1))
            stream.broken = True
        self._put(conn, conn.down, _Mark.CLOSE)

    def drop_broker(self, broker: BrokerId, *, silent: bool = False) -> None:
        """A broker stops: its ends close, and a suffix of what it has sent is lost.

        A silent one tells nobody, unless somebody waits for a connection to it.
        """
        for conn in self.connections():
            for end in End:
                if conn.broker_at(end) == broker and conn.is_open(end):
                    stream = conn.up if end is End.CLIENT else conn.down
                    lingers = self._servers_linger or end is End.CLIENT
                    keep = stream.rng.randrange(len(stream.in_flight) + 1) if lingers else 0
                    waited_for = any(item is _Mark.OPEN for _, item in stream.in_flight)
                    self._shut(conn, end, keep=keep, silent=silent and not waited_for)

    def lose_sent(self, broker: BrokerId) -> None:
        """Lose all that a broker has sent and that is still under way; its ends stay closed."""
        for conn in self.connections():
            for stream in (conn.up, conn.down):
                if stream.sender == broker:
                    _lose(stream, {_Mark.CLOSE})

    def lose_requests(self, conn_id: ConnectionId) -> None:
        """Lose what the client of a connection has sent over it and is still under way."""
        conn = self._connections.get(conn_id)
        if conn is not None:
            _lose(conn.up, set(_Mark))

    def block(self, sender: BrokerId, receiver: BrokerId) -> None:
        """Let nothing through from one broker to another."""
        self._blocked.add((sender, receiver))

    def unblock(self, sender: BrokerId, receiver: BrokerId) -> None:
        """Let everything through again, also what has waited."""
        self._blocked.discard((sender, receiver))
        for conn in self.connections():
            for stream in (conn.up, conn.down):
                if (stream.sender, stream.receiver) == (sender, receiver):
                    self._pump(conn, stream)

    def heal(self) -> None:
        """End all partitions."""
        for sender, receiver in sorted(self._blocked):
            self.unblock(sender, receiver)

    # ---- streams ----

    def _stream(self, sender: BrokerId, receiver: BrokerId, to: End) -> _Stream:
        return _Stream(sender, receiver, to, self._random_source.of("network", sender, receiver))

    def _takes(self, stream: _Stream, fault: Fault, words: str) -> bool:
        """Tell whether a fault that was drawn comes to pass, and count it."""
        name = f"{broker_address(stream.sender)}>{broker_address(stream.receiver)}"
        self._numbers[fault, name] += 1
        point = InjectionPoint(fault, name, self._numbers[fault, name])
        if not self._random_source.allows(point):
            return False
        self._random_source.note(point, f"{name}: {words}")
        self._counts.add(fault)
        return True

    def _put(self, conn: Connection, stream: _Stream, item: bytes | _Mark) -> None:
        now = self._scheduler.now_ms
        delay = 1 + stream.rng.randrange(_LATENCY_MAX_MS)
        if item is not _Mark.CLOSE and _happens(stream.rng, self.plan.delay_percent):
            more_ms = stream.rng.randrange(self.plan.delay_max_ms)
            if self._takes(stream, Fault.DELAY, f"bytes come {more_ms} ms later"):
                delay += more_ms
        stream.last_arrival_ms = max(stream.last_arrival_ms, now + delay)
        stream.in_flight.append((stream.last_arrival_ms, item))
        wait = stream.last_arrival_ms - now
        self._scheduler.after(wait, lambda: self._pump(conn, stream))

    def _pump(self, conn: Connection, stream: _Stream) -> None:
        now = self._scheduler.now_ms
        while (
            stream.in_flight
            and stream.in_flight[0][0] <= now
            and (stream.sender, stream.receiver) not in self._blocked
        ):
            _, item = stream.in_flight.popleft()
            self._deliver(conn, stream, item)

    def _deliver(self, conn: Connection, stream: _Stream, item: bytes | _Mark) -> None:
        sockets = self._sockets
        assert sockets is not None, "attach first"
        if item is _Mark.OPEN:
            if stream.to is End.CLIENT:
                if conn.client_open:
                    sockets.connected(conn.id, conn.client)
                return
            conn.server_open = True
            if sockets.accepted(conn.id, conn.server):
                if conn.server_open and not conn.down.broken:
                    self._put(conn, conn.down, _Mark.OPEN)
            else:
                self._shut(conn, End.SERVER, keep=0)
        elif item is _Mark.CLOSE:
            self._close_by_peer(conn, stream.to)
        elif conn.is_open(stream.to):
            sockets.received(conn.id, stream.receiver, item)

    def _close_by_peer(self, conn: Connection, end: End) -> None:
        assert self._sockets is not None
        if not conn.is_open(end):
            return
        outgoing = conn.up if end is End.CLIENT else conn.down
        self._shut(conn, end, keep=len(outgoing.in_flight))
        self._sockets.lost(conn.id, conn.broker_at(end))

    def _shut(self, conn: Connection, end: End, *, keep: int, silent: bool = False) -> None:
        """Close an end; of the items that it has in flight, `keep` still arrive."""
        outgoing, incoming = (conn.up, conn.down) if end is End.CLIENT else (conn.down, conn.up)
        if end is End.CLIENT:
            conn.client_open = False
        else:
            conn.server_open = False
        incoming.in_flight.clear()
        self._lose_suffix(outgoing, keep)
        opening = end is End.CLIENT and any(item is _Mark.OPEN for _, item in outgoing.in_flight)
        if conn.client_open or conn.server_open or opening:
            if not silent and not (conn.half_open and end is End.CLIENT):
                self._put(conn, outgoing, _Mark.CLOSE)
        else:
            del self._connections[conn.id]

    def _lose_suffix(self, stream: _Stream, keep: int) -> None:
        """Keep the first items and, of the next one, a piece."""
        kept = list(stream.in_flight)[:keep]
        if keep < len(stream.in_flight):
            arrival, item = stream.in_flight[keep]
            if isinstance(item, bytes) and (length := stream.rng.randrange(len(item))):
                kept.append((arrival, item[:length]))
        stream.in_flight = deque(kept)


def _lose(stream: _Stream, marks: set[_Mark]) -> None:
    """Keep nothing of what is in flight but these marks."""
    stream.in_flight = deque(entry for entry in stream.in_flight if entry[1] in marks)


def _happens(rng: Random, percent: int) -> bool:
    return percent > 0 and rng.randrange(100) < percent
