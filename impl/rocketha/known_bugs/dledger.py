"""Known bugs of DLedger, as overrides of the rules of elections and of the log."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.dledger.push_rules import PUSHER_RULES, PusherRules
from rocketha.dledger.rules import ELECTOR_RULES, ElectorRules
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.known_bugs.register import REGISTER_BUGS
from rocketha.types import LogIndex

__all__ = [
    "DLEDGER_BUGS",
    "ELECTOR_OVERRIDES",
    "PUSHER_OVERRIDES",
    "elector_rules",
    "pusher_rules",
]


@cache
def elector_rules(bugs: Bugs) -> ElectorRules:
    """Return the rules of elections with these bugs in them."""
    return overridden(ELECTOR_RULES, ELECTOR_OVERRIDES, bugs)


@cache
def pusher_rules(bugs: Bugs) -> PusherRules:
    """Return the rules of the log with these bugs in them."""
    return overridden(PUSHER_RULES, PUSHER_OVERRIDES, bugs)


# ---- elections ----


def _claims_its_own_term(rules: ElectorRules) -> ElectorRules:
    return replace(rules, end_term=lambda last_entry, curr_term: curr_term)


def _votes_for_any_log(rules: ElectorRules) -> ElectorRules:
    return replace(rules, refuses_log=lambda *_: None)


def _votes_twice(rules: ElectorRules) -> ElectorRules:
    return replace(rules, has_voted=lambda vote, candidate: False)


def _votes_before_it_is_refilled(rules: ElectorRules) -> ElectorRules:
    return replace(rules, may_vote=lambda last_entry, refill_term: True)


def _votes_before_it_is_ready(rules: ElectorRules) -> ElectorRules:
    return replace(rules, is_ready=lambda asked, curr_term: True)


def _leads_a_term_that_is_over(rules: ElectorRules) -> ElectorRules:
    return replace(rules, may_lead=lambda *_: True)


def _keeps_the_result_of_a_round(rules: ElectorRules) -> ElectorRules:
    return replace(rules, next_as_follower=lambda to_next: to_next)


def _hears_no_larger_term(rules: ElectorRules) -> ElectorRules:
    return replace(rules, gives_way=lambda *_: False)


def _hears_nobody_whose_log_is_short(rules: ElectorRules) -> ElectorRules:
    right = rules.gives_way
    return replace(
        rules,
        gives_way=lambda heard, curr_term, is_behind: (
            not is_behind and right(heard, curr_term, is_behind)
        ),
    )


def _waits_for_ever(rules: ElectorRules) -> ElectorRules:
    return replace(rules, may_go_on=lambda: False)


def _forgets_its_vote(rules: ElectorRules) -> ElectorRules:
    return replace(rules, vote_after_crash=lambda vote: None)


def _leads_the_same_term_again(rules: ElectorRules) -> ElectorRules:
    return replace(rules, next_after_crash=lambda: False)


ELECTOR_OVERRIDES: Final[dict[Bug, Override[ElectorRules]]] = {
    Bug.B60: _claims_its_own_term,
    Bug.B63: _hears_no_larger_term,
    Bug.B64: _hears_nobody_whose_log_is_short,
    Bug.B70: _keeps_the_result_of_a_round,
    Bug.B71: _forgets_its_vote,
    Bug.ONE_VOTE: _votes_twice,
    Bug.REFILLED: _votes_before_it_is_refilled,
    Bug.PASSED_STALE: _leads_a_term_that_is_over,
    Bug.SAME_TERM: _leads_the_same_term_again,
    Bug.SHORTER_LOG: _votes_for_any_log,
    Bug.TERM_NOT_READY: _votes_before_it_is_ready,
    Bug.TRANSFER_ENDS: _waits_for_ever,
}

# ---- the log ----


def _takes_old_leaders(rules: PusherRules) -> PusherRules:
    return replace(rules, is_of_leader=lambda leads, same_term: True)


def _cuts_what_is_the_leaders(rules: PusherRules) -> PusherRules:
    return replace(rules, may_cut=lambda own, asked: True)


def _appends_uncompared(rules: PusherRules) -> PusherRules:
    return replace(rules, may_append=lambda same, end: True)


def _acknowledges_unsynced(rules: PusherRules) -> PusherRules:
    return replace(rules, ack_index=lambda same, synced: same)


def _commits_all_that_the_leader_has(rules: PusherRules) -> PusherRules:
    return replace(rules, commit_bound=lambda same, end: LogIndex(2**62))


def _commits_to_its_own_end(rules: PusherRules) -> PusherRules:
    return replace(rules, commit_bound=lambda same, end: end)


def _compares_once(rules: PusherRules) -> PusherRules:
    return replace(rules, may_compare=lambda has_acknowledged: not has_acknowledged)


def _installs_late_snapshots(rules: PusherRules) -> PusherRules:
    return replace(rules, is_fresh=lambda installed, committed: True)


def _commit_stays_behind(rules: PusherRules) -> PusherRules:
    return replace(rules, commit_after_install=lambda committed, installed: committed)


def _installs_nothing(rules: PusherRules) -> PusherRules:
    return replace(rules, may_install=lambda: False)


def _counts_its_own_end(rules: PusherRules) -> PusherRules:
    return replace(rules, own_index=lambda synced, end: end)


def _commits_any_term(rules: PusherRules) -> PusherRules:
    return replace(rules, may_commit=lambda entry, curr_term: True)


def _goes_before_the_whole_term(rules: PusherRules) -> PusherRules:
    """As DLedger does: and what it has cut then may be the leader's, too."""
    return replace(
        rules,
        is_last_match=lambda term, same, first: LogIndex(first - 1),
        may_cut=lambda own, asked: True,
    )


def _cuts_without_a_snapshot(rules: PusherRules) -> PusherRules:
    return replace(rules, cut_to=lambda snapshot, applied: applied)


PUSHER_OVERRIDES: Final[dict[Bug, Override[PusherRules]]] = {
    Bug.B54: _installs_nothing,
    Bug.B58: _commit_stays_behind,
    Bug.B61: _commits_all_that_the_leader_has,
    Bug.B62: _commits_to_its_own_end,
    Bug.B65: _compares_once,
    Bug.B68: _cuts_without_a_snapshot,
    Bug.COMMIT_OWN_TERM: _commits_any_term,
    Bug.COMMIT_SAME: _commits_to_its_own_end,
    Bug.COMPARED_FIRST: _appends_uncompared,
    Bug.FAST_BACKUP: _goes_before_the_whole_term,
    Bug.INSTALL_FRESH: _installs_late_snapshots,
    Bug.LATE_TRUNCATE: _cuts_what_is_the_leaders,
    Bug.OLD_LEADER: _takes_old_leaders,
    Bug.OWN_SYNC: _counts_its_own_end,
    Bug.SYNCED_ACK: _acknowledges_unsynced,
}

DLEDGER_BUGS: Final[Bugs] = (
    frozenset(ELECTOR_OVERRIDES) | frozenset(PUSHER_OVERRIDES) | REGISTER_BUGS
)
"""What a DLedger group with registers may have."""
