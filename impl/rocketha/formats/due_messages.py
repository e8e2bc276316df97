"""What a broker keeps in its log of messages that are not to be seen yet, or not again.

| topic                     | what lies there                                                      |
|---------------------------|----------------------------------------------------------------------|
| SCHEDULE_TOPIC_XXXX       | delayed messages; the queue is their level - 1                       |
| RMQ_SYS_TRANS_HALF_TOPIC  | half messages, in queue 0                                            |
| RMQ_SYS_TRANS_OP_HALF_    | that half messages have ended: TAGS `d`; the body has their places   |
| TOPIC                     | in the queue, a comma behind each                                    |
| %RETRY%<group>_<topic>    | what was popped and not acknowledged in time                         |

| property                  | of what                                                              |
|---------------------------|----------------------------------------------------------------------|
| UNIQ_KEY                  | every message: its producer's name for it                            |
| REAL_TOPIC, REAL_QID      | a message that is not to be seen yet: where it belongs               |
| DELAY                     | a delayed message: its level                                         |
| TRAN_MSG                  | a half message: `true`                                               |
| PGROUP                    | a half message: the group of its producer                            |
| __transactionId__         | a half message in a log: its UNIQ_KEY                                |
| 1ST_POP_TIME              | what is delivered again: when it was popped first                    |

The sysFlag of a message says what it is for a transaction, in bits 2 and 3: 0 nothing, 4 prepared,
8 committed, 12 rolled back. In the half topic it is 0. RocketMQ's properties are in the order of a
hash map; here a new one comes last.

Source: broker/schedule `ScheduleMessageService.messageTimeUp`; broker/transaction/queue
`TransactionalMessageBridge` (`parseHalfMessageInner`, `renewHalfMessageInner`),
`TransactionalMessageUtil`; broker/processor `EndTransactionProcessor.endMessageTransaction`,
`PopReviveService.reviveRetry`; common `MessageConst`, `MessageSysFlag`, `TopicValidator`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rocketha.errors import PacketError
from rocketha.formats.message import Message, properties_of, properties_text

__all__ = [
    "COMMITTED",
    "DELAY",
    "DELAYED_TOPIC",
    "HALF_TOPIC",
    "OP_TOPIC",
    "PREPARED",
    "PRODUCER_GROUP",
    "ROLLED_BACK",
    "TRANSACTION_BITS",
    "UNIQ_KEY",
    "committed",
    "delay_of",
    "delayed",
    "half",
    "key_of",
    "op_message",
    "prepared_again",
    "pull_op_body",
    "revived",
    "time_is_up",
]

DELAYED_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
OP_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"

UNIQ_KEY: Final = "UNIQ_KEY"
PRODUCER_GROUP: Final = "PGROUP"
DELAY: Final = "DELAY"
_REAL_TOPIC: Final = "REAL_TOPIC"
_REAL_QUEUE: Final = "REAL_QID"
_PREPARED: Final = "TRAN_MSG"
_TRANSACTION_ID: Final = "__transactionId__"
_FIRST_POP: Final = "1ST_POP_TIME"
_TAGS: Final = "TAGS"
_ENDED: Final = "d"

PREPARED: Final = 4
COMMITTED: Final = 8
ROLLED_BACK: Final = 12
TRANSACTION_BITS: Final = 12

_LEVEL: Final = re.compile(r"[1-9][0-9]?\Z", re.ASCII)
_PLACES: Final = re.compile(rb"(?:[0-9]{1,18},)+\Z", re.ASCII)


def key_of(message: Message) -> str | None:
    """Return a message's UNIQ_KEY."""
    return properties_of(message.properties).get(UNIQ_KEY)


# ---- delayed messages ----


def delay_of(message: Message) -> int | None:
    """Return the level that a producer wants; None: the message is to be read at once."""
    level = properties_of(message.properties).get(DELAY, "")
    return int(level) if _LEVEL.match(level) else None


def delayed(message: Message, level: int) -> Message:
    """Return what lies in the log until a message's time is up."""
    properties = properties_of(message.properties) | {
        DELAY: str(level),
        _REAL_TOPIC: message.topic,
        _REAL_QUEUE: str(message.queue_id),
    }
    return replace(
        message,
        topic=DELAYED_TOPIC,
        queue_id=level - 1,
        properties=properties_text(properties),
    )


def time_is_up(message: Message) -> Message:
    """Return what is delivered of a delayed message. Raises: PacketError"""
    properties = properties_of(message.properties)
    topic, queue_id = _real(properties)
    properties.pop(DELAY, None)
    return replace(message, topic=topic, queue_id=queue_id, properties=properties_text(properties))


# ---- half messages ----


def half(message: Message) -> Message:
    """Return what lies in the log of what a producer has prepared."""
    properties = properties_of(message.properties)
    if properties.get(UNIQ_KEY):
        properties[_TRANSACTION_ID] = properties[UNIQ_KEY]
    properties |= {_REAL_TOPIC: message.topic, _REAL_QUEUE: str(message.queue_id)}
    return replace(
        message,
        topic=HALF_TOPIC,
        queue_id=0,
        sys_flag=message.sys_flag & ~TRANSACTION_BITS,
        properties=properties_text(properties),
    )


def prepared_again(message: Message) -> Message:
    """Return a half message as its producer has sent it, for another broker. Raises: PacketError"""
    properties = properties_of(message.properties)
    topic, queue_id = _real(properties)
    properties |= {_PREPARED: "true"}
    properties.pop(_REAL_QUEUE, None)
    return replace(
        message,
        topic=topic,
        queue_id=queue_id,
        sys_flag=message.sys_flag | PREPARED,
        properties=properties_text(properties),
    )


def committed(message: Message) -> Message:
    """Return what is to be seen of a half message that is committed. Raises: PacketError"""
    properties = properties_of(message.properties)
    topic, queue_id = _real(properties)
    for name in (_REAL_TOPIC, _REAL_QUEUE, _PREPARED):
        properties.pop(name, None)
    return replace(
        message,
        topic=topic,
        queue_id=queue_id,
        sys_flag=message.sys_flag & ~TRANSACTION_BITS | COMMITTED,
        properties=properties_text(properties),
    )


def op_message(places: tuple[int, ...]) -> Message:
    """Return what says that the half messages at these places of the queue have ended."""
    body = "".join(f"{place}," for place in places).encode()
    return Message(topic=OP_TOPIC, body=body, properties=properties_text({_TAGS: _ENDED}))


def pull_op_body(body: bytes) -> tuple[int, ...]:
    """Read which half messages have ended. Raises: PacketError"""
    if not _PLACES.match(body):
        raise PacketError("op message", offset=0, reason=f"has the body {body[:60]!r}")
    return tuple(int(place) for place in body.split(b",")[:-1])


def _real(properties: Mapping[str, str]) -> tuple[str, int]:
    topic, queue = properties.get(_REAL_TOPIC, ""), properties.get(_REAL_QUEUE, "")
    if not topic or not queue.isdecimal():
        raise PacketError("properties", offset=0, reason=f"lack {_REAL_TOPIC} or {_REAL_QUEUE}")
    return topic, int(queue)


# ---- what is delivered again ----


def revived(message: Message, group: str, *, pop_time_ms: int) -> Message:
    """Return what a consumer's group gets again."""
    properties = properties_of(message.properties)
    properties.setdefault(_FIRST_POP, str(pop_time_ms))
    return replace(
        message,
        topic=f"%RETRY%{group}_{message.topic}",
        queue_id=0,
        reconsume_times=message.reconsume_times + 1,
        properties=properties_text(properties),
    )
