"""What of a CommitLog is read when less than all of it is asked for."""

from __future__ import annotations

from rocketha.formats.message import Message
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import SizeBytes

SIZE = 114
"""Bytes of a record; three of them and a filler of 58 make a segment."""


def test_records_are_read_that_lie_between_two_offsets_as_a_whole() -> None:
    log, _ = CommitLog.open(MemoryDisk(), CommitLogOptions(segment_size=SizeBytes(400)))
    for _ in range(5):
        log.append(Message(topic="t", body=b"a0"))
    begins = log.record_offsets()
    assert begins == (0, SIZE, 2 * SIZE, 400, 400 + SIZE)

    for start in range(log.max_phy_offset + 2):
        for end in range(start, log.max_phy_offset + 2):
            found = [record.offset for record in log.records(start, end)]
            assert found == [one for one in begins if start <= one and one + SIZE <= end]
    assert [record.offset for record in log.records(1)] == list(begins[1:])
