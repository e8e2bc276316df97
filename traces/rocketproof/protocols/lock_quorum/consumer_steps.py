"""Which action of LockQuorum a consumer's step is: by what it took, what it sent, what changed.

| it took         | and                                                     | so it is      |
|-----------------|---------------------------------------------------------|---------------|
| LockWanted      | has sent a request, or begun an attempt                 | Lock          |
| an answer       | has ended its attempt, changed a lease, or sent         | ReceiveAnswer |
| PatienceOver    | has ended its attempt, changed a lease, or sent         | GiveUp        |
| UnlockWanted    | has sent a release, or changed a lease                  | Unlock        |
| ProcessWanted   | has processed a message, or changed a lease             | Process       |

A step in which nothing was sent, processed or changed is none of these. Of a wish it is Refrain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocketha.formats.lock_bodies import (
    LockCode,
    MessageQueue,
    pull_locked_queues,
    pull_queue_lock,
)
from rocketha.locks.consumer import (
    AnswerHeard,
    ConsumerEvent,
    LockWanted,
    PatienceOver,
    ProcessWanted,
    UnlockWanted,
)
from rocketha.locks.state import ConsumerState
from rocketha.runtime.events import RequestEvent, ResponseArrived
from rocketha.sim.engine.frames import Frame
from rocketha.sim.lock_quorum.cluster import ConsumerStepped

__all__ = ["ConsumerTook", "consumer_step", "unfulfilled"]


@dataclass(frozen=True, slots=True)
class ConsumerTook:
    """An action of a consumer, and what it was about."""

    name: str
    queues: frozenset[MessageQueue] = frozenset()
    at: str | None = None
    """Lock: the broker that was asked; None: none was."""


def consumer_step(
    step: ConsumerStepped, before: ConsumerState, after: ConsumerState
) -> ConsumerTook | None:
    """Return the action of a step; None: it was none."""
    if not (step.sent or step.processed or after != before):
        return None
    match step.event:
        case LockWanted(queues=wanted):
            asked = [frame for frame in step.sent if frame.code == LockCode.LOCK_BATCH_MQ]
            queues = _queues(asked) if asked else wanted
            return ConsumerTook("Lock", queues, asked[0].to if asked else None)
        case ResponseArrived(command=command):
            got = frozenset[MessageQueue]() if command is None else pull_locked_queues(command.body)
            return ConsumerTook("ReceiveAnswer", got)
        case AnswerHeard(queues=got):
            return ConsumerTook("ReceiveAnswer", got)
        case PatienceOver():
            return ConsumerTook("GiveUp")
        case UnlockWanted():
            gone = before.leases.keys() - after.leases.keys()
            return ConsumerTook("Unlock", _queues(step.sent) or frozenset(gone))
        case ProcessWanted(queue=queue):
            done = [answer.queue for answer in step.processed] or [queue]
            return ConsumerTook("Process", frozenset(done))
        case _:
            return None


def unfulfilled(event: ConsumerEvent | RequestEvent) -> ConsumerTook | None:
    """Return the wish that a step was about in which nothing happened; None: it had no wish."""
    match event:
        case LockWanted(queues=queues):
            return ConsumerTook("Lock", queues)
        case UnlockWanted(queues=queues):
            return ConsumerTook("Unlock", queues)
        case ProcessWanted(queue=queue):
            return ConsumerTook("Process", frozenset({queue}))
        case _:
            return None


def _queues(sent: Sequence[Frame]) -> frozenset[MessageQueue]:
    bodies: Iterable[frozenset[MessageQueue]] = (pull_queue_lock(f.body).queues for f in sent)
    return frozenset().union(*bodies)
