"""What a node does: the effects of every core.

The host performs the effects of a step in their order and all of them before the next event.
A power cut may come between any two. Each effect has one performer (`rocketha.runtime.performers`,
`rocketha.runtime.node_host`); a protocol may have effects of its own, and brings their performer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from rocketha.formats.message import Message
from rocketha.formats.remoting_command import NO_FIELDS
from rocketha.types import (
    BrokerId,
    ConnectionId,
    EpochEntry,
    HaAddress,
    Identity,
    Offset,
    PutId,
    RequestId,
    RequestReference,
    TimestampMs,
)

__all__ = [
    "After",
    "AnswerClient",
    "AppendLog",
    "AppendMessage",
    "CloseConnection",
    "Connect",
    "Effect",
    "FlushLog",
    "HangUp",
    "RefuseRequest",
    "RequestFlush",
    "Respond",
    "SendOneWay",
    "SendPacket",
    "SendRequest",
    "SendToController",
    "StoreEpochs",
    "StoreIdentity",
    "StoreRegistration",
    "Then",
    "TruncateLog",
]

E_co = TypeVar("E_co", covariant=True)


class Effect:
    """Something that a node does; but for `Then` and `After`, which have an event of a core."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPacket(Effect):
    """Send one encoded packet."""

    conn: ConnectionId
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseConnection(Effect):
    """Close a connection; the core has forgotten it and hears no more of it."""

    conn: ConnectionId
    reason: str
    """For the log, a clause without a full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect(Effect):
    """Open a connection; `PeerConnected` follows, or nothing, and then a timer tries again."""

    peer: HaAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendLog(Effect):
    """Append bytes of the master's log at `offset`: the log end, or anywhere if it is empty."""

    offset: Offset
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendMessage(Effect):
    """Append the record of a message, behind a filler if it does not fit into the segment."""

    message: Message
    store_timestamp_ms: TimestampMs
    put: PutId | None = None
    """Who waits for it: `MessageAppended` follows at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateLog(Effect):
    """Cut the log durably: it ends at `offset` now. What is before may still be in memory only."""

    offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushLog(Effect):
    """Write the whole log through to the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFlush(Effect):
    """Let the flush service write the log through soon; `LogFlushed` follows when it has.

    Source: CommitLog.GroupCommitService
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEpochs(Effect):
    """Replace the content of the epoch file, durably and as a whole."""

    entries: tuple[EpochEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRegistration(Effect):
    """Note durably that the controller knows what the present boot of the machine has cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendToController(Effect):
    """Send one frame to a controller, on the broker's channel with it."""

    data: bytes
    controller: int = 0
    """Which one, by its place in the broker's list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreIdentity(Effect):
    """Write the identity file, or the temporary one (with a check code), as a whole and durably.

    The identity file replaces the temporary one.
    """

    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class SendRequest(Effect):
    """Ask another node; `ResponseArrived` follows once, also when no answer can come any more."""

    peer: BrokerId
    code: int
    body: bytes
    reference: RequestReference
    ext_fields: Mapping[str, str] = field(default_factory=lambda: NO_FIELDS)
    timeout_ms: int | None = None
    """After it the connection is closed, and no answer comes; None: `HangUp` says when."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOneWay(Effect):
    """Tell another node something; there is no answer."""

    peer: BrokerId
    code: int
    body: bytes
    ext_fields: Mapping[str, str] = field(default_factory=lambda: NO_FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond(Effect):
    """Answer a request."""

    request: RequestId
    code: int
    body: bytes
    ext_fields: Mapping[str, str] = field(default_factory=lambda: NO_FIELDS)
    remark: str | None = None
    empty_fields: bool = False
    """As `RemotingCommand` has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseRequest(Effect):
    """Close the connection of a request: who sent it does not speak the protocol."""

    request: RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp(Effect):
    """Wait no longer for who was sent a request, and close the connection with it."""

    reference: RequestReference


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerClient(Effect):
    """Answer a client; what is said is the protocol's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Then(Generic[E_co]):
    """Let the node take this event right after the effects, before any other."""

    event: E_co


@dataclass(frozen=True, slots=True, kw_only=True)
class After(Generic[E_co]):
    """Let the node take this event in a while, unless it stops before."""

    wait_ms: int
    event: E_co
