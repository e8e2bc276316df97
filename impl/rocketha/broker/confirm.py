"""confirmOffset: up to where every replica that counts has the master's log.

Source: AutoSwitchHAService (`computeConfirmOffset`), GroupTransferService (`doWaitTransfer`)
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.broker.effects import GroupAction, GroupActionName, GroupStepped
from rocketha.broker.puts import answer_replicated
from rocketha.broker.replicas import ack_of, end_of_copies, record_end
from rocketha.broker.state import FlushedLogView, GroupBroker
from rocketha.broker.sync_state_set import ack_set
from rocketha.types import Offset

__all__ = ["confirm", "covered", "visible_end"]


def confirm(state: GroupBroker, *, log: FlushedLogView) -> GroupStepped:
    """Move confirmOffset to where enough replicas are, and answer the producers below it.

    Spec: ReplicaGroup!Acknowledge, SyncStateSet!Acknowledge
    Source: AutoSwitchHAService.updateConfirmOffsetWhenSlaveAck, GroupTransferService.doWaitTransfer
    """
    if not state.is_master or state.is_fenced:
        return GroupStepped(state)
    end = covered(state, log)
    rules, replicas = state.options.rules, ack_set(state)
    if not rules.may_confirm(end, state.confirm, replicas, state.ha):
        return GroupStepped(state)
    answered = answer_replicated(replace(state, confirm=end))
    action = GroupAction(name=GroupActionName.ACKNOWLEDGE, offset=end)
    return replace(answered, action=action)


def covered(state: GroupBroker, log: FlushedLogView) -> Offset:
    """Return the end of the last message that enough replicas have.

    Spec: ReplicaGroup!Covered, SyncStateSet!Gate
    """
    options = state.options
    if options.all_ack_in_sync_state_set:
        acks = {replica: ack_of(state.ha, replica, log) for replica in ack_set(state)}
        enough = options.rules.gate(acks, state.ha, log)
    else:
        enough = end_of_copies(state.ha, options.in_sync_replicas, log)
    return record_end(log, min(enough, log.max_phy_offset))


def visible_end(state: GroupBroker, log: FlushedLogView) -> Offset:
    """Return up to where consumers see the log.

    Source: CommitLog.getConfirmOffset
    """
    visible = state.options.rules.visible_end
    return visible(state.confirm, state.local.members, ack_set(state), state.ha, log)
