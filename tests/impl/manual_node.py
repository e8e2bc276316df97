"""A node whose ports are in a test's hand: what leaves it is kept, and nothing comes by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeAlias, TypeVar

from rocketha.known_bugs import NO_BUGS, Bugs
from rocketha.known_bugs.storage import file_options
from rocketha.runtime.broker_files import BrokerFiles, BrokerName
from rocketha.runtime.core import Core, Inbox, Sender, Step
from rocketha.runtime.effects import (
    AnswerClient,
    CloseConnection,
    Connect,
    SendPacket,
    SendToController,
)
from rocketha.runtime.events import HostEvent
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.performers import (
    ClientPerformer,
    ConnectionPerformer,
    ControllerPerformer,
    FilePerformer,
)
from rocketha.storage.commit_log import CommitLog
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import ConnectionId, HaAddress, SizeBytes, TimestampMs

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")

Left: TypeAlias = SendPacket | CloseConnection | Connect | SendToController
"""What left a node."""

_FIRST_ASKED = 1_000_000
"""Connections that a core asks for; those that a test opens have smaller numbers."""


class _SeenCore(Core[S, E, A, CommitLog], Generic[S, E, A]):
    """A core whose steps a test sees."""

    def __init__(self, core: Core[S, E, A, CommitLog]) -> None:
        self._core = core
        self.effects = core.effects  # type: ignore[misc]  # those of the core inside
        self.steps: list[Step[S, E, A]] = []

    def step(self, state: S, event: E, *, now_ms: TimestampMs, log: CommitLog) -> Step[S, E, A]:
        self.steps.append(self._core.step(state, event, now_ms=now_ms, log=log))
        return self.steps[-1]

    def next_timer_ms(self, state: S) -> TimestampMs | None:
        return self._core.next_timer_ms(state)

    def senders(self, state: S, log: CommitLog) -> Iterable[Sender]:
        return self._core.senders(state, log)

    def inbox(self, conn: ConnectionId, *, accepted: bool) -> Inbox[E]:
        return self._core.inbox(conn, accepted=accepted)


class ManualNode(Generic[S, E, A]):
    """A node on a disk in memory; it implements its own ports."""

    def __init__(
        self,
        core: Core[S, E | HostEvent, A, CommitLog],
        *,
        segment_size: SizeBytes,
        bugs: Bugs = NO_BUGS,
        name: BrokerName | None = None,
    ) -> None:
        self.disk = MemoryDisk()
        self.files = BrokerFiles(self.disk, file_options(segment_size, bugs), name=name)
        self.time_ms = 0
        self.flushes = True
        """The flush service works at once; else not at all."""
        self.out: list[Left] = []
        self.answers: list[AnswerClient] = []
        self.actions: list[A] = []
        self._core = _SeenCore(core)
        self._asked = _FIRST_ASKED
        self.connections: ConnectionPerformer[E | HostEvent, A] = ConnectionPerformer(
            core.inbox, transport=self, recorder=self
        )
        self._writer = FilePerformer(self.files, flushing=self)
        self.host: NodeHost[S, E | HostEvent, A] = NodeHost(
            self._core,
            (self.connections, self._writer, ControllerPerformer(self), ClientPerformer(self)),
            clock=self,
            recorder=self,
            see=self._writer.log,
            timers=self,
        )

    @property
    def log(self) -> CommitLog:
        return self.files.log

    def take(self, event: E | HostEvent, now_ms: int) -> Step[S, E | HostEvent, A]:
        """Take an event and all that follows from it; return the first step."""
        self.time_ms = now_ms
        self._core.steps.clear()
        self.host.take(event)
        first = self._core.steps[0]
        if self.connections.asked is not None:  # a test says itself what becomes of it
            self.connections.lost(self.connections.asked)
        return first

    def lose_power(self) -> None:
        """Lose what was not synchronized, and open the log again."""
        self.disk.lose_unsynced()
        self.files.recover()

    def taken(self) -> list[Left]:
        """Take what left the node."""
        taken, self.out = self.out, []
        return taken

    # ---- the ports ----

    def now_ms(self) -> TimestampMs:
        return TimestampMs(self.time_ms)

    def connect(self, peer: HaAddress) -> ConnectionId:
        self.out.append(Connect(peer=peer))
        self._asked += 1
        return ConnectionId(self._asked)

    def send(self, conn: ConnectionId, data: bytes) -> None:
        self.out.append(SendPacket(conn=conn, data=data))

    def close(self, conn: ConnectionId, *, reason: str, action: A | None) -> None:
        del action
        self.out.append(CloseConnection(conn=conn, reason=reason))

    def abandon(self, conn: ConnectionId, *, is_open: bool) -> None:
        raise AssertionError(f"{conn} is not asked for any more ({is_open})")

    def wake_at(self, at_ms: TimestampMs) -> None:
        pass

    def transfer(self, sender: Sender) -> None:
        pass

    def ask(self, data: bytes, *, controller: int) -> None:
        self.out.append(SendToController(data=data, controller=controller))

    def answer(self, answer: AnswerClient) -> None:
        self.answers.append(answer)

    def request(self) -> None:
        if self.flushes:
            self._writer.flush()

    def sent(self, conn: ConnectionId, data: bytes) -> None:
        pass

    def received(self, conn: ConnectionId) -> None:
        pass

    def stepped(self, event: E | HostEvent, action: A | None) -> None:
        del event
        if action is not None:
            self.actions.append(action)
