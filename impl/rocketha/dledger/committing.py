"""What is committed, and what becomes of it: a leader's entries, and every node's state machine.

Source: DLedgerEntryPusher.QuorumAckChecker, DLedgerServer.appendAsLeader, StateMachineCaller,
SnapshotManager
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.push_state import (
    NO_INDEX,
    ApplyCommitted,
    ApplyDue,
    Around,
    CutLogDue,
    DeleteBefore,
    DispatchDue,
    PusherAction,
    PusherEvent,
    PusherState,
    PusherStepped,
    QuorumDue,
    SaveSnapshot,
    SnapshotDue,
    SyncDue,
    SyncLedger,
    WriteEntry,
)
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.runtime.effects import After, Effect, Then
from rocketha.types import LogIndex

__all__ = [
    "append_as_leader",
    "apply_next",
    "apply_soon",
    "check_quorum",
    "cut_log",
    "quorum_index",
    "save_snapshot",
    "sync_ledger",
]


# ---- leaders ----


def append_as_leader(
    state: PusherState, kind: DLedgerEntryType, body: bytes, around: Around
) -> PusherStepped:
    """Write an entry; it is sent at once, and on the disk a little later.

    Spec: DLedger!AppendAsLeader
    Source: DLedgerServer.handleAppend, DLedgerMmapFileStore.appendAsLeader
    """
    assert around.member.is_leader
    assert around.member.transferee is None
    written = WriteEntry(kind=kind, term=around.member.curr_term, body=body)
    effects: list[Effect | Then[PusherEvent] | After[PusherEvent]] = [written]
    if not state.sync_asked:
        effects.append(After(wait_ms=around.config.flush_file_interval_ms, event=SyncDue()))
    effects.append(Then(event=DispatchDue()))
    return PusherStepped(
        replace(state, sync_asked=True), tuple(effects), PusherAction.APPEND_AS_LEADER
    )


def sync_ledger(state: PusherState, around: Around) -> PusherStepped:
    """Synchronize the log, if there is anything to.

    Spec: DLedger!Sync
    """
    state = replace(state, sync_asked=False)
    log, quorum = around.log, Then(event=QuorumDue())
    if log.synced_index == log.end_index:
        return PusherStepped(state, (quorum,))
    return PusherStepped(state, (SyncLedger(), quorum), PusherAction.SYNC)


def quorum_index(state: PusherState, around: Around) -> LogIndex:
    """Return up to where a majority has the log of this leader.

    Spec: DLedger!Holders, DLedger!IsHeld
    Source: DLedgerEntryPusher.QuorumAckChecker.doWork
    """
    config, log = around.config, around.log
    marks = [state.water_marks.get(peer, NO_INDEX) for peer in config.others]
    marks.append(config.push_rules.own_index(log.synced_index, log.end_index))
    for count, mark in enumerate(sorted(marks, reverse=True), start=1):
        if config.is_quorum(count):
            return mark
    return NO_INDEX


def check_quorum(state: PusherState, around: Around) -> PusherStepped:
    """Commit what a majority has, if the last entry of it is of this term.

    Spec: DLedger!CommitEntry, DLedger!MayCommit
    Source: MemberState.leaderUpdateCommittedIndex
    """
    member, log, config = around.member, around.log, around.config
    if not member.is_leader:
        return PusherStepped(state)
    index = min(quorum_index(state, around), log.end_index)
    if index <= max(state.committed_index, log.before_begin_index):
        return PusherStepped(state)
    term = log.term_at(index)
    assert term is not None, index
    if not config.push_rules.may_commit(term, member.curr_term):
        return PusherStepped(state)
    state = replace(state, committed_index=index)
    return PusherStepped(state, (apply_soon(config),), PusherAction.COMMIT_ENTRY)


# ---- the state machine ----


def apply_soon(config: DLedgerConfig) -> Then[PusherEvent] | After[PusherEvent]:
    """Let the state machine have what is committed: at once, or when its queue is so far.

    Source: StateMachineCaller.onCommitted
    """
    if config.apply_wait_ms == 0:
        return Then(event=ApplyDue())
    return After(wait_ms=config.apply_wait_ms, event=ApplyDue())


def apply_next(state: PusherState, around: Around) -> PusherStepped:
    """Let the state machine have the next committed entry; now and then a snapshot is due.

    Spec: DLedger!Apply
    Source: StateMachineCaller.doCommitted
    """
    config, index = around.config, LogIndex(state.applied_index + 1)
    if index > min(state.committed_index, around.log.end_index):
        since = state.applied_index - state.snapshot_index
        if config.enable_snapshot and since >= config.snapshot_threshold:
            return PusherStepped(state, (Then(event=SnapshotDue()),))
        cut_to = config.push_rules.cut_to(state.snapshot_index, state.applied_index)
        may_cut = config.enable_snapshot and cut_to > around.log.before_begin_index
        return PusherStepped(state, (Then(event=CutLogDue()),) if may_cut else ())
    state = replace(state, applied_index=index)
    return PusherStepped(
        state, (ApplyCommitted(index=index), Then(event=ApplyDue())), PusherAction.APPLY
    )


def save_snapshot(state: PusherState, around: Around) -> PusherStepped:
    """Put the state on the disk.

    Spec: DLedger!SaveSnapshot
    Source: SnapshotManager.saveSnapshot
    """
    index = state.applied_index
    term = around.log.term_at(index)
    if index <= state.snapshot_index or term is None:
        return PusherStepped(state)
    saved = SaveSnapshot(index=index, term=term)
    state = replace(state, snapshot_index=index)
    return PusherStepped(state, (saved, Then(event=CutLogDue())), PusherAction.SAVE_SNAPSHOT)


def cut_log(state: PusherState, around: Around) -> PusherStepped:
    """Delete the entries that the snapshot stands for.

    Spec: DLedger!CutLog
    Source: SnapshotManager, SnapshotEntryResetStrategy.RESET_ALL_SYNC
    """
    log = around.log
    index = around.config.push_rules.cut_to(state.snapshot_index, state.applied_index)
    if not log.before_begin_index < index <= log.end_index:
        return PusherStepped(state)
    if log.synced_index < log.end_index:  # what is left is on the disk, too
        return PusherStepped(state, (SyncLedger(), Then(event=CutLogDue())), PusherAction.SYNC)
    return PusherStepped(state, (DeleteBefore(index=index),), PusherAction.CUT_LOG)
