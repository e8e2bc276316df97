"""A follower's log: what its leader has it compare, cut, append, commit and install.

An answer says what is on the disk. Between two entries, and between what is written and what is
answered, the node may end: each is a step of its own.

Source: DLedgerEntryPusher.EntryHandler
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.dledger.committing import apply_soon
from rocketha.dledger.ledger import LedgerView, has_entry
from rocketha.dledger.push_state import (
    AppendPushed,
    Around,
    InstallSnapshot,
    LearnCommitDue,
    PushArrived,
    PushDone,
    PusherAction,
    PusherEvent,
    PusherState,
    PusherStepped,
    SendPushAnswer,
    SnapshotArrived,
    SyncLedger,
    TruncateLedger,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType
from rocketha.formats.dledger_entry import DLedgerEntry, body_crc
from rocketha.formats.dledger_requests import (
    InstallSnapshotResponse,
    PushEntryRequest,
    PushEntryResponse,
    RequestOrResponse,
)
from rocketha.runtime.effects import Then
from rocketha.types import LogIndex, RequestId, Term

__all__ = ["finish_push", "handle_install_snapshot", "handle_push", "learn_commit"]


def handle_push(state: PusherState, event: PushArrived, around: Around) -> PusherStepped:
    """Do what the leader of this term asks for; refuse everybody else.

    Answers: SUCCESS, INCONSISTENT_STATE, EXPIRED_TERM, TERM_NOT_READY, NOT_FOLLOWER,
    INCONSISTENT_LEADER, UNEXPECTED_ARGUMENT.

    Source: DLedgerEntryPusher.EntryHandler.doWork
    """
    message, request = event.message, event.request
    refused = _refusal(message, around)
    if refused is not None:
        return _answer(state, request, message, refused, around)
    match message.kind:
        case PushType.COMPARE:
            return _compare(state, request, message, around)
        case PushType.TRUNCATE:
            return _truncate(state, request, message, around)
        case PushType.APPEND:
            return _append(state, event, around)
        case PushType.COMMIT:
            answered = _answer(state, request, message, DLedgerResponseCode.SUCCESS, around)
            return replace(answered, effects=(*answered.effects, *_learns(message)))
        case PushType.INSTALL_SNAPSHOT:
            code = DLedgerResponseCode.UNEXPECTED_ARGUMENT
            return _answer(state, request, message, code, around)


def _refusal(message: RequestOrResponse, around: Around) -> DLedgerResponseCode | None:
    """Tell why a push is not taken.

    Spec: DLedgerMessages!IsOfLeader
    """
    member, rules = around.member, around.config.push_rules
    leads = member.is_follower and member.leader_id == message.leader_id
    same_term = message.term == member.curr_term
    if rules.is_of_leader(leads, same_term):
        return None
    if message.term < member.curr_term:
        return DLedgerResponseCode.EXPIRED_TERM
    if message.term > member.curr_term:
        return DLedgerResponseCode.TERM_NOT_READY
    if not member.is_follower:
        return DLedgerResponseCode.NOT_FOLLOWER
    return DLedgerResponseCode.INCONSISTENT_LEADER


def _response(message: PushEntryRequest, code: DLedgerResponseCode) -> PushEntryResponse:
    """Source: DLedgerEntryPusher.EntryHandler.buildResponse"""
    first = message.entries[0].index if message.entries else None
    return PushEntryResponse(
        group=message.group,
        term=message.term,
        code=int(code),
        index=first,
        count=len(message.entries),
    )


def _answer(
    state: PusherState,
    request: RequestId,
    message: PushEntryRequest,
    code: DLedgerResponseCode,
    around: Around,
) -> PusherStepped:
    answer = _response(message, code)
    if code is DLedgerResponseCode.EXPIRED_TERM:
        answer = replace(answer, term=around.member.curr_term)
    return PusherStepped(state, (SendPushAnswer(request=request, message=answer),))


# ---- COMPARE ----


def _compare(
    state: PusherState, request: RequestId, message: PushEntryRequest, around: Around
) -> PusherStepped:
    """Tell whether this log has an entry of the leader; if not, what it has there.

    Which term that is, and where it begins, or where what is not committed of it does: a leader of
    DLedger compares the entry before that next, and has all behind it cut.

    Spec: DLedger!Compare
    Source: DLedgerEntryPusher.EntryHandler.handleDoCompare
    """
    log, index, term = around.log, message.pre_log_index, message.pre_log_term
    if has_entry(log, index, term):
        state = replace(state, same_index=max(state.same_index, index))
        answered = _answer(state, request, message, DLedgerResponseCode.SUCCESS, around)
        return replace(answered, action=PusherAction.COMPARE)
    answer = replace(
        _response(message, DLedgerResponseCode.INCONSISTENT_STATE),
        begin_index=LogIndex(log.before_begin_index + 1),
        end_index=log.end_index,
    )
    found = log.term_at(index)
    if found is not None:
        first = _first_of_term(log, found, index)
        if state.committed_index < index:  # up to there a leader has the same
            first = LogIndex(max(first, state.committed_index + 1))
        answer = replace(answer, x_term=found, x_index=first)
    return PusherStepped(state, (SendPushAnswer(request=request, message=answer),))


def _first_of_term(log: LedgerView, term: Term, index: LogIndex) -> LogIndex:
    """Return the first entry of the term that `index` has, of those that are here.

    Source: DLedgerStore.getFirstLogOfTargetTerm
    """
    low, high = log.before_begin_index, index
    while low < high:
        middle = LogIndex((low + high) // 2)
        at = log.term_at(middle)
        assert at is not None, middle
        low, high = (low, middle) if at >= term else (LogIndex(middle + 1), high)
    return low


# ---- TRUNCATE ----


def _truncate(
    state: PusherState, request: RequestId, message: PushEntryRequest, around: Around
) -> PusherStepped:
    """Cut an entry that is not the leader's, and all behind it.

    A leader of DLedger does not say which term it has there (-1): then all but what is committed is
    cut.

    Spec: DLedger!Truncate
    Source: DLedgerEntryPusher.EntryHandler.handleDoTruncate
    """
    log, index, rules = around.log, message.pre_log_index, around.config.push_rules
    done = PushDone(request=request, index=LogIndex(index - 1))
    follow: tuple[Then[PusherEvent], ...] = (Then(event=done), *_learns(message))
    own = log.term_at(index)
    if index <= log.before_begin_index:
        return _answer(state, request, message, DLedgerResponseCode.INCONSISTENT_STATE, around)
    if own is None or not rules.may_cut(own, message.pre_log_term):
        return PusherStepped(state, follow)
    if index <= state.committed_index and message.pre_log_term < 0:
        return _answer(state, request, message, DLedgerResponseCode.INCONSISTENT_STATE, around)
    if log.synced_index < log.end_index:  # what is left is on the disk, too
        again: PusherEvent = PushArrived(request=request, message=message)
        return PusherStepped(state, (SyncLedger(), Then(event=again)), PusherAction.SYNC)
    state = replace(state, same_index=min(state.same_index, LogIndex(index - 1)))
    return PusherStepped(state, (TruncateLedger(index=index), *follow), PusherAction.TRUNCATE)


# ---- APPEND ----


def _append(state: PusherState, event: PushArrived, around: Around) -> PusherStepped:
    """Append the next entry of a push; those that are here already are passed by.

    Spec: DLedger!AppendAsFollower
    Source: DLedgerEntryPusher.EntryHandler.handleDoAppend, checkAppendFuture
    """
    message, request, log = event.message, event.request, around.log
    if not message.entries:
        code = DLedgerResponseCode.UNEXPECTED_ARGUMENT
        return _answer(state, request, message, code, around)
    inconsistent = DLedgerResponseCode.INCONSISTENT_STATE
    at = event.written
    while at < len(message.entries) and message.entries[at].index <= state.same_index:
        entry = message.entries[at]
        if entry.index > log.before_begin_index and log.term_at(entry.index) != entry.term:
            return _answer(state, request, message, inconsistent, around)
        at += 1
    if at == len(message.entries):
        done = PushDone(request=request, index=message.entries[-1].index)
        return PusherStepped(state, (Then(event=done), *_learns(message)))
    entry, rules = message.entries[at], around.config.push_rules
    if entry.index != log.end_index + 1 or not rules.may_append(state.same_index, log.end_index):
        return _answer(state, request, message, inconsistent, around)
    if not _is_writable(entry, log, message.term):
        code = DLedgerResponseCode.UNEXPECTED_ARGUMENT
        return _answer(state, request, message, code, around)
    state = replace(state, same_index=entry.index)
    rest = replace(event, written=at + 1)
    effects = (AppendPushed(entry=entry), Then(event=rest))
    return PusherStepped(state, effects, PusherAction.APPEND_AS_FOLLOWER)


def _is_writable(entry: DLedgerEntry, log: LedgerView, term: Term) -> bool:
    """Tell whether a leader of this term may have an entry next; a bodyCrc of 0 is DLedger's."""
    is_whole = entry.body_crc in (0, body_crc(entry.body)) and len(entry.body) <= log.body_max
    return is_whole and log.end_term <= entry.term <= term


# ---- answers ----


def finish_push(state: PusherState, event: PushDone, around: Around) -> PusherStepped:
    """Answer once all is on the disk.

    Spec: DLedger!Acknowledge, DLedger!Sync
    """
    log, rules = around.log, around.config.push_rules
    kept = rules.ack_index(state.same_index, log.synced_index)
    if kept < event.index and log.synced_index < log.end_index:
        return PusherStepped(state, (SyncLedger(), Then(event=event)), PusherAction.SYNC)
    code = DLedgerResponseCode.SUCCESS
    if kept < event.index:
        code = DLedgerResponseCode.INCONSISTENT_STATE
    action = PusherAction.ACKNOWLEDGE if code is DLedgerResponseCode.SUCCESS else None
    answer: PushEntryResponse | InstallSnapshotResponse = PushEntryResponse(
        group=around.config.group,
        term=around.member.curr_term,
        code=int(code),
        index=event.index,
        begin_index=LogIndex(log.before_begin_index + 1),
        end_index=log.end_index,
    )
    if event.installed:
        answer = InstallSnapshotResponse(
            group=around.config.group, term=around.member.curr_term, code=int(code)
        )
    sent = SendPushAnswer(request=event.request, message=answer)
    return PusherStepped(state, (sent,), action)


# ---- COMMIT ----


def _learns(message: PushEntryRequest) -> tuple[Then[PusherEvent], ...]:
    """Take the commit index along that every push has."""
    if message.leader_id is None or message.commit_index < 0:
        return ()
    learns = LearnCommitDue(
        leader_id=message.leader_id, term=message.term, commit_index=message.commit_index
    )
    return (Then(event=learns),)


def learn_commit(state: PusherState, event: LearnCommitDue, around: Around) -> PusherStepped:
    """Commit what the leader has committed and this log has of it.

    Spec: DLedger!LearnCommit
    Source: MemberState.followerUpdateCommittedIndex
    """
    member, rules = around.member, around.config.push_rules
    leads = member.is_follower and member.leader_id == event.leader_id
    bound = rules.commit_bound(state.same_index, around.log.end_index)
    index = min(event.commit_index, bound)
    if not rules.is_of_leader(leads, event.term == member.curr_term):
        return PusherStepped(state)
    if index <= state.committed_index:
        return PusherStepped(state)
    state = replace(state, committed_index=index)
    return PusherStepped(state, (apply_soon(around.config),), PusherAction.LEARN_COMMIT)


# ---- INSTALL_SNAPSHOT ----


def handle_install_snapshot(
    state: PusherState, event: SnapshotArrived, around: Around
) -> PusherStepped:
    """Load a snapshot of the leader in place of the state, if it is ahead of what is committed.

    Spec: DLedger!InstallSnapshot
    Source: DLedgerEntryPusher.EntryHandler.handleDoInstallSnapshot,
    SnapshotManager.installSnapshot
    """
    message, rules, log = event.message, around.config.push_rules, around.log
    index, term = message.last_included_index, message.last_included_term
    answer = InstallSnapshotResponse(group=message.group, term=message.term)
    code = _refusal(message, around)
    if code is None and not rules.may_install():
        code = DLedgerResponseCode.UNSUPPORTED
    if code is None and not rules.is_fresh(index, state.committed_index):
        code = DLedgerResponseCode.NEWER_INSTALL_SNAPSHOT_REQUEST_EXIST
    if code is not None:
        refused = replace(answer, code=int(code))
        return PusherStepped(state, (SendPushAnswer(request=event.request, message=refused),))
    if log.synced_index < log.end_index:  # what is left is on the disk, too
        return PusherStepped(state, (SyncLedger(), Then(event=event)), PusherAction.SYNC)
    state = replace(
        state,
        committed_index=rules.commit_after_install(state.committed_index, index),
        applied_index=index,
        snapshot_index=index,
        same_index=max(state.same_index, index),
    )
    install = InstallSnapshot(
        index=index, term=term, data=message.data, keeps_log=has_entry(log, index, term)
    )
    done: PusherEvent = PushDone(request=event.request, index=index, installed=True)
    return PusherStepped(state, (install, Then(event=done)), PusherAction.INSTALL_SNAPSHOT)
