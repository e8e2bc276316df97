"""The rules of DLedger's elections: each is an operator of DLedger.

Terms and indexes are DLedger's own, from 0 on; -1 is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.formats.dledger_codes import VoteResult
from rocketha.types import LogIndex, Term

__all__ = ["ELECTOR_RULES", "ElectorRules"]


def quorum(count: int, peers: int) -> bool:
    """Tell whether so many of the members decide.

    Spec: DLedgerMessages!Quorum
    """
    return count >= peers // 2 + 1


def end_term(last_entry: Term, curr_term: Term) -> Term:
    """Return the term that a node claims of its log: that of the last entry.

    Spec: DLedger!EndTerm
    """
    return last_entry


# ---- voters ----


def refuses_log(
    asked_term: Term, asked_index: LogIndex, own_term: Term, own_index: LogIndex
) -> VoteResult | None:
    """Return why a candidate's log must not win: it lacks what the voter has. None: it may.

    Spec: DLedger!RefusesLog
    """
    if asked_term < own_term:
        return VoteResult.REJECT_EXPIRED_LEDGER_TERM
    if asked_term == own_term and asked_index < own_index:
        return VoteResult.REJECT_SMALL_LEDGER_END_INDEX
    return None


def has_voted(vote: str | None, candidate: str) -> bool:
    """Tell whether the one vote of a term is somebody else's.

    Spec: DLedger!HasVoted
    """
    return vote is not None and vote != candidate


def may_vote(last_entry: Term, refill_term: Term) -> bool:
    """Tell whether a node knows what it has acknowledged, if its log was thrown away.

    Spec: DLedger!MayVote
    """
    return last_entry >= refill_term


def is_ready(asked: Term, curr_term: Term) -> bool:
    """Tell whether a node may vote in a term: it has gone there.

    Spec: DLedger!IsReady
    """
    return asked == curr_term


def is_taking(preferred: bool, taking: Term, curr_term: Term) -> bool:
    """Tell whether a node shall take the leadership in the term that it is in.

    Spec: DLedger!IsTaking
    """
    return preferred and taking == curr_term


def on_disk_first() -> bool:
    """Tell whether a vote is on the disk before it is given.

    Spec: DLedger!VoteAfterCrash
    """
    return True


# ---- candidates ----


def next_term(known: Term, curr_term: Term) -> Term:
    """Return the term to go to: the next one, or a larger one that is known.

    Spec: DLedger!NextTerm
    """
    return Term(max(known, curr_term + 1))


def may_lead(needs_larger_term: bool, known: Term, curr_term: Term) -> bool:
    """Tell whether who has the votes leads: it has not heard of a larger term meanwhile.

    Spec: DLedger!MayLead
    """
    return not needs_larger_term and known <= curr_term


def next_as_follower(to_next: bool) -> bool:
    """Tell whether a round says what the one after a time as follower does: it does not.

    Spec: DLedger!NextAsFollower
    """
    return False


def next_after_crash() -> bool:
    """Tell whether a node that starts goes to a term of its own first: it may have led.

    Spec: DLedger!NextAfterCrash
    """
    return True


def vote_after_crash(vote: str | None) -> str | None:
    """Return the vote that a node remembers when it starts.

    Spec: DLedger!VoteAfterCrash
    """
    return vote


# ---- leaders ----


def gives_way(heard: Term, curr_term: Term, is_behind: bool) -> bool:
    """Tell whether a leader is none, because a member is in a larger term, whatever log it has.

    Spec: DLedger!GivesWay
    """
    return heard > curr_term


def may_go_on() -> bool:
    """Tell whether a leader takes entries again that could not hand its leadership over.

    Spec: DLedger!MayGoOn
    """
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectorRules:
    """Who votes for whom, who leads, and for how long."""

    quorum: Callable[[int, int], bool] = quorum
    end_term: Callable[[Term, Term], Term] = end_term
    refuses_log: Callable[[Term, LogIndex, Term, LogIndex], VoteResult | None] = refuses_log
    has_voted: Callable[[str | None, str], bool] = has_voted
    may_vote: Callable[[Term, Term], bool] = may_vote
    is_ready: Callable[[Term, Term], bool] = is_ready
    is_taking: Callable[[bool, Term, Term], bool] = is_taking
    next_term: Callable[[Term, Term], Term] = next_term
    may_lead: Callable[[bool, Term, Term], bool] = may_lead
    next_as_follower: Callable[[bool], bool] = next_as_follower
    next_after_crash: Callable[[], bool] = next_after_crash
    vote_after_crash: Callable[[str | None], str | None] = vote_after_crash
    gives_way: Callable[[Term, Term, bool], bool] = gives_way
    may_go_on: Callable[[], bool] = may_go_on
    on_disk_first: Callable[[], bool] = on_disk_first


ELECTOR_RULES: Final = ElectorRules()
"""The rules as the specification has them."""
