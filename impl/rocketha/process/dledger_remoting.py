"""Requests between the nodes of a DLedger group over sockets, and those of clients.

A node has one connection to each other one for its own requests, opened with the first one that
there is. Answers come on the connection of the request. Where an answer is late, or a connection is
lost, all that was asked on it is unanswered.

Source: DLedgerRpcNettyService; remoting/netty `NettyRemotingClient`, `NettyRemotingServer`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rocketha.formats.remoting_command import FLAG_ONEWAY, FLAG_RESPONSE, RemotingCommand
from rocketha.formats.remoting_frame import command_stream, push_command
from rocketha.process.dledger_records import DLedgerRecords, first_number
from rocketha.process.event_loop import EventLoop, Link
from rocketha.process.packets import PacketHandler
from rocketha.runtime.effects import Respond, SendOneWay, SendRequest
from rocketha.types import BrokerId, RequestId, RequestReference

__all__ = ["DLedgerRemoting"]

_OPAQUE_MAX: Final = (1 << 31) - 1


@dataclass(slots=True, eq=False)
class _Line:
    """A connection for this node's requests."""

    link: Link | None = None
    waiting: dict[int, RequestReference] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Arrived:
    link: Link
    opaque: int


class DLedgerRemoting:
    """The `Remoting` of one node (rocketha.runtime.ports)."""

    def __init__(
        self,
        loop: EventLoop,
        addresses: Mapping[BrokerId, str],
        *,
        asked: Callable[[RequestId, RemotingCommand], None],
        answered: Callable[[RequestReference, RemotingCommand | None], None],
        records: DLedgerRecords | None = None,
    ) -> None:
        """Take where the others are, and who hears requests and answers.

        With `records`, which hear of all messages first, nothing is sent before `release`.
        """
        self._loop = loop
        self._addresses = addresses
        self._asked = asked
        self._answered = answered
        self._lines: dict[BrokerId, _Line] = {}
        self._arrived: dict[RequestId, _Arrived] = {}
        self._last_request = 0
        self._records = records
        self._opaque = 0 if records is None else first_number()
        self._held: list[tuple[Link, bytes]] = []

    def release(self) -> None:
        """Send what was held back."""
        held, self._held = self._held, []
        for link, frame in held:
            link.send(frame)

    def _send(self, link: Link, frame: bytes) -> None:
        if self._records is None:
            link.send(frame)
        else:
            self._held.append((link, frame))

    # ---- this node asks ----

    def request(self, request: SendRequest) -> None:
        """Send a request; the answer is heard once, None if there is none."""
        line = self._line(request.peer)
        assert line.link is not None
        opaque = self._next_opaque()
        line.waiting[opaque] = request.reference
        if self._records is not None:
            self._records.asks(request.peer, opaque, request.code, request.body)
        self._send(line.link, _frame(request.code, opaque, 0, request.body))
        if request.timeout_ms is not None:

            def late() -> None:
                if opaque in line.waiting:
                    self._end(request.peer, line)

            self._loop.after(request.timeout_ms / 1000, late)

    def one_way(self, request: SendOneWay) -> None:
        """Send a request that has no answer."""
        line = self._line(request.peer)
        assert line.link is not None
        self._send(line.link, _frame(request.code, self._next_opaque(), FLAG_ONEWAY, request.body))

    def hang_up(self, reference: RequestReference) -> None:
        """Close the connection on which this was asked."""
        for peer, line in list(self._lines.items()):
            if reference in line.waiting.values():
                self._end(peer, line)

    def _next_opaque(self) -> int:
        self._opaque = self._opaque % _OPAQUE_MAX + 1
        return self._opaque

    def _line(self, peer: BrokerId) -> _Line:
        line = self._lines.get(peer)
        if line is None:
            line = self._lines[peer] = _Line()
            handler = PacketHandler(
                command_stream(),
                received=lambda _, command: self._heard(peer, line, command),
                lost=lambda *_: self._end(peer, line),
            )
            line.link = self._loop.connect(self._addresses[peer], handler)
        return line

    def _heard(self, peer: BrokerId, line: _Line, command: RemotingCommand) -> None:
        reference = line.waiting.pop(command.opaque, None) if command.is_response else None
        if reference is not None:
            if self._records is not None:
                self._records.hears(peer, command.opaque, command)
            self._answered(reference, command)

    def _end(self, peer: BrokerId, line: _Line) -> None:
        """Close a connection; what was asked on it is unanswered."""
        if self._lines.get(peer) is line:
            del self._lines[peer]
        if line.link is not None:
            line.link.close()
        waiting, line.waiting = line.waiting, {}
        for reference in waiting.values():
            self._answered(reference, None)

    # ---- others ask ----

    def accept(self, link: Link) -> PacketHandler[RemotingCommand]:
        """Hear whoever connects."""
        del link
        return PacketHandler(command_stream(), received=self.received, lost=self.lost)

    def received(self, link: Link, command: RemotingCommand) -> None:
        """Pass a request on."""
        if command.is_response:
            return  # nobody was asked here
        self._last_request += 1
        request = RequestId(self._last_request)
        if not command.is_oneway:
            self._arrived[request] = _Arrived(link, command.opaque)
        if self._records is not None:
            self._records.is_asked(request, command)
        self._asked(request, command)

    def lost(self, link: Link, reason: str) -> None:
        """Forget who asked on a connection that is gone."""
        del reason
        gone = [request for request, one in self._arrived.items() if one.link is link]
        for request in gone:
            del self._arrived[request]

    def respond(self, answer: Respond) -> None:
        """Answer a request; of one whose connection is gone nobody hears."""
        arrived = self._arrived.pop(answer.request, None)
        if self._records is not None:
            self._records.answers(answer.request, answer.code, answer.body)
        if arrived is not None:
            frame = _frame(answer.code, arrived.opaque, FLAG_RESPONSE, answer.body)
            self._send(arrived.link, frame)

    def refuse(self, request: RequestId) -> None:
        """Close the connection of a request."""
        arrived = self._arrived.pop(request, None)
        if arrived is not None:
            arrived.link.close()
            self.lost(arrived.link, "refused")


def _frame(code: int, opaque: int, flag: int, body: bytes) -> bytes:
    return push_command(RemotingCommand(code=code, opaque=opaque, flag=flag, body=body))
