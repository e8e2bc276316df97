"""The host of a node: events go to its core one by one, and it performs the effects.

The effects of a step are performed in their order, and all before the next event. Then come the
events that follow from the step: `MessageAppended` for a producer who waits, and what the core
asked for (`Then`). Nothing else comes between them.

The host knows no protocol. It cuts the bytes of connections into packets, and asks to be woken for
what the core has to do next.

Source: `BrokerController`, `DefaultMessageStore`, `AutoSwitchHAService`, as what runs a broker
"""

from __future__ import annotations

from dataclasses import replace
from typing import Generic, TypeVar, assert_never

from rocketha.errors import PacketError
from rocketha.runtime.broker_files import BrokerFiles
from rocketha.runtime.effects import (
    AnswerClient,
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    FlushLog,
    RequestFlush,
    SendPacket,
    SendToController,
    StoreEpochs,
    StoreIdentity,
    StoreRegistration,
    Then,
    TruncateLog,
)
from rocketha.runtime.events import (
    ConnectionLost,
    HostEvent,
    LogFlushed,
    MessageAppended,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
)
from rocketha.runtime.host import Host
from rocketha.runtime.ports import Core, HostEffect, Inbox, Ports
from rocketha.types import ConnectionId, HaAddress

__all__ = ["NodeHost"]

S = TypeVar("S")
E = TypeVar("E")
A = TypeVar("A")


class NodeHost(Host[S, E | HostEvent], Generic[S, E, A]):
    """Runs one node: its core, on its files, through its ports."""

    __slots__ = ("_asked", "_core", "_inboxes", "_ports", "files")

    def __init__(self, core: Core[S, E, A], files: BrokerFiles, ports: Ports[E, A]) -> None:
        """Make a node that is down: it runs when it has a state."""
        super().__init__()
        self.files = files
        self._core = core
        self._ports = ports
        self._inboxes: dict[ConnectionId, Inbox[E]] = {}
        self._asked: tuple[ConnectionId, HaAddress] | None = None

    @property
    def asked(self) -> ConnectionId | None:
        """Return the connection that was asked for and is neither open nor lost."""
        return None if self._asked is None else self._asked[0]

    def stop(self) -> None:
        """Forget everything that is not in a file."""
        super().stop()
        self._inboxes.clear()
        self._asked = None

    # ---- events ----

    def flush(self) -> None:
        """Let the flush service do its work; in the middle of a step, `LogFlushed` follows from it.

        Source: CommitLog.FlushRealTimeService
        """
        log = self.files.log
        if log.flushed_offset == log.max_phy_offset:
            return
        self.files.change_log(FlushLog())
        self.hear(LogFlushed())

    def _take(self, event: E | HostEvent) -> None:
        assert self.state is not None, "the node is down"
        now_ms = self._ports.clock.now_ms()
        step = self._core.step(self.state, event, now_ms=now_ms, log=self.files.log)
        self.state = step.state
        asked: list[E] = []
        for effect in step.effects:
            if isinstance(effect, Then):
                asked.append(effect.event)
            else:
                self._perform(effect, step.action)
        self._follow.extend(asked)
        self._ports.recorder.stepped(event, step.action)
        self.arm()

    def arm(self) -> None:
        """Ask to be woken for what is to be done next."""
        if self.state is None:
            return
        due_ms = self._core.next_timer_ms(self.state)
        if due_ms is not None:
            self._ports.timers.wake_at(due_ms)
        for sender in self._core.senders(self.state, self.files.log.max_phy_offset):
            self._ports.timers.transfer(sender)

    # ---- effects ----

    def _perform(self, effect: HostEffect, action: A | None) -> None:
        ports = self._ports
        match effect:
            case SendPacket(conn=conn, data=data):
                ports.recorder.sent(conn, data)
                ports.transport.send(conn, data)
            case CloseConnection(conn=conn, reason=reason):
                self._inboxes.pop(conn, None)
                ports.transport.close(conn, reason=reason, action=action)
            case Connect(peer=peer):
                self._connect(peer)
            case AppendMessage():
                self._append(effect)
            case AppendLog() | TruncateLog() | FlushLog():
                self.files.change_log(effect)
            case RequestFlush():
                ports.flushing.request()
            case StoreEpochs(entries=entries):
                self.files.store_epochs(entries)
            case StoreIdentity(identity=identity):
                self.files.identity.store(identity)
            case StoreRegistration():
                self.files.identity.registered()
            case SendToController(data=data):
                ports.controller.ask(data)
            case AnswerClient():
                ports.clients.answer(effect)
            case _ as unreachable:
                assert_never(unreachable)

    def _append(self, effect: AppendMessage) -> None:
        message = replace(effect.message, store_timestamp_ms=effect.store_timestamp_ms)
        begin, end = self.files.append(message)
        if effect.put is not None:
            self._follow.appendleft(MessageAppended(put=effect.put, offset=begin, end=end))

    def _connect(self, peer: HaAddress) -> None:
        """Begin to connect, unless an attempt with the same peer is under way."""
        if self._asked is not None:
            conn, present = self._asked
            if present == peer:
                return
            self._ports.transport.abandon(conn, is_open=False)
        self._asked = (self._ports.transport.connect(peer), peer)

    # ---- what the transport tells ----

    def accepted(self, conn: ConnectionId, host: HaAddress | None) -> bool:
        """Hear that somebody connected, from there; False if the node is down."""
        if self.state is None:
            return False
        self._inboxes[conn] = self._core.inbox(conn, accepted=True)
        self.take(PeerAccepted(conn=conn, host=host))
        return True

    def connected(self, conn: ConnectionId) -> None:
        """Hear that a connection stands that was asked for."""
        if self._asked is None or self._asked[0] != conn:
            self._ports.transport.abandon(conn, is_open=True)
            return
        peer = self._asked[1]
        self._asked = None
        self._inboxes[conn] = self._core.inbox(conn, accepted=False)
        self.take(PeerConnected(conn=conn, peer=peer))

    def received(self, conn: ConnectionId, data: bytes) -> None:
        """Take the packets out of what arrived, one by one."""
        inbox = self._inboxes.get(conn)
        if inbox is None:
            return
        inbox.feed(data)
        while conn in self._inboxes:
            try:
                event = inbox.next_event()
            except PacketError as error:
                self.take(PacketRefused(conn=conn, error=error))
                return
            if event is None:
                return
            self.take(event)

    def lost(self, conn: ConnectionId) -> None:
        """Hear that a connection is gone, or will never stand."""
        self._inboxes.pop(conn, None)
        if self.asked == conn:
            self._asked = None
        if self.state is not None:
            self.take(ConnectionLost(conn=conn))
