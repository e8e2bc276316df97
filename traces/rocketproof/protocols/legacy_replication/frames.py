"""What brokers have by their frames: simulated ones write what is in each, released ones do not.

| of a broker | by its records                                                               |
|-------------|------------------------------------------------------------------------------|
| ends        | connections that it accepted, until it closes one or hears that one is lost  |
| slave_ack   | the last report that it received over one that it still has                  |
| next_offset | the end of the last batch that it sent; unknown between first report and batch |
| waiting     | calls of producers, the records that they became, until they are answered    |
| client      | the connection over which it reported last, until it closes or loses it      |
| reported    | the last report that it sent                                                 |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import msgspec

from rocketha.recording.record import STARTED, STOPPED, NodeRecord, SentMessage
from rocketproof.protocols.legacy_replication.recorded_broker import (
    MasterEnd,
    RecordedBroker,
    SlaveEnd,
    Waiting,
)
from rocketproof.record_projection import read_field

__all__ = ["Answer", "MasterFrames", "Params", "SlaveFrames"]

_NEVER: Final = -1


class Params(msgspec.Struct, frozen=True):
    """The parameters of an action of a broker; offsets and sizes are in bytes."""

    conn: int = _NEVER
    offset: int = 0
    size: int = 0
    need: int = 0


class Answer(msgspec.Struct, frozen=True):
    """What a producer hears."""

    put: int
    status: str


class _Frame(msgspec.Struct, frozen=True):
    report: int | None = None
    """Of a slave: where its log ends."""
    offset: int = 0
    """Of the master: of the first byte."""
    size: int = 0


class _Asked(msgspec.Struct, frozen=True, tag_field="is", tag="Asked"):
    put: int
    need: int


class _Accepted(msgspec.Struct, frozen=True, tag_field="is", tag="PeerAccepted"):
    conn: int


class _Appended(msgspec.Struct, frozen=True, tag_field="is", tag="MessageAppended"):
    put: int
    offset: int


class _Lost(msgspec.Struct, frozen=True, tag_field="is", tag="ConnectionLost"):
    conn: int


class _Forged(msgspec.Struct, frozen=True, tag_field="is", tag="Forged"):
    conn: int


_Heard: TypeAlias = _Asked | _Accepted | _Appended | _Lost | _Forged
_FRAMES: Final = msgspec.json.Decoder(_Frame)


def _heard(record: NodeRecord) -> tuple[_Heard, ...]:
    """Read what a broker heard from who keeps no records. Raises: RecordError"""
    heard: tuple[_Heard, ...] = read_field(record.heard, tuple[_Heard, ...], "heard")
    return heard


def _frames(messages: Sequence[SentMessage]) -> Iterator[tuple[int, _Frame]]:
    """Yield the connection and the content of each packet."""
    for one in messages:
        if one.body is not None:
            yield int(one.id.partition(":")[0]), _FRAMES.decode(one.body)


def _closed(record: NodeRecord) -> set[int]:
    """Return the connections that a broker closed, or heard to be lost."""
    lost = {one.conn for one in _heard(record) if isinstance(one, _Lost)}
    ends = (one.id.split(":") for one in record.sent)
    return lost | {int(end[0]) for end in ends if end[-1] == "close"}


@dataclass(slots=True)
class MasterFrames:
    """What the master has sent, received and answered."""

    reports: dict[int, set[int]] = field(default_factory=dict)
    """Connection -> the reports that it received."""
    answers: list[tuple[str, Waiting]] = field(default_factory=list)
    """Of the last record, to producers that waited."""
    _needs: dict[int, int] = field(default_factory=dict)
    _asked: int = _NEVER
    """The producer that asked last."""
    _waiting: dict[int, Waiting] = field(default_factory=dict)
    _acks: dict[int, int] = field(default_factory=dict)
    """Connection that it has -> the last report."""
    _next: dict[int, int] = field(default_factory=dict)

    def after(
        self, record: NodeRecord, received: Sequence[SentMessage], now: RecordedBroker
    ) -> RecordedBroker:
        """Return what it has after a step. Raises: RecordError"""
        if record.event in (STARTED, STOPPED):
            for known in (self._waiting, self._acks, self._next):
                known.clear()
            return replace(now, ends={}, waiting=())
        for heard in _heard(record):
            if isinstance(heard, _Asked):
                self._needs[heard.put], self._asked = heard.need, heard.put
            elif isinstance(heard, _Accepted):
                self._acks[heard.conn] = _NEVER
            elif isinstance(heard, _Appended) and (need := self._needs[heard.put]):
                put = Waiting(put=heard.put, offset=heard.offset, need=need)
                self._waiting[heard.put] = put
        for conn in _closed(record):
            self._acks.pop(conn, None)
        for conn, frame in _frames(received):
            if frame.report is not None and conn in self._acks:
                self._acks[conn] = frame.report
        for conn, frame in _frames(record.sent):
            self._next[conn] = frame.offset + frame.size
        self.answers.clear()
        for said in record.answered:
            answer: Answer = read_field(said, Answer, "answered")
            if answer.put in self._waiting:
                self.answers.append((answer.status, self._waiting.pop(answer.put)))
        return replace(now, ends=dict(self._ends()), waiting=tuple(self._waiting.values()))

    def _ends(self) -> Iterator[tuple[int, MasterEnd]]:
        for conn, ack in self._acks.items():
            yield conn, MasterEnd(ack, self._next.get(conn, _NEVER if ack == _NEVER else None))

    def done(
        self, record: NodeRecord, received: Sequence[SentMessage], now: RecordedBroker
    ) -> Iterator[tuple[str, Params]]:
        """Yield what the step has done, by its frames, records and answers."""
        if record.event == "MessageAppended":
            yield "PutMessage", Params(need=self._needs[self._asked])
        for conn, frame in _frames(received):
            if frame.report is not None and conn in now.ends:
                yield "ReceiveReport", Params(conn=conn, offset=frame.report)
        for conn, frame in _frames(record.sent):
            yield "Transfer", Params(conn=conn, offset=frame.offset, size=frame.size)
        for status, put in self.answers:
            yield "PutOk" if status == "PUT_OK" else "PutTimeout", Params(offset=put.offset)

    def refused(self, received: Sequence[SentMessage]) -> dict[int, int]:
        """Return the reports that came in a step, each over one connection."""
        return {conn: one.report for conn, one in _frames(received) if one.report is not None}


@dataclass(slots=True)
class SlaveFrames:
    """What a slave has sent and received."""

    _client: SlaveEnd | None = None

    def after(self, record: NodeRecord, now: RecordedBroker) -> RecordedBroker:
        """Return what it has after a step. Raises: RecordError"""
        client, closed = self._client, _closed(record)
        has_lost = client is not None and client.id in closed
        if has_lost or record.event in (STARTED, STOPPED):
            self._client = None
        for conn, frame in _frames(record.sent):
            mine = self._client is None or self._client.id == conn
            if mine and frame.report is not None and conn not in closed:
                self._client = SlaveEnd(conn, frame.report)
        return replace(now, client=self._client)
