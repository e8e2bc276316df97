"""A broker's lock manager: whom it votes for, and the round in which it asks the other brokers.

A consumer asks one broker. That one votes first, and asks the others for the queues for which it
has voted; when all have answered, or their time is up, it answers with the queues that a majority
of all replicas is for. A queue that got too few votes is given back by the consumer, which alone
knows whether it still holds the queue from before.

Pure: the host hands in what was heard and what the clock shows, and does what the effects say.

Source: broker/processor `AdminBrokerProcessor` (`lockBatchMQ`, `unlockBatchMQ`),
broker/client/rebalance `RebalanceLockManager` (`tryLockBatch`, `unlockBatch`)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias, assert_never

from rocketha.formats.lock_bodies import MessageQueue, QueueLockBody
from rocketha.locks.state import (
    LockKey,
    LockManagerState,
    LockOptions,
    Round,
    RoundId,
    Vote,
)
from rocketha.types import BrokerId, RequestId, TimestampMs

__all__ = [
    "AnswerLock",
    "AskForVotes",
    "LockAsked",
    "ManagerAction",
    "ManagerActionName",
    "ManagerEffect",
    "ManagerEvent",
    "ManagerStepped",
    "PassOnRelease",
    "RoundOver",
    "UnlockAsked",
    "VotesHeard",
    "started",
    "step",
]


# ---- what happens to a manager ----


@dataclass(frozen=True, slots=True)
class LockAsked:
    """Somebody asks for locks: a consumer, or a broker for it."""

    request: RequestId
    body: QueueLockBody


@dataclass(frozen=True, slots=True)
class UnlockAsked:
    """Somebody gives locks back."""

    body: QueueLockBody


@dataclass(frozen=True, slots=True)
class VotesHeard:
    """A broker has answered in a round. None: it could not be asked, or its answer is nonsense."""

    round: RoundId
    broker: BrokerId
    queues: frozenset[MessageQueue] | None


@dataclass(frozen=True, slots=True)
class RoundOver:
    """The time of a round may be up."""

    round: RoundId


ManagerEvent: TypeAlias = LockAsked | UnlockAsked | VotesHeard | RoundOver


# ---- what it does ----


@dataclass(frozen=True, slots=True)
class AnswerLock:
    """Answer a request with the queues that are locked."""

    request: RequestId
    queues: frozenset[MessageQueue]


@dataclass(frozen=True, slots=True)
class AskForVotes:
    """Ask another broker, which answers this broker only."""

    round: RoundId
    broker: BrokerId
    body: QueueLockBody


@dataclass(frozen=True, slots=True)
class PassOnRelease:
    """Tell another broker what is given back, and wait for no answer."""

    broker: BrokerId
    body: QueueLockBody


ManagerEffect: TypeAlias = AnswerLock | AskForVotes | PassOnRelease


class ManagerActionName(StrEnum):
    """The actions of LockQuorum that a broker takes by itself."""

    RECEIVE_ASK = "ReceiveAsk"
    RECEIVE_FREE = "ReceiveFree"


@dataclass(frozen=True, slots=True)
class ManagerAction:
    """The action of the specification that a step took."""

    name: ManagerActionName
    body: QueueLockBody
    voted: frozenset[MessageQueue] = frozenset()
    """ReceiveAsk: the queues for which the broker has voted."""


@dataclass(frozen=True, slots=True)
class ManagerStepped:
    """The result of one step."""

    state: LockManagerState
    effects: tuple[ManagerEffect, ...] = ()
    action: ManagerAction | None = None


def started(broker: BrokerId, options: LockOptions, *, now_ms: TimestampMs) -> LockManagerState:
    """Return the manager of a broker that has just come up, and remembers nothing.

    Spec: LockQuorum!Restart
    """
    return LockManagerState(broker=broker, options=options, started_ms=now_ms)


def step(state: LockManagerState, event: ManagerEvent, *, now_ms: TimestampMs) -> ManagerStepped:
    """Take an event."""
    match event:
        case LockAsked():
            return receive_ask(state, event, now_ms=now_ms)
        case UnlockAsked():
            return receive_free(state, event)
        case VotesHeard():
            return _count(state, event)
        case RoundOver():
            round_ = state.rounds.get(event.round)
            return ManagerStepped(state) if round_ is None else _answer(state, event.round, round_)
        case _:
            assert_never(event)


def remembers(state: LockManagerState, now_ms: TimestampMs) -> bool:
    """Tell whether every vote is over that the broker may have forgotten at its start.

    Spec: LockQuorum!ReceiveAsk, LockQuorum!WaitLess
    """
    options = state.options
    return now_ms - state.started_ms >= options.rules.wait_after_restart(options.life_ms)


def present_vote(state: LockManagerState, key: LockKey, now_ms: TimestampMs) -> Vote | None:
    """Return a vote that still holds, as this broker's clock has it.

    Spec: LockQuorum!Tick, LockQuorum!ExpireEarly
    """
    vote = state.votes.get(key)
    expired = vote is not None and now_ms - vote.voted_ms >= state.options.life_ms
    return None if expired else vote


def receive_ask(
    state: LockManagerState, event: LockAsked, *, now_ms: TimestampMs
) -> ManagerStepped:
    """Vote for the queues that are free, and ask the others for them if a consumer has asked.

    Spec: LockQuorum!ReceiveAsk
    Source: AdminBrokerProcessor.lockBatchMQ
    """
    body, rules = event.body, state.options.rules
    votes = dict(state.votes)
    voted: set[MessageQueue] = set()
    for queue in body.queues:
        key = (body.consumer_group, queue)
        present = present_vote(state, key, now_ms)
        free = rules.is_free(None if present is None else present.client_id, body.client_id)
        wanted = rules.is_wanted(body.attempt, state.released.get((body.client_id, key), 0))
        if free and wanted and remembers(state, now_ms):
            newest = body.attempt if present is None else max(present.attempt, body.attempt)
            votes[key] = Vote(body.client_id, newest, now_ms)
            voted.add(queue)
    own = frozenset(voted)
    action = ManagerAction(ManagerActionName.RECEIVE_ASK, body, own)
    state = replace(state, votes=MappingProxyType(votes))
    options = state.options
    alone = body.only_this_broker or not options.strict or options.quorum <= 1
    if alone or not own:
        return ManagerStepped(state, (AnswerLock(event.request, own),), action)
    number = RoundId(state.last_round + 1)
    others = [broker for broker in options.members if broker != state.broker]
    passed = replace(body, queues=own, only_this_broker=True)
    round_ = Round(
        request=event.request,
        queues=own,
        asked=frozenset(others),
    )
    state = replace(state, last_round=number, rounds={**state.rounds, number: round_})
    asks = [AskForVotes(number, broker, passed) for broker in others]
    return _wait_or_answer(state, number, asks, action)


def receive_free(state: LockManagerState, event: UnlockAsked) -> ManagerStepped:
    """Take back the consumer's votes of that attempt and those before, and remember it.

    Spec: LockQuorum!ReceiveFree
    Source: AdminBrokerProcessor.unlockBatchMQ, RebalanceLockManager.unlockBatch
    """
    body, options = event.body, state.options
    votes, released = dict(state.votes), dict(state.released)
    for queue in body.queues:
        key = (body.consumer_group, queue)
        vote = votes.get(key)
        if vote is not None:
            own = options.rules.is_own(vote.client_id, body.client_id)
            if own and options.rules.is_over(vote.attempt, body.attempt):
                del votes[key]
        mine = (body.client_id, key)
        released[mine] = max(released.get(mine, body.attempt), body.attempt)
    state = replace(state, votes=MappingProxyType(votes), released=MappingProxyType(released))
    effects: tuple[ManagerEffect, ...] = ()
    if options.strict and not body.only_this_broker:
        passed = replace(body, only_this_broker=True)
        others = [broker for broker in options.members if broker != state.broker]
        effects = tuple([PassOnRelease(broker, passed) for broker in others])
    return ManagerStepped(state, effects, ManagerAction(ManagerActionName.RECEIVE_FREE, body))


def _count(state: LockManagerState, event: VotesHeard) -> ManagerStepped:
    """Count the votes of one broker, once; answer when nobody is waited for any more."""
    round_ = state.rounds.get(event.round)
    if round_ is None:
        return ManagerStepped(state)
    yes = round_.yes
    if event.queues is not None:
        yes = {**yes, event.broker: event.queues & round_.queues}
    round_ = replace(round_, asked=round_.asked - {event.broker}, yes=yes)
    state = replace(state, rounds={**state.rounds, event.round: round_})
    return _wait_or_answer(state, event.round)


def _wait_or_answer(
    state: LockManagerState,
    number: RoundId,
    asks: Iterable[AskForVotes] = (),
    action: ManagerAction | None = None,
) -> ManagerStepped:
    """Wait for those who are asked and have not answered; answer if there is nobody."""
    round_ = state.rounds[number]
    if round_.asked:
        return ManagerStepped(state, tuple(asks), action)
    return _answer(state, number, round_, action)


def _answer(
    state: LockManagerState, number: RoundId, round_: Round, action: ManagerAction | None = None
) -> ManagerStepped:
    """Answer with the queues that a majority of all replicas is for, this broker among them.

    Spec: LockQuorum!SendAnswer
    """
    options, rules = state.options, state.options.rules
    needed = options.quorum
    locked = frozenset(
        queue
        for queue in round_.queues
        if rules.enough(1 + _votes_for(queue, round_.yes.values()), needed)
    )
    answer = rules.answers(locked, len(round_.yes), len(options.members))
    rounds = {other: value for other, value in state.rounds.items() if other != number}
    state = replace(state, rounds=MappingProxyType(rounds))
    return ManagerStepped(state, (AnswerLock(round_.request, answer),), action)


def _votes_for(queue: MessageQueue, yes: Iterable[frozenset[MessageQueue]]) -> int:
    return sum(queue in queues for queues in yes)
