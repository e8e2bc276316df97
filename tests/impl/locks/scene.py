"""Lock managers and consumers in small scenes."""

from __future__ import annotations

from rocketha.formats.lock_bodies import MessageQueue, QueueLockBody
from rocketha.known_bugs import NO_BUGS, Bugs
from rocketha.known_bugs.lock_quorum import consumer_rules, voting_rules
from rocketha.locks import voting
from rocketha.locks.state import (
    ConsumerOptions,
    ConsumerState,
    LockManagerState,
    LockOptions,
)
from rocketha.locks.voting import LockAsked, ManagerStepped, UnlockAsked
from rocketha.types import BrokerId, RequestId, TimestampMs

ONE, TWO, THREE = BrokerId(1), BrokerId(2), BrokerId(3)
Q1, Q2 = MessageQueue("t", "g", 0), MessageQueue("t", "g", 1)
LIFE = 60_000


def at(ms: int) -> TimestampMs:
    return TimestampMs(ms)


def a_manager(
    *, members: int = 3, strict: bool = True, bugs: Bugs = NO_BUGS, started: int = -LIFE
) -> LockManagerState:
    """Broker 1, which has run long enough to vote at 0."""
    numbers = tuple(BrokerId(n) for n in range(1, members + 1))
    options = LockOptions(
        members=numbers, total_replicas=members, strict=strict, rules=voting_rules(bugs)
    )
    return voting.started(ONE, options, now_ms=at(started))


def a_consumer(bugs: Bugs = NO_BUGS) -> ConsumerState:
    return ConsumerState(
        client_id="c1", consumer_group="cg", options=ConsumerOptions(rules=consumer_rules(bugs))
    )


def body(client: str, *queues: MessageQueue, attempt: int = 1, only: bool = False) -> QueueLockBody:
    return QueueLockBody(
        consumer_group="cg",
        client_id=client,
        queues=frozenset(queues),
        only_this_broker=only,
        attempt=attempt,
    )


def ask(
    state: LockManagerState, request: int, asked: QueueLockBody, *, now: int = 0
) -> ManagerStepped:
    return voting.step(state, LockAsked(RequestId(request), asked), now_ms=at(now))


def free(state: LockManagerState, released: QueueLockBody, *, now: int = 0) -> ManagerStepped:
    return voting.step(state, UnlockAsked(released), now_ms=at(now))
