"""Check points and ACKs: what says in a log that a consumer has popped, and that it has done it.

Both are messages of the topic rmq_sys_REVIVE_LOG_<cluster>, with a JSON object for a body.

| TAGS | what          | members                                                                   |
|------|---------------|---------------------------------------------------------------------------|
| ck   | PopCheckPoint | bm (bits of what is acknowledged), bn (brokerName), c (consumer group),   |
|      |               | d (from the first message to each), it (invisible for so long, ms),       |
|      |               | n (how many messages), pt (popped at, ms), q (queueId), reviveTime,       |
|      |               | ro, so (the first message's place in its queue), t (topic)                |
| ack  | AckMsg        | ao (which message), bn, c, pt, q, so, t                                   |

UNIQ_KEY is `topic@queueId@startOffset@group@popTime@brokerName@ck`, of an ACK with its offset and
`@ack`. Each says to which pop it belongs.

What a consumer is given with a message, and gives back with its ACK, is the extra info:
`startOffset popTime invisibleTime reviveQueueId retry brokerName queueId offset`. RocketMQ passes
over what is behind these; here the name of the broker follows that has the check point.

Source: store/pop `PopCheckPoint`, `AckMsg`; common `PopAckConstants`; broker/processor
`PopMessageProcessor` (`buildCkMsg`, `genCkUniqueId`, `genAckUniqueId`), `AckMessageProcessor`;
remoting/protocol/header `ExtraInfoUtil.buildExtraInfo`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.errors import PacketError, RequestError
from rocketha.formats.due_messages import UNIQ_KEY
from rocketha.formats.fastjson_text import FastjsonValue, write_fastjson
from rocketha.formats.json_text import as_object, integer_at, read_json, text_at
from rocketha.formats.message import Message, properties_of, properties_text
from rocketha.types import TimestampMs

__all__ = [
    "POP_CK",
    "AckMsg",
    "PopCheckPoint",
    "Popped",
    "ack_message",
    "check_point_message",
    "is_revive_topic",
    "pull_extra_info",
    "pull_revive_message",
    "push_extra_info",
    "revive_topic",
]

POP_CK: Final = "POP_CK"
"""`MessageConst.PROPERTY_POP_CK`: the property with which a consumer acknowledges."""
_TOPIC: Final = "rmq_sys_REVIVE_LOG_"
_TAGS: Final = "TAGS"
_CK: Final = "ck"
_ACK: Final = "ack"
_EXTRA: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Popped:
    """Which message was popped, by whom, and when."""

    broker_name: str
    group: str
    topic: str
    queue_id: int
    offset: int
    """The message's place in its queue."""
    pop_time_ms: TimestampMs

    @property
    def name(self) -> str:
        """Return what both messages of a pop begin with in their keys, and its brokerName."""
        at = f"{self.topic}@{self.queue_id}@{self.offset}"
        return f"{at}@{self.group}@{self.pop_time_ms}@{self.broker_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PopCheckPoint:
    """A message was popped."""

    popped: Popped
    invisible_ms: int

    @property
    def revive_ms(self) -> int:
        """Return when it is delivered again, if nobody has acknowledged it."""
        return self.popped.pop_time_ms + self.invisible_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class AckMsg:
    """A consumer has done what it popped."""

    popped: Popped


def revive_topic(cluster_name: str) -> str:
    """Return the topic of a cluster's check points and ACKs."""
    return f"{_TOPIC}{cluster_name}"


def is_revive_topic(topic: str) -> bool:
    """Tell whether a topic has check points and ACKs."""
    return topic.startswith(_TOPIC)


def check_point_message(
    cluster_name: str, check_point: PopCheckPoint, *, now_ms: TimestampMs
) -> Message:
    """Write a check point."""
    of = check_point.popped
    value: dict[str, FastjsonValue] = {
        "bm": 0,
        "bn": of.broker_name,
        "c": of.group,
        "d": [0],
        "it": check_point.invisible_ms,
        "n": 1,
        "pt": of.pop_time_ms,
        "q": of.queue_id,
        "reviveTime": check_point.revive_ms,
        "ro": 0,
        "so": of.offset,
        "t": of.topic,
    }
    return _message(cluster_name, _CK, of, value, now_ms)


def ack_message(cluster_name: str, ack: AckMsg, *, now_ms: TimestampMs) -> Message:
    """Write an ACK."""
    of = ack.popped
    value: dict[str, FastjsonValue] = {
        "ao": of.offset,
        "bn": of.broker_name,
        "c": of.group,
        "pt": of.pop_time_ms,
        "q": of.queue_id,
        "so": of.offset,
        "t": of.topic,
    }
    return _message(cluster_name, _ACK, of, value, now_ms)


def _message(
    cluster_name: str, tag: str, of: Popped, value: FastjsonValue, now_ms: TimestampMs
) -> Message:
    return Message(
        topic=revive_topic(cluster_name),
        body=write_fastjson(value),
        born_timestamp_ms=now_ms,
        properties=properties_text({_TAGS: tag, UNIQ_KEY: f"{of.name}@{tag}"}),
    )


def pull_revive_message(message: Message) -> PopCheckPoint | AckMsg:
    """Read a check point of one message, or an ACK. Raises: PacketError"""
    tag = properties_of(message.properties).get(_TAGS)
    if tag not in (_CK, _ACK):
        raise PacketError("properties", offset=0, reason=f"has the tag {ascii(tag)[:60]}")
    value = as_object(read_json(message.body, "body"), "body")
    popped = Popped(
        broker_name=text_at(value, "bn"),
        group=text_at(value, "c"),
        topic=text_at(value, "t"),
        queue_id=integer_at(value, "q", least=0),
        offset=integer_at(value, "ao" if tag == _ACK else "so", least=0),
        pop_time_ms=TimestampMs(integer_at(value, "pt", least=0)),
    )
    if tag == _ACK:
        return AckMsg(popped=popped)
    if integer_at(value, "n", least=0) != 1:
        raise PacketError("n", offset=0, reason="is not 1: several messages in one pop")
    return PopCheckPoint(popped=popped, invisible_ms=integer_at(value, "it", least=0))


def push_extra_info(check_point: PopCheckPoint, holder: str) -> str:
    """Write what a consumer is given; `holder` has the check point."""
    of = check_point.popped
    return (
        f"{of.offset} {of.pop_time_ms} {check_point.invisible_ms} 0 0 {of.broker_name}"
        f" {of.queue_id} {of.offset} {holder}"
    )


def pull_extra_info(text: str, *, group: str, topic: str) -> tuple[PopCheckPoint, str]:
    """Read what a consumer gives back: its pop, and who has the check point.

    Raises: RequestError
    """
    parts = text.split(" ")
    numbers = parts[:3] + parts[6:8]
    if len(parts) != _EXTRA or not all(part.isdecimal() and len(part) < 19 for part in numbers):
        raise RequestError("extraInfo", reason=f"is {ascii(text)[:60]}")
    popped = Popped(
        broker_name=parts[5],
        group=group,
        topic=topic,
        queue_id=int(parts[6]),
        offset=int(parts[7]),
        pop_time_ms=TimestampMs(int(parts[1])),
    )
    return PopCheckPoint(popped=popped, invisible_ms=int(parts[2])), parts[8]
