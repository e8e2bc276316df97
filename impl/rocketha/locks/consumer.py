"""A consumer that keeps the order of messages: it asks for locks, and processes what it holds.

Its lease begins when it has the answer, and is shorter than a vote. It asks again before the lease
ends; what it is refused it does not hold any more, and gives back the votes that it may have. When
no answer comes it holds what it held until that lease ends.

Pure: the host hands in what was heard and what the clock shows, and does what the effects say.
When to try again is the host's: after a refusal it waits for a time that it draws, or two
consumers might take votes from each other for ever.

Source: client/impl/consumer `RebalanceImpl` (`lock`, `lockAll`, `unlock`, `unlockAll`),
`ProcessQueue` (`isLockExpired`), `ConsumeMessageOrderlyService`
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias, assert_never

from rocketha.formats.lock_bodies import MessageQueue, QueueLockBody
from rocketha.locks.state import Attempt, ConsumerOptions, ConsumerState, Lease
from rocketha.runtime.effects import AnswerClient
from rocketha.types import TimestampMs

__all__ = [
    "AnswerHeard",
    "ConsumerAction",
    "ConsumerActionName",
    "ConsumerEffect",
    "ConsumerEvent",
    "ConsumerStepped",
    "LockWanted",
    "PatienceOver",
    "ProcessNext",
    "ProcessWanted",
    "SendLock",
    "SendUnlock",
    "StopWaiting",
    "UnlockWanted",
    "patience_ms",
    "step",
]

# ---- what happens to a consumer ----


@dataclass(frozen=True, slots=True)
class LockWanted:
    """It wants these queues, or to go on holding them."""

    queues: frozenset[MessageQueue]


@dataclass(frozen=True, slots=True)
class AnswerHeard:
    """A broker has answered an attempt."""

    attempt: int
    queues: frozenset[MessageQueue]


@dataclass(frozen=True, slots=True)
class PatienceOver:
    """An attempt has waited for as long as it should."""

    attempt: int


@dataclass(frozen=True, slots=True)
class UnlockWanted:
    """It does not want these queues any more."""

    queues: frozenset[MessageQueue]


@dataclass(frozen=True, slots=True)
class ProcessWanted:
    """There is a message in a queue."""

    queue: MessageQueue


ConsumerEvent: TypeAlias = LockWanted | AnswerHeard | PatienceOver | UnlockWanted | ProcessWanted


# ---- what it does ----


@dataclass(frozen=True, slots=True)
class SendLock:
    """Ask the master, or whoever acts for it."""

    body: QueueLockBody


@dataclass(frozen=True, slots=True)
class SendUnlock:
    """Tell the master, or whoever acts for it, what is given back; wait for no answer."""

    body: QueueLockBody


@dataclass(frozen=True, slots=True)
class StopWaiting:
    """Close the connection with whoever was asked in an attempt: no answer is waited for."""

    attempt: int


@dataclass(frozen=True, slots=True)
class ProcessNext(AnswerClient):
    """Process the next message of a queue; `fresh`: the first one since the queue was got."""

    queue: MessageQueue
    fresh: bool


ConsumerEffect: TypeAlias = SendLock | SendUnlock | StopWaiting | ProcessNext


class ConsumerActionName(StrEnum):
    """The actions of LockQuorum that a consumer takes."""

    LOCK = "Lock"
    RECEIVE_ANSWER = "ReceiveAnswer"
    GIVE_UP = "GiveUp"
    UNLOCK = "Unlock"
    PROCESS = "Process"


@dataclass(frozen=True, slots=True)
class ConsumerAction:
    """The action of the specification that a step took."""

    name: ConsumerActionName
    queues: frozenset[MessageQueue] = frozenset()
    """Lock, Unlock: which; ReceiveAnswer: those that are locked; Process: the one."""
    given_back: frozenset[MessageQueue] = frozenset()
    """ReceiveAnswer, GiveUp, Unlock: whose votes are given back."""


@dataclass(frozen=True, slots=True)
class ConsumerStepped:
    """The result of one step."""

    state: ConsumerState
    effects: tuple[ConsumerEffect, ...] = ()
    action: ConsumerAction | None = None


def step(state: ConsumerState, event: ConsumerEvent, *, now_ms: TimestampMs) -> ConsumerStepped:
    """Take an event; one that comes too late, or too early, changes nothing.

    Spec: LockQuorum!Refrain
    """
    match event:
        case LockWanted():
            return lock(state, event, now_ms=now_ms)
        case AnswerHeard():
            return receive_answer(state, event, now_ms=now_ms)
        case PatienceOver():
            return give_up(state, event, now_ms=now_ms)
        case UnlockWanted():
            return unlock(state, event, now_ms=now_ms)
        case ProcessWanted():
            return process(state, event, now_ms=now_ms)
        case _:
            assert_never(event)


def patience_ms(options: ConsumerOptions) -> int:
    """Return for how long an answer counts."""
    return options.rules.in_time(options.patience_ms)


def lock(state: ConsumerState, event: LockWanted, *, now_ms: TimestampMs) -> ConsumerStepped:
    """Begin an attempt, unless one is under way.

    Spec: LockQuorum!Lock
    Source: RebalanceImpl.lockAll
    """
    if state.attempt is not None or not event.queues:
        return ConsumerStepped(state)
    number = state.tries + 1
    attempt = Attempt(number=number, queues=event.queues, began_ms=now_ms)
    state = replace(state, tries=number, attempt=attempt)
    action = ConsumerAction(ConsumerActionName.LOCK, event.queues)
    return ConsumerStepped(state, (SendLock(_body(state, number, event.queues)),), action)


def receive_answer(
    state: ConsumerState, event: AnswerHeard, *, now_ms: TimestampMs
) -> ConsumerStepped:
    """Hold what is locked, and nothing else of what was asked for.

    Spec: LockQuorum!ReceiveAnswer, LockQuorum!IgnoreAnswer
    Source: RebalanceImpl.lockAll, ProcessQueue.setLastLockTimestamp
    """
    attempt, options = _under_way(state, event.attempt), state.options
    if attempt is None:
        return ConsumerStepped(state)
    if now_ms - attempt.began_ms > patience_ms(options):
        return ConsumerStepped(state)
    got = event.queues & attempt.queues
    lease_ms = options.rules.lease_after_answer(options.lease_ms)
    leases = {queue: lease for queue, lease in state.leases.items() if queue not in attempt.queues}
    for queue in got:
        begun = state.holds(queue, now_ms) and state.leases[queue].begun
        leases[queue] = Lease(TimestampMs(now_ms + lease_ms), begun)
    state = replace(state, attempt=None, leases=MappingProxyType(leases))
    back = attempt.queues - got
    return _given_back(state, attempt.number, back, ConsumerActionName.RECEIVE_ANSWER, got)


def give_up(state: ConsumerState, event: PatienceOver, *, now_ms: TimestampMs) -> ConsumerStepped:
    """End an attempt that was not answered; what is not held from before is given back.

    Spec: LockQuorum!GiveUp
    """
    attempt = _under_way(state, event.attempt)
    if attempt is None:
        return ConsumerStepped(state)
    back = frozenset(queue for queue in attempt.queues if not state.holds(queue, now_ms))
    state = replace(state, attempt=None)
    given_back = _given_back(state, attempt.number, back, ConsumerActionName.GIVE_UP)
    stop_waiting = StopWaiting(attempt.number)
    return replace(given_back, effects=(stop_waiting, *given_back.effects))


def unlock(state: ConsumerState, event: UnlockWanted, *, now_ms: TimestampMs) -> ConsumerStepped:
    """Give queues up that are held. While an attempt is under way nothing is given up.

    Spec: LockQuorum!Unlock
    Source: RebalanceImpl.unlock, unlockAll
    """
    held = frozenset(queue for queue in event.queues if state.holds(queue, now_ms))
    if state.attempt is not None or not held:
        return ConsumerStepped(state)
    leases = {queue: lease for queue, lease in state.leases.items() if queue not in held}
    state = replace(state, leases=MappingProxyType(leases))
    action = ConsumerAction(ConsumerActionName.UNLOCK, held, held)
    return ConsumerStepped(state, (SendUnlock(_body(state, state.tries, held)),), action)


def process(state: ConsumerState, event: ProcessWanted, *, now_ms: TimestampMs) -> ConsumerStepped:
    """Process the next message of a queue that is held.

    Spec: LockQuorum!Process
    Source: ConsumeMessageOrderlyService.ConsumeRequest.run
    """
    queue = event.queue
    if not state.options.rules.may_process(state.holds(queue, now_ms)):
        return ConsumerStepped(state)
    lease = state.leases[queue]
    leases = {**state.leases, queue: replace(lease, begun=True)}
    state = replace(state, leases=MappingProxyType(leases))
    action = ConsumerAction(ConsumerActionName.PROCESS, frozenset({queue}))
    return ConsumerStepped(state, (ProcessNext(queue, not lease.begun),), action)


def _under_way(state: ConsumerState, number: int) -> Attempt | None:
    """Return the attempt with this number; None: it is over."""
    attempt = state.attempt
    return attempt if attempt is not None and attempt.number == number else None


def _given_back(
    state: ConsumerState,
    attempt: int,
    back: frozenset[MessageQueue],
    name: ConsumerActionName,
    queues: frozenset[MessageQueue] = frozenset(),
) -> ConsumerStepped:
    """Give back the votes of an attempt."""
    back = state.options.rules.given_back(back)
    effects = (SendUnlock(_body(state, attempt, back)),) if back else ()
    return ConsumerStepped(state, effects, ConsumerAction(name, queues, back))


def _body(state: ConsumerState, attempt: int, queues: Iterable[MessageQueue]) -> QueueLockBody:
    return QueueLockBody(
        consumer_group=state.consumer_group,
        client_id=state.client_id,
        queues=frozenset(queues),
        attempt=attempt,
    )
