"""Where the messages of each queue are in the CommitLog: the ConsumeQueues of a master, in memory.

It is read from the log, so it is what a slave had that becomes master.

Source: store `ConsumeQueue`, `QueueOffsetOperator`, `ReputMessageService`
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from rocketha.errors import CommitLogError
from rocketha.formats.broker_requests import QueueName
from rocketha.formats.message import Record, RecordCheck, pull_record
from rocketha.storage.commit_log import CommitLog
from rocketha.types import Offset, SizeBytes

__all__ = ["IndexedMessage", "QueueIndex"]


@dataclass(frozen=True, slots=True)
class IndexedMessage:
    """A message of a queue: its number there, and its record in the log."""

    queue_offset: int
    offset: Offset
    size: SizeBytes


class QueueIndex:
    """The queues of one log that only grows; `clear` it where the log may have been cut."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._queues: dict[QueueName, list[IndexedMessage]] = {}
        self._read_to = Offset(0)

    def clear(self) -> None:
        """Forget everything."""
        self._queues.clear()
        self._read_to = Offset(0)

    def read(self, log: CommitLog) -> None:
        """Read what the log has more than before. Raises: CommitLogError, DiskError"""
        starts = log.record_offsets()
        for start in starts[bisect_left(starts, self._read_to) :]:
            size = int.from_bytes(log.read(start, 4))
            raw = log.read(start, size)
            room = SizeBytes(log.segment_of(start) + log.segment_size - start)
            span = pull_record(raw, offset=start, room=room, check=RecordCheck.BODY)
            if not isinstance(span, Record):
                raise CommitLogError("record", offset=start, reason="is none")
            message = span.message
            name = QueueName(topic=message.topic, queue_id=message.queue_id)
            self._queues.setdefault(name, []).append(
                IndexedMessage(message.queue_offset, span.offset, span.size)
            )
            self._read_to = Offset(start + span.size)

    def next_offset(self, queue: QueueName) -> int:
        """Return which number the next message of a queue gets, from 0."""
        there = self._queues.get(queue)
        return there[-1].queue_offset + 1 if there else 0

    def first_offset(self, queue: QueueName) -> int:
        """Return the number of a queue's first message; 0 for an empty queue."""
        there = self._queues.get(queue)
        return there[0].queue_offset if there else 0

    def messages(self, queue: QueueName, first: int, most: int) -> list[IndexedMessage]:
        """Return messages of a queue from a number on."""
        there = self._queues.get(queue, [])
        at = bisect_left(there, first, key=lambda one: one.queue_offset)
        return there[at : at + most]

    def topics(self) -> Mapping[str, int]:
        """Return the topics, and how many queues each has."""
        found: dict[str, int] = {}
        for queue in self._queues:
            found[queue.topic] = max(found.get(queue.topic, 0), queue.queue_id + 1)
        return found
