"""Each effect of `rocketha.runtime.effects` but two, performed: nobody else looks into them.

The other two, `Then` and `After`, have an event of the core: `node_host` performs them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Generic, Never, Protocol, TypeAlias, TypeVar, assert_never, get_args

from rocketha.errors import PacketError
from rocketha.runtime.broker_files import BrokerFiles
from rocketha.runtime.core import Inbox
from rocketha.runtime.effects import (
    AnswerClient,
    AppendLog,
    AppendMessage,
    CloseConnection,
    Connect,
    FlushLog,
    HangUp,
    RefuseRequest,
    RequestFlush,
    Respond,
    SendOneWay,
    SendPacket,
    SendRequest,
    SendToController,
    StoreEpochs,
    StoreIdentity,
    StoreRegistration,
    TruncateLog,
)
from rocketha.runtime.events import (
    ConnectionLost,
    LogFlushed,
    MessageAppended,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
)
from rocketha.runtime.performer import Performer
from rocketha.runtime.ports import (
    Clients,
    Controller,
    FlushService,
    PacketRecorder,
    Remoting,
    Transport,
)
from rocketha.storage.commit_log import CommitLog
from rocketha.types import ConnectionId, HaAddress

__all__ = [
    "ClientPerformer",
    "ConnectionPerformer",
    "ControllerPerformer",
    "FilePerformer",
    "RequestPerformer",
]

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)
A = TypeVar("A")

_FileEffect: TypeAlias = (
    AppendLog
    | AppendMessage
    | TruncateLog
    | FlushLog
    | RequestFlush
    | StoreEpochs
    | StoreIdentity
    | StoreRegistration
)
_ConnectionEffect: TypeAlias = SendPacket | CloseConnection | Connect
_ConnectionEvent: TypeAlias = PeerAccepted | PeerConnected | PacketRefused | ConnectionLost
_RequestEffect: TypeAlias = SendRequest | SendOneWay | Respond | RefuseRequest | HangUp


class FilePerformer(Performer[MessageAppended | LogFlushed, object]):
    """Writes the files of a broker. `MessageAppended` comes before all else that follows."""

    effects = get_args(_FileEffect)

    def __init__(self, files: BrokerFiles, flushing: FlushService) -> None:
        """Take the files, and who flushes the log when he is asked to."""
        self._files = files
        self._flushing = flushing

    def log(self) -> CommitLog:
        """Return the opened log: what the core may see."""
        return self._files.log

    def flush(self) -> None:
        """Let the flush service do its work; in the middle of a step, `LogFlushed` follows from it.

        Source: CommitLog.FlushRealTimeService
        """
        log = self._files.log
        if log.flushed_offset == log.max_phy_offset:
            return
        self._files.flush()
        self.node.hear(LogFlushed())

    def perform(self, effect: _FileEffect, action: object) -> None:
        """Write. Raises: CommitLogError, DiskError"""
        del action
        files = self._files
        match effect:
            case AppendMessage():
                self._append(effect)
            case AppendLog(offset=offset, data=data):
                files.append_raw(offset, data)
            case TruncateLog(offset=offset):
                files.truncate(offset)
            case FlushLog():
                files.flush()
            case RequestFlush():
                self._flushing.request()
            case StoreEpochs(entries=entries):
                files.store_epochs(entries)
            case StoreIdentity(identity=identity):
                files.identity.store(identity)
            case StoreRegistration():
                files.identity.registered()
            case _ as unreachable:
                assert_never(unreachable)

    def _append(self, effect: AppendMessage) -> None:
        message = replace(effect.message, store_timestamp_ms=effect.store_timestamp_ms)
        begin, end = self._files.append(message)
        if effect.put is not None:
            self.node.hear_next(MessageAppended(put=effect.put, offset=begin, end=end))


class _Inboxes(Protocol[E_co]):
    def __call__(self, conn: ConnectionId, *, accepted: bool) -> Inbox[E_co]: ...


class ConnectionPerformer(Performer[E | _ConnectionEvent, A], Generic[E, A]):
    """Has connections with other nodes, and cuts their bytes into packets."""

    effects = get_args(_ConnectionEffect)

    def __init__(
        self, inbox: _Inboxes[E], transport: Transport[A], recorder: PacketRecorder
    ) -> None:
        """Take what makes packets of bytes (`Core.inbox`), and the ports."""
        self._inbox: Callable[..., Inbox[E]] = inbox
        self._transport = transport
        self._recorder = recorder
        self._inboxes: dict[ConnectionId, Inbox[E]] = {}
        self._asked: tuple[ConnectionId, HaAddress] | None = None

    @property
    def asked(self) -> ConnectionId | None:
        """Return the connection that was asked for and is neither open nor lost."""
        return None if self._asked is None else self._asked[0]

    @property
    def standing(self) -> frozenset[ConnectionId]:
        """Return the connections that stand: accepted or connected, and neither closed nor lost."""
        return frozenset(self._inboxes)

    def stop(self) -> None:
        """Forget all connections."""
        self._inboxes.clear()
        self._asked = None

    def perform(self, effect: _ConnectionEffect, action: A | None) -> None:
        """Send, or open or close a connection."""
        match effect:
            case SendPacket(conn=conn, data=data):
                self._recorder.sent(conn, data)
                self._transport.send(conn, data)
            case CloseConnection(conn=conn, reason=reason):
                self._inboxes.pop(conn, None)
                self._transport.close(conn, reason=reason, action=action)
            case Connect(peer=peer):
                self._connect(peer)
            case _ as unreachable:
                assert_never(unreachable)

    def _connect(self, peer: HaAddress) -> None:
        """Begin to connect, unless an attempt with the same peer is under way."""
        if self._asked is not None:
            conn, present = self._asked
            if present == peer:
                return
            self._transport.abandon(conn, is_open=False)
        self._asked = (self._transport.connect(peer), peer)

    # ---- what the transport tells ----

    def accepted(self, conn: ConnectionId, host: HaAddress | None) -> bool:
        """Hear that somebody connected, from there; False if the node is down."""
        if not self.node.is_up:
            return False
        self._inboxes[conn] = self._inbox(conn, accepted=True)
        self.node.take(PeerAccepted(conn=conn, host=host))
        return True

    def connected(self, conn: ConnectionId) -> None:
        """Hear that a connection stands that was asked for."""
        if self._asked is None or self._asked[0] != conn:
            self._transport.abandon(conn, is_open=True)
            return
        peer = self._asked[1]
        self._asked = None
        self._inboxes[conn] = self._inbox(conn, accepted=False)
        self.node.take(PeerConnected(conn=conn, peer=peer))

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
                self.node.take(PacketRefused(conn=conn, error=error))
                return
            if event is None:
                return
            self._recorder.received(conn)
            self.node.take(event)

    def lost(self, conn: ConnectionId) -> None:
        """Hear that a connection is gone, or will never stand."""
        self._inboxes.pop(conn, None)
        if self.asked == conn:
            self._asked = None
        if self.node.is_up:
            self.node.take(ConnectionLost(conn=conn))


class RequestPerformer(Performer[Never, object]):
    """Asks other nodes, and answers them.

    Source: remoting/netty `NettyRemotingClient`, `NettyRemotingServer`
    """

    effects = get_args(_RequestEffect)

    def __init__(self, remoting: Remoting) -> None:
        """Take the port."""
        self._remoting = remoting

    def perform(self, effect: _RequestEffect, action: object) -> None:
        """Ask, or answer."""
        del action
        match effect:
            case SendRequest():
                self._remoting.request(effect)
            case SendOneWay():
                self._remoting.one_way(effect)
            case Respond():
                self._remoting.respond(effect)
            case RefuseRequest(request=request):
                self._remoting.refuse(request)
            case HangUp(reference=reference):
                self._remoting.hang_up(reference)
            case _ as unreachable:
                assert_never(unreachable)


class ControllerPerformer(Performer[Never, object]):
    """Asks controllers."""

    effects = (SendToController,)

    def __init__(self, controller: Controller) -> None:
        """Take the port."""
        self._controller = controller

    def perform(self, effect: SendToController, action: object) -> None:
        """Send a frame."""
        del action
        match effect:
            case SendToController(data=data, controller=controller):
                self._controller.ask(data, controller=controller)
            case _ as unreachable:
                assert_never(unreachable)


class ClientPerformer(Performer[Never, object]):
    """Answers clients, with whatever the protocol has to say."""

    effects = (AnswerClient,)

    def __init__(self, clients: Clients) -> None:
        """Take the port."""
        self._clients = clients

    def perform(self, effect: AnswerClient, action: object) -> None:
        """Answer."""
        del action
        match effect:
            case AnswerClient():
                self._clients.answer(effect)
            case _ as unreachable:
                assert_never(unreachable)
