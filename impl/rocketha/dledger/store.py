"""The files of a DLedger node: its log, its term and vote.

| path         | what                                                                            |
|--------------|---------------------------------------------------------------------------------|
| `data/`      | entries, see `formats.dledger_data_file`                                        |
| `index/`     | where each entry is, and that it was promised, see `formats.dledger_index_file` |
| `currterm`   | term and vote, see `formats.dledger_term_file`                                  |

An entry is durable when `sync` returns; term and vote, cuts, deletions and resets are when their
own call does. After a crash inside of one of these the log is

* of an append: the old one, with a beginning of what was not synchronized;
* of a truncation: the old one, or a beginning of it that has all entries that should stay;
* of a deletion or reset: the old one or the new one. What they leave is a new first file, which is
  written aside and takes its name at once; files before it count no more, and are removed after it.

When an operation of the disk fails, nobody knows what is there: all that follows is refused, until
the store is opened again.

DLedger reads these files. It forgets at a restart what is before the first entry (B59); here the
filler in its place says it. Releases up to 0.3.2, which have no snapshots, pass by a file that
begins with one as a whole: they lose its entries if it is the last file.

They write a `checkpoint`, too (see `formats.dledger_checkpoint`), of what was committed. A leader
says that again, so it is neither read nor written here; it goes with a log that is thrown away, as
they would believe it of the next one.

Source: DLedgerMmapFileStore, MmapFileList, MemberState (`persistState`)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NamedTuple

from rocketha.dledger.store_files import FileList, joined, replace_file
from rocketha.dledger.store_options import StoreOptions, read_term
from rocketha.dledger.store_recovery import index_offset, recover_log
from rocketha.errors import (
    DiskError,
    DLedgerFileError,
    EncodingError,
    TermFileError,
)
from rocketha.formats.dledger_checkpoint import CHECKPOINT_FILE
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_data_file import FILLER_MIN, end_filler, prefix_filler
from rocketha.formats.dledger_entry import (
    ENTRY_HEADER_SIZE,
    LOG_START,
    UNSYNCED_MAX,
    ChainCrc,
    DLedgerEntry,
    LogPoint,
    body_crc,
    channel_of,
    decode_entry,
    encode_entry,
    sealed,
)
from rocketha.formats.dledger_index_file import (
    DLedgerIndexEntry,
    encode_index_entry,
)
from rocketha.formats.dledger_term_file import (
    TERM_FILE,
    TermAndVote,
    encode_term_file,
)
from rocketha.storage.disk import Disk
from rocketha.types import LogIndex, Offset, SizeBytes, Term

__all__ = ["DLedgerStore", "StoreOptions"]

_DATA: Final = "data"
_INDEX: Final = "index"
_NO_TERM: Final = Term(-1)
_CLOSED: Final = "the store is closed"
_FAILED: Final = "an operation failed: nobody knows what is there"


class _Place(NamedTuple):
    """Where an entry is, and what is asked of it without reading it."""

    pos: Offset
    size: SizeBytes
    term: Term
    kind: DLedgerEntryType
    chain_crc: ChainCrc


class DLedgerStore:
    """The files of one node; a `LedgerView`. Make it with `DLedgerStore.open`."""

    __slots__ = (
        "_before",
        "_data",
        "_disk",
        "_end",
        "_index",
        "_kept",
        "_options",
        "_places",
        "_synced",
        "_unusable",
    )

    def __init__(self, disk: Disk, options: StoreOptions) -> None:
        """Look at the files; `open` reads them. Raises: DLedgerFileError, DiskError"""
        self._disk = disk
        self._options = options
        data_size = options.mapped_file_size_for_entry_data
        index_size = options.mapped_file_size_for_entry_index
        self._data = FileList(disk, options.path(_DATA), data_size)
        self._index = FileList(disk, options.path(_INDEX), index_size)
        self._before = LOG_START
        self._places: list[_Place] = []
        self._end = Offset(0)
        self._synced = LOG_START.index
        self._kept: TermAndVote | None = None
        self._unusable: str | None = None

    @classmethod
    def open(
        cls, disk: Disk, options: StoreOptions, *, before: LogPoint | None = None
    ) -> DLedgerStore:
        """Recover a node's files; `before` is what its newest snapshot stands for, if there is one.

        `before` is asked for only where the files do not say it: DLedger's do not.

        Raises: DamagedLogError if the log is damaged (see `discard`), DLedgerFileError if files are
        not of its layout, TermFileError if the term file is damaged, or is not there though the log
        has something; DiskError
        """
        store = cls(disk, options)
        store._kept = read_term(disk, options)
        recovery = recover_log(store._data, store._index, check=options.check, before=before)
        scan = recovery.scan
        store._before = scan.before
        store._places = [_place(entry) for entry in scan.entries]
        store._end = scan.end
        store._synced = scan.last.index
        if not scan.entries and not recovery.marked:
            store._begin_behind(scan.before)
        if store._kept is None and store.end_index >= 0:
            reason = f"is not there, and the log has entry {store.end_index}"
            raise TermFileError(TERM_FILE, offset=0, reason=reason)
        return store

    @staticmethod
    def discard(disk: Disk, options: StoreOptions) -> None:
        """Throw a damaged log away; then `open` finds an empty log.

        What this node has acknowledged is lost with it, so it goes to a term of its own and votes
        for nobody before a leader of that term or of a later one has filled it again. That is on
        the disk first. Where the index knows of the loss, its last file goes last: a crash before
        that leaves a log that is still refused.

        Spec: DLedger!Discard
        Raises: TermFileError, and does nothing, if term and vote are lost, too; EncodingError;
        DiskError
        """
        kept = read_term(disk, options)
        if kept is None:
            raise TermFileError(TERM_FILE, offset=0, reason="is not there: it was in some term")
        if disk.exists(options.path(CHECKPOINT_FILE)):
            disk.unlink(options.path(CHECKPOINT_FILE))  # durable with the next file in its folder
        term = Term(kept.curr_term + 1)
        lost = encode_term_file(TermAndVote(curr_term=term, refill_term=term))
        replace_file(disk, options.path(TERM_FILE), lost)
        for name, last_first in ((_DATA, True), (_INDEX, False)):
            directory = options.path(name)
            for file in sorted(disk.names(directory), reverse=last_first):
                disk.unlink(joined(directory, file))
            disk.fsync_dir(directory)

    @property
    def before_begin_index(self) -> LogIndex:
        """Return the last entry that was cut off at the beginning; -1 if none was."""
        return self._before.index

    @property
    def before_begin_term(self) -> Term:
        """Return the term of that entry; -1 if there is none."""
        return self._before.term

    @property
    def end_index(self) -> LogIndex:
        """Return the last entry; `before_begin_index` if there is none."""
        return LogIndex(self._before.index + len(self._places))

    @property
    def end_term(self) -> Term:
        """Return the term of the last entry; `before_begin_term` if there is none."""
        return self._places[-1].term if self._places else self._before.term

    @property
    def synced_index(self) -> LogIndex:
        """Return the last entry that no power cut takes."""
        return self._synced

    @property
    def kept(self) -> TermAndVote | None:
        """Return term and vote; `None` if none were kept yet."""
        return self._kept

    @property
    def body_max(self) -> int:
        """Return how many bytes the body of an entry has at most: a file has room for it."""
        return self._data.file_size - ENTRY_HEADER_SIZE - FILLER_MIN

    def term_at(self, index: LogIndex) -> Term | None:
        """Return the term of an entry, also of `before_begin_index`; `None` of others.

        Of a log of DLedger's whose beginning was deleted nobody may know the latter.

        Spec: DLedgerMessages!TermAt
        """
        if index == self._before.index:
            known = index == LOG_START.index or self._before.term >= 0
            return self._before.term if known else None
        if not self._before.index < index <= self.end_index:
            return None
        return self._place(index).term

    def entry(self, index: LogIndex) -> DLedgerEntry:
        """Read an entry in `(before_begin_index, end_index]`.

        Raises: IndexError if it is none of these; DLedgerFileError if it is damaged; DiskError
        """
        if not self._before.index < index <= self.end_index:
            there = f"{self._before.index + 1} .. {self.end_index}"
            raise IndexError(f"the log has the entries {there}, not {index}")
        self._require_usable()
        place = self._place(index)
        data = self._data.read(place.pos, place.size)
        entry = decode_entry(data, 0, pos=place.pos, check=self._options.check)
        if (index, place) != (entry.index, _place(entry)):
            raise DLedgerFileError("entry", offset=place.pos, reason="is another one than it was")
        return entry

    def keep(self, kept: TermAndVote) -> None:
        """Make term and vote durable. Raises: EncodingError, DiskError

        Source: MemberState.persistState
        """
        data = encode_term_file(kept)
        with self._changing():
            replace_file(self._disk, self._options.path(TERM_FILE), data)
        self._kept = kept

    def append(self, kind: DLedgerEntryType, term: Term, body: bytes) -> DLedgerEntry:
        """Write an entry of the leader behind the last one; `sync` makes it durable.

        Raises: EncodingError if no file has room for it, or its term is below the last one;
        DiskError

        Source: DLedgerMmapFileStore.appendAsLeader
        """
        index = LogIndex(self.end_index + 1)
        return self._write(
            DLedgerEntry(kind=kind, index=index, term=term, pos=Offset(0), body=body)
        )

    def append_entry(self, entry: DLedgerEntry) -> None:
        """Write an entry that the leader has sent; `sync` makes it durable.

        Its pos, channel and chainCrc are those of this log. Its bodyCrc must be right, or 0, which
        is DLedger's.

        Raises: EncodingError if it is not the next one, its body is not what its leader had, no
        file has room for it, or its term is below the last one; DiskError

        Source: DLedgerMmapFileStore.appendAsFollower
        """
        if entry.index != self.end_index + 1:
            raise EncodingError("index", reason=f"is {entry.index} behind {self.end_index}")
        if entry.body_crc not in (0, body_crc(entry.body)):
            raise EncodingError("bodyCrc", reason=f"of entry {entry.index} is {entry.body_crc}")
        self._write(entry)

    def sync(self) -> None:
        """Make the whole log durable. Raises: DiskError

        The index is written when its entries are durable, so it names no others. It may lag behind.

        Source: DLedgerMmapFileStore.flush
        """
        if self._synced == self.end_index:
            return
        with self._changing():
            self._data.sync()
            first = LogIndex(self._synced + 1)
            units = [
                encode_index_entry(self._index_entry(LogIndex(index)))
                for index in range(first, self.end_index + 1)
            ]
            self._index.write(index_offset(first), b"".join(units))
        self._synced = self.end_index

    def truncate(self, index: LogIndex) -> None:
        """Let this entry and all behind it be gone, durably. Raises: DiskError

        Source: DLedgerMmapFileStore.truncate
        """
        assert index > self._before.index, (self._before, index)
        if index > self.end_index:
            return
        if index == self._before.index + 1 and self._before.index >= 0:
            # No entry is left to say where the log begins.
            self._begin_behind(self._before)
            return
        place = self._place(index)
        with self._changing():
            self._index.cut(index_offset(index))
            self._data.cut(place.pos)
        del self._places[index - self._before.index - 1 :]
        self._end = place.pos
        self._synced = self._synced_after_cut(LogIndex(index - 1))

    def delete_before(self, index: LogIndex) -> None:
        """Let the entries up to this one be gone, durably; the term of this one is remembered.

        Raises: DiskError

        Source: DLedgerMmapFileStore.reset, MmapFileList.resetOffset
        """
        assert index <= self.end_index, (index, self.end_index)
        if index <= self._before.index:
            return
        self.sync()
        deleted = index - self._before.index
        last = self._places[deleted - 1]
        point = LogPoint(index, last.term, last.chain_crc)
        left = self._places[deleted:]
        begin = left[0].pos if left else self._end
        file_size = self._data.file_size
        start = Offset((begin - 1) - (begin - 1) % file_size)
        used = min(self._end - start, file_size)
        at = begin - start
        with self._changing():
            pieces = [(0, prefix_filler(at, point))]
            if at < used:
                pieces.append((at, self._data.read(begin, used - at)))
            self._data.replace(start, pieces)
            self._data.remove([s for s in self._data.starts if s < start], last_first=False)
            beginning = index_offset(LogIndex(index + 1))
            gone = [s for s in self._index.starts if s + self._index.file_size <= beginning]
            self._index.remove(gone, last_first=False)
        self._before = point
        self._places = left

    def reset(self, index: LogIndex, term: Term, *, chain_crc: ChainCrc = 0) -> None:
        """Let all entries be gone, durably, and the next one be that behind this one.

        With the chainCrc of this one, if its snapshot has it, chains go on as on other nodes.

        Raises: EncodingError if there is no such entry; DiskError

        Source: DLedgerMmapFileStore.reset
        """
        self._begin_behind(LogPoint(index, term, chain_crc))

    def close(self) -> None:
        """Make everything durable, and take no more. Raises: DiskError"""
        if self._unusable is None:
            self.sync()
            with self._changing():
                self._index.sync()
            self._unusable = _CLOSED

    def _begin_behind(self, point: LogPoint) -> None:
        """Let the log have no entries, and go on behind this one. Raises: EncodingError"""
        if point.index < 0 or point.term < 0:
            reason = f"has entry {point.index} of term {point.term} before it"
            raise EncodingError("log", reason=reason)
        known = replace(point, chain_crc=point.chain_crc or 0)
        start = Offset(self._end - self._end % self._data.file_size)
        filled = max(ENTRY_HEADER_SIZE, self._end - start)
        with self._changing():
            # It has promised what is to go.
            self._index.remove(self._index.starts)
            self._data.replace(start, [(0, prefix_filler(filled, known))])
            self._data.remove([s for s in self._data.starts if s != start], last_first=False)
        self._before = known
        self._places = []
        self._end = Offset(start + filled)
        self._synced = known.index

    def _write(self, entry: DLedgerEntry) -> DLedgerEntry:
        if entry.term < max(0, self.end_term):
            raise EncodingError("term", reason=f"is {entry.term} behind {self.end_term}")
        if self.end_index - self._synced >= UNSYNCED_MAX:
            self.sync()
        last = self._places[-1].chain_crc if self._places else self._before.chain_crc
        filler = end_filler(self._end, entry.size, file_size=self._data.file_size)
        pos = Offset(self._end + len(filler))
        channel = channel_of(self.end_index - self._synced)
        written = sealed(replace(entry, pos=pos, channel=channel), last or 0)
        data = encode_entry(written)
        with self._changing():
            if filler:
                # What follows in the file is zero.
                self._data.write(self._end, filler[:FILLER_MIN])
            self._data.write(pos, data)
        self._places.append(_place(written))
        self._end = written.end
        return written

    def _place(self, index: LogIndex) -> _Place:
        return self._places[index - self._before.index - 1]

    def _index_entry(self, index: LogIndex) -> DLedgerIndexEntry:
        place = self._place(index)
        return DLedgerIndexEntry(
            kind=place.kind, pos=place.pos, size=place.size, index=index, term=place.term
        )

    def _synced_after_cut(self, index: LogIndex) -> LogIndex:
        """Return how far the log is durable when this is its last entry.

        Spec: DLedger!SyncedAfterCut
        """
        return min(self._synced, index)

    def _require_usable(self) -> None:
        """Raises: DiskError"""
        if self._unusable is not None:
            raise DiskError(self._options.directory or ".", reason=self._unusable)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Refuse everything from now on, unless what is done here ends."""
        self._require_usable()
        self._unusable = _FAILED
        yield
        self._unusable = None


def _place(entry: DLedgerEntry) -> _Place:
    return _Place(entry.pos, entry.size, entry.term, entry.kind, entry.chain_crc)
