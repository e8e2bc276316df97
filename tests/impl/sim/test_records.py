"""Simulated records have one size, so an offset means the same number of records everywhere."""

from __future__ import annotations

import pytest

from rocketha.formats.message import Message, push_record
from rocketha.sim.engine.records import (
    RECORD_SIZE,
    SEGMENT_SIZE,
    epoch_of_message,
    message_of_epoch,
    record_count,
    record_offset,
)
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import Epoch, Offset


@pytest.mark.parametrize(("epoch", "number"), [(0, 0), (3, 17), (999, 99_999)])
def test_every_message_makes_a_record_of_one_size_and_names_its_epoch(
    epoch: int, number: int
) -> None:
    message = message_of_epoch(Epoch(epoch), number)

    assert len(push_record(message, Offset(0))) == RECORD_SIZE
    assert epoch_of_message(message) == epoch


def test_a_message_of_somebody_else_names_no_epoch() -> None:
    assert epoch_of_message(Message(topic="t", body=b"hello")) is None


def test_offsets_and_numbers_of_records_agree_with_a_real_log() -> None:
    log, _ = CommitLog.open(MemoryDisk(), CommitLogOptions(segment_size=SEGMENT_SIZE))
    for number in range(10):
        log.append(message_of_epoch(Epoch(1), number))

    assert log.record_offsets() == tuple(record_offset(index) for index in range(10))
    for index, offset in enumerate(log.record_offsets()):
        assert record_count(offset) == index
        assert record_count(offset + RECORD_SIZE - 1) == index
        assert record_count(offset + RECORD_SIZE) == index + 1


def test_a_filler_is_no_record() -> None:
    full = record_offset(2) + RECORD_SIZE

    assert [record_count(offset) for offset in range(full, SEGMENT_SIZE + 1)] == [3] * 17
