"""What brokers and consumers write in their records, and the bodies of what they send."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

from rocketha.formats.lock_bodies import LockCode
from rocketha.recording.record import NodeRecord, RecordError, SentMessage

__all__ = [
    "BrokerSettings",
    "ConsumerSettings",
    "ControllerSettings",
    "LockBody",
    "RecordedAttempt",
    "RecordedLease",
    "RecordedLeases",
    "RecordedProcessed",
    "RecordedQueue",
    "RecordedQueues",
    "RecordedReleased",
    "RecordedVote",
    "RecordedVotes",
    "RecordedWish",
    "body_of",
    "locked_queues",
    "voted_queues",
]


class RecordedQueue(msgspec.Struct, frozen=True):
    topic: str
    broker_name: str
    queue_id: int


class _WireQueue(msgspec.Struct, frozen=True, rename="camel"):
    topic: str
    broker_name: str
    queue_id: int


class LockBody(msgspec.Struct, frozen=True, rename="camel"):
    attempt: int
    client_id: str
    mq_set: tuple[_WireQueue, ...]
    only_this_broker: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(f"q{queue.queue_id + 1}" for queue in self.mq_set))


class _Locked(msgspec.Struct, frozen=True):
    lockOKMQSet: tuple[_WireQueue, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(f"q{queue.queue_id + 1}" for queue in self.lockOKMQSet))


class BrokerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="broker"):
    members: tuple[str, ...]
    queues: tuple[RecordedQueue, ...]
    total_replicas: int
    strict: bool
    life_ms: int
    replicates: bool = False
    """It is a real broker, which writes its steps of replication, too."""


class ControllerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="controller"):
    pass


class ConsumerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="consumer"):
    consumer_group: str
    lease_ms: int
    patience_ms: int


class RecordedVote(msgspec.Struct, frozen=True):
    client_id: str
    voted_ms: int
    attempt: int | None = None


class RecordedAttempt(msgspec.Struct, frozen=True):
    number: int
    queues: tuple[RecordedQueue, ...]
    began_ms: int | None = None


class RecordedLease(msgspec.Struct, frozen=True):
    ends_ms: int
    begun: bool


class RecordedQueues(msgspec.Struct, frozen=True):
    queues: tuple[RecordedQueue, ...] = ()


class RecordedWish(msgspec.Struct, frozen=True):
    """What its application wants of a consumer."""

    queues: tuple[RecordedQueue, ...] = ()
    queue: RecordedQueue | None = None

    @property
    def named(self) -> tuple[RecordedQueue, ...]:
        """Return the queues that it is about."""
        return self.queues if self.queue is None else (self.queue,)


class RecordedProcessed(msgspec.Struct, frozen=True):
    queue: RecordedQueue


_Key: TypeAlias = tuple[str, RecordedQueue]
RecordedVotes: TypeAlias = tuple[tuple[_Key, RecordedVote], ...]
RecordedReleased: TypeAlias = tuple[tuple[tuple[str, _Key], int], ...]
RecordedLeases: TypeAlias = tuple[tuple[RecordedQueue, RecordedLease], ...]


def body_of(message: SentMessage) -> LockBody:
    """Read the body of a request for locks. Raises: RecordError"""
    try:
        return msgspec.json.decode(message.body or "", type=LockBody)
    except msgspec.MsgspecError as error:
        raise RecordError(f"message {message.id}: {error}") from None


def locked_queues(message: SentMessage) -> tuple[str, ...]:
    """Read the queues in an answer. Raises: RecordError"""
    try:
        return msgspec.json.decode(message.body or "", type=_Locked).names
    except msgspec.MsgspecError as error:
        raise RecordError(f"message {message.id}: {error}") from None


def voted_queues(record: NodeRecord) -> Iterable[str]:
    """Return for which queues a broker has voted: it says so, or asks others for these only."""
    for message in record.sent:
        yield from (
            body_of(message).names
            if message.code == LockCode.LOCK_BATCH_MQ
            else locked_queues(message)
        )
