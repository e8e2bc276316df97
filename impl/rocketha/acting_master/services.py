"""What the services of a slave that acts know of its log, and of tables that it takes over.

Pure: the broker says when its log has grown, and which table it has taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rocketha.escape.services import delayed_records, half_records
from rocketha.escape.state import SlaveState, pop_key
from rocketha.formats.message import Message
from rocketha.formats.offset_tables import QueueKey

__all__ = ["knows_log", "with_progress"]


def knows_log(state: SlaveState, messages: tuple[Message, ...]) -> SlaveState:
    """Have what lies in the log by now, which only grows: how far services are does not change."""
    options = state.options
    delayed, halves = state.services
    waiting = delayed_records(messages, options.level, options.level_ms)
    records, ended = half_records(messages)
    read = tuple(one for one in messages if one.topic == options.topic)
    return replace(
        state,
        services=(
            replace(delayed, records=waiting),
            replace(halves, records=records, ended=ended),
        ),
        queue=replace(state.queue, messages=read),
    )


def with_progress(state: SlaveState, offsets: Mapping[QueueKey, int]) -> SlaveState:
    """Go on from where these tables are, which the broker has taken from another one."""
    services = []
    for service in state.services:
        at = offsets.get(service.key, 0)
        services.append(replace(service, progress=at, saved=at))
    popped = offsets.get(pop_key(state.options), 0)
    queue = replace(state.queue, at=popped, saved=popped)
    return replace(state, services=tuple(services), queue=queue)
