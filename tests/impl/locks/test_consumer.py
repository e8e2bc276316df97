"""A consumer's locks: attempts, leases, what it gives back, and each switch of a bug."""

from __future__ import annotations

import pytest

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.known_bugs import Bug
from rocketha.locks import consumer
from rocketha.locks.consumer import (
    AnswerHeard,
    ConsumerEvent,
    ConsumerStepped,
    LockWanted,
    PatienceOver,
    ProcessNext,
    ProcessWanted,
    SendLock,
    SendUnlock,
    StopWaiting,
    UnlockWanted,
)
from rocketha.locks.state import ConsumerState
from tests.impl.locks.scene import Q1, Q2, a_consumer, at, body

LEASE = 30_000
PATIENCE = 1_000


def step(state: ConsumerState, event: ConsumerEvent, now: int = 0) -> ConsumerStepped:
    return consumer.step(state, event, now_ms=at(now))


def wanting(*queues: MessageQueue) -> LockWanted:
    return LockWanted(frozenset(queues))


def answer(attempt: int, *queues: MessageQueue) -> AnswerHeard:
    return AnswerHeard(attempt, frozenset(queues))


def holder(*queues: MessageQueue, state: ConsumerState | None = None) -> ConsumerState:
    """A consumer that got these queues at 0 with its first attempt."""
    asked = step(state or a_consumer(), wanting(*queues)).state
    return step(asked, answer(1, *queues)).state


def test_an_attempt_has_the_next_number() -> None:
    stepped = step(holder(Q1), wanting(Q1, Q2), 5)

    assert stepped.effects == (SendLock(body("c1", Q1, Q2, attempt=2)),)
    assert step(stepped.state, wanting(Q1), 6).effects == ()


@pytest.mark.parametrize(("now", "held"), [(LEASE - 1, True), (LEASE, False)])
def test_a_lease_begins_with_the_answer(now: int, held: bool) -> None:
    assert holder(Q1).holds(Q1, at(now)) is held


def test_what_is_refused_is_given_back_and_not_held_any_more() -> None:
    asked = step(holder(Q1, Q2), wanting(Q1, Q2), 20_000).state
    stepped = step(asked, answer(2, Q2), 20_001)

    assert stepped.effects == (SendUnlock(body("c1", Q1, attempt=2)),)
    assert not stepped.state.holds(Q1, at(20_001))
    assert stepped.state.holds(Q2, at(20_001 + LEASE - 1))


def test_queues_that_nobody_asked_for_are_not_held() -> None:
    stepped = step(step(a_consumer(), wanting(Q1)).state, answer(1, Q1, Q2))

    assert not stepped.state.holds(Q2, at(1))


def test_without_an_answer_what_is_held_stays_and_the_rest_is_given_back() -> None:
    asked = step(holder(Q1), wanting(Q1, Q2), 20_000).state
    stepped = step(asked, PatienceOver(2), 21_001)

    assert stepped.effects == (
        StopWaiting(2),
        SendUnlock(body("c1", Q2, attempt=2)),
    )
    assert stepped.state.holds(Q1, at(LEASE - 1))
    assert not stepped.state.holds(Q1, at(LEASE))


@pytest.mark.parametrize(("now", "held"), [(PATIENCE, True), (PATIENCE + 1, False)])
def test_an_answer_counts_in_time(now: int, held: bool) -> None:
    stepped = step(step(a_consumer(), wanting(Q1)).state, answer(1, Q1), now)

    assert stepped.state.holds(Q1, at(now)) is held


def test_an_answer_to_an_older_attempt_changes_nothing() -> None:
    given_up = step(step(a_consumer(), wanting(Q1)).state, PatienceOver(1), 1_001).state
    asked = step(given_up, wanting(Q1), 1_002).state

    assert step(asked, answer(1, Q1), 1_003) == ConsumerStepped(asked)
    assert step(asked, PatienceOver(1), 1_003) == ConsumerStepped(asked)


def test_what_is_held_can_be_given_up() -> None:
    stepped = step(holder(Q1), UnlockWanted(frozenset({Q1, Q2})), 5)

    assert stepped.effects == (SendUnlock(body("c1", Q1, attempt=1)),)
    assert not stepped.state.holds(Q1, at(5))


def test_nothing_is_given_up_during_an_attempt() -> None:
    asked = step(holder(Q1), wanting(Q1), 5).state

    assert step(asked, UnlockWanted(frozenset({Q1})), 6) == ConsumerStepped(asked)


def test_only_what_is_held_is_processed() -> None:
    first = step(holder(Q1), ProcessWanted(Q1), 5)
    second = step(first.state, ProcessWanted(Q1), 6)

    assert first.effects == (ProcessNext(Q1, fresh=True),)
    assert second.effects == (ProcessNext(Q1, fresh=False),)
    assert step(second.state, ProcessWanted(Q1), LEASE).effects == ()
    assert step(second.state, ProcessWanted(Q2), 6).effects == ()


def test_a_renewed_lease_goes_on_and_a_new_one_begins_anew() -> None:
    state = step(holder(Q1), ProcessWanted(Q1), 5).state
    renewed = step(step(state, wanting(Q1), LEASE - 2).state, answer(2, Q1), LEASE - 1).state
    late = step(step(state, wanting(Q1), LEASE - 1).state, answer(2, Q1), LEASE).state

    assert step(renewed, ProcessWanted(Q1), LEASE).effects == (ProcessNext(Q1, fresh=False),)
    assert step(late, ProcessWanted(Q1), LEASE).effects == (ProcessNext(Q1, fresh=True),)


def test_b45_lease_holds_longer() -> None:
    assert holder(Q1, state=a_consumer(frozenset({Bug.B45_LEASE}))).holds(Q1, at(LEASE))


def test_b45_partial_gives_nothing_back() -> None:
    asked = step(a_consumer(frozenset({Bug.B45_PARTIAL})), wanting(Q1, Q2)).state
    assert step(asked, answer(1, Q1)).effects == ()


def test_b46_does_not_process() -> None:
    state = holder(Q1, state=a_consumer(frozenset({Bug.B46})))
    assert step(state, ProcessWanted(Q1)).effects == ()


def test_late_answer_waits_on() -> None:
    asked = step(a_consumer(frozenset({Bug.LATE_ANSWER})), wanting(Q1)).state
    assert step(asked, answer(1, Q1), PATIENCE + 1).state.holds(Q1, at(PATIENCE + 1))
