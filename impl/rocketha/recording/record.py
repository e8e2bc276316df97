"""One step of one node as one line of JSON, and what stands before the lines of a node.

| line        | members                                                                        |
|-------------|--------------------------------------------------------------------------------|
| the first   | `format`, `version`, `protocol`, `node`, `settings`: how the node is set up    |
| each other  | `node`, `incarnation` and `sequence`: which step of which node                 |
|             | `at_ns`: the recorder's clock, which all nodes of a machine share              |
|             | `shows_ms`: the node's own clock, by which its core goes                       |
|             | `event`: what it took, `NodeStarted`, `NodeStopped`                            |
|             | `action`, `params`: the action of the specification that the step was, if any  |
|             | `state`: the parts of its state that the step changed, all at its start        |
|             | `sent`: messages, each with an `id`, `to`, `code`, perhaps `body`, `fields`      |
|             | `received`: ids of the messages that made it take the step                     |
|             | `heard`: what it heard from others, who keep none                              |
|             | `stored`: what it did to its disk, in order                                    |
|             | `answered`: what it answered to clients, who keep no records                   |

Members at their defaults are left out. Of a log, `state` has how many records are `kept`, and which
are `added` behind them. An id is the same at both ends without a byte more on the wire: the
connection, and the message's place or number on it.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from rocketha.errors import RockethaError

__all__ = [
    "FORMAT",
    "RESPONSE",
    "STARTED",
    "STOPPED",
    "VERSION",
    "Json",
    "NodeHeader",
    "NodeRecord",
    "RecordError",
    "SentMessage",
    "pull_header",
    "pull_record",
    "push_line",
]

FORMAT: Final = "rocketproof-records"
VERSION: Final = 1

RESPONSE: Final = ":response"
"""Behind the name of a request: that of its answer."""
STARTED: Final = "NodeStarted"
"""The event of a node's first record in each incarnation."""
STOPPED: Final = "NodeStopped"
"""The event of what the machine writes for a node that runs no more."""

_NS_MAX: Final = (1 << 63) - 1

Json: TypeAlias = "str | int | bool | list[Json] | dict[str, Json] | None"


class RecordError(RockethaError):
    """A text that is no record, or records that do not belong together.

    `record` is the one that is wrong; None where there is none yet, or all of them are.
    """

    def __init__(self, reason: str, record: NodeRecord | None = None) -> None:
        where = ""
        if record is not None:
            where = f"{record.node}, record {record.sequence} of incarnation {record.incarnation}: "
        super().__init__(f"{where}{reason}")
        self.reason = reason
        self.record = record


class SentMessage(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A message, as its sender knows it."""

    id: str
    to: str | None = None
    """The node at the other end; None: who sent the request that this answers."""
    code: int | None = None
    """Of a RemotingCommand; None: a packet of replication."""
    body: str | None = None
    """Of a body that is text; None: it is empty, or bytes that only the ends look at."""
    fields: dict[str, str] = {}
    """Of a RemotingCommand: its `extFields`."""


class NodeHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What stands before the records of a node."""

    protocol: str
    """As in `spec/<protocol>/`."""
    node: str
    settings: dict[str, Any]
    """How the node is set up; durations are in milliseconds."""


class NodeRecord(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One step of a node."""

    node: str
    incarnation: Annotated[int, msgspec.Meta(ge=1)]
    """How often the node had started, from 1."""
    sequence: Annotated[int, msgspec.Meta(ge=0)]
    """Of the node's steps in this incarnation, from 0: its start."""
    at_ns: Annotated[int, msgspec.Meta(ge=0, le=_NS_MAX)]
    """Never less than before, on one machine; it says nothing to the core."""
    shows_ms: int
    event: str
    action: str | None = None
    params: dict[str, Any] = {}
    state: dict[str, Any] = {}
    sent: tuple[SentMessage, ...] = ()
    received: tuple[str, ...] = ()
    heard: tuple[Any, ...] = ()
    stored: tuple[Any, ...] = ()
    answered: tuple[Any, ...] = ()


class _HeaderLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: Literal["rocketproof-records"]
    version: Literal[1]
    protocol: str
    node: str
    settings: dict[str, Any]


_ENCODER: Final = msgspec.json.Encoder()
_RECORDS: Final = msgspec.json.Decoder(NodeRecord)
_HEADERS: Final = msgspec.json.Decoder(_HeaderLine)


def push_line(line: NodeHeader | NodeRecord) -> bytes:
    """Write a line with its end."""
    if isinstance(line, NodeRecord):
        return _ENCODER.encode(line) + b"\n"
    header = _HeaderLine(
        format=FORMAT,
        version=VERSION,
        protocol=line.protocol,
        node=line.node,
        settings=line.settings,
    )
    return _ENCODER.encode(header) + b"\n"


def pull_record(line: bytes) -> NodeRecord:
    """Read a line. Raises: RecordError"""
    try:
        return _RECORDS.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RecordError(f"no record: {error}") from error


def pull_header(line: bytes) -> NodeHeader:
    """Read the first line. Raises: RecordError"""
    try:
        read = _HEADERS.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RecordError(f"no header of records: {error}") from error
    return NodeHeader(protocol=read.protocol, node=read.node, settings=read.settings)
