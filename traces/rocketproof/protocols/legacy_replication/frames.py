"""What brokers have by their frames: simulated ones write what is in each, released ones do not.

| of a broker | by its records                                                               |
|-------------|------------------------------------------------------------------------------|
| ends        | connections that it accepted, until it closes one or hears that one is lost  |
| slave_ack   | the last report that it received over one that it still has                  |
| next_offset | the end of the last batch that it sent; unknown between first report and batch |
| waiting     | calls of producers, the records that they became, until they are answered    |
| client      | the connection over which it reported last, until it closes or loses it      |
| reported    | the last report that it sent; -1 if the first one ends within a record       |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import msgspec

from rocketha.recording.record import STARTED, STOPPED, NodeRecord, SentMessage
from rocketha.sim.engine.records import RECORD_SIZE, SEGMENT_SIZE
from rocketproof.occasions import Occasions
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
    due: bool = True
    """There was an occasion for it; of a real broker it is not asked."""


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


def _time_ms(record: NodeRecord) -> int:
    return record.at_ns // 1_000_000


def _broken(record: NodeRecord) -> set[int]:
    """Return the connections that broke, or over which a packet came that nobody has sent."""
    return {one.conn for one in _heard(record) if isinstance(one, _Lost | _Forged)}


def _forged(record: NodeRecord) -> set[int]:
    return {one.conn for one in _heard(record) if isinstance(one, _Forged)}


@dataclass(slots=True)
class MasterFrames:
    """What the master has sent, received and answered."""

    occasions: Occasions
    answers: list[tuple[str, Waiting, bool]] = field(default_factory=list)
    """Of the last record, to producers that waited: status, who waited, whether it was due."""
    sent: list[Params] = field(default_factory=list)
    """Of the last record: its batches."""
    over: set[int] = field(default_factory=set)
    """Of the last record: connections that there was an occasion to close."""
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
        now_ms = _time_ms(record)
        if record.event in (STARTED, STOPPED):
            for known in (self._waiting, self._acks, self._next):
                known.clear()
            self.occasions.clear()
            return replace(now, ends={}, waiting=())
        for heard in _heard(record):
            if isinstance(heard, _Asked):
                self._needs[heard.put], self._asked = heard.need, heard.put
                self.occasions.asked(heard.put, now_ms)
            elif isinstance(heard, _Accepted):
                self._acks[heard.conn] = _NEVER
                self.occasions.opened(heard.conn, now_ms)
            elif isinstance(heard, _Appended):
                # Who waits for nobody is answered in this step.
                put = Waiting(put=heard.put, offset=heard.offset, need=self._needs[heard.put])
                self._waiting[heard.put] = put
        silent = {conn for conn in self._acks if self.occasions.is_silent(conn, now_ms)}
        self.over = _broken(record) | silent
        for conn in _closed(record):
            self._acks.pop(conn, None)
        for conn, frame in _frames(received):
            self.occasions.heard(conn, now_ms)
            if frame.report is not None and conn in self._acks:
                self._acks[conn] = frame.report
        self.sent.clear()
        for conn, frame in _frames(record.sent):
            self._next[conn] = frame.offset + frame.size
            due = frame.size > 0 or self.occasions.may_speak(conn, now_ms)
            self.sent.append(Params(conn=conn, offset=frame.offset, size=frame.size, due=due))
            self.occasions.said(conn, now_ms)
        self.answers.clear()
        for said in record.answered:
            answer: Answer = read_field(said, Answer, "answered")
            if answer.put in self._waiting:
                due = self.occasions.may_give_up(answer.put, now_ms)
                self.answers.append((answer.status, self._waiting.pop(answer.put), due))
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
        for batch in self.sent:
            yield "Transfer", batch
        for status, put, due in self.answers if record.event != "MessageAppended" else ():
            name = "PutOk" if status == "PUT_OK" else "PutTimeout"
            yield name, Params(offset=put.offset, due=due)
        for conn in _forged(record) & now.ends.keys():
            yield "CloseConnection", Params(conn=conn)

    def refused(self, received: Sequence[SentMessage]) -> dict[int, int]:
        """Return the reports that came in a step, each over one connection."""
        return {conn: one.report for conn, one in _frames(received) if one.report is not None}


@dataclass(slots=True)
class SlaveFrames:
    """What a slave has sent and received."""

    occasions: Occasions
    is_over: bool = False
    """Of the last record: there was an occasion to give its connection up."""
    may_connect: bool = False
    """Of the last record: there was one to connect."""
    again: list[bool] = field(default_factory=list)
    """Of the last record: reports that no batch asked for, and whether there was one for each."""
    _client: SlaveEnd | None = None

    def after(
        self, record: NodeRecord, received: Sequence[SentMessage], now: RecordedBroker
    ) -> RecordedBroker:
        """Return what it has after a step. Raises: RecordError"""
        client, closed, now_ms = self._client, _closed(record), _time_ms(record)
        self.again.clear()
        if record.event in (STARTED, STOPPED):
            self._client = None
            self.occasions.clear()
        elif client is not None:
            silent = self.occasions.is_silent(client.id, now_ms)
            self.is_over = silent or client.id in _broken(record)
            if client.id in closed:
                self._client = None
                self.occasions.left(now_ms)
        self.may_connect = self.occasions.may_connect(now_ms)
        for conn, frame in _frames(record.sent):
            mine = self._client is None or self._client.id == conn
            if mine and frame.report is not None and conn not in closed:
                self._report(conn, frame.report, now_ms, is_asked=bool(received))
            self.occasions.said(conn, now_ms)
        for conn, _ in _frames(received):
            self.occasions.heard(conn, now_ms)
        return replace(now, client=self._client)

    def _report(self, conn: int, report: int, now_ms: int, *, is_asked: bool) -> None:
        if self._client is None:
            self.occasions.opened(conn, now_ms)
            is_whole = report % SEGMENT_SIZE % RECORD_SIZE == 0
            self._client = SlaveEnd(conn, report if is_whole else _NEVER)
            return
        if not is_asked:
            self.again.append(self.occasions.may_speak(conn, now_ms))
        self._client = SlaveEnd(conn, report)

    def is_forged(self, record: NodeRecord) -> bool:
        """Tell whether it still has the connection over which it took what nobody has sent."""
        return self._client is not None and self._client.id in _forged(record)
