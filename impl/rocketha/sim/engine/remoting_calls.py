"""Requests and answers between simulated peers: RemotingCommand frames on connections.

A peer opens a connection with its first request to another one, and uses it until it is lost. An
answer comes on the connection of its request, or never.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from rocketha.errors import PacketError
from rocketha.formats.packet_stream import PacketStream
from rocketha.formats.remoting_command import (
    FLAG_ONEWAY,
    FLAG_RESPONSE,
    NO_FIELDS,
    RemotingCommand,
)
from rocketha.formats.remoting_frame import command_stream, push_command
from rocketha.recording.record import RESPONSE
from rocketha.runtime.effects import Respond, SendOneWay, SendRequest
from rocketha.sim.engine.network import End, Network
from rocketha.types import BrokerId, ConnectionId

__all__ = ["Arrived", "Calls", "Content", "OnAnswer", "RemotingCalls", "Servers", "response_to"]

OnAnswer: TypeAlias = Callable[[RemotingCommand | None], None]
"""Hears the answer; None when the connection is lost first."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request, and where its answer goes."""

    conn: ConnectionId
    command: RemotingCommand

    @property
    def message(self) -> str:
        """Return what both ends call it."""
        return f"{self.conn}:{self.command.opaque}"

    @property
    def response(self) -> str:
        """Return what both ends call its answer."""
        return response_to(self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a frame says, but for its number."""

    code: int
    body: bytes = b""
    ext_fields: Mapping[str, str] = field(default_factory=lambda: NO_FIELDS)
    remark: str | None = None

    version: int = 0
    """Of the sender, see `RemotingCommand`."""

    @classmethod
    def of(
        cls,
        effect: SendRequest | SendOneWay | Respond,
        *,
        remark: str | None = None,
        version: int = 0,
    ) -> Content:
        """Return what a node wants to send."""
        return cls(
            code=effect.code,
            body=effect.body,
            ext_fields=effect.ext_fields,
            remark=remark,
            version=version,
        )

    def command(self, opaque: int, *, flag: int = 0) -> RemotingCommand:
        """Return the frame with its number."""
        return RemotingCommand(
            code=self.code,
            opaque=opaque,
            flag=flag,
            version=self.version,
            remark=self.remark,
            ext_fields=self.ext_fields,
            body=self.body,
        )


def response_to(message: str) -> str:
    """Return what both ends call the answer to a request."""
    return message + RESPONSE


OnLost: TypeAlias = Callable[[BrokerId, ConnectionId, BrokerId, End], None]
"""Hears that a peer has lost a connection, or has closed it: who, which one, with whom, and which
end it had."""


class Servers(Protocol):
    """Who hears requests."""

    def is_up(self, peer: BrokerId) -> bool:
        """Tell whether a peer runs."""
        ...

    def asked(self, peer: BrokerId, arrived: Arrived) -> None:
        """Give a request to a peer that runs."""
        ...


class Calls(Protocol):
    """What peers do to each other."""

    def ask(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer
    ) -> str:
        """Send a request and wait for its answer; return what `Arrived.message` is there."""
        ...

    def tell(self, sender: BrokerId, receiver: BrokerId, content: Content) -> str:
        """Send a request that has no answer; return what `Arrived.message` is there."""
        ...

    def answer(self, peer: BrokerId, arrived: Arrived, content: Content) -> None:
        """Answer a request; it is lost if the connection is."""
        ...

    def refuse(self, peer: BrokerId, arrived: Arrived) -> None:
        """Close the connection of a request that is none."""
        ...

    def hang_up(self, sender: BrokerId, receiver: BrokerId) -> None:
        """Expect nothing more of what a peer has asked another one."""
        ...

    def stop(self, peer: BrokerId, *, silent: bool) -> None:
        """A peer is gone, with all that it waited for."""
        ...


@dataclass(slots=True)
class _Line:
    """A connection of its opener, and what waits until it stands."""

    conn: ConnectionId
    stands: bool = False
    waiting: list[bytes] = field(default_factory=list)


class RemotingCalls:
    """All connections for requests, of all peers."""

    def __init__(
        self,
        network: Network,
        servers: Servers,
        *,
        on_lost: OnLost | None = None,
        forgets: bool = False,
    ) -> None:
        """Begin without connections.

        If it `forgets`, no request arrives for whose answer nobody waits any more: it is lost with
        its connection, wherever it is.
        """
        self._network = network
        self._forgets = forgets
        self._on_lost = on_lost
        self._servers = servers
        self._lines: dict[tuple[BrokerId, BrokerId], _Line] = {}
        self._streams: dict[tuple[ConnectionId, End], PacketStream[RemotingCommand]] = {}
        self._clients: dict[ConnectionId, BrokerId] = {}
        """Connections that a server has accepted, and with whom."""
        self._pending: dict[ConnectionId, dict[int, OnAnswer]] = {}
        self._opaque = 0
        network.attach(self)

    # ---- what peers do ----

    def ask(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer
    ) -> str:
        """Send a request and wait for its answer; return what both ends call it."""
        line = self._line(sender, receiver)
        self._opaque += 1
        self._pending.setdefault(line.conn, {})[self._opaque] = on_answer
        return self._send(line, sender, content.command(self._opaque))

    def tell(self, sender: BrokerId, receiver: BrokerId, content: Content) -> str:
        """Send a request that has no answer; return what both ends call it."""
        self._opaque += 1
        command = content.command(self._opaque, flag=FLAG_ONEWAY)
        return self._send(self._line(sender, receiver), sender, command)

    def answer(self, peer: BrokerId, arrived: Arrived, content: Content) -> None:
        """Answer a request; it is lost if the connection is."""
        response = content.command(arrived.command.opaque, flag=FLAG_RESPONSE)
        self._network.send(arrived.conn, peer, push_command(response))

    def refuse(self, peer: BrokerId, arrived: Arrived) -> None:
        """Close the connection of a request that is none; nothing more of it is heard."""
        self.drop(peer, arrived.conn)

    def drop(self, peer: BrokerId, conn: ConnectionId) -> None:
        """Close a connection that a peer has accepted."""
        self._network.close(conn, peer, lingers=False)
        self.lost(conn, peer)

    def hang_up(self, sender: BrokerId, receiver: BrokerId) -> None:
        """Expect nothing more of what a peer has asked another one: close the connection."""
        line = self._lines.pop((sender, receiver), None)
        if line is not None:
            self._drop(line.conn, End.CLIENT)
            self._network.close(line.conn, sender, lingers=True)
            self._tell_lost(sender, line.conn, receiver, End.CLIENT)

    def stop(self, peer: BrokerId, *, silent: bool) -> None:
        """A peer is gone, with all that it waited for."""
        for ends in [ends for ends in self._lines if ends[0] == peer]:
            conn = self._lines.pop(ends).conn
            self._pending.pop(conn, None)
            self._drop(conn, End.CLIENT)
        self._network.drop_broker(peer, silent=silent)

    # ---- what the network calls (rocketha.sim.network.Sockets) ----

    def accepted(self, conn: ConnectionId, server: BrokerId) -> bool:
        """Tell a server that a client is there."""
        if not self._servers.is_up(server):
            return False
        self._streams[conn, End.SERVER] = command_stream()
        found = self._network.find(conn)
        assert found is not None
        self._clients[conn] = found.client
        return True

    def connected(self, conn: ConnectionId, client: BrokerId) -> None:
        """Tell a client that its connection stands, and send what has waited."""
        found = self._network.find(conn)
        line = None if found is None else self._lines.get((client, found.server))
        if line is not None and line.conn == conn:
            line.stands = True
            self._streams[conn, End.CLIENT] = command_stream()
            for data in line.waiting:
                self._network.send(conn, client, data)
            line.waiting.clear()

    def received(self, conn: ConnectionId, broker: BrokerId, data: bytes) -> None:
        """Hand over bytes that arrived."""
        found = self._network.find(conn)
        assert found is not None
        end = End.CLIENT if broker == found.client else End.SERVER
        stream = self._streams.get((conn, end))
        if stream is None or not (end is End.CLIENT or self._servers.is_up(broker)):
            return
        try:
            stream.feed(data)
            while self._servers.is_up(broker) and (conn, end) in self._streams:
                command = stream.next_packet()
                if command is None:
                    return
                self._heard(conn, broker, end, command)
        except PacketError:
            self._network.close(conn, broker, lingers=False)
            self.lost(conn, broker)

    def lost(self, conn: ConnectionId, broker: BrokerId) -> None:
        """Tell an end that the connection is gone."""
        for ends, line in list(self._lines.items()):
            if line.conn == conn and ends[0] == broker:
                del self._lines[ends]
                self._drop(conn, End.CLIENT)
                self._tell_lost(broker, conn, ends[1], End.CLIENT)
                return
        self._drop(conn, End.SERVER)
        client = self._clients.pop(conn, None)
        if client is not None:
            self._tell_lost(broker, conn, client, End.SERVER)

    def _tell_lost(self, peer: BrokerId, conn: ConnectionId, other: BrokerId, end: End) -> None:
        if self._on_lost is not None and self._servers.is_up(peer):
            self._on_lost(peer, conn, other, end)

    # ---- the rest ----

    def _heard(
        self, conn: ConnectionId, broker: BrokerId, end: End, command: RemotingCommand
    ) -> None:
        if command.is_response:
            on_answer = self._pending.get(conn, {}).pop(command.opaque, None)
            if end is End.CLIENT and on_answer is not None:
                on_answer(command)
        elif end is End.SERVER:
            self._servers.asked(broker, Arrived(conn, command))

    def _line(self, sender: BrokerId, receiver: BrokerId) -> _Line:
        line = self._lines.get((sender, receiver))
        if line is None:
            line = _Line(self._network.connect(sender, receiver))
            self._lines[sender, receiver] = line
        return line

    def _send(self, line: _Line, sender: BrokerId, command: RemotingCommand) -> str:
        data = push_command(command)
        if line.stands:
            self._network.send(line.conn, sender, data)
        else:
            line.waiting.append(data)
        return Arrived(line.conn, command).message

    def _drop(self, conn: ConnectionId, end: End) -> None:
        self._streams.pop((conn, end), None)
        waiting: Mapping[int, OnAnswer] = {}
        if end is End.CLIENT:
            waiting = self._pending.pop(conn, waiting)
            if self._forgets:
                self._network.lose_requests(conn)
        for on_answer in waiting.values():
            on_answer(None)
