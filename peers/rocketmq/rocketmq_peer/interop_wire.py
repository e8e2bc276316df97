"""The bytes of `wire.ndjson`, connection by connection, decoded by rocketha and written back.

| link    | bytes                                                                               |
|---------|-------------------------------------------------------------------------------------|
| `ha.*`  | replication: packets of AutoSwitch, or with enableControllerMode=false in the       |
|         | `node.conf` of the server the legacy ones                                           |
| others  | frames; requests and their responses, matched by their opaque numbers               |

A packet is told from the next by its own length. Where something cannot be decoded, a frame's
length still says where the next one begins; on a link of replication nothing does, and what follows
on this way of the connection is passed by. So are the bytes of a packet that was cut off by the end
of its connection.

A slave sends its handshake again until it has all of the reply, and a master answers each: so after
a reply there may be another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocketha.formats.ha_packets import (
    Expecting,
    Handshake,
    HandshakeReply,
    pull_master_packet,
    pull_slave_packet,
    push_master_packet,
    push_slave_packet,
)
from rocketha.formats.legacy_ha_packets import (
    REPORT_SIZE,
    LegacyReports,
    feed_reports,
    pull_legacy_transfer,
    push_legacy_transfer,
    push_report,
)
from rocketha.formats.remoting_command import FRAME_MAX, RemotingCommand, Serialization
from rocketha.formats.remoting_frame import FRAME_PREFIX_SIZE, pull_command, push_command
from rocketmq_peer.errors import PeerError
from rocketmq_peer.interop_commands import examine_request, examine_response
from rocketmq_peer.interop_files import configuration_of
from rocketmq_peer.interop_tally import Kind, Tally, first_difference, said_of
from rocketmq_peer.proxy import Way

__all__ = ["examine_wire"]

_EITHER: Final = Expecting.HANDSHAKE | Expecting.TRANSFER
_LENGTH_SIZE: Final = 4
_WITHOUT_BYTES: Final = ("open", "close", "refused")
_BEHIND: Final = "bytes behind what nobody can measure"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    link: str
    port: int
    what: str
    data: bytes


def examine_wire(run: Path, tally: Tally) -> None:
    """Decode all that was captured in a run, and write it back; nothing, if nothing was.

    Raises: PeerError for a file that is no capture; OSError
    """
    path = run / "wire.ndjson"
    if not path.is_file():
        return
    connections: dict[tuple[str, int], _Frames | _Packets] = {}
    for line in _lines(path, tally):
        key = line.link, line.port
        if line.what == "refused":
            tally.pass_by("connections that were refused")
            continue
        if line.what == "close":
            if key in connections:
                connections.pop(key).close()
            continue
        if key not in connections:
            connections[key] = _opened(run, line, tally)
        if line.what != "open":
            connections[key].take(Way(line.what), line.data)
    for connection in connections.values():
        connection.close()


def _lines(path: Path, tally: Tally) -> Iterator[_Line]:
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            if not text.endswith(b"\n"):
                tally.pass_by("lines of a capture without an end")
                return
            try:
                said = json.loads(text)
                line = _Line(
                    link=str(said["link"]),
                    port=int(said["port"]),
                    what=str(said["way"]),
                    data=bytes.fromhex(said.get("hex", "")),
                )
                if line.what not in _WITHOUT_BYTES:
                    Way(line.what)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise PeerError(f"{path}, line {number} is no line of a capture: {error}") from None
            yield line


def _opened(run: Path, line: _Line, tally: Tally) -> _Frames | _Packets:
    where = f"{run.name}/wire.ndjson, link {line.link}, connection {line.port}"
    kind, callee, *_ = *line.link.split("."), ""
    if kind != "ha":
        return _Frames(where, _server_kind(kind), tally)
    said = configuration_of(run / "nodes" / callee).get("enableControllerMode", "true")
    return _Packets(where, tally, legacy=said == "false")


def _server_kind(link: str) -> str:
    return {"ns": "name server", "to": "broker"}.get(link, "controller")


# ---- Remoting ----


@dataclass(slots=True)
class _Waiting:
    """What came on one way and is not taken yet."""

    data: bytearray = field(default_factory=bytearray)
    number: int = 0
    """Of packets that were taken."""
    lost: bool = False
    """Nobody knows where the next packet begins."""
    expecting: Expecting = Expecting.HANDSHAKE


class _Frames:
    """A connection on which frames are sent."""

    def __init__(self, where: str, server: str, tally: Tally) -> None:
        """Count what a `server` of a kind is asked and answers."""
        self._where = where
        self._server = server
        self._tally = tally
        self._ways = {way: _Waiting() for way in Way}
        self._asked: dict[tuple[Way, int], RemotingCommand] = {}

    def take(self, way: Way, data: bytes) -> None:
        """Take a chunk."""
        waiting = self._ways[way]
        if waiting.lost:
            self._tally.pass_by(_BEHIND, len(data))
            return
        waiting.data += data
        while (raw := self._next(way, waiting)) is not None:
            waiting.number += 1
            self._frame(way, f"{self._where}, {way.value}, frame {waiting.number}", raw)

    def close(self) -> None:
        """Count what has no end."""
        _count_cut(self._ways, self._tally)

    def _next(self, way: Way, waiting: _Waiting) -> bytes | None:
        if len(waiting.data) < _LENGTH_SIZE:
            return None
        size = _LENGTH_SIZE + int.from_bytes(waiting.data[:_LENGTH_SIZE], signed=True)
        if not FRAME_PREFIX_SIZE <= size <= FRAME_MAX:
            where = f"{self._where}, {way.value}, frame {waiting.number + 1}"
            self._tally.mismatch(Kind.JSON_FRAME, where, f"says that it has {size} bytes")
            self._tally.pass_by(_BEHIND, len(waiting.data))
            waiting.data.clear()
            waiting.lost = True
            return None
        if len(waiting.data) < size:
            return None
        raw = bytes(waiting.data[:size])
        del waiting.data[:size]
        return raw

    def _frame(self, way: Way, where: str, raw: bytes) -> None:
        kind = Kind.BINARY_FRAME if raw[_LENGTH_SIZE] == Serialization.ROCKETMQ else Kind.JSON_FRAME
        pulled = self._tally.decode(kind, where, lambda: pull_command(raw))
        if pulled is None:
            return
        command, _ = pulled
        self._tally.write_back(kind, where, lambda: _frame_difference(raw, push_command(command)))
        if not command.is_response:
            self._asked[way, command.opaque] = command
            examine_request(where, command, self._tally, of=self._server)
            return
        other = Way.TO_SERVER if way is Way.TO_CLIENT else Way.TO_CLIENT
        asked = self._asked.pop((other, command.opaque), None)
        examine_response(where, command, asked, self._tally, of=self._server)


def _frame_difference(came: bytes, written: bytes) -> str | None:
    """Compare frames: binary ones as bytes, JSON headers as values, bodies as bytes."""
    if came[_LENGTH_SIZE] != Serialization.JSON:
        return first_difference(came, written)
    (was, was_body), (now, now_body) = _parts(came), _parts(written)
    if was != now:
        names = sorted({*was, *now})
        name = next(name for name in names if was.get(name) != now.get(name))
        return f"{name} {was.get(name)!r} is written back as {now.get(name)!r}"
    return first_difference(was_body, now_body)


def _parts(frame: bytes) -> tuple[dict[str, object], bytes]:
    body_at = FRAME_PREFIX_SIZE + int.from_bytes(frame[5:8])
    header: dict[str, object] = json.loads(frame[FRAME_PREFIX_SIZE:body_at])
    return header, frame[body_at:]


# ---- Replication ----


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packet:
    """A packet that was decoded."""

    kind: Kind
    size: int
    push: Callable[[], bytes]
    """Writes it back."""
    then: Expecting = Expecting.TRANSFER
    """What may follow it."""


class _Packets:
    """A connection of replication."""

    def __init__(self, where: str, tally: Tally, *, legacy: bool) -> None:
        """Count packets of either service; the slave is the client."""
        self._where = where
        self._tally = tally
        self._ways = {way: _Waiting() for way in Way}
        self._legacy = legacy

    def take(self, way: Way, data: bytes) -> None:
        """Take a chunk."""
        waiting = self._ways[way]
        if waiting.lost:
            self._tally.pass_by(_BEHIND, len(data))
            return
        waiting.data += data
        while (packet := self._next(way, waiting)) is not None:
            waiting.number += 1
            waiting.expecting = packet.then
            raw = bytes(waiting.data[: packet.size])
            del waiting.data[: packet.size]
            self._tally.counts[packet.kind].decoded += 1
            self._tally.write_back(
                packet.kind, self._place(way, waiting.number), _compared(raw, packet.push)
            )

    def close(self) -> None:
        """Count what has no end."""
        _count_cut(self._ways, self._tally)

    def _next(self, way: Way, waiting: _Waiting) -> _Packet | None:
        """Decode a packet; None if it is not there as a whole, or cannot be decoded."""
        try:
            if self._legacy:
                return _LEGACY[way](waiting.data)
            return _AUTO_SWITCH[way](waiting.data, waiting.expecting)
        except Exception as error:
            kind = self._kind_of(way, waiting.data)
            self._tally.mismatch(kind, self._place(way, waiting.number + 1), said_of(error))
            self._tally.pass_by(_BEHIND, len(waiting.data))
            waiting.data.clear()
            waiting.lost = True
            return None

    def _kind_of(self, way: Way, data: bytearray) -> Kind:
        """Say what a packet that cannot be decoded says that it is."""
        if self._legacy:
            return Kind.LEGACY_REPORT if way is Way.TO_SERVER else Kind.LEGACY_TRANSFER
        begins = int.from_bytes(data[:4]) == Expecting.HANDSHAKE
        if way is Way.TO_SERVER:
            return Kind.HANDSHAKE if begins else Kind.ACK
        return Kind.HANDSHAKE_REPLY if begins else Kind.TRANSFER

    def _place(self, way: Way, number: int) -> str:
        return f"{self._where}, {way.value}, packet {number}"


def _slave_packet(data: bytearray, expecting: Expecting) -> _Packet | None:
    if (pulled := pull_slave_packet(data, expecting)) is None:
        return None
    packet, size = pulled
    first = isinstance(packet, Handshake)
    return _Packet(
        kind=Kind.HANDSHAKE if first else Kind.ACK,
        size=size,
        push=lambda: push_slave_packet(packet),
        then=_EITHER if first else Expecting.TRANSFER,
    )


def _master_packet(data: bytearray, expecting: Expecting) -> _Packet | None:
    if (pulled := pull_master_packet(data, expecting)) is None:
        return None
    packet, size = pulled
    first = isinstance(packet, HandshakeReply)
    return _Packet(
        kind=Kind.HANDSHAKE_REPLY if first else Kind.TRANSFER,
        size=size,
        push=lambda: push_master_packet(packet),
        then=_EITHER if first else Expecting.TRANSFER,
    )


def _legacy_report(data: bytearray) -> _Packet | None:
    if len(data) < REPORT_SIZE:
        return None
    newest = feed_reports(LegacyReports(), bytes(data[:REPORT_SIZE])).newest
    assert newest is not None, "a whole report is the newest one"
    return _Packet(kind=Kind.LEGACY_REPORT, size=REPORT_SIZE, push=lambda: push_report(newest))


def _legacy_transfer(data: bytearray) -> _Packet | None:
    if (pulled := pull_legacy_transfer(data)) is None:
        return None
    packet, size = pulled
    return _Packet(kind=Kind.LEGACY_TRANSFER, size=size, push=lambda: push_legacy_transfer(packet))


_AUTO_SWITCH: Final = {Way.TO_SERVER: _slave_packet, Way.TO_CLIENT: _master_packet}
_LEGACY: Final = {Way.TO_SERVER: _legacy_report, Way.TO_CLIENT: _legacy_transfer}


def _compared(came: bytes, push: Callable[[], bytes]) -> Callable[[], str | None]:
    return lambda: first_difference(came, push())


def _count_cut(ways: dict[Way, _Waiting], tally: Tally) -> None:
    for waiting in ways.values():
        if waiting.data and not waiting.lost:
            tally.pass_by("bytes of packets that were cut off", len(waiting.data))
