"""The rules of DLedger's log: each is an operator of DLedger.

Terms and indexes are DLedger's own, from 0 on; -1 is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.types import LogIndex, Term

__all__ = ["PUSHER_RULES", "PusherRules"]


# ---- followers ----


def is_of_leader(leads: bool, same_term: bool) -> bool:
    """Tell whether a push is taken: of whom the node follows, in the term that it is in.

    Spec: DLedgerMessages!IsOfLeader
    """
    return leads and same_term


def may_cut(own: Term, asked: Term) -> bool:
    """Tell whether an entry is cut: it is of another term than the leader's at that place.

    Spec: DLedger!MayCut
    """
    return own != asked


def may_append(same: LogIndex, end: LogIndex) -> bool:
    """Tell whether an entry may go behind a log: up to its end it is the leader's.

    Spec: DLedger!MayAppend
    """
    return same == end


def ack_index(same: LogIndex, synced: LogIndex) -> LogIndex:
    """Return up to where a follower may acknowledge: what is synchronized of the leader's log.

    Spec: DLedgerMessages!AckIndex
    """
    return min(same, synced)


def commit_bound(same: LogIndex, end: LogIndex) -> LogIndex:
    """Return up to where a follower commits what its leader has: as far as the logs are one.

    Spec: DLedger!CommitBound
    """
    return same


def is_fresh(installed: LogIndex, committed: LogIndex) -> bool:
    """Tell whether a snapshot is ahead of what a node knows to be committed.

    Spec: DLedger!IsFresh
    """
    return installed > committed


def commit_after_install(committed: LogIndex, installed: LogIndex) -> LogIndex:
    """Return what is committed once a snapshot is loaded.

    Spec: DLedger!CommitAfterInstall
    """
    return max(committed, installed)


def may_install() -> bool:
    """Tell whether snapshots are installed at all.

    Spec: DLedger!MayInstall
    """
    return True


# ---- leaders ----


def own_index(synced: LogIndex, end: LogIndex) -> LogIndex:
    """Return up to where a leader counts itself among those that have its log.

    Spec: DLedger!OwnIndex
    """
    return synced


def may_commit(entry: Term, curr_term: Term) -> bool:
    """Tell whether a leader commits an entry that a majority has: one of its own term.

    Spec: DLedger!MayCommit
    """
    return entry == curr_term


def is_last_match(term: Term, same_term_at: LogIndex, first_of_term: LogIndex) -> LogIndex:
    """Return which entry a leader compares next.

    The follower has another term at the compared place: `term`, from `first_of_term` on. The last
    entry of that term in the leader's log is at `same_term_at`, or nowhere (-1).

    Spec: DLedger!IsLastMatch
    """
    return max(same_term_at, LogIndex(first_of_term - 1))


def may_compare(has_acknowledged: bool) -> bool:
    """Tell whether a follower that lost its place is compared again: it is, whatever it had.

    Spec: DLedger!MayCompare
    """
    return True


# ---- snapshots ----


def cut_to(snapshot: LogIndex, applied: LogIndex) -> LogIndex:
    """Return up to where the log is deleted: what the snapshot stands for.

    Spec: DLedger!CutTo
    """
    return snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class PusherRules:
    """What is written, cut, acknowledged, committed and installed."""

    is_of_leader: Callable[[bool, bool], bool] = is_of_leader
    may_cut: Callable[[Term, Term], bool] = may_cut
    may_append: Callable[[LogIndex, LogIndex], bool] = may_append
    ack_index: Callable[[LogIndex, LogIndex], LogIndex] = ack_index
    commit_bound: Callable[[LogIndex, LogIndex], LogIndex] = commit_bound
    is_fresh: Callable[[LogIndex, LogIndex], bool] = is_fresh
    commit_after_install: Callable[[LogIndex, LogIndex], LogIndex] = commit_after_install
    may_install: Callable[[], bool] = may_install
    own_index: Callable[[LogIndex, LogIndex], LogIndex] = own_index
    may_commit: Callable[[Term, Term], bool] = may_commit
    is_last_match: Callable[[Term, LogIndex, LogIndex], LogIndex] = is_last_match
    may_compare: Callable[[bool], bool] = may_compare
    cut_to: Callable[[LogIndex, LogIndex], LogIndex] = cut_to


PUSHER_RULES: Final = PusherRules()
"""The rules as the specification has them."""
