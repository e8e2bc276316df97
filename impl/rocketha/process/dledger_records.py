"""What a DLedger node's process writes of itself: every step, as a simulated member does.

| message                        | in the record of the step                              |
|--------------------------------|--------------------------------------------------------|
| of a member that keeps records | its id in `received`; it is in `sent` of the other one |
| of any other member            | `heard`: who sent it, its id, its code and its body    |
| of a client of DLedger         | nothing                                                |

An id is who asked and the request's number there (`"n0:17"`), of an answer with `:response` behind.
Numbers of a process begin where the clock of the machine is, so none comes twice in a run; those of
DLedger do, so who was asked is in front (`"n0<n1:17"`).

A record is written before anything that its step sends leaves the process: who dies between the two
has told nobody. What the step had written to the disk is seen at the next start.

The file may be there, with what was written before the last stop; else it is made.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from rocketha.dledger.client_requests import CLIENT_CODES
from rocketha.dledger.config import DLedgerConfig
from rocketha.errors import PacketError, RequestError
from rocketha.formats.dledger_request_codec import pull_request
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.recording.dledger_parts import HeardFrame, settings_of
from rocketha.recording.json_parts import as_json
from rocketha.recording.node_log import pull_log
from rocketha.recording.record import RESPONSE, NodeHeader, NodeRecord, RecordError, push_line
from rocketha.recording.recorder import NodeRecorder, Parts
from rocketha.types import BrokerId, RequestId, TimestampMs

__all__ = ["DLedgerRecords", "RecordsConfiguration", "first_number"]

_PROTOCOL: Final = "dledger"
_TICK_NS: Final = 1 << 14
_NUMBERS: Final = 1 << 31


def first_number() -> int:
    """Return the number behind which a process counts its requests: one more every 16 us."""
    return time.monotonic_ns() // _TICK_NS % _NUMBERS


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsConfiguration:
    """Where records go, and who else keeps some."""

    path: Path
    peers: tuple[str, ...]
    """The members that keep records, this one among them."""


class _MachineClock:
    """CLOCK_MONOTONIC."""

    def now_ns(self) -> int:
        """Return nanoseconds since the machine started."""
        return time.monotonic_ns()


class DLedgerRecords:
    """The recorder of a DLedger node's process; `DLedgerRemoting` tells it of messages."""

    def __init__(
        self,
        records: RecordsConfiguration,
        config: DLedgerConfig,
        *,
        parts: Callable[[], Parts],
        shows_ms: Callable[[], TimestampMs],
    ) -> None:
        """Open the file. Raises: RecordError: what is in it does not belong together; OSError"""
        self._keepers = frozenset(records.peers)
        self._name = config.self_id
        self._members: Mapping[int, str] = dict(enumerate(config.peers, start=1))
        self._asked: dict[RequestId, str] = {}
        """Of each request that waits: its id."""
        lines = _whole_lines(records.path)
        self._before = 0
        if len(lines) > 1:
            log = pull_log(lines, str(records.path))
            if log.header.node != self._name:
                raise RecordError(f"{log.name}: these are records of another node")
            self._before = log.records[-1].incarnation
        self._file = records.path.open("ab")
        self._file.truncate(sum(map(len, lines)))
        self._has_header = bool(lines)
        settings = {
            **{name: as_json(value) for name, value in settings_of(config).items()},
            "recorded_peers": [*records.peers],
        }
        self._recorder = NodeRecorder(
            NodeHeader(protocol=_PROTOCOL, node=self._name, settings=settings),
            write=self._write,
            clock=_MachineClock(),
            parts=parts,
            shows_ms=shows_ms,
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, line: NodeHeader | NodeRecord) -> None:
        if isinstance(line, NodeRecord):
            line = msgspec.structs.replace(line, incarnation=line.incarnation + self._before)
        elif self._has_header:
            return
        self._file.write(push_line(line))
        self._file.flush()

    # ---- what the process tells ----

    def started(self) -> None:
        """Write what the node has at its start."""
        self._recorder.started()

    def stepped(self, event: object, action: object | None) -> None:
        """Write a step."""
        self._recorder.stepped(event, action)

    # ---- what its remoting tells ----

    def asks(self, peer: BrokerId, opaque: int, code: int, body: bytes) -> None:
        """Note a request of this node."""
        name = f"{self._name}:{opaque}"
        self._recorder.sent(name, to=self._members[peer], code=code, body=body)

    def hears(self, peer: BrokerId, opaque: int, command: RemotingCommand) -> None:
        """Note an answer."""
        self._arrived(self._members[peer], f"{self._name}:{opaque}{RESPONSE}", command)

    def is_asked(self, request: RequestId, command: RemotingCommand) -> None:
        """Note a request, unless it is a client's, or none."""
        if command.code in CLIENT_CODES:
            return
        try:
            message = pull_request(command)
        except (PacketError, RequestError):
            return
        sender = message.leader_id or message.local_id or ""
        name = f"{sender}:{command.opaque}"
        if sender not in self._keepers:
            name = (
                f"{self._name}<{name}"  # of which there may be a second one when it has restarted
            )
        self._asked[request] = name
        self._arrived(sender, name, command)

    def answers(self, request: RequestId, code: int, body: bytes) -> None:
        """Note an answer of this node."""
        name = self._asked.pop(request, None)
        if name is not None:
            self._recorder.sent(name + RESPONSE, code=code, body=body)

    def _arrived(self, sender: str, name: str, command: RemotingCommand) -> None:
        if sender in self._keepers:
            self._recorder.received(name)
        else:
            body = command.body.decode("utf-8", "backslashreplace")
            self._recorder.heard(HeardFrame(name, sender, command.code, body))


def _whole_lines(path: Path) -> list[bytes]:
    """Return the lines that have an end."""
    if not path.exists():
        return []
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)
