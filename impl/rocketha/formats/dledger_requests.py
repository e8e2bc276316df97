"""What the nodes of a DLedger group, and its clients, ask of each other, and the answers.

Each is a frame without fields of its own, with a JSON object for a body; `dledger_request_codec`
reads and writes them. All have these members:

| member                     | type | value                                                        |
|----------------------------|------|--------------------------------------------------------------|
| group, localId, remoteId   | T?   | the group; the sender of a request; whom it is for           |
| code                       | I    | of an answer: how it went; of a request always 200           |
| leaderId                   | T?   | who leads, as far as the sender knows                        |
| term                       | L    | the sender's; -1: none                                       |

and besides

| code  | request             | members                     | answer                              |
|------:|---------------------|-----------------------------|-------------------------------------|
| 50000 | METADATA            |                             | peers T-T? (id: address)            |
| 50001 | APPEND              | body B                      | index L, pos L; -1: none            |
| 50002 | GET                 | beginIndex L?, maxSize I,   | entries E*                          |
|       |                     | indexList L*?               |                                     |
| 51001 | VOTE                | ledgerEndIndex L,           | voteResult: name                    |
|       |                     | ledgerEndTerm L; -1: empty  |                                     |
| 51002 | HEART_BEAT          |                             |                                     |
| 51003 | PULL                | beginIndex L?, nodeId T?    | entries E*                          |
| 51004 | PUSH, since 0.4.0   | type: name, commitIndex L,  | index L?, beginIndex L, endIndex L, |
|       |                     | preLogIndex L, preLogTerm L,| count I, xTerm L, xIndex L          |
|       |                     | entries E*;                 |                                     |
|       |                     | w: count I, firstEntryIndex |                                     |
|       |                     | L, lastEntryIndex L,        |                                     |
|       |                     | lastEntryTerm L, totalSize I|                                     |
| 51004 | PUSH, up to 0.3.2   | type: name, commitIndex L,  | index L?, beginIndex L, endIndex L, |
|       |                     | entry E?, batchEntry E*;    | count I                             |
|       |                     | w: batch, count I,          |                                     |
|       |                     | firstEntryIndex L,          |                                     |
|       |                     | lastEntryIndex L,           |                                     |
|       |                     | totalSize I                 |                                     |
| 51005 | LEADERSHIP_TRANSFER | transferId T?, transfereeId |                                     |
|       |                     | T?, takeLeadershipLedger-   |                                     |
|       |                     | Index L                     |                                     |
| 51006 | INSTALL_SNAPSHOT,   | lastIncludedIndex L,        |                                     |
|       | since 0.4.0         | lastIncludedTerm L, data B  |                                     |

E is an entry (see `dledger_entry_json`), I 32 bits, L 64 bits, T text, B bytes in base64, * array;
? may be missing, which is how fastjson writes null; w is written and not read. Missing is not
empty: no bytes are `""`, no entries `[]`.

A batch of bodies for one APPEND (BatchAppendEntryRequest, `batchMsgs`) is not in here: DLedger's
server reads every APPEND as one with a single body.
Both generations of PUSH have the same code; one cannot read the other's entries.

Source: RequestOrResponse and the other classes of protocol/, DLedgerRpcNettyService
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType, VoteResult
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.types import LogIndex, Offset, Term

__all__ = [
    "AppendEntryRequest",
    "AppendEntryResponse",
    "DLedgerRequest",
    "DLedgerResponse",
    "GetEntriesRequest",
    "GetEntriesResponse",
    "HeartBeatRequest",
    "HeartBeatResponse",
    "InstallSnapshotRequest",
    "InstallSnapshotResponse",
    "LeadershipTransferRequest",
    "LeadershipTransferResponse",
    "LegacyPushEntryRequest",
    "LegacyPushEntryResponse",
    "MetadataRequest",
    "MetadataResponse",
    "PullEntriesRequest",
    "PullEntriesResponse",
    "PushEntryRequest",
    "PushEntryResponse",
    "RequestOrResponse",
    "VoteRequest",
    "VoteResponse",
]

_NO_INDEX: Final = LogIndex(-1)
_NO_TERM: Final = Term(-1)
_NO_POS: Final = Offset(-1)
_FIRST: Final = LogIndex(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOrResponse:
    """What all have; the defaults are DLedger's."""

    group: str | None = None
    local_id: str | None = None
    remote_id: str | None = None
    code: int = int(DLedgerResponseCode.SUCCESS)
    leader_id: str | None = None
    term: Term = _NO_TERM

    @property
    def response_code(self) -> DLedgerResponseCode:
        """What the code says; UNKNOWN if it is none. Source: DLedgerResponseCode.valueOf"""
        known = self.code in DLedgerResponseCode._value2member_map_
        return DLedgerResponseCode(self.code) if known else DLedgerResponseCode.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataRequest(RequestOrResponse):
    """Who is in the group?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataResponse(RequestOrResponse):
    """Addresses by id."""

    peers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendEntryRequest(RequestOrResponse):
    """A client has something for the log."""

    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendEntryResponse(RequestOrResponse):
    """Where it is now, when a majority has it."""

    index: LogIndex = _NO_INDEX
    pos: Offset = _NO_POS


@dataclass(frozen=True, slots=True, kw_only=True)
class GetEntriesRequest(RequestOrResponse):
    """A client reads; the server reads one entry, `begin_index`, whatever else it is asked."""

    begin_index: LogIndex | None = None
    max_size: int = 0
    index_list: tuple[LogIndex, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetEntriesResponse(RequestOrResponse):
    """What was asked for."""

    entries: tuple[DLedgerEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRequest(RequestOrResponse):
    """A candidate, who is also `leader_id`, asks for a vote."""

    ledger_end_index: LogIndex = _NO_INDEX
    ledger_end_term: Term = _NO_TERM


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteResponse(RequestOrResponse):
    """The vote, or why not."""

    vote_result: VoteResult = VoteResult.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartBeatRequest(RequestOrResponse):
    """The leader is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartBeatResponse(RequestOrResponse):
    """So is the follower."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullEntriesRequest(RequestOrResponse):
    """Asks for entries from an index on; no release of DLedger sends or answers it."""

    node_id: str | None = None
    begin_index: LogIndex | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PullEntriesResponse(RequestOrResponse):
    """The entries."""

    entries: tuple[DLedgerEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PushEntryRequest(RequestOrResponse):
    """The leader replicates, since 0.4.0; the entries follow each other."""

    kind: PushType = PushType.APPEND
    commit_index: LogIndex = _NO_INDEX
    pre_log_index: LogIndex = _NO_INDEX
    pre_log_term: Term = _NO_TERM
    entries: tuple[DLedgerEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PushEntryResponse(RequestOrResponse):
    """What a follower has, since 0.4.0."""

    index: LogIndex | None = None
    begin_index: LogIndex = _FIRST
    end_index: LogIndex = _FIRST
    count: int = 0
    x_term: Term = _NO_TERM
    """Of a COMPARE that failed: the follower's term at the compared index ..."""
    x_index: LogIndex = _NO_INDEX
    """... and its first entry of that term."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyPushEntryRequest(RequestOrResponse):
    """The leader replicates, up to 0.3.2: one entry, or a batch."""

    kind: PushType = PushType.APPEND
    commit_index: LogIndex = _NO_INDEX
    entry: DLedgerEntry | None = None
    batch_entry: tuple[DLedgerEntry, ...] = ()

    @property
    def entries(self) -> tuple[DLedgerEntry, ...]:
        """The batch, or else the one entry. Source: PushEntryRequest.getCount"""
        return self.batch_entry or (() if self.entry is None else (self.entry,))


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyPushEntryResponse(RequestOrResponse):
    """What a follower has, up to 0.3.2."""

    index: LogIndex | None = None
    begin_index: LogIndex = _FIRST
    end_index: LogIndex = _FIRST
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipTransferRequest(RequestOrResponse):
    """Let `transferee_id` lead; the leader passes it on with the index from which it may."""

    transfer_id: str | None = None
    transferee_id: str | None = None
    take_leadership_ledger_index: LogIndex = _FIRST


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadershipTransferResponse(RequestOrResponse):
    """Whether it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallSnapshotRequest(RequestOrResponse):
    """A whole snapshot for a follower whose next entry is no more in the leader's log."""

    last_included_index: LogIndex
    last_included_term: Term
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallSnapshotResponse(RequestOrResponse):
    """Whether it is installed."""


DLedgerRequest: TypeAlias = (
    MetadataRequest
    | AppendEntryRequest
    | GetEntriesRequest
    | VoteRequest
    | HeartBeatRequest
    | PullEntriesRequest
    | PushEntryRequest
    | LegacyPushEntryRequest
    | LeadershipTransferRequest
    | InstallSnapshotRequest
)
DLedgerResponse: TypeAlias = (
    MetadataResponse
    | AppendEntryResponse
    | GetEntriesResponse
    | VoteResponse
    | HeartBeatResponse
    | PullEntriesResponse
    | PushEntryResponse
    | LegacyPushEntryResponse
    | LeadershipTransferResponse
    | InstallSnapshotResponse
)
