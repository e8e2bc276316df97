"""Which action a step was: by what arrived, and by what has changed; nobody asks the core."""

from __future__ import annotations

from dataclasses import dataclass

from rocketproof.protocols.dledger.seen import NO_ROUND, Answers, Seen
from rocketproof.protocols.epoch_truncation.values import NONE

__all__ = ["Change", "action_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a step of a member changed, and what it was taken for."""

    before: Seen
    after: Seen
    round_before: Answers
    round_after: Answers
    of_others: bool
    """An answer of it is in the round of another member."""
    acks: bool
    truncates: bool
    transferred_to: str | None
    """It has asked this member to lead."""
    arrived: str | None
    """The kind of request that it took, if it took one."""
    answered_by: str | None
    """Of whom an answer came, if one did."""


def action_of(change: Change) -> tuple[str, tuple[str, ...]] | None:
    """Return the action, and its parameters but for the member; None: nobody knows."""
    log = _of_log(change)
    if log is not None:
        return log, ()
    before, after = change.before, change.after
    if change.transferred_to is not None:
        return "TransferLeadership", (change.transferred_to,)
    if after.term != before.term:
        return "IncreaseTerm", ()
    if before.role != after.role:
        return _of_role(change)
    if change.round_before == NO_ROUND and change.round_after != NO_ROUND:
        return "AskVotes", ()
    if change.round_before != NO_ROUND and change.round_after == NO_ROUND:
        return "ParseVotes", ()
    if before.transferee != NONE and after.transferee == NONE:
        return "GoOnLeading", ()
    if change.arrived == "VOTE":
        return "HandleVote", ()
    if change.arrived == "HEART_BEAT":
        return "HandleHeartbeat", ()
    return None


def _of_log(change: Change) -> str | None:
    before, after = change.before, change.after
    if after.snap != before.snap:
        return "InstallSnapshot" if after.applied != before.applied else "SaveSnapshot"
    if after.base != before.base:
        return "CutLog"
    if len(after.log) > len(before.log):
        return "AppendAsLeader" if after.role == "Leader" else "AppendAsFollower"
    if len(after.log) < len(before.log):
        return "Truncate"
    if after.synced != before.synced:
        return "Sync"
    if after.applied != before.applied:
        return "Apply"
    if after.commit != before.commit:
        return "CommitEntry" if after.role == "Leader" else "LearnCommit"
    if change.acks:
        return "Acknowledge"
    if change.truncates or after.same > before.same:
        return "Compare"
    return None


def _of_role(change: Change) -> tuple[str, tuple[str, ...]]:
    before, after = change.before, change.after
    if after.role == "Leader":
        return "ParseVotes", ()
    if after.role == "Follower":
        return "HandleHeartbeat", ()
    if change.arrived == "VOTE":
        return "HandleVote", ()
    if change.arrived == "HEART_BEAT":
        return "HandleHeartbeat", ()
    if change.arrived == "LEADERSHIP_TRANSFER":
        return "TakeLeadership", ()
    if after.taking != before.taking and after.taking > 0:
        return "TakeLeadership", ()
    if change.answered_by is not None and after.known > before.known:
        return "HearTerm", (change.answered_by,)
    return "BecomeCandidate", ()
