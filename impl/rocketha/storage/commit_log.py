"""The CommitLog: one sequence of bytes, in segment files, with records in it.

A master appends messages; a slave appends the bytes that it received, which need not end with a
record. `flush` makes durable what was appended. `truncate` is durable when it returns: cutting and
synchronizing the segment that contains the new end is the point of no return, since recovery never
passes a segment that ends early; the later segments are removed after it. Whenever the power goes
off, recovery therefore finds the log before or after the truncation.

Recovery reads the records from the first segment on, stops at the first one that is broken, out of
place or not complete, and cuts the rest off.

Differences from RocketMQ: its segments have their full size from the beginning, the last one here
grows; it recovers the last three segments, this all; its truncation moves positions in memory only,
so that a crash brings old records back (B07; `durable_truncate=False` does the same).

Source: store `CommitLog` (`recoverNormally`, `appendData`, `truncateDirtyFiles`),
`MappedFileQueue`, `DefaultMessageStore` (`truncateFiles`, `isOffsetAligned`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from rocketha.errors import CommitLogError, EncodingError
from rocketha.formats.message import (
    BLANK_MIN,
    Blank,
    Message,
    Record,
    RecordCheck,
    Span,
    pull_record,
    push_blank,
    push_record,
)
from rocketha.formats.segment import segment_name, segment_start
from rocketha.storage.disk import Disk
from rocketha.types import Offset, SizeBytes

__all__ = ["CommitLog", "CommitLogOptions", "Recovery"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitLogOptions:
    """Where the segments are, how large, what is demanded of records, and one bug of RocketMQ."""

    directory: str = "commitlog"
    segment_size: SizeBytes
    """`mappedFileSizeCommitLog`; 1 GiB in RocketMQ. Equal on all replicas."""
    check: RecordCheck = RecordCheck.WHOLE
    """Also what is written: with `WHOLE`, records carry the reserved checksum."""
    durable_truncate: bool = True
    """False is B07: truncation leaves the bytes on the disk, where recovery finds them."""

    def __post_init__(self) -> None:
        assert self.segment_size > BLANK_MIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What recovery found: the log is `[min_offset, end)`, the files reached to `disk_end`.

    `damage` is why the log ends before the files did.
    """

    min_offset: Offset
    end: Offset
    disk_end: Offset
    damage: CommitLogError | None


class CommitLog:
    """The log of one replica. Make it with `CommitLog.open`."""

    __slots__ = (
        "_disk",
        "_end",
        "_flushed",
        "_index",
        "_indexed_end",
        "_names_flushed",
        "_options",
        "_segments",
    )

    def __init__(self, disk: Disk, options: CommitLogOptions, segments: list[Offset]) -> None:
        """Take over existing segments, sorted and without gaps, whose content is not known yet."""
        self._disk = disk
        self._options = options
        self._segments = segments
        start = segments[0] if segments else Offset(0)
        self._end = start
        self._flushed = start
        self._names_flushed = True
        # The records and fillers up to `_indexed_end`; what follows was not looked at yet.
        self._index: list[tuple[Offset, SizeBytes, bool]] = []
        self._indexed_end = start

    @classmethod
    def open(cls, disk: Disk, options: CommitLogOptions) -> tuple[CommitLog, Recovery]:
        """Recover the log from the disk: cut off what is damaged, and make the rest durable.

        Raises: CommitLogError if the files are not segments of this size; DiskError
        """
        segments, stray = _segments_on(disk, options)
        log = cls(disk, options, segments)
        if segments:
            log._end = Offset(segments[-1] + disk.size(log._path(segments[-1])))
        disk_end = log._end
        damage = log._extend_index()
        log._end = log._indexed_end
        if disk_end > log._end or stray:
            log._cut_files(log._end, stray)
        log._flush_all()
        recovery = Recovery(
            min_offset=log.min_offset, end=log._end, disk_end=disk_end, damage=damage
        )
        return log, recovery

    @property
    def min_offset(self) -> Offset:
        """Return the start of the first segment, or 0."""
        return self._segments[0] if self._segments else Offset(0)

    @property
    def max_phy_offset(self) -> Offset:
        """Return the end of the log."""
        return self._end

    @property
    def flushed_offset(self) -> Offset:
        """Return the offset up to which a power cut takes nothing."""
        return self._flushed

    @property
    def segment_size(self) -> SizeBytes:
        """Return the size of a segment."""
        return self._options.segment_size

    def segment_of(self, offset: Offset) -> Offset:
        """Return the start of the segment that an offset lies in."""
        return Offset(offset - offset % self._options.segment_size)

    @property
    def last_segment(self) -> Offset:
        """Return the start of the last segment, where a slave may begin that skips the past."""
        return self.segment_of(self._end)

    def append(self, message: Message) -> Record:
        """Append a message; if it does not fit, fill the segment up and begin the next one.

        Raises: EncodingError if it does not fit into any segment; CommitLogError if the log ends
        inside a record; DiskError
        """
        if self.aligned_end() != self._end:
            raise CommitLogError("append", offset=self._end, reason="the log ends inside a record")
        offset = self._end
        raw = self._encoded(message, offset)
        room = SizeBytes(self.segment_of(offset) + self.segment_size - offset)
        if len(raw) + BLANK_MIN > room:
            self._write(offset, push_blank(room))
            self._note(Blank(offset=offset, size=room))
            offset = self._end
            raw = self._encoded(message, offset)
        self._write(offset, raw)
        record = Record(offset=offset, size=SizeBytes(len(raw)), message=message)
        self._note(record)
        return record

    def append_raw(self, offset: Offset, data: bytes, *, allow_hole: bool = False) -> None:
        """Append bytes of another replica's log, which lie there at `offset`.

        A log that ends at 0 may begin anywhere, in a correct replica at the start of a segment;
        `allow_hole` lets it begin elsewhere, with zeros before (B83).

        Raises: CommitLogError if the bytes do not continue the log; DiskError
        """
        if self._end == 0 and offset > 0:
            if offset != self.segment_of(offset) and not allow_hole:
                reason = "an empty log cannot begin inside a segment"
                raise CommitLogError("append", offset=offset, reason=reason)
            self._begin_at(offset)
        if offset != self._end:
            raise CommitLogError("append", offset=offset, reason=f"the log ends at {self._end}")
        self._write(offset, data)

    def read(self, offset: Offset, size: int) -> bytes:
        """Read up to `size` bytes of the log, fewer at its end.

        Raises: CommitLogError if `offset` is not in the log; DiskError
        """
        if not self.min_offset <= offset <= self._end:
            reason = f"the log is [{self.min_offset}, {self._end})"
            raise CommitLogError("read", offset=offset, reason=reason)
        pieces: list[bytes] = []
        end = min(offset + size, self._end)
        while offset < end:
            start = self.segment_of(offset)
            piece_end = min(end, start + self.segment_size)
            pieces.append(self._disk.read(self._path(start), offset - start, piece_end - offset))
            offset = Offset(piece_end)
        return b"".join(pieces)

    def flush(self) -> Offset:
        """Make the log durable, and return its end.

        Raises: DiskError
        """
        if self._flushed < self._end:
            for start in self._segments:
                if start < self._end and start + self.segment_size > self._flushed:
                    self._disk.fsync(self._path(start))
        self._flush_names()
        self._flushed = self._end
        return self._flushed

    def truncate(self, offset: Offset) -> None:
        """Cut the log at `offset`, if it is longer. Below the first segment nothing is left.

        The new end need not be the end of a record; a replica that wants that asks
        `is_record_boundary` before.

        Raises: DiskError
        """
        assert offset >= 0
        if offset >= self._end:
            return
        emptied = offset < self.min_offset
        if emptied:
            offset = Offset(0)
        self._forget(offset)
        self._end = offset
        self._flushed = min(self._flushed, offset)
        if self._options.durable_truncate or emptied:
            self._cut_files(offset, [])

    def truncate_invalid_tail(self) -> bool:
        """Cut off what follows the last whole record, and tell whether there was anything.

        Raises: DiskError
        """
        end = self.aligned_end()
        cut = end < self._end
        self.truncate(end)
        return cut

    def aligned_end(self) -> Offset:
        """Return the end of the last whole record or filler. Raises: DiskError"""
        self._extend_index()
        return self._indexed_end

    def record_offsets(self) -> tuple[Offset, ...]:
        """Return where the whole records begin, without the fillers. Raises: DiskError"""
        self._extend_index()
        return tuple(offset for offset, _, is_record in self._index if is_record)

    def records(self, start: int = 0, end: int | None = None) -> Iterator[Record]:
        """Read the whole records that lie between two offsets, one after the other.

        Raises: DiskError
        """
        self._extend_index()
        first = bisect_left(self._index, start, key=lambda entry: entry[0])
        for offset, size, is_record in self._index[first:]:
            if end is not None and offset + size > end:
                return
            if is_record:
                span = self._pull(offset)
                assert isinstance(span, Record)
                yield span

    def is_record_boundary(self, offset: Offset) -> bool:
        """Tell whether the log may be cut here: a record or filler begins, or the log ends.

        Raises: DiskError
        """
        self._extend_index()
        at = bisect_left(self._index, offset, key=lambda entry: entry[0])
        begins = at < len(self._index) and self._index[at][0] == offset
        return begins or offset in (self._end, self._indexed_end)

    def _encoded(self, message: Message, offset: Offset) -> bytes:
        raw = push_record(message, offset, whole_crc=self._options.check is RecordCheck.WHOLE)
        if len(raw) + BLANK_MIN > self.segment_size:
            reason = f"needs {len(raw) + BLANK_MIN} bytes, a segment has {self.segment_size}"
            raise EncodingError("message", reason=reason)
        return raw

    def _path(self, start: Offset) -> str:
        return f"{self._options.directory}/{segment_name(start)}"

    def _write(self, offset: Offset, data: bytes) -> None:
        """Write at the end of the log, across segments if need be."""
        while data:
            start = self.segment_of(offset)
            piece = data[: start + self.segment_size - offset]
            self._disk.write(self._path(start), offset - start, piece)
            if start not in self._segments:
                self._segments.append(start)
                self._names_flushed = False
            offset = Offset(offset + len(piece))
            self._end = offset
            data = data[len(piece) :]

    def _begin_at(self, offset: Offset) -> None:
        """Let an empty log begin at `offset`."""
        self._cut_files(offset, self._segments)
        self._segments = []
        self._end = self._flushed = self._indexed_end = offset
        self._index = []

    def _note(self, span: Span) -> None:
        self._index.append((span.offset, span.size, isinstance(span, Record)))
        self._indexed_end = Offset(span.offset + span.size)

    def _extend_index(self) -> CommitLogError | None:
        """Look at the rest of the log; return why the last whole record is not its end."""
        while self._indexed_end < self._end:
            try:
                self._note(self._pull(self._indexed_end))
            except CommitLogError as error:
                return error
        return None

    def _pull(self, offset: Offset) -> Span:
        """Read one record or filler; it does not reach beyond its segment or the end of the log.

        Raises: CommitLogError, DiskError
        """
        start = self.segment_of(offset)
        room = SizeBytes(start + self.segment_size - offset)
        there = min(room, self._end - offset)
        size = int.from_bytes(self._disk.read(self._path(start), offset - start, min(4, there)))
        data = self._disk.read(self._path(start), offset - start, min(max(size, 8), there))
        return pull_record(data, offset=offset, room=room, check=self._options.check)

    def _forget(self, offset: Offset) -> None:
        """Drop from the index what does not lie before `offset` as a whole."""
        while self._index and self._index[-1][0] + self._index[-1][1] > offset:
            self._index.pop()
        if self._indexed_end > offset:
            last = self._index[-1] if self._index else None
            self._indexed_end = Offset(last[0] + last[1]) if last else min(offset, self.min_offset)

    def _cut_files(self, offset: Offset, stray: list[Offset]) -> None:
        """Cut the files at `offset` and remove segments behind it and stray ones, durably."""
        start = self.segment_of(offset)
        if start in self._segments and start not in stray:
            if self._disk.size(self._path(start)) > offset - start:
                self._disk.truncate(self._path(start), offset - start)
            self._disk.fsync(self._path(start))
        removed = sorted({*stray, *(s for s in self._segments if s > offset)})
        for behind in reversed(removed):
            self._disk.unlink(self._path(behind))
        if removed:
            self._disk.fsync_dir(self._options.directory)
        self._segments = [s for s in self._segments if s not in removed]

    def _flush_names(self) -> None:
        if not self._names_flushed:
            self._disk.fsync_dir(self._options.directory)
            self._names_flushed = True

    def _flush_all(self) -> None:
        """Make durable what recovery found: a program that died may have left it in memory."""
        for start in self._segments:
            self._disk.fsync(self._path(start))
        if self._segments:
            self._disk.fsync_dir(self._options.directory)
        self._flushed = self._end


def _segments_on(disk: Disk, options: CommitLogOptions) -> tuple[list[Offset], list[Offset]]:
    """Return the starts of the segments up to the first gap, and of those behind it.

    Raises: CommitLogError
    """
    starts: list[Offset] = []
    for name in disk.names(options.directory):
        start = segment_start(name)
        if start is None or start % options.segment_size:
            reason = f"{name!r} is no segment of {options.segment_size} bytes"
            raise CommitLogError("commitlog directory", offset=0, reason=reason)
        if disk.size(f"{options.directory}/{name}") > options.segment_size:
            raise CommitLogError("segment", offset=start, reason="is longer than a segment")
        starts.append(start)
    starts.sort()
    joined = 0
    while joined < len(starts) and starts[joined] == starts[0] + joined * options.segment_size:
        joined += 1
    return starts[:joined], starts[joined:]
