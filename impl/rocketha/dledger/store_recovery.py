"""What a node does with the files of its log when it starts.

The data files say what the log is, the index only what was promised: an index entry is written when
its entry is synchronized, so an entry that the index names and the data has not was lost. Nothing
is changed before it is known that the log is not damaged; then its torn tail goes, durably, before
anything is written behind it. A crash in the middle of this leaves the same log to be found.

A log of DLedger's promises nothing: its index is written with the data, and neither synchronized.

Source: DLedgerMmapFileStore (`recover`), MmapFileList (`load`, `checkSelf`)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketha.dledger.store_files import FileList
from rocketha.errors import DamagedLogError, DLedgerFileError
from rocketha.formats.dledger_data_file import (
    DataFile,
    DataScan,
    deleted_point,
    scan_data_files,
)
from rocketha.formats.dledger_entry import DLedgerEntry, EntryCheck, LogPoint
from rocketha.formats.dledger_index_file import (
    INDEX_UNIT_SIZE,
    decode_index_entry,
    encode_index,
)
from rocketha.types import LogIndex, Offset, SizeBytes

__all__ = ["Recovery", "index_offset", "last_promised", "recover_log"]

_WHAT: Final = "data files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What was found; the log ends at `scan.end`, and all of it is durable."""

    scan: DataScan
    marked: bool
    """The files themselves say what was before the first entry."""


def index_offset(index: LogIndex) -> Offset:
    """Return where the index entry of this entry is."""
    return Offset(index * INDEX_UNIT_SIZE)


def recover_log(
    data: FileList, index: FileList, *, check: EntryCheck, before: LogPoint | None
) -> Recovery:
    """Read a log, cut off its torn tail, and write again what its index lacks.

    Raises: DamagedLogError if what was durable is no more; DLedgerFileError if files are not of
    the size that they should have; DiskError
    """
    if not data.is_even():
        reason = f"are not all of {data.file_size} bytes, one behind the other"
        raise DLedgerFileError(_WHAT, offset=data.starts[0], reason=reason)
    files = [DataFile(start, data.whole_file(start)) for start in data.starts]
    promised = last_promised(index)
    try:
        begin, marked, scan = _scanned(files, data.file_size, check, before, promised)
    except DLedgerFileError as error:
        raise DamagedLogError(error.what, offset=error.offset, reason=error.reason) from error
    data.remove([file.offset for file in files[:begin]], last_first=False)
    data.cut(scan.end)
    _write_again(data, scan, promised)
    data.recover()
    _write_index(index, scan.entries)
    return Recovery(scan=scan, marked=marked or scan.before.index < 0)


def _scanned(
    files: Sequence[DataFile],
    file_size: SizeBytes,
    check: EntryCheck,
    before: LogPoint | None,
    promised: LogIndex | None,
) -> tuple[int, bool, DataScan]:
    """Return with which file the log begins, whether that one says so, and what is in the log."""
    # A reset or deletion that was not finished leaves what it has deleted.
    marks = [number for number, file in enumerate(files) if deleted_point(file.data) is not None]
    begin = marks[-1] if marks else 0
    scan = scan_data_files(
        files[begin:],
        file_size=file_size,
        check=check,
        before=before,
        promised=promised if check is EntryCheck.CHECKED else None,
    )
    return begin, bool(marks), scan.undamaged()


def last_promised(index: FileList) -> LogIndex | None:
    """Return the last entry that an index names; what is none of its entries is passed by."""
    for start in reversed(index.starts):
        if start % INDEX_UNIT_SIZE:
            continue
        data = index.whole_file(start)
        written = len(data.rstrip(b"\0"))
        for at in reversed(range(0, written, INDEX_UNIT_SIZE)):
            try:
                found = decode_index_entry(
                    data, at, index=LogIndex((start + at) // INDEX_UNIT_SIZE)
                )
            except DLedgerFileError:
                continue
            return found.index
    return None


def _write_again(data: FileList, scan: DataScan, promised: LogIndex | None) -> None:
    """Write what may not be durable, though the operating system shows it, as it is.

    Where a synchronization has failed, the next one may find nothing to do, and does not fail.
    """
    known = [entry for entry in scan.entries if promised is not None and entry.index <= promised]
    begin = known[-1].end if known else scan.entries[0].pos if scan.entries else scan.end
    data.write(begin, data.read(begin, scan.end - begin))


def _write_index(index: FileList, entries: Sequence[DLedgerEntry]) -> None:
    """Let the index name just these entries; what it has of older ones stays. Raises: DiskError"""
    if not entries:
        index.remove(index.starts)
        index.recover()
        return
    begin = index_offset(entries[0].index)
    end = index_offset(LogIndex(entries[-1].index + 1))
    wanted = encode_index(entries)
    if not index.is_even() or not index.starts or not index.starts[0] <= begin <= index.reached:
        index.remove(index.starts)
    index.recover()
    same = _common_units(index.read(begin, len(wanted)), wanted)
    from_there = Offset(begin + same)
    if same < len(wanted) or any(index.read(end, max(0, index.reached - end))):
        index.cut(from_there)
    if same < len(wanted):
        index.write(from_there, wanted[same:])
        index.sync()


def _common_units(found: bytes, wanted: bytes) -> int:
    """Return how many bytes of whole index entries are the same at the beginning."""
    for at in range(0, len(wanted), INDEX_UNIT_SIZE):
        if found[at : at + INDEX_UNIT_SIZE] != wanted[at : at + INDEX_UNIT_SIZE]:
            return at
    return len(wanted)
