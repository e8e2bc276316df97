"""What a node does with its log: what happens, what it does, and what it remembers.

Terms and indexes are DLedger's own, from 0 on; -1 is none.

Source: DLedgerEntryPusher, StateMachineCaller
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.member_state import MemberState
from rocketha.dledger.state import NO_MARKS, RequestNumber, WaterMarks
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_requests import (
    InstallSnapshotRequest,
    InstallSnapshotResponse,
    PushEntryRequest,
    PushEntryResponse,
)
from rocketha.runtime.effects import After, Effect, Then
from rocketha.types import LogIndex, RequestId, Term, TimestampMs

__all__ = [
    "NO_INDEX",
    "AppendPushed",
    "ApplyCommitted",
    "ApplyDue",
    "Around",
    "CutLogDue",
    "DeleteBefore",
    "DispatchDue",
    "DispatcherState",
    "EntryDispatcher",
    "InstallSnapshot",
    "LearnCommitDue",
    "PushAnswered",
    "PushArrived",
    "PushDone",
    "Pushed",
    "PusherAction",
    "PusherEvent",
    "PusherState",
    "PusherStepped",
    "QuorumDue",
    "SaveSnapshot",
    "SendPush",
    "SendPushAnswer",
    "SendSnapshot",
    "SnapshotArrived",
    "SnapshotDue",
    "SyncDue",
    "SyncLedger",
    "TruncateLedger",
    "WriteEntry",
]

NO_INDEX: Final = LogIndex(-1)
_NO_NUMBER: Final = RequestNumber(0)


# ---- what happens ----


@dataclass(frozen=True, slots=True, kw_only=True)
class PushArrived:
    """The leader pushes; `written` of its entries are in the log by now."""

    request: RequestId
    message: PushEntryRequest
    written: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PushDone:
    """What a push asked for is done: it can be answered, once all is synchronized.

    `index` is what is acknowledged by it.
    """

    request: RequestId
    index: LogIndex
    installed: bool = False
    """It was a snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotArrived:
    """The leader sends a snapshot."""

    request: RequestId
    message: InstallSnapshotRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PushAnswered:
    """A push of this node, or a snapshot, was answered. None: it will not be."""

    number: RequestNumber
    peer: str
    message: PushEntryResponse | InstallSnapshotResponse | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnCommitDue:
    """The leader has committed so much."""

    leader_id: str
    term: Term
    commit_index: LogIndex


@dataclass(frozen=True, slots=True)
class DispatchDue:
    """A leader has something to push, or may have."""


@dataclass(frozen=True, slots=True)
class SyncDue:
    """A leader's log is to be synchronized. Source: DLedgerMmapFileStore.FlushDataService"""


@dataclass(frozen=True, slots=True)
class QuorumDue:
    """A majority may have another entry. Source: DLedgerEntryPusher.QuorumAckChecker"""


@dataclass(frozen=True, slots=True)
class ApplyDue:
    """An entry may be committed that is not applied. Source: StateMachineCaller.onCommitted"""


@dataclass(frozen=True, slots=True)
class SnapshotDue:
    """So many entries were applied that a snapshot is saved. Source: SnapshotManager"""


@dataclass(frozen=True, slots=True)
class CutLogDue:
    """The log may be cut behind a snapshot."""


PusherEvent: TypeAlias = (
    PushArrived
    | PushDone
    | SnapshotArrived
    | PushAnswered
    | LearnCommitDue
    | DispatchDue
    | SyncDue
    | QuorumDue
    | ApplyDue
    | SnapshotDue
    | CutLogDue
)


# ---- what it does ----


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteEntry(Effect):
    """Write an entry of this leader behind the log; it need not be on the disk yet."""

    kind: DLedgerEntryType
    term: Term
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendPushed(Effect):
    """Write an entry of the leader behind the log; it need not be on the disk yet."""

    entry: DLedgerEntry


@dataclass(frozen=True, slots=True)
class SyncLedger(Effect):
    """Have the whole log on the disk before the next effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncateLedger(Effect):
    """Cut an entry and all behind it; they are gone from the disk before the next effect."""

    index: LogIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteBefore(Effect):
    """Delete the entries up to this one, which a snapshot stands for."""

    index: LogIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyCommitted(Effect):
    """Let the state machine have an entry; a `NOOP` it does not see."""

    index: LogIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveSnapshot(Effect):
    """Put the state after this entry on the disk, as a whole and durably."""

    index: LogIndex
    term: Term


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallSnapshot(Effect):
    """Put a snapshot of the leader on the disk, and load it in place of the state.

    The log begins behind it; what it has there already stays if `keeps_log`.
    """

    index: LogIndex
    term: Term
    data: bytes
    keeps_log: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPush(Effect):
    """Push; `PushAnswered` follows with the same number, at most once."""

    number: RequestNumber
    peer: str
    message: PushEntryRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SendSnapshot(Effect):
    """Send this node's newest snapshot; `PushAnswered` follows, at most once."""

    number: RequestNumber
    peer: str
    term: Term
    index: LogIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPushAnswer(Effect):
    """Answer a push or a snapshot."""

    request: RequestId
    message: PushEntryResponse | InstallSnapshotResponse


class PusherAction(StrEnum):
    """The actions of DLedger that are about logs; the only parameter is the node."""

    APPEND_AS_LEADER = "AppendAsLeader"
    COMMIT_ENTRY = "CommitEntry"
    COMPARE = "Compare"
    TRUNCATE = "Truncate"
    APPEND_AS_FOLLOWER = "AppendAsFollower"
    SYNC = "Sync"
    ACKNOWLEDGE = "Acknowledge"
    LEARN_COMMIT = "LearnCommit"
    APPLY = "Apply"
    SAVE_SNAPSHOT = "SaveSnapshot"
    CUT_LOG = "CutLog"
    INSTALL_SNAPSHOT = "InstallSnapshot"


# ---- what it remembers ----


class DispatcherState(Enum):
    """What a leader does for a follower. Source: EntryDispatcherState"""

    COMPARE = "COMPARE"
    TRUNCATE = "TRUNCATE"
    APPEND = "APPEND"
    INSTALL_SNAPSHOT = "INSTALL_SNAPSHOT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """A push that is not answered yet."""

    number: RequestNumber
    first: LogIndex
    """Of an APPEND its first entry; of the others the entry that is compared, cut or installed."""
    last: LogIndex
    sent_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDispatcher:
    """A leader's view of a follower. Source: DLedgerEntryPusher.EntryDispatcher"""

    write_index: LogIndex
    """The next entry to push; one more than the next one to compare."""
    type: DispatcherState = DispatcherState.COMPARE
    match_index: LogIndex = NO_INDEX
    pending: tuple[Pushed, ...] = ()
    """In the order in which they were sent; one at most, but for APPEND."""
    retry_ms: TimestampMs | None = None
    """After an error nothing is sent before."""
    last_push_commit_ms: TimestampMs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PusherState:
    """A node's log, as far as it is not on the disk."""

    committed_index: LogIndex = NO_INDEX
    applied_index: LogIndex = NO_INDEX
    snapshot_index: LogIndex = NO_INDEX
    """The last entry that the newest snapshot has, which is on the disk."""
    same_index: LogIndex = NO_INDEX
    """Of a follower: up to here its log is the leader's, as it knows."""
    dispatchers: Mapping[str, EntryDispatcher] = field(default_factory=lambda: MappingProxyType({}))
    """Of a leader."""
    water_marks: WaterMarks = field(default_factory=lambda: NO_MARKS)
    """Of a leader: what each follower has acknowledged in this term."""
    last_number: RequestNumber = _NO_NUMBER
    sync_asked: bool = False

    def with_dispatcher(self, peer: str, dispatcher: EntryDispatcher) -> PusherState:
        """Remember what is done for a follower."""
        table = MappingProxyType({**self.dispatchers, peer: dispatcher})
        return replace(self, dispatchers=table)

    def acknowledged(self, peer: str, index: LogIndex) -> PusherState:
        """Remember what a follower has. Source: DLedgerEntryPusher.updatePeerWaterMark"""
        if self.water_marks.get(peer, NO_INDEX) >= index:
            return self
        return replace(self, water_marks=MappingProxyType({**self.water_marks, peer: index}))


@dataclass(frozen=True, slots=True)
class PusherStepped:
    """The result of one step."""

    state: PusherState
    effects: tuple[Effect | Then[PusherEvent] | After[PusherEvent], ...] = ()
    action: PusherAction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a step looks at besides: the node's settings, its role, its log, and the time."""

    config: DLedgerConfig
    member: MemberState
    log: LedgerView
    now_ms: TimestampMs
