"""What a record in a log is, as whoever reads the bytes of a log sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rocketha.errors import PacketError
from rocketha.escape.master import popped_of
from rocketha.formats.due_messages import DELAYED_TOPIC, HALF_TOPIC, OP_TOPIC, key_of, pull_op_body
from rocketha.formats.message import Message
from rocketha.formats.pop_messages import AckMsg, is_revive_topic, pull_revive_message

__all__ = ["Logged", "LoggedKind", "logged"]


class LoggedKind(StrEnum):
    """What a record is."""

    DELAYED = "delayed"
    HALF = "half"
    OP = "op"
    READ = "read"
    """Consumers can read it."""
    CHECK_POINT = "check point"
    ACK = "ack"
    AGAIN = "again"
    """It is delivered again."""
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Logged:
    """A record of a log."""

    kind: LoggedKind
    of: str
    """A message's UNIQ_KEY, the name of a pop, or places of half messages in their queue."""
    queue: str
    """Topic and queueId."""
    place: int
    """Its place there: queueOffset."""
    host: str
    """Who has stored it, as it says."""


def logged(message: Message) -> Logged:
    """Say what a message in a log is."""
    kind, of = _said(message)
    queue = f"{message.topic}@{message.queue_id}"
    return Logged(kind, of, queue, message.queue_offset, str(message.store_host))


def _said(message: Message) -> tuple[LoggedKind, str]:
    key = key_of(message) or ""
    match message.topic:
        case topic if topic == DELAYED_TOPIC:
            return LoggedKind.DELAYED, key
        case topic if topic == HALF_TOPIC:
            return LoggedKind.HALF, key
        case topic if topic == OP_TOPIC:
            return LoggedKind.OP, ",".join(map(str, pull_op_body(message.body)))
        case topic if is_revive_topic(topic):
            return _said_of_pop(message)
        case topic if topic.startswith("%RETRY%"):
            return LoggedKind.AGAIN, popped_of(message).name
        case _:
            return LoggedKind.READ, key


def _said_of_pop(message: Message) -> tuple[LoggedKind, str]:
    try:
        said = pull_revive_message(message)
    except PacketError:
        return LoggedKind.OTHER, ""
    kind = LoggedKind.ACK if isinstance(said, AckMsg) else LoggedKind.CHECK_POINT
    return kind, said.popped.name
