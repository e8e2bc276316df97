"""How a master numbers what it appends: the place in its queue, and its own address as store host.

Source: store `CommitLog.asyncPutMessage`; broker `BrokerController.getStoreHost`
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.escape.master_state import MasterState
from rocketha.escape.state import frozen
from rocketha.formats.message import Message
from rocketha.runtime.effects import AppendMessage
from rocketha.types import PutId, TimestampMs

__all__ = ["appended"]


def appended(
    state: MasterState, message: Message, *, now_ms: TimestampMs, put: PutId | None = None
) -> tuple[MasterState, AppendMessage]:
    """Append a message behind all others of its queue; `put` waits for it."""
    queue = (message.topic, message.queue_id)
    place = state.counts.get(queue, 0)
    state = replace(state, counts=frozen({**state.counts, queue: place + 1}))
    own = replace(message, queue_offset=place, store_host=state.options.host)
    return state, AppendMessage(message=own, store_timestamp_ms=now_ms, put=put)
