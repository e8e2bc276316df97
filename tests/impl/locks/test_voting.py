"""A broker's lock manager: votes, rounds, releases, and each switch of a bug."""

from __future__ import annotations

import pytest

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.known_bugs import Bug
from rocketha.locks import voting
from rocketha.locks.state import LockManagerState, RoundId
from rocketha.locks.voting import (
    AnswerLock,
    AskForVotes,
    ManagerStepped,
    PassOnRelease,
    RoundOver,
    VotesHeard,
)
from rocketha.types import BrokerId, RequestId
from tests.impl.locks.scene import LIFE, Q1, Q2, THREE, TWO, a_manager, ask, at, body, free


def answered(stepped: ManagerStepped) -> set[MessageQueue] | None:
    """What the request is answered with; None: it still waits."""
    answers = [effect for effect in stepped.effects if isinstance(effect, AnswerLock)]
    return set(answers[0].queues) if answers else None


def heard(
    state: LockManagerState, broker: BrokerId, *queues: MessageQueue, silent: bool = False
) -> ManagerStepped:
    votes = None if silent else frozenset(queues)
    return voting.step(state, VotesHeard(RoundId(1), broker, votes), now_ms=at(1))


def votes_of(state: LockManagerState) -> dict[MessageQueue, str]:
    return {queue: vote.client_id for (_, queue), vote in state.votes.items()}


# ---- one vote ----


def test_one_vote_is_enough_when_it_is_not_strict() -> None:
    assert answered(ask(a_manager(strict=False), 7, body("c1", Q1))) == {Q1}


def test_a_queue_is_voted_for_once() -> None:
    first = ask(a_manager(strict=False), 1, body("c1", Q1))
    second = ask(first.state, 2, body("c2", Q1, Q2))

    assert answered(second) == {Q2}
    assert votes_of(second.state) == {Q1: "c1", Q2: "c2"}


@pytest.mark.parametrize(("now", "got"), [(LIFE - 1, set()), (LIFE, {Q1})])
def test_a_vote_expires(now: int, got: set[MessageQueue]) -> None:
    first = ask(a_manager(strict=False), 1, body("c1", Q1))

    assert answered(ask(first.state, 2, body("c2", Q1), now=now)) == got


def test_a_vote_is_refreshed() -> None:
    state = ask(a_manager(strict=False), 1, body("c1", Q1)).state
    state = ask(state, 2, body("c1", Q1, attempt=2), now=LIFE - 1).state

    assert answered(ask(state, 3, body("c2", Q1), now=LIFE)) == set()


@pytest.mark.parametrize(("now", "got"), [(LIFE - 1, set()), (LIFE, {Q1})])
def test_who_has_restarted_waits_for_the_life_of_a_vote(now: int, got: set[MessageQueue]) -> None:
    state = a_manager(strict=False, started=0)

    assert answered(ask(state, 1, body("c1", Q1), now=now)) == got


# ---- a round ----


def test_the_others_are_asked_for_what_this_broker_votes_for() -> None:
    state = ask(a_manager(), 1, body("c2", Q2, only=True)).state
    stepped = ask(state, 2, body("c1", Q1, Q2))

    passed = body("c1", Q1, only=True)
    assert stepped.effects == (
        AskForVotes(RoundId(1), TWO, passed),
        AskForVotes(RoundId(1), THREE, passed),
    )


def test_a_majority_locks() -> None:
    state = ask(a_manager(), 9, body("c1", Q1, Q2)).state
    stepped = heard(state, TWO, Q1)
    assert stepped.effects == ()

    stepped = heard(stepped.state, THREE)
    assert stepped.effects == (AnswerLock(RequestId(9), frozenset({Q1})),)
    assert not stepped.state.rounds


def test_who_cannot_be_asked_is_no_reason_to_refuse() -> None:
    state = heard(ask(a_manager(), 9, body("c1", Q1)).state, TWO, Q1).state

    assert answered(heard(state, THREE, silent=True)) == {Q1}


def test_a_round_ends_in_time_with_what_was_heard() -> None:
    state = heard(ask(a_manager(), 9, body("c1", Q1)).state, TWO, Q1).state
    over = voting.step(state, RoundOver(RoundId(1)), now_ms=at(2_000))

    assert answered(over) == {Q1}
    assert heard(over.state, THREE, Q1).effects == ()
    assert voting.step(over.state, RoundOver(RoundId(1)), now_ms=at(2_001)).effects == ()


def test_a_broker_counts_once_and_for_what_it_was_asked() -> None:
    state = heard(ask(a_manager(members=4), 9, body("c1", Q1)).state, TWO, Q1, Q2).state
    assert heard(state, TWO, Q1).state == state

    state = heard(state, THREE, silent=True).state
    assert answered(heard(state, BrokerId(4))) == set()


def test_with_two_brokers_both_must_vote() -> None:
    state = ask(a_manager(members=2), 9, body("c1", Q1)).state

    assert answered(heard(state, TWO, silent=True)) == set()


def test_who_does_not_vote_asks_nobody() -> None:
    state = ask(a_manager(), 1, body("c2", Q1, only=True)).state

    assert answered(ask(state, 2, body("c1", Q1))) == set()


def test_who_is_asked_by_a_broker_asks_nobody() -> None:
    assert answered(ask(a_manager(), 1, body("c1", Q1, only=True))) == {Q1}


def test_a_single_broker_is_its_own_majority() -> None:
    assert answered(ask(a_manager(members=1), 1, body("c1", Q1))) == {Q1}


# ---- releases ----


def test_a_release_takes_the_consumers_votes_and_is_passed_on() -> None:
    state = ask(a_manager(), 1, body("c1", Q1, only=True)).state
    state = ask(state, 2, body("c2", Q2, only=True)).state
    stepped = free(state, body("c1", Q1, Q2))

    assert votes_of(stepped.state) == {Q2: "c2"}
    passed = body("c1", Q1, Q2, only=True)
    assert stepped.effects == (PassOnRelease(TWO, passed), PassOnRelease(THREE, passed))
    assert free(state, passed).effects == ()


def test_a_late_release_leaves_the_vote_of_a_later_attempt() -> None:
    state = ask(a_manager(), 1, body("c1", Q1, attempt=2, only=True)).state

    assert votes_of(free(state, body("c1", Q1, attempt=1)).state) == {Q1: "c1"}
    assert votes_of(free(state, body("c1", Q1, attempt=2)).state) == {}


def test_a_request_after_its_release_gets_no_vote() -> None:
    state = free(a_manager(strict=False), body("c1", Q1, attempt=2)).state

    assert answered(ask(state, 1, body("c1", Q1, attempt=2))) == set()
    assert answered(ask(state, 1, body("c1", Q1, attempt=3))) == {Q1}
    assert answered(ask(state, 1, body("c2", Q1, attempt=1))) == {Q1}


def test_a_peer_without_numbers_can_lock_again() -> None:
    state = ask(a_manager(strict=False), 1, body("c1", Q1, attempt=0)).state
    state = free(state, body("c1", Q1, attempt=0)).state

    assert votes_of(state) == {}
    assert answered(ask(state, 2, body("c1", Q1, attempt=0))) == {Q1}


# ---- switches ----


def test_b45_quorum_asks_nobody() -> None:
    state = a_manager(bugs=frozenset({Bug.B45_QUORUM}))
    assert answered(ask(state, 1, body("c1", Q1))) == {Q1}


def test_b45_restart_votes_at_once() -> None:
    state = a_manager(strict=False, started=0, bugs=frozenset({Bug.B45_RESTART}))
    assert answered(ask(state, 1, body("c1", Q1), now=1)) == {Q1}


def test_b77_lets_one_broker_fail_the_batch() -> None:
    state = a_manager(bugs=frozenset({Bug.B77}))
    state = heard(ask(state, 9, body("c1", Q1)).state, TWO, Q1).state
    assert answered(heard(state, THREE, silent=True)) == set()


def test_count_once_counts_twice() -> None:
    state = a_manager(members=2, bugs=frozenset({Bug.COUNT_ONCE}))
    state = ask(state, 9, body("c1", Q1)).state
    assert answered(heard(state, TWO)) == {Q1}


def test_vote_once_votes_for_everybody() -> None:
    state = ask(a_manager(bugs=frozenset({Bug.VOTE_ONCE})), 1, body("c1", Q1, only=True)).state
    assert answered(ask(state, 2, body("c2", Q1, only=True))) == {Q1}


def test_late_ask_votes_after_the_release() -> None:
    state = a_manager(strict=False, bugs=frozenset({Bug.LATE_ASK}))
    assert answered(ask(free(state, body("c1", Q1)).state, 1, body("c1", Q1))) == {Q1}


def test_late_free_takes_a_later_vote() -> None:
    state = a_manager(bugs=frozenset({Bug.LATE_FREE}))
    state = ask(state, 1, body("c1", Q1, attempt=2, only=True)).state
    assert votes_of(free(state, body("c1", Q1, attempt=1)).state) == {}


def test_unlock_own_takes_anybodys_vote() -> None:
    state = ask(a_manager(bugs=frozenset({Bug.UNLOCK_OWN})), 1, body("c1", Q1, only=True)).state
    assert votes_of(free(state, body("c2", Q1)).state) == {}
