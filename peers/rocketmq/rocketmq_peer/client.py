"""The released client in a process of its own, and what it saw.

Requests are lines of JSON to its driver (`client/`), answers come when they come: a request may
wait while others are made. Each answer becomes a line of `clients.ndjson` when it is there:

| member     | type    | meaning                                                            |
|------------|---------|--------------------------------------------------------------------|
| `client`   | string  | who asked                                                          |
| `op`       | string  | "send", "read" or "consume"                                        |
| `topic`    | string  | of the request                                                     |
| `id`       | string  | of a send: how the body begins, before the first semicolon         |
| `begin_ns` | integer | when it was asked, on CLOCK_MONOTONIC                              |
| `end_ns`   | integer | when it was answered                                               |
| `status`   | string  | of a send: RocketMQ's SendStatus; "ERROR" if there is none         |
| `offset`   | integer | of a send: where in the CommitLog the record begins, if it is told |
| `ids`      | array   | of a read: those of all messages, in order                         |
| `error`    | string  | of what failed: what Java says                                     |
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final

from rocketmq_peer.errors import ProcessError
from rocketmq_peer.processes import Process

__all__ = ["Answer", "Client", "history_line", "offset_of"]

_START_TIMEOUT_S: Final = 90.0
_PATIENCE_S: Final = 60.0
_BODY_SIZE: Final = 64
_OFFSET_DIGITS: Final = 16
_NOT_WRITTEN: Final = ("start", "checks")
"""The start, and what is asked again and again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the driver answered."""

    op: str
    begin_ns: int
    end_ns: int
    status: str = ""
    """Of a send; "ERROR" for a request of any kind that failed."""
    message_id: str = ""
    ids: tuple[str, ...] = ()
    events: tuple[Mapping[str, Any], ...] = ()
    """What was read or popped, or for which half messages a producer was asked."""
    code: int | None = None
    """Of a response of a broker, where it is told."""
    broker: str = ""
    """The brokerName of who stored what was sent."""
    error: str = ""

    @property
    def is_ok(self) -> bool:
        """Tell whether a send was acknowledged as asked for."""
        return self.status == "SEND_OK"

    @property
    def offset(self) -> int | None:
        """Where in the CommitLog the record of a send begins, if the broker said it."""
        return offset_of(self.message_id)


def offset_of(message_id: str) -> int | None:
    """Read the offset in a message id: its last 16 hexadecimal digits. Source: `MessageDecoder`"""
    try:
        return int(message_id[-_OFFSET_DIGITS:], 16) if len(message_id) > _OFFSET_DIGITS else None
    except ValueError:
        return None


def history_line(client: str, request: Mapping[str, Any], answer: Answer) -> str:
    """Write a line of what clients saw, with its end."""
    line: dict[str, Any] = {"client": client, "op": answer.op, "topic": request.get("topic")}
    if answer.op == "send":
        line |= {"id": request.get("id")}
    line |= {"begin_ns": answer.begin_ns, "end_ns": answer.end_ns, "status": answer.status}
    if answer.offset is not None:
        line["offset"] = answer.offset
    if answer.op == "read" and not answer.error:
        line["ids"] = list(answer.ids)
    if answer.error:
        line["error"] = answer.error
    return json.dumps({name: value for name, value in line.items() if value != ""}) + "\n"


class Client:
    """A client that runs; its methods may be called from several threads."""

    def __init__(self, process: Process, write: Callable[[str], None]) -> None:
        """Take the driver's process, and where lines of the history go."""
        self.process = process
        self._write = write
        self._lock = threading.Lock()
        self._number = 0
        self._over = False
        self._asked: dict[int, tuple[Mapping[str, Any], Future[Answer]]] = {}
        self._started: Future[Answer] = Future()
        self._asked[0] = ({"op": "start"}, self._started)
        self._reader = threading.Thread(target=self._read, name=f"{process.name} answers")
        self._reader.daemon = True
        self._reader.start()

    def wait_started(self) -> None:
        """Wait until it takes requests. Raises: ProcessError"""
        self._answer(self._started, _START_TIMEOUT_S)

    def send(
        self, topic: str, id_: str, *, size: int = _BODY_SIZE, timeout_ms: int = 3000
    ) -> Answer:
        """Send a message and wait for the answer. Raises: ProcessError"""
        sent = self.begin_send(topic, id_, size=size, timeout_ms=timeout_ms)
        return self._answer(sent, timeout_ms / 1000 + _PATIENCE_S)

    def begin_send(
        self, topic: str, id_: str, *, size: int = _BODY_SIZE, timeout_ms: int = 3000
    ) -> Future[Answer]:
        """Send a message whose body begins with `<id>;`, filled with zeros to a size in bytes.

        Raises: ValueError: the id has a semicolon or a zero in it; ProcessError
        """
        if not id_ or ";" in id_ or "\0" in id_:
            raise ValueError(f"{id_!r} cannot begin a body")
        request = {"op": "send", "topic": topic, "id": id_, "size": size, "timeout_ms": timeout_ms}
        return self._ask(request)

    def read(self, topic: str, *, idle_ms: int = 3000) -> Answer:
        """Read a topic from its beginning until nothing came for so long. Raises: ProcessError"""
        read = self._ask({"op": "read", "topic": topic, "idle_ms": idle_ms})
        return self._answer(read, idle_ms / 1000 + _PATIENCE_S)

    def consume(self, topic: str, *, group: str, work_ms: int) -> Answer:
        """Process a topic's messages in order from now on, in so long each, with its queues locked.

        It goes on until the client is closed. Raises: ProcessError
        """
        request = {"op": "consume", "topic": topic, "group": group, "instance": self.process.name}
        return self._answer(self._ask({**request, "work_ms": work_ms}), _START_TIMEOUT_S)

    def ask(self, op: str, **what: str | int) -> Answer:
        """Ask for anything that the driver can do (`client/`). Raises: ProcessError"""
        return self._answer(self._ask({"op": op, **what}), _PATIENCE_S)

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self._reader.join()

    def _ask(self, request: Mapping[str, Any]) -> Future[Answer]:
        with self._lock:
            self._number += 1
            if self._over:
                raise self._gone()
            answer: Future[Answer] = Future()
            self._asked[self._number] = (request, answer)
            line = json.dumps({"number": self._number, **request}) + "\n"
            with contextlib.suppress(OSError, ValueError):  # then the reader answers
                self.process.input.write(line.encode())
                self.process.input.flush()
        return answer

    def _answer(self, asked: Future[Answer], timeout_s: float) -> Answer:
        try:
            return asked.result(timeout_s)
        except TimeoutError:
            raise ProcessError(f"{self.process.name} gave no answer in {timeout_s:.0f} s") from None

    def _read(self) -> None:
        """Take answers until the driver ends; then nobody is left waiting."""
        try:
            for line in self.process.answers:
                self._take(json.loads(line))
        except ValueError:  # a line that its end cut off, or a file closed under way
            pass
        with self._lock:
            self._over = True
            waiting, self._asked = self._asked, {}
        for _, answer in waiting.values():
            if not answer.done():
                answer.set_exception(self._gone())

    def _take(self, told: Mapping[str, Any]) -> None:
        with self._lock:
            request, waiting = self._asked.pop(told["number"])
        answer = Answer(
            op=told["op"],
            begin_ns=told.get("begin_ns", 0),
            end_ns=told.get("end_ns", 0),
            status="ERROR" if "error" in told else told.get("status", ""),
            message_id=told.get("message_id") or "",
            ids=tuple(told.get("ids", ())),
            events=tuple(told.get("events", ())),
            code=told.get("code"),
            broker=told.get("broker", ""),
            error=told.get("error", ""),
        )
        if answer.op not in _NOT_WRITTEN:
            self._write(history_line(self.process.name, request, answer))
        waiting.set_result(answer)

    def _gone(self) -> ProcessError:
        return ProcessError(f"{self.process.name} runs no more ({self.process.output})")
