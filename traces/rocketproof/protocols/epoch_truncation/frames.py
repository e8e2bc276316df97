"""What brokers have by their packets: simulated ones write what is in each, released ones do not.

| of a broker        | by its records                                                        |
|--------------------|-----------------------------------------------------------------------|
| client             | the connection over which it has introduced itself, until it closes   |
|                    | or loses it                                                           |
| phase              | Transfer as soon as it has acknowledged something over it             |
| reported           | its last acknowledgement                                              |
| servers            | connections that it accepted, until it closes or loses one            |
| slave_ack          | the last acknowledgement that it received over one that it still has  |
| next_offset        | the end of the last batch that it sent; before the first one its core |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import msgspec

from rocketha.ha.state import NOT_YET
from rocketha.recording.record import STARTED, STOPPED, NodeRecord, SentMessage
from rocketha.types import Offset
from rocketproof.occasions import Occasions, Waits
from rocketproof.protocols.epoch_truncation.recorded_state import (
    ClientEnd,
    RecordedState,
    ServerEnd,
)
from rocketproof.record_projection import read_field

__all__ = ["BrokerFrames"]


class _Handshake(msgspec.Struct, frozen=True, tag_field="is", tag="Handshake"):
    incarnation: int = 0


class _Ack(msgspec.Struct, frozen=True, tag_field="is", tag="Ack"):
    ack: Offset


class _Reply(msgspec.Struct, frozen=True, tag_field="is", tag="Reply"):
    epoch: int


class _Batch(msgspec.Struct, frozen=True, tag_field="is", tag="Batch"):
    epoch: int
    offset: Offset
    size: int


class _Accepted(msgspec.Struct, frozen=True, tag_field="is", tag="PeerAccepted"):
    conn: int


class _Connected(msgspec.Struct, frozen=True, tag_field="is", tag="PeerConnected"):
    conn: int


class _Appended(msgspec.Struct, frozen=True, tag_field="is", tag="MessageAppended"):
    end: Offset


class _Lost(msgspec.Struct, frozen=True, tag_field="is", tag="ConnectionLost"):
    conn: int


class _Forged(msgspec.Struct, frozen=True, tag_field="is", tag="Forged"):
    conn: int


class _Repeated(msgspec.Struct, frozen=True, tag_field="is", tag="Repeated"):
    conn: int


class _Pointed(msgspec.Struct, frozen=True, tag_field="is", tag="MasterAddressLearnt"):
    """A name server has said where the master is."""


_Packet: TypeAlias = _Handshake | _Ack | _Reply | _Batch
_Heard: TypeAlias = _Pointed | _Accepted | _Connected | _Appended | _Lost | _Forged | _Repeated
_PACKETS: Final[msgspec.json.Decoder[_Packet]] = msgspec.json.Decoder(_Packet)
_CLAIMED: Final = ("Handshake", "ReceiveAck", "ReceiveHandshake", "ReceiveTransfer")
"""Actions of which nothing has come where no packet was sent or received."""


def _packets(messages: Sequence[SentMessage]) -> Iterator[tuple[int, _Packet]]:
    """Yield the connection and the content of each packet."""
    for one in messages:
        if one.body is not None:
            yield int(one.id.partition(":")[0]), _PACKETS.decode(one.body)


def _heard(record: NodeRecord) -> tuple[_Heard, ...]:
    """Read what a broker heard from who keeps no records. Raises: RecordError"""
    heard: tuple[_Heard, ...] = read_field(record.heard, tuple[_Heard, ...], "heard")
    return heard


@dataclass(slots=True)
class BrokerFrames:
    """What a broker has sent and received."""

    _occasions: Occasions = field(default_factory=lambda: Occasions(Waits()))
    _spoke_in_time: list[bool] = field(default_factory=list)
    """Of each packet that was sent last: nothing was said over its connection for some time."""
    _silent: set[int] = field(default_factory=set)
    """Connections over which nothing was heard for too long."""
    _client: ClientEnd | None = None
    _acks: dict[int, Offset] = field(default_factory=dict)
    """Connection that it accepted and still has -> the last acknowledgement."""
    _next: dict[int, Offset] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)
    """Connections that it asked for and still has."""

    def after(
        self, record: NodeRecord, received: Sequence[SentMessage], now: RecordedState
    ) -> RecordedState:
        """Return what it has after a step. Raises: RecordError"""
        if record.event in (STARTED, STOPPED):
            self._client = None
            self._acks.clear()
            self._next.clear()
            self._asked.clear()
            self._occasions.clear()
            return replace(now, client=None, servers={})
        heard = _heard(record)
        self._note_times(record, received, heard)
        ends = [one.id.split(":") for one in record.sent]
        closed = {int(end[0]) for end in ends if end[-1] == "close"}
        closed |= {one.conn for one in heard if isinstance(one, _Lost)}
        self._asked |= {one.conn for one in heard if isinstance(one, _Connected)}
        self._asked -= closed
        self._acks |= {one.conn: NOT_YET for one in heard if isinstance(one, _Accepted)}
        for conn in closed:
            self._acks.pop(conn, None)
        for conn, packet in _packets(received):
            if isinstance(packet, _Ack) and conn in self._acks:
                self._acks[conn] = packet.ack
        for conn, packet in _packets(record.sent):
            self._sends(conn, packet)
        if self._client is not None and self._client.id in closed:
            self._client = None
        return replace(now, client=self._client, servers=dict(self._servers(now)))

    def _note_times(
        self, record: NodeRecord, received: Sequence[SentMessage], heard: Sequence[_Heard]
    ) -> None:
        """Note when it heard and said something, and what it was in time for."""
        occasions, now_ms = self._occasions, record.at_ns // 1_000_000
        for one in heard:
            if isinstance(one, _Accepted | _Connected):
                occasions.opened(one.conn, now_ms)
        held = {*self._acks} if self._client is None else {*self._acks, self._client.id}
        self._silent = {conn for conn in held if occasions.is_silent(conn, now_ms)}
        for conn, _ in _packets(received):
            occasions.heard(conn, now_ms)
        self._spoke_in_time.clear()
        for conn, _ in _packets(record.sent):
            self._spoke_in_time.append(occasions.may_speak(conn, now_ms))
            occasions.said(conn, now_ms)

    def _sends(self, conn: int, packet: _Packet) -> None:
        match packet:
            case _Handshake():
                self._client = ClientEnd(conn, "Handshake", NOT_YET)
            case _Ack(ack=ack) if self._client is not None and self._client.id == conn:
                self._client = ClientEnd(conn, "Transfer", ack)
            case _Batch(offset=offset, size=size):
                self._next[conn] = Offset(offset + size)
            case _:
                pass

    def _servers(self, now: RecordedState) -> Iterator[tuple[int, ServerEnd]]:
        for conn, ack in self._acks.items():
            believed = now.servers.get(conn)
            following = None if believed is None else believed.next_offset
            if conn not in self._next and ack != NOT_YET and following is not None:
                self._next[conn] = following
            cur = msgspec.UNSET if believed is None else believed.cur
            unsaid = NOT_YET if ack == NOT_YET else None
            yield conn, ServerEnd(ack, self._next.get(conn, unsaid), cur)

    def done(
        self,
        record: NodeRecord,
        received: Sequence[SentMessage],
        before: RecordedState,
        now: RecordedState,
    ) -> Sequence[NodeRecord]:
        """Return the record as what was done, by its packets; else as its core calls it."""
        done = list(self._actions(record, received, before, now))
        done += self._impossible(record, before, now)
        if done:
            return [
                msgspec.structs.replace(record, action=action, params=params)
                for action, params in done
            ]
        if record.action in _CLAIMED:
            return [msgspec.structs.replace(record, action=None, params={})]
        return [record]

    def _impossible(
        self, record: NodeRecord, before: RecordedState, now: RecordedState
    ) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield what no broker does.

        Whoever has closed a connection, or lost it, says nothing over it; a packet that no honest
        peer sends ends its connection; and a broker remembers the connections that it has, of those
        that it asked for one.
        """
        held = {*before.servers, *now.servers}
        held |= {one.client.id for one in (before, now) if one.client is not None}
        for conn, packet in _packets(record.sent):
            if conn not in held and not isinstance(packet, _Handshake):
                yield "SaidUnheld", {"conn": conn}
        forged = {one.conn for one in _heard(record) if isinstance(one, _Forged)}
        still = {*now.servers} if now.client is None else {*now.servers, now.client.id}
        for conn in forged & still:
            yield "KeptForged", {"conn": conn}
        believed = {*now.believed_servers}
        if now.believed_client is not None:
            believed.add(now.believed_client.id)
        for conn in (believed ^ still) | (self._asked - still):
            yield "Misremembered", {"conn": conn}
        for conn in self._closed_in_vain(record, before, now):
            yield "ClosedInVain", {"conn": conn}

    def _closed_in_vain(
        self, record: NodeRecord, before: RecordedState, now: RecordedState
    ) -> Iterator[int]:
        """Yield connections that a broker closed in a step of its own for no reason."""
        has_changed = (before.role, before.known_epoch) != (now.role, now.known_epoch)
        if has_changed or record.received:
            return  # of what it has taken the actions say it
        forged = {one.conn for one in _heard(record) if isinstance(one, _Forged)}
        ends = (one.id.split(":") for one in record.sent)
        closed = {int(end[0]) for end in ends if end[-1] == "close"}
        held = {*before.servers} if before.client is None else {*before.servers, before.client.id}
        yield from (closed & held) - forged - self._silent

    def _actions(
        self,
        record: NodeRecord,
        received: Sequence[SentMessage],
        before: RecordedState,
        now: RecordedState,
    ) -> Iterator[tuple[str, dict[str, int]]]:
        if record.event == "MessagePut" and (
            before.role == "Master" or len(now.log) > len(before.log)
        ):
            yield "PutMessage", {}
        held = None if now.client is None else now.client.id
        took = list(_packets(received))
        for conn, packet in took:
            match packet:
                case _Ack(ack=ack):
                    is_taken = conn in now.servers
                    yield "ReceiveAck" if is_taken else "RefuseAck", {"conn": conn, "offset": ack}
                case _Reply():
                    yield "ReceiveHandshake" if held == conn else "RefuseHandshake", {}
                case _Batch():
                    yield "ReceiveTransfer", {}
                case _:
                    pass
        for (conn, packet), due in zip(_packets(record.sent), self._spoke_in_time, strict=True):
            match packet:
                case _Ack() if not took and held == conn:
                    yield "Report", {"conn": conn, "due": due}
                case _Reply(epoch=epoch):
                    said = {c: p.incarnation for c, p in took if isinstance(p, _Handshake)}
                    params = {"conn": conn, "epoch": epoch, "incarnation": said.get(conn, 0)}
                    yield "Handshake", params
                case _Batch(epoch=epoch, offset=offset, size=size):
                    params = {"conn": conn, "epoch": epoch, "offset": offset, "size": size}
                    yield "Transfer" if size else "Heartbeat", {**params, "due": due}
                case _:
                    pass
