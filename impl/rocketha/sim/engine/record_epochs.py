"""Which epoch wrote each record: read from the bytes of a log, or of a disk.

The bodies of simulated messages say in which epoch they were taken. A record that cannot be read
counts as written in epoch 0, which no master has.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from rocketha.errors import CommitLogError
from rocketha.formats.message import Record, RecordCheck, pull_record
from rocketha.sim.engine.records import (
    RECORD_SIZE,
    SEGMENT_SIZE,
    epoch_of_message,
    record_count,
    record_offset,
)
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import SizeBytes

__all__ = ["RecordEpochReader", "RecordEpochs"]

RecordEpochs: TypeAlias = tuple[int, ...]
"""Epoch of each whole record, in their order."""

_UNREADABLE: Final = 0
_Content: TypeAlias = tuple[tuple[str, bytes], ...]


class RecordEpochReader:
    """Reads the epochs of records; equal bytes are decoded once."""

    __slots__ = ("_disks", "_options", "_records")

    def __init__(self, options: CommitLogOptions) -> None:
        """Read logs that are kept with `options`."""
        self._options = options
        self._records: dict[tuple[int, bytes], int] = {}
        self._disks: dict[_Content, tuple[int, RecordEpochs]] = {}

    def in_log(self, log: CommitLog) -> RecordEpochs:
        """Return the epochs of a log's records, from its begin up to its end in memory."""
        begin, end = record_count(log.min_offset), record_count(log.max_phy_offset)
        return tuple([self._epoch(log, at) for at in range(begin, end)])

    def on_disk(self, disk: MemoryDisk) -> RecordEpochs:
        """Return the epochs of the records that recovery would find if the program died now."""
        return self.recovered(disk)[1]

    def recovered(self, disk: MemoryDisk) -> tuple[int, RecordEpochs]:
        """Return where the log would begin, in records, that recovery would find, and their epochs.

        The disk is not touched: recovery runs on a copy.
        """
        directory = self._options.directory
        paths = [f"{directory}/{name}" for name in disk.names(directory)]
        content = tuple([(path, disk.read(path)) for path in paths])
        known = self._disks.get(content)
        if known is None:
            known = self._disks[content] = self._recover(content)
        return known

    def _recover(self, content: _Content) -> tuple[int, RecordEpochs]:
        copy = MemoryDisk()
        for path, data in content:
            copy.write(path, 0, data)
        log, _ = CommitLog.open(copy, self._options)
        return record_count(log.min_offset), self.in_log(log)

    def _epoch(self, log: CommitLog, at: int) -> int:
        offset = record_offset(at)
        raw = log.read(offset, RECORD_SIZE)
        known = self._records.get((offset, raw))
        if known is None:
            known = self._records[offset, raw] = _decoded(raw, at)
        return known


def _decoded(raw: bytes, at: int) -> int:
    offset = record_offset(at)
    room = SizeBytes(SEGMENT_SIZE - offset % SEGMENT_SIZE)
    try:
        span = pull_record(raw, offset=offset, room=room, check=RecordCheck.WHOLE)
    except CommitLogError:
        return _UNREADABLE
    epoch = epoch_of_message(span.message) if isinstance(span, Record) else None
    return _UNREADABLE if epoch is None else int(epoch)
