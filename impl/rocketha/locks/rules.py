"""The rules of locks on queues: each is an operator of LockQuorum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.formats.lock_bodies import MessageQueue

__all__ = ["CONSUMER_RULES", "VOTING_RULES", "ConsumerRules", "Queues", "VotingRules"]

Queues: TypeAlias = frozenset[MessageQueue]

# ---- a broker's votes ----


def quorum(replicas: int) -> int:
    """Return how many votes lock a queue: a majority of all replicas, alive or not.

    Spec: LockQuorum!Quorum
    """
    return replicas // 2 + 1


def wait_after_restart(life_ms: int) -> int:
    """Return for how long a broker that has started does not vote: until all votes are over.

    Spec: LockQuorum!WaitAfterRestart
    """
    return life_ms


def is_free(holder: str | None, client: str) -> bool:
    """Tell whether a queue is free for a consumer: nobody has the vote, or the consumer itself.

    Spec: LockQuorum!IsFree
    """
    return holder is None or holder == client


def is_wanted(attempt: int, released: int) -> bool:
    """Tell whether a request is newer than what its consumer has given back.

    Spec: LockQuorum!IsWanted
    """
    return released < max(1, attempt)


def is_own(holder: str, client: str) -> bool:
    """Tell whether a release is about the vote that there is.

    Spec: LockQuorum!IsOwn
    """
    return holder == client


def is_over(voted: int, released: int) -> bool:
    """Tell whether a vote is of an attempt that is given back, or of one before.

    Spec: LockQuorum!IsOver
    """
    return voted <= released


def enough(votes: int, needed: int) -> bool:
    """Tell whether so many votes lock a queue.

    Spec: LockQuorum!Enough
    """
    return votes >= needed


def answers(locked: Queues, heard: int, members: int) -> Queues:
    """Return the queues that are locked, however many other members have been heard.

    Spec: LockQuorum!Answers
    """
    return locked


@dataclass(frozen=True, slots=True, kw_only=True)
class VotingRules:
    """For whom a broker votes, and what a majority is."""

    quorum: Callable[[int], int] = quorum
    wait_after_restart: Callable[[int], int] = wait_after_restart
    is_free: Callable[[str | None, str], bool] = is_free
    is_wanted: Callable[[int, int], bool] = is_wanted
    is_own: Callable[[str, str], bool] = is_own
    is_over: Callable[[int, int], bool] = is_over
    enough: Callable[[int, int], bool] = enough
    answers: Callable[[Queues, int, int], Queues] = answers


VOTING_RULES: Final = VotingRules()
"""The rules as the specification has them."""

# ---- a consumer's leases ----


def in_time(patience_ms: int) -> int:
    """Return for how long an answer counts.

    Spec: LockQuorum!InTime
    """
    return patience_ms


def lease_after_answer(lease_ms: int) -> int:
    """Return for how long a queue is held after an answer.

    Spec: LockQuorum!LeaseAfterAnswer
    """
    return lease_ms


def given_back(refused: Queues) -> Queues:
    """Return the queues whose votes are given back, of those that are not held.

    Spec: LockQuorum!GivenBack
    """
    return refused


def may_process(holds: bool) -> bool:
    """Tell whether messages of a queue may be processed: of one that is held.

    Spec: LockQuorum!MayProcess
    """
    return holds


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRules:
    """What a consumer takes for held, and what it gives back."""

    in_time: Callable[[int], int] = in_time
    lease_after_answer: Callable[[int], int] = lease_after_answer
    given_back: Callable[[Queues], Queues] = given_back
    may_process: Callable[[bool], bool] = may_process


CONSUMER_RULES: Final = ConsumerRules()
"""The rules as the specification has them."""
