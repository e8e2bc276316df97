"""The core of a DLedger node: elections and the log, together.

Where the log ends, elections read from the log itself at each step. When the role changes, what was
known of others' logs is forgotten, and who waits hears that nobody knows.

Source: DLedgerServer
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Final, assert_never

from rocketha.dledger import elector
from rocketha.dledger.committing import (
    append_as_leader,
    apply_next,
    check_quorum,
    cut_log,
    save_snapshot,
    sync_ledger,
)
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.entry_dispatcher import (
    begin_dispatching,
    count_push,
    dispatch,
    dispatch_timer_ms,
)
from rocketha.dledger.entry_handler import (
    finish_push,
    handle_install_snapshot,
    handle_push,
    learn_commit,
)
from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.member_state import MemberState
from rocketha.dledger.node_state import (
    AnswerApplied,
    AppendAsked,
    LeadershipBegun,
    NodeHears,
    NodeState,
    NodeStepped,
    ReadAsked,
    RefuseClient,
    Started,
    Waiting,
)
from rocketha.dledger.push_state import (
    NO_INDEX,
    ApplyCommitted,
    ApplyDue,
    Around,
    CutLogDue,
    DispatchDue,
    LearnCommitDue,
    PushAnswered,
    PushArrived,
    PushDone,
    PusherEvent,
    PusherState,
    PusherStepped,
    QuorumDue,
    SnapshotArrived,
    SnapshotDue,
    SyncDue,
)
from rocketha.dledger.reads import ask_read, serve_reads
from rocketha.dledger.state import (
    NO_MARKS,
    Answered,
    Asked,
    ElectorEvent,
    KeepTermAndVote,
    MaintainState,
    PreferredLeaderDue,
)
from rocketha.formats.dledger_codes import DLedgerEntryType, DLedgerResponseCode
from rocketha.formats.dledger_entry_json import PUSHED_BODY_MAX
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.runtime.effects import Effect, Then
from rocketha.runtime.events import TimerFired
from rocketha.types import LogIndex, TimestampMs

__all__ = ["draw", "next_timer_ms", "started", "step"]

_MULTIPLIER: Final = 6364136223846793005
_INCREMENT: Final = 1442695040888963407
_LONG_AGO: Final = TimestampMs(0)


def started(
    config: DLedgerConfig,
    kept: TermAndVote | None,
    log: LedgerView,
    *,
    snapshot_index: LogIndex = NO_INDEX,
    seed: int = 0,
    now_ms: TimestampMs = _LONG_AGO,
) -> NodeState:
    """Return a node that has just come up with its disk, and has loaded its newest snapshot.

    Its first event is `Started`; `now_ms` is what its clock shows.

    Spec: DLedger!Crash
    """
    elected = elector.started(config, kept, end_index=log.end_index, end_term=log.end_term)
    pusher = PusherState(
        committed_index=snapshot_index,
        applied_index=snapshot_index,
        snapshot_index=snapshot_index,
    )
    if kept is not None and config.waits_after_restart:
        asks_from_ms = TimestampMs(now_ms + config.lease_ms)
        elected = replace(elected, next_time_to_request_vote_ms=asks_from_ms)
    return NodeState(elector=elected, pusher=pusher, random=seed)


def draw(state: NodeState) -> tuple[NodeState, int]:
    """Return the next random number, of 31 bits."""
    after = (state.random * _MULTIPLIER + _INCREMENT) % 2**64
    return replace(state, random=after), after >> 33


def step(
    state: NodeState, event: NodeHears, *, now_ms: TimestampMs, log: LedgerView
) -> NodeStepped:
    """Take one event."""
    state = _with_ledger(state, log)
    match event:
        case Started():  # a first start leaves a file, so that the next one is known for what it is
            return NodeStepped(state, (KeepTermAndVote(kept=state.elector.member.kept),))
        case TimerFired():
            return _time_passed(state, now_ms=now_ms, log=log)
        case Answered(peer=peer):
            is_behind = state.pusher.water_marks.get(peer, NO_INDEX) < log.end_index
            return _elect(state, replace(event, is_behind=is_behind), now_ms=now_ms)
        case MaintainState() | Asked() | PreferredLeaderDue():
            return _elect(state, event, now_ms=now_ms)
        case LeadershipBegun():
            return _begin_to_lead(state, now_ms=now_ms, log=log)
        case AppendAsked():
            return _append(state, event, now_ms=now_ms, log=log)
        case ReadAsked():
            return ask_read(state, event, log, now_ms=now_ms)
        case _:
            return _push(state, event, now_ms=now_ms, log=log)


def next_timer_ms(state: NodeState) -> TimestampMs:
    """Return when `TimerFired` is due; 0: at once."""
    config, leads = state.elector.config, state.elector.member.is_leader
    due = [elector.next_timer_ms(state.elector) or TimestampMs(0)]
    if leads and config.preferred_leader_ids:
        due.append(state.preferred_due_ms or TimestampMs(0))
    dispatches = dispatch_timer_ms(state.pusher, config)
    if dispatches is not None:
        due.append(dispatches)
    since = [one.since_ms for one in state.waiting.values()]
    since += [read.since_ms for read in state.reads]
    if since:
        due.append(TimestampMs(min(since) + config.max_wait_ack_time_ms + 1))
    return min(due)


def _with_ledger(state: NodeState, log: LedgerView) -> NodeState:
    """Let elections know where the log ends. Source: MemberState.updateLedgerIndexAndTerm"""
    member = state.elector.member
    if (member.ledger_end_index, member.ledger_end_term) == (log.end_index, log.end_term):
        return state
    member = replace(member, ledger_end_index=log.end_index, ledger_end_term=log.end_term)
    return replace(state, elector=replace(state.elector, member=member))


# ---- time ----


def _time_passed(state: NodeState, *, now_ms: TimestampMs, log: LedgerView) -> NodeStepped:
    """Do what is due: elections first, all else with the next tick."""
    due = elector.next_timer_ms(state.elector)
    if due is None or due <= now_ms:
        state, drawn = draw(state)
        return _elect(state, MaintainState(drawn=drawn), now_ms=now_ms)
    member, config = state.elector.member, state.elector.config
    is_due = state.preferred_due_ms is None or state.preferred_due_ms <= now_ms
    if member.is_leader and config.preferred_leader_ids and is_due:
        later = TimestampMs(now_ms + config.preferred_leader_interval_ms)
        looks = PreferredLeaderDue(water_marks=state.pusher.water_marks)
        state = replace(state, preferred_due_ms=later)
        return _elect(state, looks, now_ms=now_ms)
    state, refused = _without_overdue(state, now_ms)
    stepped = _push(state, DispatchDue(), now_ms=now_ms, log=log)
    return replace(stepped, effects=(*refused, *stepped.effects))


def _without_overdue(state: NodeState, now_ms: TimestampMs) -> tuple[NodeState, tuple[Effect, ...]]:
    """Tell clients that have waited for long.

    Source: DLedgerEntryPusher.checkResponseFuturesTimeout
    """
    limit = now_ms - state.elector.config.max_wait_ack_time_ms
    code = DLedgerResponseCode.WAIT_QUORUM_ACK_TIMEOUT
    late = {at: one for at, one in state.waiting.items() if one.since_ms < limit}
    reads = tuple([read for read in state.reads if read.since_ms < limit])
    if not late and not reads:
        return state, ()
    refused = [_refuse(state, one.ticket, code, unknown=True) for one in late.values()]
    refused += [_refuse(state, read.ticket, code) for read in reads]
    waiting = {at: one for at, one in state.waiting.items() if at not in late}
    left = tuple([read for read in state.reads if read.since_ms >= limit])
    return replace(state, waiting=MappingProxyType(waiting), reads=left), tuple(refused)


def _refuse(
    state: NodeState, ticket: int, code: DLedgerResponseCode, *, unknown: bool = False
) -> RefuseClient:
    leader = state.elector.member.leader_id
    return RefuseClient(ticket=ticket, code=code, leader_id=leader, is_unknown=unknown)


# ---- elections ----


def _elect(state: NodeState, event: ElectorEvent, *, now_ms: TimestampMs) -> NodeStepped:
    """Let the elector take an event, and follow what it makes of the role."""
    before = state.elector.member
    stepped = elector.step(state.elector, event, now_ms=now_ms)
    state = replace(state, elector=stepped.state)
    changed = _role_changed(state, before)
    served = serve_reads(changed.state)
    effects = (*stepped.effects, *changed.effects, *served.effects)
    return NodeStepped(served.state, effects, stepped.action)


def _leadership_of(member: MemberState) -> tuple[object, ...]:
    return (member.role, member.leader_id, member.curr_term)


def _role_changed(state: NodeState, before: MemberState) -> NodeStepped:
    """Forget what was known of other logs; who waits may wait for ever.

    Source: DLedgerEntryPusher.QuorumAckChecker (`clear pending closure in old term`)
    """
    member = state.elector.member
    if _leadership_of(member) == _leadership_of(before):
        return NodeStepped(state)
    pusher = replace(
        state.pusher,
        same_index=NO_INDEX,
        dispatchers=MappingProxyType({}),
        water_marks=NO_MARKS,
    )
    code = DLedgerResponseCode.NOT_LEADER
    waiting = state.waiting
    if not state.elector.config.answer_rules.waits_on(False):
        waiting = MappingProxyType({})
    over = [one for at, one in state.waiting.items() if at not in waiting]
    refused: list[Effect] = [_refuse(state, one.ticket, code, unknown=True) for one in over]
    refused += [_refuse(state, read.ticket, code) for read in state.reads]
    state = replace(state, pusher=pusher, waiting=waiting, reads=())
    begins = (Then(event=LeadershipBegun()),) if member.is_leader else ()
    return NodeStepped(state, (*refused, *begins))


# ---- leading ----


def _begin_to_lead(state: NodeState, *, now_ms: TimestampMs, log: LedgerView) -> NodeStepped:
    """Begin to push; an entry of this term lets what is before it be committed, too.

    Source: DLedgerServer (`enableFastAdvanceCommitIndex`)
    """
    around = _around(state, now_ms, log)
    if not around.member.is_leader:
        return NodeStepped(state)
    pusher = begin_dispatching(state.pusher, around)
    state = replace(state, pusher=pusher)
    if not around.config.enable_fast_advance_commit_index:
        return _push(state, DispatchDue(), now_ms=now_ms, log=log)
    return _pushed(state, append_as_leader(pusher, DLedgerEntryType.NOOP, b"", around))


def _append(
    state: NodeState, event: AppendAsked, *, now_ms: TimestampMs, log: LedgerView
) -> NodeStepped:
    """Write what a client asks for, and let it wait.

    Source: DLedgerServer.handleAppend; DLedgerMmapFileStore.appendAsLeader, whose DISK_ERROR says
    that no file has room for an entry
    """
    member, config = state.elector.member, state.elector.config
    code = None
    if not member.is_leader:
        code = DLedgerResponseCode.NOT_LEADER
    elif member.transferee is not None:
        code = DLedgerResponseCode.LEADER_TRANSFERRING
    elif len(state.waiting) >= config.max_pending_requests_num:
        code = DLedgerResponseCode.LEADER_PENDING_FULL
    elif len(event.body) > min(log.body_max, PUSHED_BODY_MAX):
        code = DLedgerResponseCode.DISK_ERROR
    if code is not None:
        return NodeStepped(state, (_refuse(state, event.ticket, code),))
    index = LogIndex(log.end_index + 1)
    around = _around(state, now_ms, log)
    written = append_as_leader(state.pusher, DLedgerEntryType.NORMAL, event.body, around)
    if config.answer_rules.is_done(False):
        done = AnswerApplied(ticket=event.ticket, index=index, term=member.curr_term)
        stepped = _pushed(state, written)
        return replace(stepped, effects=(*stepped.effects, done))
    waits = Waiting(ticket=event.ticket, since_ms=now_ms)
    state = replace(state, waiting=MappingProxyType({**state.waiting, index: waits}))
    return _pushed(state, written)


# ---- the log ----


def _around(state: NodeState, now_ms: TimestampMs, log: LedgerView) -> Around:
    member, config = state.elector.member, state.elector.config
    return Around(config=config, member=member, log=log, now_ms=now_ms)


def _push(
    state: NodeState, event: PusherEvent, *, now_ms: TimestampMs, log: LedgerView
) -> NodeStepped:
    around = _around(state, now_ms, log)
    return _pushed(state, _take_push(state.pusher, event, around))


def _take_push(pusher: PusherState, event: PusherEvent, around: Around) -> PusherStepped:
    match event:
        case PushArrived():
            return handle_push(pusher, event, around)
        case PushDone():
            return finish_push(pusher, event, around)
        case SnapshotArrived():
            return handle_install_snapshot(pusher, event, around)
        case PushAnswered():
            return count_push(pusher, event, around)
        case LearnCommitDue():
            return learn_commit(pusher, event, around)
        case DispatchDue():
            return dispatch(pusher, around)
        case SyncDue():
            return sync_ledger(pusher, around)
        case QuorumDue():
            return check_quorum(pusher, around)
        case ApplyDue():
            return apply_next(pusher, around)
        case SnapshotDue():
            return save_snapshot(pusher, around)
        case CutLogDue():
            return cut_log(pusher, around)
        case _ as unreachable:
            assert_never(unreachable)


def _pushed(state: NodeState, stepped: PusherStepped) -> NodeStepped:
    """Take the result of a step of the log; who waited for an applied entry is answered."""
    state = replace(state, pusher=stepped.state)
    effects: list[object] = []
    for effect in stepped.effects:
        effects.append(effect)
        waits = state.waiting.get(effect.index) if isinstance(effect, ApplyCommitted) else None
        if isinstance(effect, ApplyCommitted) and waits is not None:
            term = state.elector.member.curr_term
            effects.append(AnswerApplied(ticket=waits.ticket, index=effect.index, term=term))
            left = {at: one for at, one in state.waiting.items() if at != effect.index}
            state = replace(state, waiting=MappingProxyType(left))
    served = serve_reads(state)
    return NodeStepped(served.state, (*effects, *served.effects), stepped.action)  # type: ignore[arg-type]
