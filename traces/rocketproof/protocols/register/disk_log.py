"""The entries of a member as they are on its disk, in the words of Register."""

from __future__ import annotations

from rocketha.dledger.store import DLedgerStore
from rocketha.errors import PacketError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.json_text import as_object, integer_at, read_json
from rocketha.types import LogIndex
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.protocols.register.values import Entry, Log

__all__ = ["DiskLogs", "written_value"]

_UNKNOWN = "unknown"


class DiskLogs:
    """Reads logs from disks. An entry that no leader has written is nobody's."""

    def __init__(self) -> None:
        """Begin without entries."""
        self._written: dict[tuple[int, int, bytes], Entry] = {}

    def note(self, store: DLedgerStore, index: int, entry: Entry) -> None:
        """Know whose the entry is that a leader has at an index, which counts from 1."""
        found = store.entry(LogIndex(index - 1))
        self._written[index, found.term, found.body] = entry

    def read(self, store: DLedgerStore, known: Log, agreed: Log, end: int) -> Log:
        """Return the first `end` entries of a log of which `known` was the beginning.

        Those that a snapshot stands for are as they were, or what was agreed on.
        """
        base = store.before_begin_index + 1
        kept = min(len(known), end)
        while kept > base and store.term_at(LogIndex(kept - 1)) != known[kept - 1].term - 1:
            kept -= 1
        cut = (*known[:kept], *agreed[kept : min(base, end)]) if kept < base else known[:kept]
        return (*cut, *[self._entry(store, at) for at in range(len(cut) + 1, end + 1)])

    def _entry(self, store: DLedgerStore, index: int) -> Entry:
        if index <= store.before_begin_index + 1:
            return Entry(_UNKNOWN, 0, NONE, 0)
        found = store.entry(LogIndex(index - 1))
        if found.kind is DLedgerEntryType.NOOP:
            return Entry("noop", 0, NONE, found.term + 1)
        known = self._written.get((index, found.term, found.body))
        return known or Entry(_UNKNOWN, 0, NONE, found.term + 1)


def written_value(body: bytes) -> int | None:
    """Return what the entry of a client writes; None: it is a read."""
    try:
        fields = as_object(read_json(body, "entry"), "entry")
        return None if fields.get("read") is True else integer_at(fields, "value")
    except PacketError:
        return None
