"""Consumers' calls: a master shows its log as far as it is confirmed.

Source: broker/processor `PullMessageProcessor`, store `DefaultMessageStore.getMessage`,
`ReputMessageService`
"""

from __future__ import annotations

from rocketha.broker.confirm import visible_end
from rocketha.broker.effects import AnswerPull, GroupAction, GroupActionName, GroupStepped
from rocketha.broker.events import PullRequested
from rocketha.broker.state import FlushedLogView, GroupBroker

__all__ = ["pull"]


def pull(state: GroupBroker, event: PullRequested, *, log: FlushedLogView) -> GroupStepped:
    """Show the log from an offset up to what is confirmed; a slave, or a fenced broker, refuses.

    Spec: ReplicaGroup!Consume, ReplicaGroup!Shown, ReplicaGroup!ShownNothing
    Source: DefaultMessageStore.getMessage
    """
    if not state.is_master or state.is_fenced:
        return GroupStepped(state, (AnswerPull(pull=event.pull, offset=event.offset, data=None),))
    end = visible_end(state, log)
    if not log.min_offset <= event.offset < end:
        return GroupStepped(state, (AnswerPull(pull=event.pull, offset=event.offset, data=b""),))
    data = log.read(event.offset, end - event.offset)
    return GroupStepped(
        state,
        (AnswerPull(pull=event.pull, offset=event.offset, data=data),),
        GroupAction(name=GroupActionName.CONSUME, offset=end),
    )
