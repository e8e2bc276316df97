"""confirmOffset: up to where every replica that counts has the master's log.

Source: AutoSwitchHAService (`computeConfirmOffset`), GroupTransferService (`doWaitTransfer`)
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.broker.effects import GroupAction, GroupActionName, GroupStepped
from rocketha.broker.puts import answer_replicated
from rocketha.broker.replicas import ack_of, record_end, slaves
from rocketha.broker.state import FlushedLogView, GroupBroker
from rocketha.broker.sync_state_set import ack_set
from rocketha.ha.state import NOT_YET
from rocketha.known_bugs.bug import Bug
from rocketha.types import Offset

__all__ = ["confirm", "covered", "visible_end"]


def confirm(state: GroupBroker, *, log: FlushedLogView) -> GroupStepped:
    """Move confirmOffset to where enough replicas are, and answer the producers below it.

    Within a reign it never falls.

    Spec: ReplicaGroup!Acknowledge, SyncStateSet!Acknowledge
    Source: AutoSwitchHAService.updateConfirmOffsetWhenSlaveAck, GroupTransferService.doWaitTransfer
    """
    if not state.is_master or state.is_fenced:
        return GroupStepped(state)
    end = covered(state, log)
    if end <= state.confirm and not _falls(state):
        return GroupStepped(state)
    answered = answer_replicated(replace(state, confirm=end))
    action = GroupAction(name=GroupActionName.ACKNOWLEDGE, offset=end)
    return replace(answered, action=action)


def _falls(state: GroupBroker) -> bool:
    """Tell whether a member that has just connected takes confirmOffset back: with B16 only.

    Spec: SyncStateSet!Confirmed
    """
    if Bug.B16 not in state.options.bugs or state.confirm == 0:
        return False
    connected = slaves(state.ha)
    members = ack_set(state) - {state.broker_id}
    return members <= connected.keys() and any(connected[m].slave_ack == NOT_YET for m in members)


def covered(state: GroupBroker, log: FlushedLogView) -> Offset:
    """Return the end of the last message that enough replicas have.

    They are counted by their ids: two connections of one slave are one copy.

    Spec: ReplicaGroup!Covered, SyncStateSet!Gate
    """
    options = state.options
    if options.all_ack_in_sync_state_set:
        ends = sorted(_ends_that_count(state, log))
        enough = ends[0] if ends else log.max_phy_offset
    else:
        replicas = slaves(state.ha).keys() | {state.broker_id}
        copies = sorted((ack_of(state, replica, log) for replica in replicas), reverse=True)
        needed = options.in_sync_replicas
        enough = copies[needed - 1] if len(copies) >= needed else Offset(0)
    return record_end(log, min(enough, log.max_phy_offset))


def _ends_that_count(state: GroupBroker, log: FlushedLogView) -> list[Offset]:
    """Return up to where everybody who counts has the log.

    Spec: SyncStateSet!Confirmed, SyncStateSet!Heard
    """
    replicas, bugs = ack_set(state), state.options.bugs
    ends = [ack_of(state, replica, log) for replica in replicas]
    if Bug.COUNTED in bugs:
        everybody = slaves(state.ha).keys() | {state.broker_id}
        copies = sorted((ack_of(state, one, log) for one in everybody), reverse=True)
        return [copies[len(replicas) - 1] if len(copies) >= len(replicas) else NOT_YET]
    if bugs & {Bug.B15, Bug.B19}:
        connected = slaves(state.ha).keys()
        passed_by = {b for b in replicas if (Bug.B19 if b in connected else Bug.B15) in bugs}
        heard = {b: end for b, end in zip(replicas, ends, strict=True) if end != NOT_YET}
        return [heard.get(b, NOT_YET) for b in replicas if b in heard or b not in passed_by]
    return ends


def visible_end(state: GroupBroker, log: FlushedLogView) -> Offset:
    """Return up to where consumers see the log: what is confirmed, not what is merely written.

    Spec: ReplicaGroup!VisibleEnd, SyncStateSet!Served
    Source: CommitLog.getConfirmOffset
    """
    if Bug.W8 in state.options.bugs:
        # The source passes by who is not connected, and who has not reported anything.
        heard = [ack for r in ack_set(state) if (ack := ack_of(state, r, log)) > 0]
        return record_end(log, min([log.max_phy_offset, *heard]))
    if Bug.ALONE in state.options.bugs and state.local.members == {state.broker_id}:
        return record_end(log, log.max_phy_offset)
    return state.confirm
