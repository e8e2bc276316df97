"""Whom a broker has heard when it answers a consumer, as frames show it."""

from __future__ import annotations

from dataclasses import dataclass

from rocketha.formats.lock_bodies import LockCode
from rocketha.recording.record import RESPONSE
from rocketproof.protocols.lock_quorum.rounds import Answered, Rounds


@dataclass(frozen=True, slots=True)
class _Frame:
    id: str
    to: str | None = None
    code: int | None = None


_ANSWER = _Frame("c1" + RESPONSE)


def _asked() -> Rounds:
    """Let b1 ask b2 and b3 for a consumer."""
    rounds = Rounds()
    asks = [_Frame(f"ask-{voter}", voter, LockCode.LOCK_BATCH_MQ) for voter in ("b2", "b3")]
    rounds.asked("b1", "c1", asks)
    return rounds


def test_a_broker_has_heard_those_whose_answers_came() -> None:
    rounds = _asked()
    assert not [*rounds.answered(["ask-b2" + RESPONSE], [])]
    assert [*rounds.answered([], [_ANSWER])] == [
        Answered("c1", _ANSWER.id, frozenset({"b1", "b2"})),
    ]


def test_who_has_heard_the_question_has_not_answered() -> None:
    """The connection may end before the answer comes."""
    rounds = _asked()
    assert not [*rounds.answered(["ask-b2"], [])]
    assert [*rounds.answered([], [_ANSWER])] == [Answered("c1", _ANSWER.id, frozenset({"b1"}))]
