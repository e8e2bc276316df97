"""Requests of a broker's clients, of other brokers, and of a broker to its name server.

Only what a group needs that producers and consumers of RocketMQ find: codes, and the fields of
their headers. Fields have names of one letter in the second version of SEND_MESSAGE. What a broker
says of itself is written as `rocketha.formats.name_server_requests` says.

| code     | name                    | asked by | fields read                                      |
|---------:|-------------------------|----------|--------------------------------------------------|
|       10 | SEND_MESSAGE            | producer | topic, queueId, sysFlag, bornTimestamp, flag,    |
|          |                         |          | properties, reconsumeTimes, batch                |
|      310 | SEND_MESSAGE_V2         | producer | the same: b, e, f, g, h, i, j, m                 |
|  11, 361 | PULL_MESSAGE, LITE_     | consumer | topic, queueId, queueOffset, maxMsgNums,         |
|          |                         |          | sysFlag, suspendTimeoutMillis                    |
|   14, 15 | QUERY_, UPDATE_         | consumer | consumerGroup, topic, queueId, commitOffset      |
|          | CONSUMER_OFFSET         |          |                                                  |
|   30, 31 | GET_MAX_OFFSET, GET_MIN_| consumer | topic, queueId                                   |
|       34 | HEART_BEAT              | client   | none                                             |
|       35 | UNREGISTER_CLIENT       | client   | none                                             |
|   43, 45 | GET_ALL_CONSUMER_,      | broker   | none; `rocketha.formats.offset_tables`           |
|          | GET_ALL_DELAY_OFFSET    |          |                                                  |
|      906 | EXCHANGE_BROKER_HA_INFO | broker   | masterHaAddress, which a question has not; all   |
|          |                         |          | of it: `rocketha.formats.ha_info`                |

An id of a message, as producers are told it: 16 bytes in hexadecimal, upper case: address and port
of the broker (4 each), the offset of its record.

Source: remoting/protocol `RequestCode`, `ResponseCode`, `SendMessageRequestHeaderV2`,
`PullMessageRequestHeader`, `ExchangeHAInfoResponseHeader`; common `MessageDecoder.createMessageId`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from rocketha.errors import RequestError
from rocketha.formats.ext_fields import FieldReader
from rocketha.formats.message import Host
from rocketha.formats.name_server_codec import push_name_server_request
from rocketha.formats.name_server_requests import DataVersion, RegisterBroker, TopicConfig
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.types import BrokerId, Offset, TimestampMs

__all__ = [
    "AUTO_CREATE_TOPIC",
    "BrokerCode",
    "BrokerResponse",
    "NameServerRegistration",
    "PullMessage",
    "QueueName",
    "SendMessage",
    "ha_question",
    "message_id",
    "pull_consumer_offset",
    "pull_ha_answer",
    "pull_pull_message",
    "pull_queue",
    "pull_send_message",
    "push_registration",
]

_PULL_MAX: Final = 1024
_SUSPENDS: Final = 1 << 1
_PERM_READ_WRITE: Final = 6
_PERM_INHERITED: Final = 7
_TOPIC_MAX: Final = 127

AUTO_CREATE_TOPIC: Final = "TBW102"
"""Of which a producer learns where a topic can be created that nobody has.
Source: `TopicValidator.AUTO_CREATE_TOPIC_KEY_TOPIC`"""


class BrokerCode(IntEnum):
    """What is asked of a broker."""

    SEND_MESSAGE = 10
    PULL_MESSAGE = 11
    QUERY_CONSUMER_OFFSET = 14
    UPDATE_CONSUMER_OFFSET = 15
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    HEART_BEAT = 34
    UNREGISTER_CLIENT = 35
    GET_ALL_CONSUMER_OFFSET = 43
    GET_ALL_DELAY_OFFSET = 45
    SEND_MESSAGE_V2 = 310
    LITE_PULL_MESSAGE = 361
    EXCHANGE_BROKER_HA_INFO = 906


class BrokerResponse(IntEnum):
    """How it went."""

    SUCCESS = 0
    SYSTEM_ERROR = 1
    REQUEST_CODE_NOT_SUPPORTED = 3
    FLUSH_DISK_TIMEOUT = 10
    SLAVE_NOT_AVAILABLE = 11
    FLUSH_SLAVE_TIMEOUT = 12
    MESSAGE_ILLEGAL = 13
    SERVICE_NOT_AVAILABLE = 14
    PULL_NOT_FOUND = 19
    PULL_OFFSET_MOVED = 21
    QUERY_NOT_FOUND = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueName:
    """A queue of a topic in a broker."""

    topic: str
    queue_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessage:
    """A producer's message."""

    queue: QueueName
    body: bytes
    sys_flag: int
    flag: int
    born_timestamp_ms: TimestampMs
    properties: str
    """RocketMQ's text of them."""
    reconsume_times: int
    is_batch: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMessage:
    """A consumer's question for messages."""

    queue: QueueName
    queue_offset: int
    messages_max: int
    wait_ms: int
    """It waits so long for a message if there is none; 0: it does not wait."""


def pull_send_message(command: RemotingCommand) -> SendMessage:
    """Read a message that is to be stored. Raises: RequestError"""
    short = command.code == BrokerCode.SEND_MESSAGE_V2
    reader = FieldReader(command.ext_fields)
    properties = reader.optional_text("i" if short else "properties")
    return SendMessage(
        queue=_queue(reader, *(("b", "e") if short else ("topic", "queueId"))),
        body=command.body,
        sys_flag=reader.int32("f" if short else "sysFlag", least=0),
        flag=reader.int32("h" if short else "flag"),
        born_timestamp_ms=TimestampMs(reader.int64("g" if short else "bornTimestamp", least=0)),
        properties=properties or "",
        reconsume_times=reader.optional_int32("j" if short else "reconsumeTimes", least=0) or 0,
        is_batch=reader.boolean("m" if short else "batch", default=False),
    )


def pull_pull_message(command: RemotingCommand) -> PullMessage:
    """Read a consumer's question. Raises: RequestError"""
    reader = FieldReader(command.ext_fields)
    suspends = reader.int32("sysFlag") & _SUSPENDS
    return PullMessage(
        queue=_queue(reader, "topic", "queueId"),
        queue_offset=reader.int64("queueOffset"),
        messages_max=min(_PULL_MAX, reader.int32("maxMsgNums", least=1)),
        wait_ms=reader.int64("suspendTimeoutMillis", least=0) if suspends else 0,
    )


def pull_queue(command: RemotingCommand) -> QueueName:
    """Read of which queue the first or next offset is asked. Raises: RequestError"""
    return _queue(FieldReader(command.ext_fields), "topic", "queueId")


def pull_consumer_offset(command: RemotingCommand) -> tuple[str, QueueName, int | None]:
    """Read which group is asked about, and what it has consumed if it says that.

    Raises: RequestError
    """
    reader = FieldReader(command.ext_fields)
    offset = reader.optional_int64("commitOffset", least=0)
    return reader.name("consumerGroup"), _queue(reader, "topic", "queueId"), offset


def _queue(reader: FieldReader, topic: str, queue_id: str) -> QueueName:
    name = reader.name(topic)
    if len(name.encode("utf-8", "replace")) > _TOPIC_MAX:
        raise RequestError(topic, reason=f"has over {_TOPIC_MAX} bytes")
    return QueueName(topic=name, queue_id=reader.int32(queue_id))


def message_id(host: Host, offset: Offset) -> str:
    """Write the id of a message that a broker stored. Source: MessageDecoder.createMessageId"""
    raw = host.address + host.port.to_bytes(4) + offset.to_bytes(8)
    return raw.hex().upper()


# ---- where a master replicates ----


def ha_question(*, opaque: int) -> RemotingCommand:
    """Ask a master where it replicates. Source: BrokerOuterAPI.retrieveBrokerHaInfo"""
    return RemotingCommand(code=BrokerCode.EXCHANGE_BROKER_HA_INFO, opaque=opaque)


def pull_ha_answer(command: RemotingCommand) -> str | None:
    """Read where a master replicates; None: who answers is none. Raises: RequestError"""
    if command.code != BrokerResponse.SUCCESS:
        return None
    return FieldReader(command.ext_fields).optional_text("masterHaAddress") or None


# ---- the name server ----


@dataclass(frozen=True, slots=True, kw_only=True)
class NameServerRegistration:
    """What a broker says of itself to a name server."""

    cluster_name: str
    broker_name: str
    broker_address: str
    ha_address: str
    broker_id: BrokerId
    """0 for a master."""
    master_epoch: int
    """A registration with an older one does not replace another master's."""
    changes: int
    """How often the topics have changed: those of a known number are not read again."""
    topics: Mapping[str, int]
    """Topic -> number of its queues."""


def push_registration(of: NameServerRegistration, *, opaque: int, now_ms: int) -> RemotingCommand:
    """Write a registration. A first one with exactly one topic is ignored by name servers.

    Source: BrokerOuterAPI.registerBrokerAll, RouteInfoManager.registerBroker
    """
    registration = RegisterBroker(
        cluster_name=of.cluster_name,
        broker_name=of.broker_name,
        broker_address=of.broker_address,
        broker_id=of.broker_id,
        ha_server_address=of.ha_address,
        enable_acting_master=False,
        data_version=DataVersion(of.master_epoch, of.changes, TimestampMs(now_ms)),
        topic_configs={topic: _topic(topic, of.topics[topic]) for topic in of.topics},
    )
    return push_name_server_request(registration, opaque=opaque)


def _topic(name: str, queues: int) -> TopicConfig:
    return TopicConfig(
        topic_name=name,
        read_queue_nums=queues,
        write_queue_nums=queues,
        perm=_PERM_INHERITED if name == AUTO_CREATE_TOPIC else _PERM_READ_WRITE,
    )
