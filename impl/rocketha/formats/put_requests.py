"""What a broker asks of another master and of producers, and what consumers ask of it.

| code   | name                    | from, to          | fields                                    |
|-------:|-------------------------|-------------------|-------------------------------------------|
|    310 | SEND_MESSAGE_V2         | broker, master    | a producerGroup, b topic, c TBW102, d 8,  |
|        |                         |                   | e queueId, f sysFlag, g bornTimestamp,    |
|        |                         |                   | h flag, i properties, j reconsumeTimes,   |
|        |                         |                   | k unitMode, m batch; body                 |
|     39 | CHECK_TRANSACTION_STATE | master, producer, | bname, commitLogOffset, msgId,            |
|        |                         | one way           | offsetMsgId, topic, tranStateTableOffset, |
|        |                         |                   | transactionId; body: the message          |
|     37 | END_TRANSACTION         | producer, master, | bname, commitLogOffset, commitOrRollback, |
|        |                         | one way           | fromTransactionCheck, msgId,              |
|        |                         |                   | producerGroup, topic,                     |
|        |                         |                   | tranStateTableOffset, transactionId       |
| 200050 | POP_MESSAGE             | consumer, broker  | bornTime, consumerGroup, initMode,        |
|        |                         |                   | invisibleTime, maxMsgNums, order,         |
|        |                         |                   | pollTime, queueId, topic                  |
| 200051 | ACK_MESSAGE             | consumer, broker  | consumerGroup, extraInfo, offset,         |
|        |                         |                   | queueId, topic                            |

The answer to SEND_MESSAGE_V2 has msgId, queueId, queueOffset, transactionId. With SUCCESS the
message is stored (PUT_OK); FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT and SLAVE_NOT_AVAILABLE say that
it is, and perhaps not safely; with others it is not. tranStateTableOffset is a half message's place
in its queue. The body of CHECK_TRANSACTION_STATE is written as a record is in a log
(`rocketha.formats.message`), without the checksum of all of it.

Source: broker/out `BrokerOuterAPI` (`buildSendMessageRequestHeaderV2`, `processSendResponse`);
broker/client/net `Broker2Client.checkProducerTransactionState`; broker/processor
`AbstractSendMessageProcessor`, `SendMessageProcessor.handlePutMessageResult`;
remoting/protocol/header `SendMessageRequestHeaderV2`, `SendMessageResponseHeader`,
`CheckTransactionStateRequestHeader`, `EndTransactionRequestHeader`, `PopMessageRequestHeader`,
`AckMessageRequestHeader`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from rocketha.errors import CommitLogError, RequestError
from rocketha.formats.broker_requests import (
    AUTO_CREATE_TOPIC,
    BrokerResponse,
    QueueName,
    pull_send_message,
)
from rocketha.formats.due_messages import COMMITTED, ROLLED_BACK, key_of
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.formats.message import Blank, Message, RecordCheck, pull_record, push_record
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.types import Offset, SizeBytes, TimestampMs

__all__ = [
    "AckMessage",
    "CheckTransactionState",
    "EndTransaction",
    "PopMessage",
    "PutCode",
    "is_put_ok",
    "pull_ack_message",
    "pull_check",
    "pull_end",
    "pull_pop_message",
    "pull_put",
    "push_ack_message",
    "push_check",
    "push_end",
    "push_pop_message",
    "push_put",
    "push_stored",
]

_DEFAULT_QUEUES: Final = 8
_ENDS: Final = (0, COMMITTED, ROLLED_BACK)
_ROOM: Final = SizeBytes(1 << 30)


class PutCode(IntEnum):
    """What is asked, besides SEND_MESSAGE_V2."""

    END_TRANSACTION = 37
    CHECK_TRANSACTION_STATE = 39
    POP_MESSAGE = 200050
    ACK_MESSAGE = 200051


# ---- SEND_MESSAGE_V2 ----


def push_put(message: Message, producer_group: str) -> Mapping[str, str]:
    """Write the fields of a put; the message's body is that of the frame."""
    return push_fields(
        {
            "a": producer_group,
            "b": message.topic,
            "c": AUTO_CREATE_TOPIC,
            "d": _DEFAULT_QUEUES,
            "e": message.queue_id,
            "f": message.sys_flag,
            "g": message.born_timestamp_ms,
            "h": message.flag,
            "i": message.properties,
            "j": message.reconsume_times,
            "k": False,
            "m": False,
        }
    )


def pull_put(command: RemotingCommand) -> Message:
    """Read a message that is to be stored. Raises: RequestError"""
    sent = pull_send_message(command)
    if sent.is_batch:
        raise RequestError("m", reason="is true: a batch")
    return Message(
        topic=sent.queue.topic,
        body=sent.body,
        queue_id=sent.queue.queue_id,
        flag=sent.flag,
        sys_flag=sent.sys_flag,
        born_timestamp_ms=sent.born_timestamp_ms,
        reconsume_times=sent.reconsume_times,
        properties=sent.properties,
    )


def push_stored(message: Message, *, msg_id: str, queue_offset: int) -> Mapping[str, str]:
    """Write the fields of the answer that a message is stored."""
    return push_fields(
        {
            "msgId": msg_id,
            "queueId": message.queue_id,
            "queueOffset": queue_offset,
            "transactionId": key_of(message),
        }
    )


def is_put_ok(command: RemotingCommand | None) -> bool:
    """Tell whether an answer says PUT_OK; None: there is none."""
    return command is not None and command.code == BrokerResponse.SUCCESS


# ---- transactions ----


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTransactionState:
    """A master asks what has become of a transaction."""

    broker_name: str
    topic: str
    commit_log_offset: Offset
    queue_offset: int
    key: str
    """The half message's UNIQ_KEY."""
    msg_id: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTransaction:
    """A producer says it."""

    broker_name: str
    topic: str
    producer_group: str
    commit_log_offset: Offset
    queue_offset: int
    how: int
    """COMMITTED, ROLLED_BACK, or 0: not known yet."""
    key: str
    is_answer: bool
    """It was asked."""


def push_check(check: CheckTransactionState) -> tuple[Mapping[str, str], bytes]:
    """Write the fields of a check, and its body."""
    fields = push_fields(
        {
            "bname": check.broker_name,
            "commitLogOffset": check.commit_log_offset,
            "msgId": check.key,
            "offsetMsgId": check.msg_id,
            "topic": check.topic,
            "tranStateTableOffset": check.queue_offset,
            "transactionId": check.key,
        }
    )
    return fields, push_record(check.message, check.commit_log_offset, whole_crc=False)


def pull_check(command: RemotingCommand) -> CheckTransactionState:
    """Read a check. Raises: RequestError"""
    reader = FieldReader(command.ext_fields)
    offset = Offset(reader.int64("commitLogOffset", least=0))
    try:
        span = pull_record(command.body, offset=offset, room=_ROOM, check=RecordCheck.BODY)
    except CommitLogError as error:
        raise RequestError("body", reason=str(error)) from None
    if isinstance(span, Blank) or span.size != len(command.body):
        raise RequestError("body", reason="is not one message")
    return CheckTransactionState(
        broker_name=reader.name("bname"),
        topic=reader.name("topic"),
        commit_log_offset=offset,
        queue_offset=reader.int64("tranStateTableOffset", least=0),
        key=reader.name("msgId"),
        msg_id=reader.name("offsetMsgId"),
        message=span.message,
    )


def push_end(end: EndTransaction) -> Mapping[str, str]:
    """Write what a producer says of a transaction."""
    return push_fields(
        {
            "bname": end.broker_name,
            "commitLogOffset": end.commit_log_offset,
            "commitOrRollback": end.how,
            "fromTransactionCheck": end.is_answer,
            "msgId": end.key,
            "producerGroup": end.producer_group,
            "topic": end.topic,
            "tranStateTableOffset": end.queue_offset,
            "transactionId": end.key,
        }
    )


def pull_end(command: RemotingCommand) -> EndTransaction:
    """Read what a producer says of a transaction. Raises: RequestError"""
    reader = FieldReader(command.ext_fields)
    how = reader.int32("commitOrRollback")
    if how not in _ENDS:
        raise RequestError("commitOrRollback", reason=f"is {how}, not one of {_ENDS}")
    return EndTransaction(
        broker_name=reader.name("bname"),
        topic=reader.name("topic"),
        producer_group=reader.name("producerGroup"),
        commit_log_offset=Offset(reader.int64("commitLogOffset", least=0)),
        queue_offset=reader.int64("tranStateTableOffset", least=0),
        how=how,
        key=reader.name("msgId"),
        is_answer=reader.boolean("fromTransactionCheck", default=False),
    )


# ---- pops ----


@dataclass(frozen=True, slots=True, kw_only=True)
class PopMessage:
    """A consumer wants a message, which nobody else of its group gets for a while."""

    group: str
    queue: QueueName
    invisible_ms: int
    born_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class AckMessage:
    """It has done with it."""

    group: str
    queue: QueueName
    offset: int
    extra_info: str


def push_pop_message(pop: PopMessage) -> Mapping[str, str]:
    """Write that a consumer wants one message, at once."""
    return push_fields(
        {
            "bornTime": pop.born_ms,
            "consumerGroup": pop.group,
            "initMode": 0,
            "invisibleTime": pop.invisible_ms,
            "maxMsgNums": 1,
            "order": False,
            "pollTime": 0,
            "queueId": pop.queue.queue_id,
            "topic": pop.queue.topic,
        }
    )


def pull_pop_message(command: RemotingCommand) -> PopMessage:
    """Read what a consumer wants. Raises: RequestError"""
    reader = FieldReader(command.ext_fields)
    return PopMessage(
        group=reader.name("consumerGroup"),
        queue=QueueName(topic=reader.name("topic"), queue_id=reader.int32("queueId", least=0)),
        invisible_ms=reader.int64("invisibleTime", least=0),
        born_ms=TimestampMs(reader.int64("bornTime", least=0)),
    )


def push_ack_message(ack: AckMessage) -> Mapping[str, str]:
    """Write that a consumer has done with a message."""
    return push_fields(
        {
            "consumerGroup": ack.group,
            "extraInfo": ack.extra_info,
            "offset": ack.offset,
            "queueId": ack.queue.queue_id,
            "topic": ack.queue.topic,
        }
    )


def pull_ack_message(command: RemotingCommand) -> AckMessage:
    """Read with what a consumer has done. Raises: RequestError"""
    reader = FieldReader(command.ext_fields)
    return AckMessage(
        group=reader.name("consumerGroup"),
        queue=QueueName(topic=reader.name("topic"), queue_id=reader.int32("queueId", least=0)),
        offset=reader.int64("offset", least=0),
        extra_info=reader.text("extraInfo"),
    )
