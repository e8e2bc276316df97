"""A leader's work for each follower: see what it has, cut the rest, send, say what is committed.

| state            | sends                                                    | then             |
|------------------|----------------------------------------------------------|------------------|
| COMPARE          | index and term of an entry                               | TRUNCATE; COMPARE |
| TRUNCATE         | the first entry to cut, and the term that is to be there | APPEND           |
| APPEND           | entries, several pushes at a time                        | INSTALL_SNAPSHOT |
| INSTALL_SNAPSHOT | the newest snapshot                                      | APPEND           |

The last entry that both logs have is found by terms: the follower says which term it has at the
compared place, and where that begins. DLedger goes before the whole term.

Whatever fails begins with COMPARE again, after a while; a push that is not answered is sent again.

Source: DLedgerEntryPusher.EntryDispatcher
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.ledger import last_of_term
from rocketha.dledger.push_state import (
    NO_INDEX,
    Around,
    DispatchDue,
    DispatcherState,
    EntryDispatcher,
    PushAnswered,
    Pushed,
    PusherEvent,
    PusherState,
    PusherStepped,
    QuorumDue,
    SendPush,
    SendSnapshot,
)
from rocketha.dledger.state import RequestNumber
from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_entry_json import PUSHED_MAX, pushed_size
from rocketha.formats.dledger_requests import PushEntryRequest, PushEntryResponse
from rocketha.runtime.effects import Effect, Then
from rocketha.types import LogIndex, TimestampMs

__all__ = ["begin_dispatching", "count_push", "dispatch", "dispatch_timer_ms"]

_MAX_PENDING: Final = 1_000
"""Pushes that wait for answers, per follower. Source: EntryDispatcher.maxPendingSize"""


def begin_dispatching(state: PusherState, around: Around) -> PusherState:
    """Begin to lead: nothing is known of anybody."""
    write = LogIndex(around.log.end_index + 1)
    for peer in around.config.others:
        state = state.with_dispatcher(peer, EntryDispatcher(write_index=write))
    return state


def dispatch_timer_ms(state: PusherState, config: DLedgerConfig) -> TimestampMs | None:
    """Return when something is to be sent that no event asks for; None: never."""
    due: list[int] = []
    for one in state.dispatchers.values():
        if one.retry_ms is not None:
            due.append(one.retry_ms)
        elif one.pending:
            append = one.type is DispatcherState.APPEND
            waits_ms = config.max_push_time_out_ms if append else config.rpc_timeout_ms
            due.append(one.pending[0].sent_ms + waits_ms + 1)
        elif one.type is DispatcherState.APPEND and one.last_push_commit_ms is not None:
            due.append(one.last_push_commit_ms + config.push_commit_interval_ms + 1)
    return TimestampMs(min(due)) if due else None


def dispatch(state: PusherState, around: Around) -> PusherStepped:
    """Send whatever is to be sent to the followers."""
    effects: list[Effect | Then[PusherEvent]] = []
    for peer in state.dispatchers:
        state, sent = _dispatch_to(state, peer, around)
        effects += sent
    return PusherStepped(state, tuple(effects))


def _dispatch_to(state: PusherState, peer: str, around: Around) -> tuple[PusherState, list[Effect]]:
    dispatcher = state.dispatchers[peer]
    if dispatcher.retry_ms is not None and around.now_ms < dispatcher.retry_ms:
        return state, []
    dispatcher = replace(dispatcher, retry_ms=None)
    dispatcher = _without_overdue(dispatcher, around)
    if dispatcher.type is DispatcherState.APPEND:
        return _append(state, peer, dispatcher, around)
    if dispatcher.pending:
        return state.with_dispatcher(peer, dispatcher), []
    if dispatcher.type is DispatcherState.TRUNCATE:
        if dispatcher.match_index + 1 < around.log.before_begin_index:  # cut since: which term?
            dispatcher = replace(dispatcher, type=DispatcherState.INSTALL_SNAPSHOT)
            return _install(state, peer, dispatcher, around)
        return _truncate(state, peer, dispatcher, around)
    if dispatcher.type is DispatcherState.COMPARE:
        return _compare(state, peer, dispatcher, around)
    return _install(state, peer, dispatcher, around)


def _without_overdue(dispatcher: EntryDispatcher, around: Around) -> EntryDispatcher:
    """Wait no longer for answers that should be here.

    Source: EntryDispatcher.doCheckAppendResponse
    """
    if not dispatcher.pending:
        return dispatcher
    waited = around.now_ms - dispatcher.pending[0].sent_ms
    if dispatcher.type is not DispatcherState.APPEND:
        return (
            dispatcher
            if waited <= around.config.rpc_timeout_ms
            else replace(dispatcher, pending=())
        )
    if waited <= around.config.max_push_time_out_ms:
        return dispatcher
    write = LogIndex(dispatcher.match_index + 1)
    return replace(dispatcher, pending=(), write_index=write)


# ---- what is sent ----


def _request(around: Around, peer: str, kind: PushType, committed: LogIndex) -> PushEntryRequest:
    config, member = around.config, around.member
    return PushEntryRequest(
        group=config.group,
        local_id=config.self_id,
        remote_id=peer,
        leader_id=config.self_id,
        term=member.curr_term,
        kind=kind,
        commit_index=committed,
    )


def _pushed(
    state: PusherState,
    peer: str,
    dispatcher: EntryDispatcher,
    around: Around,
    span: tuple[LogIndex, LogIndex],
) -> tuple[PusherState, RequestNumber]:
    """Remember that something is on its way, and give it a number."""
    number = RequestNumber(state.last_number + 1)
    sent = Pushed(number=number, first=span[0], last=span[1], sent_ms=around.now_ms)
    dispatcher = replace(dispatcher, pending=(*dispatcher.pending, sent))
    return replace(state.with_dispatcher(peer, dispatcher), last_number=number), number


def _compare(
    state: PusherState, peer: str, dispatcher: EntryDispatcher, around: Around
) -> tuple[PusherState, list[Effect]]:
    """Source: EntryDispatcher.doCompare"""
    log = around.log
    index = LogIndex(min(dispatcher.write_index - 1, log.end_index))
    term = log.term_at(index)
    if term is None:
        installs = replace(dispatcher, type=DispatcherState.INSTALL_SNAPSHOT)
        return _install(state, peer, installs, around)
    dispatcher = replace(dispatcher, write_index=LogIndex(index + 1))
    state, number = _pushed(state, peer, dispatcher, around, (index, index))
    message = replace(
        _request(around, peer, PushType.COMPARE, state.committed_index),
        pre_log_index=index,
        pre_log_term=term,
    )
    return state, [SendPush(number=number, peer=peer, message=message)]


def _truncate(
    state: PusherState, peer: str, dispatcher: EntryDispatcher, around: Around
) -> tuple[PusherState, list[Effect]]:
    """Say which term is to be behind the match: that of an entry, or of one yet to be written.

    Source: EntryDispatcher.doTruncate
    """
    index = LogIndex(dispatcher.match_index + 1)
    term = around.log.term_at(index)
    last = dispatcher.match_index
    if around.config.legacy_push and last < 0 and term is not None:
        last = index  # an entry is written that ends the log
    state, number = _pushed(state, peer, dispatcher, around, (index, last))
    message = replace(
        _request(around, peer, PushType.TRUNCATE, state.committed_index),
        pre_log_index=index,
        pre_log_term=around.member.curr_term if term is None else term,
    )
    return state, [SendPush(number=number, peer=peer, message=message)]


def _append(
    state: PusherState, peer: str, dispatcher: EntryDispatcher, around: Around
) -> tuple[PusherState, list[Effect]]:
    """Send entries as far as there are any; else tell now and then what is committed.

    Source: EntryDispatcher.doAppend, sendBatchAppendEntryRequest, doCommit
    """
    log, effects = around.log, list[Effect]()
    may_push = len(dispatcher.pending) < _MAX_PENDING
    if may_push and dispatcher.write_index <= log.before_begin_index:
        installs = replace(dispatcher, type=DispatcherState.INSTALL_SNAPSHOT, pending=())
        return _install(state, peer, installs, around)
    while dispatcher.write_index <= log.end_index and len(dispatcher.pending) < _MAX_PENDING:
        entries = _batch(dispatcher.write_index, around)
        last = entries[-1].index
        dispatcher = replace(
            dispatcher, write_index=LogIndex(last + 1), last_push_commit_ms=around.now_ms
        )
        state, number = _pushed(state, peer, dispatcher, around, (entries[0].index, last))
        dispatcher = state.dispatchers[peer]
        message = replace(
            _request(around, peer, PushType.APPEND, state.committed_index), entries=entries
        )
        effects.append(SendPush(number=number, peer=peer, message=message))
    told, interval_ms = dispatcher.last_push_commit_ms, around.config.push_commit_interval_ms
    is_idle = not dispatcher.pending and not effects
    if is_idle and (told is None or around.now_ms - told > interval_ms):
        dispatcher = replace(dispatcher, last_push_commit_ms=around.now_ms)
        number = RequestNumber(state.last_number + 1)
        state = replace(state, last_number=number)
        message = _request(around, peer, PushType.COMMIT, state.committed_index)
        effects.append(SendPush(number=number, peer=peer, message=message))
    return state.with_dispatcher(peer, dispatcher), effects


def _batch(index: LogIndex, around: Around) -> tuple[DLedgerEntry, ...]:
    """Return entries from `index` on: one, or as many as a push may have."""
    log, config = around.log, around.config
    entries = [log.entry(index)]
    if not config.enable_batch_append:
        return tuple(entries)
    size, pushed = int(entries[0].size), pushed_size(entries[0])
    while entries[-1].index < log.end_index and size < config.max_batch_append_size:
        entry = log.entry(LogIndex(entries[-1].index + 1))
        size, pushed = size + entry.size, pushed + pushed_size(entry)
        if pushed > PUSHED_MAX:
            break
        entries.append(entry)
    return tuple(entries)


def _install(
    state: PusherState, peer: str, dispatcher: EntryDispatcher, around: Around
) -> tuple[PusherState, list[Effect]]:
    """Source: EntryDispatcher.doInstallSnapshot"""
    index = state.snapshot_index
    if index < around.log.before_begin_index:
        again = _after_error(_begin_again(dispatcher, around), around)
        return state.with_dispatcher(peer, again), []
    state, number = _pushed(state, peer, dispatcher, around, (index, index))
    term = around.member.curr_term
    return state, [SendSnapshot(number=number, peer=peer, term=term, index=index)]


# ---- what is answered ----


def count_push(state: PusherState, event: PushAnswered, around: Around) -> PusherStepped:
    """Take the answer to a push, unless nobody waits for it."""
    dispatcher = state.dispatchers.get(event.peer)
    if dispatcher is None:
        return PusherStepped(state)
    pushed = next((one for one in dispatcher.pending if one.number == event.number), None)
    if pushed is None:
        return PusherStepped(state)
    pending = tuple([one for one in dispatcher.pending if one.number != event.number])
    dispatcher = replace(dispatcher, pending=pending)
    message, code = event.message, DLedgerResponseCode.NETWORK_ERROR
    if message is not None:
        code = message.response_code
    if code is DLedgerResponseCode.SUCCESS:
        if around.config.legacy_push and isinstance(message, PushEntryResponse):
            dispatcher = _with_nothing_to_cut(dispatcher, pushed, message)
        return _succeeded(state, event.peer, dispatcher, pushed)
    if code is DLedgerResponseCode.INCONSISTENT_STATE:
        if dispatcher.type is DispatcherState.COMPARE and isinstance(message, PushEntryResponse):
            dispatcher = _compared(dispatcher, pushed.first, message, around)
        else:
            dispatcher = _lost_its_place(state, event.peer, dispatcher, around)
    elif dispatcher.type is DispatcherState.APPEND and message is None:
        write = LogIndex(min(dispatcher.write_index, dispatcher.match_index + 1))
        dispatcher = _after_error(replace(dispatcher, write_index=write, pending=()), around)
    else:
        dispatcher = _lost_its_place(state, event.peer, dispatcher, around)
        dispatcher = _after_error(dispatcher, around)
    state = state.with_dispatcher(event.peer, dispatcher)
    return PusherStepped(state, (Then(event=DispatchDue()),))


def _succeeded(
    state: PusherState, peer: str, dispatcher: EntryDispatcher, pushed: Pushed
) -> PusherStepped:
    """Go on; what a COMPARE has found is not yet said to be on the follower's disk."""
    match dispatcher.type:
        case DispatcherState.COMPARE:
            dispatcher = replace(
                dispatcher, type=DispatcherState.TRUNCATE, match_index=pushed.first
            )
            state = state.with_dispatcher(peer, dispatcher)
            return PusherStepped(state, (Then(event=DispatchDue()),))
        case DispatcherState.TRUNCATE | DispatcherState.INSTALL_SNAPSHOT:
            match_index = max(dispatcher.match_index, pushed.last)
            dispatcher = replace(
                dispatcher,
                type=DispatcherState.APPEND,
                match_index=match_index,
                write_index=LogIndex(match_index + 1),
            )
        case DispatcherState.APPEND:
            match_index = max(dispatcher.match_index, pushed.last)
            dispatcher = replace(dispatcher, match_index=match_index)
    state = state.with_dispatcher(peer, dispatcher).acknowledged(peer, pushed.last)
    follow: Iterable[Then[PusherEvent]] = (Then(event=QuorumDue()), Then(event=DispatchDue()))
    return PusherStepped(state, tuple(follow))


def _with_nothing_to_cut(
    dispatcher: EntryDispatcher, pushed: Pushed, answer: PushEntryResponse
) -> EntryDispatcher:
    """Append at once if a log ends with what was compared, as releases up to 0.3.2 do.

    Source: EntryDispatcher.doCompare of 0.3.2
    """
    is_all = dispatcher.type is DispatcherState.COMPARE and answer.end_index == pushed.first
    if not is_all:
        return dispatcher
    return replace(dispatcher, type=DispatcherState.TRUNCATE, match_index=pushed.first)


def _compared(
    dispatcher: EntryDispatcher, index: LogIndex, answer: PushEntryResponse, around: Around
) -> EntryDispatcher:
    """Return what to compare next: never again what was compared.

    Spec: DLedger!IsLastMatch
    """
    log, begin = around.log, answer.begin_index
    if begin > index + 1:
        # What the follower has cut is committed, and so in this log.
        return replace(dispatcher, write_index=begin)
    if answer.x_term < 0:
        earlier = min(answer.end_index, LogIndex(index - 1))
        return replace(dispatcher, write_index=LogIndex(earlier + 1))
    same = last_of_term(log, answer.x_term, LogIndex(index - 1))
    if same < answer.x_index:
        same = NO_INDEX
    earlier = around.config.push_rules.is_last_match(answer.x_term, same, answer.x_index)
    return replace(dispatcher, write_index=LogIndex(min(earlier, LogIndex(index - 1)) + 1))


def _lost_its_place(
    state: PusherState, peer: str, dispatcher: EntryDispatcher, around: Around
) -> EntryDispatcher:
    """Compare again; who may not goes on with what is next to be sent.

    Spec: DLedger!MayCompare
    """
    if around.config.push_rules.may_compare(peer in state.water_marks):
        return _begin_again(dispatcher, around)
    return replace(dispatcher, type=DispatcherState.APPEND)


def _begin_again(dispatcher: EntryDispatcher, around: Around) -> EntryDispatcher:
    """Compare from the end again. Source: EntryDispatcher.changeState"""
    write = LogIndex(around.log.end_index + 1)
    return replace(dispatcher, type=DispatcherState.COMPARE, write_index=write, pending=())


def _after_error(dispatcher: EntryDispatcher, around: Around) -> EntryDispatcher:
    return replace(dispatcher, retry_ms=TimestampMs(around.now_ms + around.config.push_retry_ms))
