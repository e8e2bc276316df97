"""What the logs of brokers have, as recorders write it: which epoch each record's body names.

It is read from the bytes, again when a log may have changed; of a disk, as recovery would find it.
"""

from __future__ import annotations

from typing import Any, Final

from rocketha.known_bugs import Bugs
from rocketha.known_bugs.storage import file_options
from rocketha.recording.recorder import LongSequence
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.record_epochs import RecordEpochReader
from rocketha.sim.engine.records import SEGMENT_SIZE, record_offset
from rocketha.types import BrokerId, Offset

__all__ = ["RecordedLogs"]

_NOT_READ: Final = (-1, LongSequence(()))


class RecordedLogs:
    """The logs of all brokers of a cluster."""

    def __init__(self, bugs: Bugs) -> None:
        """Read logs that are kept with these bugs."""
        self._reader = RecordEpochReader(file_options(SEGMENT_SIZE, bugs).log)
        self._in_memory: dict[BrokerId, tuple[int, LongSequence]] = {}
        self._on_disk: dict[BrokerId, tuple[int, LongSequence]] = {}

    def of(self, node: Node[Any]) -> LongSequence:
        """Return the log of a broker that runs."""
        version, present = self._in_memory.get(node.id, _NOT_READ)
        if version != node.files.log_version:
            present = _unless_same(present, self._reader.in_log(node.log))
            self._in_memory[node.id] = (node.files.log_version, present)
        return present

    def on_disk(self, node: Node[Any]) -> LongSequence:
        """Return what recovery would find on the disk of a broker that runs."""
        version, present = self._on_disk.get(node.id, _NOT_READ)
        if version != node.files.log_version:
            present = _unless_same(present, self._reader.on_disk(node.disk))
            self._on_disk[node.id] = (node.files.log_version, present)
        return present

    def recovered(self, node: Node[Any]) -> tuple[Offset, LongSequence]:
        """Return where the log would begin that recovery would find, and what it would have.

        It is read anew: a power cut changes a disk without a word.
        """
        begin, epochs = self._reader.recovered(node.disk)
        return record_offset(begin), LongSequence(epochs)


def _unless_same(before: LongSequence, epochs: tuple[int, ...]) -> LongSequence:
    return before if before.items == epochs else LongSequence(epochs)
