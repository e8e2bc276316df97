"""The SyncStateSet of a master: who must have a message, who joins, who is removed.

A master has one proposal at a time, and waits for everybody in it and in the set that it knows. It
sends the proposal until a newer version of the set tells that it was decided: the controller gives
the set a new version also when it refuses. An answer that fails, or none, decides nothing: another
copy may be on its way.

Source: AutoSwitchHAService (`maybeExpandInSyncStateSet`, `maybeShrinkSyncStateSet`,
`setSyncStateSet`), ReplicasManager (`checkSyncStateSetAndDoReport`, `doReportSyncStateSetChanged`,
`changeSyncStateSet`)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from rocketha.broker.controller_calls import ask, is_asking
from rocketha.broker.effects import GroupAction, GroupActionName, GroupEffect, GroupStepped
from rocketha.broker.events import ConfirmDue, ExpandDue
from rocketha.broker.replicas import connection_of, slaves
from rocketha.broker.rules import Members
from rocketha.broker.state import FlushedLogView, GroupBroker, Proposal
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import AlterSyncStateSet, GetReplicaInfo, Incarnation
from rocketha.formats.controller_responses import SyncStateSetAltered
from rocketha.ha.state import MasterConnection
from rocketha.runtime.effects import Then
from rocketha.types import BrokerId, SyncStateSetEpoch, TimestampMs

__all__ = [
    "ack_set",
    "check_set",
    "expand",
    "learn_set",
    "proposal_expired",
    "see_caught_up",
    "set_answered",
    "with_caught_up",
]


def ack_set(state: GroupBroker) -> frozenset[BrokerId]:
    """Return who must have a message before a producer is told that it is safe.

    Source: AutoSwitchHAService.getSyncStateSet
    """
    return state.options.rules.ack_set(state.local.members, _proposed(state))


def _proposed(state: GroupBroker) -> Members | None:
    return None if state.pending is None else state.pending.members


def see_caught_up(state: GroupBroker, *, now_ms: TimestampMs, log: FlushedLogView) -> GroupBroker:
    """Note which slaves have everything now; asked before the log grows, and when that matters.

    In the source a slave counts when everything is sent to it, whether it has it or not.

    Source: AutoSwitchHAService.updateConnectionLastCaughtUpTime
    """
    end = log.max_phy_offset
    full = [s for s, connection in slaves(state.ha).items() if connection.slave_ack == end]
    return with_caught_up(state, full, now_ms) if full else state


def with_caught_up(
    state: GroupBroker, replicas: Iterable[BrokerId], now_ms: TimestampMs
) -> GroupBroker:
    """Note that some slaves have everything, or begin to be watched."""
    times = {**state.caught_up_ms, **{r: now_ms for r in replicas if r != state.broker_id}}
    return replace(state, caught_up_ms=MappingProxyType(times))


def expand(state: GroupBroker, event: ExpandDue, *, now_ms: TimestampMs) -> GroupStepped:
    """Propose a slave that has caught up; the test and the proposal are one step.

    Spec: ReplicaGroup!MaybeExpand, SyncStateSet!Expand
    Source: AutoSwitchHAService.maybeExpandInSyncStateSet
    """
    slave = event.slave
    connection = connection_of(state.ha, slave)
    if not state.is_master or not _may_propose(state) or connection is None:
        return GroupStepped(state)
    if slave in state.local.members or slave == state.broker_id or connection.async_learner:
        return GroupStepped(state)
    if not _has_caught_up(state, connection):
        return GroupStepped(state)
    joining = _joining(state, slave, connection)
    action = GroupAction(name=GroupActionName.MAYBE_EXPAND, slaves=frozenset({slave}))
    members = state.local.members | {slave}
    return _propose(state, members, action, joining=joining, now_ms=now_ms)


def _may_propose(state: GroupBroker) -> bool:
    return state.options.rules.may_propose(_proposed(state))


def _has_caught_up(state: GroupBroker, connection: MasterConnection) -> bool:
    """Tell whether a slave has all that was promised, and the beginning of the master epoch."""
    rules, ack = state.options.rules, connection.slave_ack
    epoch_start = state.ha.cache.entries[-1].start_offset
    return rules.has_confirmed(ack, state.confirm) and rules.has_epoch_start(ack, epoch_start)


def _joining(
    state: GroupBroker, slave: BrokerId, connection: MasterConnection
) -> Mapping[BrokerId, Incarnation]:
    """Return the incarnation of who joins, from its handshake; a slave with a flag tells none."""
    if not state.options.ha.tells_incarnation or connection.sync_from_last_file:
        return MappingProxyType({})
    return state.options.rules.joining(slave, state.slave_incarnations[slave])


def _propose(
    state: GroupBroker,
    members: frozenset[BrokerId],
    action: GroupAction,
    *,
    joining: Mapping[BrokerId, Incarnation] = MappingProxyType({}),
    now_ms: TimestampMs,
) -> GroupStepped:
    """Ask the controller for a set in the place of the one that is known.

    Spec: ReplicaGroup!Propose
    """
    proposal = Proposal(
        members=members,
        expected=state.local.epoch,
        joining=joining,
        master_epoch=state.ha.known_epoch,
    )
    waits, send = _send(replace(state, pending=proposal), proposal, now_ms=now_ms)
    # For whom the master waits has changed.
    return GroupStepped(waits, (send, Then(event=ConfirmDue())), action)


def _send(
    state: GroupBroker, proposal: Proposal, *, now_ms: TimestampMs
) -> tuple[GroupBroker, GroupEffect]:
    """Send a proposal, perhaps again; it names the version that it was made from.

    RocketMQ names the version that it knows when it sends (B22).

    Source: ReplicasManager.doReportSyncStateSetChanged
    """
    request = AlterSyncStateSet(
        broker_name=state.options.broker_name,
        master_broker_id=state.broker_id,
        master_epoch=proposal.master_epoch,
        sync_state_set=SyncStateSet(proposal.members, proposal.expected),
        joining=proposal.joining,
        invoke_time_ms=now_ms,
    )
    return ask(state, request, now_ms=now_ms)


def check_set(state: GroupBroker, *, now_ms: TimestampMs, log: FlushedLogView) -> GroupStepped:
    """Send an undecided proposal again; without one, propose to remove who is behind for too long.

    Spec: ReplicaGroup!MaybeShrink, ReplicaGroup!KeepMember, SyncStateSet!Shrink
    Source: ReplicasManager.checkSyncStateSetAndDoReport,
    AutoSwitchHAService.maybeShrinkSyncStateSet
    """
    if not state.is_master or now_ms < state.check_at_ms:
        return GroupStepped(state)
    next_ms = TimestampMs(now_ms + state.options.check_sync_state_set_ms)
    state = replace(see_caught_up(state, now_ms=now_ms, log=log), check_at_ms=next_ms)
    late = _behind(state, now_ms)
    if late and _may_propose(state):
        action = GroupAction(name=GroupActionName.MAYBE_SHRINK, slaves=late)
        return _propose(state, state.local.members - late, action, now_ms=now_ms)
    if state.pending is not None:
        waits, send = _send(state, state.pending, now_ms=now_ms)
        return GroupStepped(waits, (send,))
    return GroupStepped(state)


def _behind(state: GroupBroker, now_ms: TimestampMs) -> frozenset[BrokerId]:
    """Return the members that may be removed, for they had not everything for too long."""
    members, since_ms = state.local.members, now_ms - state.options.slave_not_catchup_ms
    late = frozenset(m for m in members if state.caught_up_ms.get(m, now_ms) < since_ms)
    return state.options.rules.removable(late, members, state.ha)


def learn_set(state: GroupBroker, found: SyncStateSet, *, now_ms: TimestampMs) -> GroupStepped:
    """Take a set of the master's own epoch, if it is a newer version than the known one.

    Spec: ReplicaGroup!LearnSyncStateSet, SyncStateSet!Learn
    Source: ReplicasManager.changeSyncStateSet, AutoSwitchHAService.setSyncStateSet
    """
    rules = state.options.rules
    if not state.is_master or not rules.is_news(found.epoch, state.local.epoch):
        return GroupStepped(state)
    pending = state.pending
    if pending is not None and _is_decided(pending, found.epoch):
        found = rules.adopted(found, pending.members)
        pending = None if rules.ends(found.members, pending.members) else pending
    joined = found.members - state.local.members
    learnt = with_caught_up(replace(state, local=found, pending=pending), joined, now_ms)
    action = GroupAction(name=GroupActionName.LEARN_SYNC_STATE_SET)
    return GroupStepped(learnt, (Then(event=ConfirmDue()),), action)


def _is_decided(proposal: Proposal, known: SyncStateSetEpoch) -> bool:
    """Tell whether a proposal is decided, if this version of the set is known.

    Spec: SyncStateSet!Decided
    """
    return proposal.expected < known


def set_answered(
    state: GroupBroker, request: AlterSyncStateSet, content: object, *, now_ms: TimestampMs
) -> GroupStepped:
    """Hear what became of a proposal: the new set, or a refusal; then ask for the present set.

    Source: ReplicasManager.doReportSyncStateSetChanged, which goes on to wait after a refusal (B20)
    """
    if not state.is_master:
        return GroupStepped(state)
    if isinstance(content, SyncStateSetAltered):
        if request.master_epoch != state.ha.known_epoch:
            return GroupStepped(state)
        return learn_set(state, content.sync_state_set, now_ms=now_ms)
    query = GetReplicaInfo(broker_name=state.options.broker_name)
    asking, send = ask(state, query, now_ms=now_ms)
    return GroupStepped(asking, (send,)).then(_undecided(asking, refused=True))


def _undecided(state: GroupBroker, *, refused: bool) -> GroupStepped:
    """Let a proposal be that is refused, or not answered; if it ends, that is a step."""
    waits = state.options.rules.undecided(state, refused)
    ended = None if waits is state else GroupAction(name=GroupActionName.LEARN_SYNC_STATE_SET)
    return GroupStepped(waits, (), ended)


def proposal_expired(
    state: GroupBroker, request: AlterSyncStateSet, *, now_ms: TimestampMs
) -> GroupStepped:
    """Send a proposal again that was not answered in time; it may have been applied all the same.

    Spec: SyncStateSet!SendAlter
    """
    if not _is_pending(state, request):
        return GroupStepped(state)
    stepped = _undecided(state, refused=False)
    pending = stepped.state.pending
    if pending is None or is_asking(state, AlterSyncStateSet):
        return stepped
    waits, send = _send(state, pending, now_ms=now_ms)
    return GroupStepped(waits, (send,))


def _is_pending(state: GroupBroker, request: AlterSyncStateSet) -> bool:
    """Tell whether a request is a copy of the proposal that is not decided."""
    pending = state.pending
    return pending is not None and (
        request.master_epoch,
        request.sync_state_set,
    ) == (pending.master_epoch, SyncStateSet(pending.members, pending.expected))
