"""Known bugs of locks on queues, as overrides of the rules of brokers and of consumers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.locks.rules import (
    CONSUMER_RULES,
    VOTING_RULES,
    ConsumerRules,
    Queues,
    VotingRules,
)

__all__ = [
    "CONSUMER_OVERRIDES",
    "LOCK_BUGS",
    "VOTING_OVERRIDES",
    "consumer_rules",
    "voting_rules",
]

_PATIENT_TIMES: Final = 20
_LONG_LEASES: Final = 3
"""90 s, where a vote has 60 s."""


@cache
def voting_rules(bugs: Bugs) -> VotingRules:
    """Return the rules of a lock manager with these bugs in them."""
    return overridden(VOTING_RULES, VOTING_OVERRIDES, bugs)


@cache
def consumer_rules(bugs: Bugs) -> ConsumerRules:
    """Return the rules of a consumer with these bugs in them."""
    return overridden(CONSUMER_RULES, CONSUMER_OVERRIDES, bugs)


# ---- a broker's votes ----


def _one_vote_locks(rules: VotingRules) -> VotingRules:
    return replace(rules, quorum=lambda replicas: 1)


def _votes_at_once(rules: VotingRules) -> VotingRules:
    return replace(rules, wait_after_restart=lambda life_ms: 0)


def _silence_locks_nothing(rules: VotingRules) -> VotingRules:
    def answers(locked: Queues, heard: int, members: int) -> Queues:
        is_silent = heard < members - 1
        return frozenset() if is_silent else rules.answers(locked, heard, members)

    return replace(rules, answers=answers)


def _own_vote_counted_twice(rules: VotingRules) -> VotingRules:
    return replace(rules, enough=lambda votes, needed: rules.enough(votes + 1, needed))


def _votes_for_anybody(rules: VotingRules) -> VotingRules:
    return replace(rules, is_free=lambda holder, client: True)


def _late_request_counts(rules: VotingRules) -> VotingRules:
    return replace(rules, is_wanted=lambda attempt, released: True)


def _later_votes_released(rules: VotingRules) -> VotingRules:
    return replace(rules, is_over=lambda voted, released: True)


def _others_votes_released(rules: VotingRules) -> VotingRules:
    return replace(rules, is_own=lambda holder, client: True)


VOTING_OVERRIDES: Final[dict[Bug, Override[VotingRules]]] = {
    Bug.B45_QUORUM: _one_vote_locks,
    Bug.B45_RESTART: _votes_at_once,
    Bug.B77: _silence_locks_nothing,
    Bug.COUNT_ONCE: _own_vote_counted_twice,
    Bug.VOTE_ONCE: _votes_for_anybody,
    Bug.LATE_ASK: _late_request_counts,
    Bug.LATE_FREE: _later_votes_released,
    Bug.UNLOCK_OWN: _others_votes_released,
}

# ---- a consumer's leases ----


def _late_answer_counts(rules: ConsumerRules) -> ConsumerRules:
    return replace(
        rules,
        in_time=lambda patience_ms: max(1, rules.in_time(patience_ms)) * _PATIENT_TIMES,
    )


def _long_leases(rules: ConsumerRules) -> ConsumerRules:
    return replace(
        rules, lease_after_answer=lambda lease_ms: rules.lease_after_answer(lease_ms) * _LONG_LEASES
    )


def _nothing_given_back(rules: ConsumerRules) -> ConsumerRules:
    return replace(rules, given_back=lambda refused: frozenset())


def _never_processes(rules: ConsumerRules) -> ConsumerRules:
    return replace(rules, may_process=lambda holds: False)


CONSUMER_OVERRIDES: Final[dict[Bug, Override[ConsumerRules]]] = {
    Bug.B45_LEASE: _long_leases,
    Bug.B45_PARTIAL: _nothing_given_back,
    Bug.B46: _never_processes,
    Bug.LATE_ANSWER: _late_answer_counts,
}

LOCK_BUGS: Final[Bugs] = frozenset(VOTING_OVERRIDES) | frozenset(CONSUMER_OVERRIDES)
"""What locks on queues may have."""
