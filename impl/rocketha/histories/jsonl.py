"""Histories as files: JSON, one object a line, UTF-8.

| line  | kind     | fields                                                                       |
|-------|----------|------------------------------------------------------------------------------|
| first | history  | version (1), seed, promises: allAck, inSync, minInSync, syncFlush, unclean   |
| later | put      | producer, body, epoch, invoked, answered, outcome, status, offset            |
|       | seen     | consumer, at, broker, epoch, message                                         |
|       | election | at, broker, epoch, clean                                                     |
|       | master   | at, broker, epoch, log                                                       |
|       | final    | at, broker, epoch, log                                                       |

Times are true milliseconds. A message is `[offset, body, digest]`, a log an array of messages in
their order. `body` and `epoch` of a put are null if no broker heard of it, `answered` and `offset`
if nobody said so. Writing is deterministic; reading refuses what it does not know.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final, assert_never

from rocketha.errors import HistoryFormatError, PacketError
from rocketha.formats.json_text import JsonObject, JsonValue, as_array, as_object, read_json
from rocketha.histories.history import (
    BecameMaster,
    ElectionHeld,
    FinalLog,
    History,
    HistoryEvent,
    LoggedMessage,
    Outcome,
    Promises,
    Put,
    Seen,
)
from rocketha.types import BrokerId, Epoch, Offset

__all__ = ["dump_history", "load_history", "read_history", "write_history"]

_VERSION: Final = 1
_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "history": frozenset({"version", "seed", "promises"}),
    "promises": frozenset({"allAck", "inSync", "minInSync", "syncFlush", "unclean"}),
    "put": frozenset(
        {"producer", "body", "epoch", "invoked", "answered", "outcome", "status", "offset"}
    ),
    "seen": frozenset({"consumer", "at", "broker", "epoch", "message"}),
    "election": frozenset({"at", "broker", "epoch", "clean"}),
    "master": frozenset({"at", "broker", "epoch", "log"}),
    "final": frozenset({"at", "broker", "epoch", "log"}),
}


def write_history(path: Path, history: History) -> None:
    """Write a history. Raises: OSError"""
    path.write_bytes(dump_history(history))


def read_history(path: Path) -> History:
    """Read a history. Raises: HistoryFormatError, OSError"""
    return load_history(path.read_bytes(), str(path))


def dump_history(history: History) -> bytes:
    """Write a history as bytes."""
    promises = history.promises
    header = {
        "kind": "history",
        "version": _VERSION,
        "seed": history.seed,
        "promises": {
            "allAck": promises.all_ack_in_sync_state_set,
            "inSync": promises.in_sync_replicas,
            "minInSync": promises.min_in_sync_replicas,
            "syncFlush": promises.sync_flush,
            "unclean": promises.elect_unclean,
        },
    }
    lines = [header, *map(_event_json, history.events)]
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def load_history(data: bytes, name: str) -> History:
    """Read a history from bytes; `name` is for errors. Raises: HistoryFormatError"""
    lines = data.split(b"\n")
    if lines.pop() != b"" or not lines:
        raise HistoryFormatError(name, line=max(1, len(lines)), reason="the line has no end")
    header = _Line.read(name, 1, lines[0])
    header.expect("history")
    if header.integer("version") != _VERSION:
        raise header.wrong("version", f"is not {_VERSION}")
    return History(
        seed=header.optional_integer("seed"),
        promises=_promises(header.inner("promises")),
        events=tuple(_events(name, lines[1:])),
    )


def _events(name: str, lines: list[bytes]) -> Iterator[HistoryEvent]:
    for number, text in enumerate(lines, start=2):
        yield _event(_Line.read(name, number, text))


class _Line:
    """The object of one line; every question raises HistoryFormatError."""

    def __init__(self, name: str, number: int, fields: JsonObject) -> None:
        self._name = name
        self._number = number
        self._fields = fields

    @classmethod
    def read(cls, name: str, number: int, text: bytes) -> _Line:
        try:
            return cls(name, number, as_object(read_json(text, "line"), "line"))
        except PacketError as error:
            raise HistoryFormatError(name, line=number, reason=str(error)) from None

    def expect(self, kind: str) -> None:
        if self.text("kind") != kind or self._fields.keys() != _FIELDS[kind] | {"kind"}:
            raise HistoryFormatError(self._name, line=self._number, reason=f"is no {kind}")

    def wrong(self, field: str, reason: str) -> HistoryFormatError:
        return HistoryFormatError(self._name, line=self._number, reason=f"{field} {reason}")

    def value(self, field: str) -> JsonValue:
        if field not in self._fields:
            raise self.wrong(field, "is missing")
        return self._fields[field]

    def text(self, field: str) -> str:
        value = self.value(field)
        if not isinstance(value, str):
            raise self.wrong(field, "is no text")
        return value

    def optional_text(self, field: str) -> str | None:
        return None if self.value(field) is None else self.text(field)

    def integer(self, field: str) -> int:
        return self._integer(field, self.value(field))

    def optional_integer(self, field: str) -> int | None:
        value = self.value(field)
        return None if value is None else self._integer(field, value)

    def boolean(self, field: str) -> bool:
        value = self.value(field)
        if not isinstance(value, bool):
            raise self.wrong(field, "is no truth value")
        return value

    def inner(self, field: str) -> _Line:
        """Return the object in a field."""
        value = self.value(field)
        if not isinstance(value, Mapping) or value.keys() != _FIELDS[field]:
            raise self.wrong(field, "has other fields")
        return _Line(self._name, self._number, value)

    def log(self) -> tuple[LoggedMessage, ...]:
        items = self._array("log", self.value("log"))
        messages = tuple(self._message("log", item) for item in items)
        if any(one.offset >= other.offset for one, other in pairwise(messages)):
            raise self.wrong("log", "is not in order")
        return messages

    def message(self) -> LoggedMessage:
        return self._message("message", self.value("message"))

    def _message(self, field: str, value: JsonValue) -> LoggedMessage:
        parts = self._array(field, value)
        if len(parts) != 3 or not isinstance(parts[1], str) or not isinstance(parts[2], str):
            raise self.wrong(field, "is no message")
        offset = Offset(self._integer(field, parts[0]))
        return LoggedMessage(offset=offset, body=parts[1], digest=parts[2])

    def _array(self, field: str, value: JsonValue) -> list[JsonValue]:
        try:
            return list(as_array(value, field))
        except PacketError:
            raise self.wrong(field, "is no array") from None

    def _integer(self, field: str, value: JsonValue) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(field, "is no natural number")
        return value


def _promises(fields: _Line) -> Promises:
    return Promises(
        all_ack_in_sync_state_set=fields.boolean("allAck"),
        in_sync_replicas=fields.integer("inSync"),
        min_in_sync_replicas=fields.integer("minInSync"),
        sync_flush=fields.boolean("syncFlush"),
        elect_unclean=fields.boolean("unclean"),
    )


def _event(line: _Line) -> HistoryEvent:
    kind = line.text("kind")
    if kind not in _KINDS:
        raise line.wrong("kind", f"is {kind!a}")
    line.expect(kind)
    return _KINDS[kind](line)


def _put(line: _Line) -> Put:
    outcome = line.text("outcome")
    if outcome not in set(Outcome):
        raise line.wrong("outcome", f"is {outcome!a}")
    epoch, offset = line.optional_integer("epoch"), line.optional_integer("offset")
    return Put(
        producer=line.integer("producer"),
        body=line.optional_text("body"),
        epoch=None if epoch is None else Epoch(epoch),
        invoked_ms=line.integer("invoked"),
        answered_ms=line.optional_integer("answered"),
        outcome=Outcome(outcome),
        status=line.text("status"),
        offset=None if offset is None else Offset(offset),
    )


def _seen(line: _Line) -> Seen:
    return Seen(
        consumer=line.integer("consumer"),
        at_ms=line.integer("at"),
        broker=BrokerId(line.integer("broker")),
        epoch=Epoch(line.integer("epoch")),
        message=line.message(),
    )


def _election(line: _Line) -> ElectionHeld:
    return ElectionHeld(
        at_ms=line.integer("at"),
        broker=BrokerId(line.integer("broker")),
        epoch=Epoch(line.integer("epoch")),
        clean=line.boolean("clean"),
    )


def _became_master(line: _Line) -> BecameMaster:
    return BecameMaster(
        at_ms=line.integer("at"),
        broker=BrokerId(line.integer("broker")),
        epoch=Epoch(line.integer("epoch")),
        log=line.log(),
    )


def _final(line: _Line) -> FinalLog:
    return FinalLog(
        at_ms=line.integer("at"),
        broker=BrokerId(line.integer("broker")),
        epoch=Epoch(line.integer("epoch")),
        log=line.log(),
    )


_KINDS: Final[Mapping[str, Callable[[_Line], HistoryEvent]]] = {
    "put": _put,
    "seen": _seen,
    "election": _election,
    "master": _became_master,
    "final": _final,
}


def _event_json(event: HistoryEvent) -> JsonObject:
    match event:
        case Put():
            return {
                "kind": "put",
                "producer": event.producer,
                "body": event.body,
                "epoch": event.epoch,
                "invoked": event.invoked_ms,
                "answered": event.answered_ms,
                "outcome": event.outcome.value,
                "status": event.status,
                "offset": event.offset,
            }
        case Seen():
            return {
                "kind": "seen",
                "consumer": event.consumer,
                "at": event.at_ms,
                "broker": event.broker,
                "epoch": event.epoch,
                "message": _message_json(event.message),
            }
        case ElectionHeld():
            return {
                "kind": "election",
                "at": event.at_ms,
                "broker": event.broker,
                "epoch": event.epoch,
                "clean": event.clean,
            }
        case BecameMaster() | FinalLog():
            return {
                "kind": "master" if isinstance(event, BecameMaster) else "final",
                "at": event.at_ms,
                "broker": event.broker,
                "epoch": event.epoch,
                "log": [_message_json(message) for message in event.log],
            }
        case _ as unreachable:
            assert_never(unreachable)


def _message_json(message: LoggedMessage) -> JsonValue:
    return [message.offset, message.body, message.digest]
