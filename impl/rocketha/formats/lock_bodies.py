"""The bodies of requests for queue locks: JSON, in RemotingCommand frames without other fields.

| body                                           | members                                         |
|------------------------------------------------|-------------------------------------------------|
| LockBatchRequestBody, UnlockBatchRequestBody   | clientId, consumerGroup: texts;                 |
|                                                | mqSet: array of MessageQueue;                   |
|                                                | onlyThisBroker: true or false, missing is false |
| LockBatchResponseBody                          | lockOKMQSet: array of MessageQueue              |
| MessageQueue                                   | brokerName, topic: texts; queueId: integer      |

The answer's code is SUCCESS whatever was locked; that of an unlock has no body.

One member is not RocketMQ's: `attempt`, the number of the consumer's attempt. Without it a request
or a release that comes late cannot be told from a newer one. A peer that does not know it passes it
by, and where it is missing it counts as 0, older than every attempt.

Source: remoting/protocol/body `LockBatchRequestBody`, `UnlockBatchRequestBody`,
`LockBatchResponseBody`, common/message `MessageQueue`
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from rocketha.errors import PacketError
from rocketha.formats.json_text import (
    JsonValue,
    as_array,
    as_object,
    integer_at,
    optional_integer_at,
    read_json,
    text_at,
    write_json,
)
from rocketha.types import INT32_MAX, INT64_MAX

__all__ = [
    "QUEUES_MAX",
    "LockCode",
    "MessageQueue",
    "QueueLockBody",
    "pull_locked_queues",
    "pull_queue_lock",
    "push_locked_queues",
    "push_queue_lock",
]

QUEUES_MAX: Final = 65_536
"""No bound in RocketMQ, where a consumer has as many as its topics have."""


class LockCode(IntEnum):
    """What is asked of a broker. Source: remoting/protocol `RequestCode`"""

    LOCK_BATCH_MQ = 41
    UNLOCK_BATCH_MQ = 42


@dataclass(frozen=True, slots=True, order=True)
class MessageQueue:
    """A queue of a topic in a group of brokers."""

    topic: str
    broker_name: str
    queue_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLockBody:
    """Who wants to lock or to unlock which queues."""

    consumer_group: str
    client_id: str
    queues: frozenset[MessageQueue]
    only_this_broker: bool = False
    """A broker says it for a consumer; it is not passed on."""
    attempt: int = 0
    """Of the consumer's attempts; what belongs to one has its number."""


def push_queue_lock(body: QueueLockBody) -> bytes:
    """Write a LockBatchRequestBody or UnlockBatchRequestBody."""
    return write_json(
        {
            "attempt": body.attempt,
            "clientId": body.client_id,
            "consumerGroup": body.consumer_group,
            "mqSet": _queues_json(body.queues),
            "onlyThisBroker": body.only_this_broker,
        }
    )


def pull_queue_lock(data: bytes) -> QueueLockBody:
    """Read a LockBatchRequestBody or UnlockBatchRequestBody. Raises: PacketError"""
    body = as_object(read_json(data, "LockBatchRequestBody"), "LockBatchRequestBody")
    only = body.get("onlyThisBroker", False)
    if not isinstance(only, bool):
        raise PacketError("onlyThisBroker", offset=0, reason="is not true or false")
    attempt = optional_integer_at(body, "attempt", least=0, most=INT64_MAX)
    return QueueLockBody(
        consumer_group=text_at(body, "consumerGroup"),
        client_id=text_at(body, "clientId"),
        queues=_queues(body.get("mqSet"), "mqSet"),
        only_this_broker=only,
        attempt=0 if attempt is None else attempt,
    )


def push_locked_queues(queues: Iterable[MessageQueue]) -> bytes:
    """Write a LockBatchResponseBody."""
    return write_json({"lockOKMQSet": _queues_json(queues)})


def pull_locked_queues(data: bytes) -> frozenset[MessageQueue]:
    """Read a LockBatchResponseBody. Raises: PacketError"""
    body = as_object(read_json(data, "LockBatchResponseBody"), "LockBatchResponseBody")
    return _queues(body.get("lockOKMQSet"), "lockOKMQSet")


def _queues_json(queues: Iterable[MessageQueue]) -> JsonValue:
    return [
        {"brokerName": queue.broker_name, "queueId": queue.queue_id, "topic": queue.topic}
        for queue in sorted(queues)
    ]


def _queues(value: JsonValue, what: str) -> frozenset[MessageQueue]:
    items = as_array(value, what)
    if len(items) > QUEUES_MAX:
        raise PacketError(what, offset=0, reason=f"has {len(items)} queues")
    return frozenset(_queue(item, what) for item in items)


def _queue(value: JsonValue, what: str) -> MessageQueue:
    queue = as_object(value, what)
    return MessageQueue(
        topic=text_at(queue, "topic"),
        broker_name=text_at(queue, "brokerName"),
        queue_id=integer_at(queue, "queueId", least=0, most=INT32_MAX),
    )
