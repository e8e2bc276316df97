"""What others ask of a slave that acts, of masters and of a producer: it is refused, and changes
nothing.

`rocketha.obligations.escape_refusals` has how.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from random import Random
from typing import Final

from rocketha.formats.broker_requests import BrokerCode, QueueName
from rocketha.formats.due_messages import COMMITTED, HALF_TOPIC, PRODUCER_GROUP, key_of
from rocketha.formats.message import Message, Record, properties_of
from rocketha.formats.put_requests import (
    EndTransaction,
    PopMessage,
    PutCode,
    push_end,
    push_pop_message,
    push_put,
)
from rocketha.formats.remoting_command import FLAG_ONEWAY, RemotingCommand
from rocketha.sim.engine.open_node import NO_REQUEST
from rocketha.sim.escape.plan import CONSUMERS, TOPIC
from rocketha.types import Offset, TimestampMs

__all__ = ["draw_request"]

_ONE_WAY: Final = frozenset({PutCode.END_TRANSACTION, PutCode.CHECK_TRANSACTION_STATE})
_POPS: Final = (("nobody", TOPIC), (CONSUMERS, "nothing"))
_FORBIDDEN: Final = (
    Message(topic=HALF_TOPIC, body=b""),
    Message(topic=f"%RETRY%{CONSUMERS}_{TOPIC}", body=b""),
    Message(topic=TOPIC, body=b"", queue_id=-1),
)
"""What only a master writes itself, and what no queue has."""


def draw_request(rng: Random, halves: Collection[Record] = ()) -> RemotingCommand:
    """Draw a code that nobody knows, or a request that lacks its fields or has wrong ones.

    The end of a half message comes from a group that has not sent it, or is said of another place.
    """
    if halves and rng.randrange(2):
        fields = push_end(_wrong_end(rng, rng.choice(list(halves))))
        return _command(PutCode.END_TRANSACTION, fields)
    code = rng.choice((NO_REQUEST, BrokerCode.SEND_MESSAGE_V2, *PutCode))
    return _command(code, _fields(rng, code) if rng.randrange(2) else {})


def _command(code: int, fields: Mapping[str, str]) -> RemotingCommand:
    flag = FLAG_ONEWAY if code in _ONE_WAY else 0
    return RemotingCommand(code=code, opaque=1, flag=flag, ext_fields=fields)


def _fields(rng: Random, code: int) -> Mapping[str, str]:
    if code == BrokerCode.SEND_MESSAGE_V2:
        return push_put(rng.choice(_FORBIDDEN), "nobody")
    if code == PutCode.POP_MESSAGE:
        group, topic = rng.choice(_POPS)
        queue = QueueName(topic=topic, queue_id=0)
        asks = PopMessage(group=group, queue=queue, invisible_ms=1, born_ms=TimestampMs(0))
        return push_pop_message(asks)
    return {}


def _wrong_end(rng: Random, half: Record) -> EndTransaction:
    message = half.message
    group = properties_of(message.properties)[PRODUCER_GROUP]
    is_from_nobody = rng.randrange(2) > 0
    return EndTransaction(
        broker_name="nobody",
        topic=HALF_TOPIC,
        producer_group="nobody" if is_from_nobody else group,
        commit_log_offset=Offset(half.offset if is_from_nobody else half.offset + 1),
        queue_offset=message.queue_offset,
        how=COMMITTED,
        key=key_of(message) or "",
        is_answer=False,
    )
