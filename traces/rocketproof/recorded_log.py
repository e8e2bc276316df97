"""What records say of logs: which epoch wrote each record, and how many lie before an offset.

The messages of a simulated broker have one size, and their bodies name the epoch in which they were
taken: an item of its log is that epoch. A real broker's messages have any size, and nobody who sent
one knew the epoch: an item says where the record ends, and what its body begins with. Its epoch is
that of the master which was first to have it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, TypeAlias

import msgspec

from rocketha.recording.record import RecordError
from rocketha.sim.engine.records import record_count

__all__ = ["LogItem", "RunLogs", "StoredRecord"]


class StoredRecord(msgspec.Struct, frozen=True):
    """A record of a real broker's log."""

    end: int
    """The offset behind it, in bytes."""
    id: str
    """What its body begins with; no other message of the run has that."""


LogItem: TypeAlias = int | StoredRecord
"""The epoch that a record's body names; or a record that names none."""

_UNKNOWN: Final = "no master is known to have taken it"


class RunLogs:
    """The logs of all brokers of a run."""

    def __init__(self) -> None:
        """Begin with empty logs."""
        self._epochs: dict[str, int] = {}
        self._longest: tuple[int, ...] = ()

    def taken(self, items: tuple[LogItem, ...], epoch: int) -> None:
        """Note that a master of `epoch` has these records, and took those that nobody had."""
        for item in reversed(items):
            if isinstance(item, int) or item.id in self._epochs:
                break
            self._epochs[item.id] = epoch

    def epochs(self, items: tuple[LogItem, ...]) -> tuple[int, ...]:
        """Return the epoch of each record. Raises: RecordError"""
        self._note(items)
        return tuple([item if isinstance(item, int) else self._epoch(item) for item in items])

    def count(self, items: tuple[LogItem, ...], offset: int) -> int:
        """Return how many records lie before an offset, in bytes, of a log.

        An offset beyond its end is counted in the longest log that anybody had.
        """
        if not self._longest:
            self._note(items)
        if not self._longest:
            return record_count(max(offset, 0))
        ends = _ends(items)
        if not ends or offset > ends[-1]:
            ends = max(ends, self._longest, key=len)
        return bisect_right(ends, offset)

    def _note(self, items: tuple[LogItem, ...]) -> None:
        if len(items) > len(self._longest) and not isinstance(items[0], int):
            self._longest = _ends(items)

    def _epoch(self, item: StoredRecord) -> int:
        epoch = self._epochs.get(item.id)
        if epoch is None:
            raise RecordError(f"record {item.id!r} before offset {item.end}: {_UNKNOWN}")
        return epoch


def _ends(items: tuple[LogItem, ...]) -> tuple[int, ...]:
    return tuple([item.end for item in items if not isinstance(item, int)])
