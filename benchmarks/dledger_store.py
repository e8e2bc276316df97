"""A DLedger store that synchronizes each entry, against one that does it once for a hundred."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.stopwatch import median_seconds
from rocketha.dledger.store import DLedgerStore, StoreOptions
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.storage.disk import RealDisk
from rocketha.types import SizeBytes, Term

ENTRIES = 2_000
BODY = bytes(100)
BATCH = 100

_TERM = Term(1)
_OPTIONS = StoreOptions(mapped_file_size_for_entry_data=SizeBytes(4 * 1024 * 1024))


def main() -> None:
    """Print appends and votes a second, and the seconds that the store takes to open."""
    with tempfile.TemporaryDirectory() as folder:
        disk = RealDisk(Path(folder))
        store = DLedgerStore.open(disk, _OPTIONS)
        store.keep(TermAndVote(curr_term=_TERM))
        bare = _rate(lambda: _bare(Path(folder) / "bare"))
        each = _rate(lambda: _append(store, 1))
        batched = _rate(lambda: _append(store, BATCH))
        votes = _rate(lambda: _vote(store))
        store.close()
        opened = median_seconds(lambda: DLedgerStore.open(disk, _OPTIONS), times=3)
        entries = store.end_index + 1
    print(f"{len(BODY)} bytes each, synchronized each by the bare file:  {bare:8.0f} /s")
    print(f"appended to a DLedger store, synchronized each:  {each:8.0f} /s")
    print(f"appended, synchronized {BATCH} at a time:  {batched:8.0f} /s")
    print(f"votes kept:  {votes:8.0f} /s")
    print(f"a store of {entries} entries opens in {opened:.2f} s")
    print(f"ratios to the bare file: {each / bare:.2f} and {batched / bare:.2f}")


def _rate(call: Callable[[], object]) -> float:
    return ENTRIES / median_seconds(call, times=3)


def _bare(path: Path) -> None:
    """Write entries as plainly as can be, in a file that has its size."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        os.truncate(fd, _OPTIONS.mapped_file_size_for_entry_data)
        for number in range(ENTRIES):
            os.pwrite(fd, BODY, number * len(BODY))
            os.fsync(fd)
    finally:
        os.close(fd)


def _append(store: DLedgerStore, batch: int) -> None:
    for number in range(1, ENTRIES + 1):
        store.append(DLedgerEntryType.NORMAL, _TERM, BODY)
        if number % batch == 0:
            store.sync()


def _vote(store: DLedgerStore) -> None:
    for number in range(ENTRIES):
        store.keep(TermAndVote(curr_term=_TERM, vote_leader=f"n{number % 3}"))


if __name__ == "__main__":
    main()
