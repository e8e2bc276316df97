"""Verdicts that outlive a run: the accepted transitions of a model, by their fingerprints.

    <store>/<model>/<run>-<task>.parquet     one column `fingerprint`, 16 bytes

`<model>` is the fingerprint of the model, so another text, configuration or compiler begins with
nothing. Only acceptance is kept, of the step and of all invariants after it: what was refused is
judged again, and its texts are needed anyway. A task writes its file when it has ended; the file
appears complete or not at all, so a run that was killed has lost only its unfinished tasks.

For a run, all files are merged into one sorted table, `known-<run>.tmp`, which the workers of a
machine map into their memory and share: a lookup is a bisection, and takes no memory of its own.
The run holds a lock on it until it ends; what a run has left that was killed has a table without a
lock, or none, and goes when the next one begins.

A damaged file can only lose verdicts: a fingerprint that is not what it was is that of nothing.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import re
import secrets
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tlatrace.corpus.fingerprint import KEY_BYTES
from tlatrace.corpus.schema import UNREADABLE
from tlatrace.errors import CorpusError

__all__ = ["VerdictStore", "open_known"]

_LEFT: Final = re.compile(r"known-(?P<table>.+)\.(?:tmp|low)|(?P<task>\d+-\d+)-.+\.parquet\.\d+")
"""A table, or a file that a worker has not finished; with the name of the run."""
_FORMAT: Final = "rocketproof-verdicts"
_VERSION: Final = "1"
_SCHEMA: Final = pa.schema([("fingerprint", pa.binary(KEY_BYTES))])
Pairs: TypeAlias = "npt.NDArray[np.uint64]"
"""Fingerprints as rows of two numbers."""

_BUCKET: Final = 1 << 22
"""Fingerprints that are sorted at a time: 64 MB, and a few times that while sorting."""


@dataclass(frozen=True, slots=True)
class VerdictStore:
    """The part of a store that belongs to one model, for one run; plain data."""

    folder: Path
    model: str
    run: str

    @property
    def _place(self) -> Path:
        return self.folder / self.model[:32]

    @property
    def _table(self) -> Path:
        return self._place / f"known-{self.run}.tmp"

    def add(self, task: str, keys: Sequence[bytes]) -> None:
        """Keep the transitions that a task has accepted; a second time replaces the first.

        Raises:
            CorpusError: the file cannot be written.
        """
        if not keys:
            return
        about = {"format": _FORMAT, "version": _VERSION, "model": self.model}
        rows = pa.array(sorted(keys), type=pa.binary(KEY_BYTES))
        path = self._place / f"{self.run}-{task}.parquet"
        # Not a process id: on another machine another task may have the same.
        unfinished = path.with_name(f"{path.name}.{secrets.randbits(64)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Fingerprints are random: nothing makes them shorter.
            pq.write_table(
                pa.Table.from_arrays([rows], schema=_SCHEMA.with_metadata(about)),
                unfinished,
                compression="none",
                use_dictionary=False,
            )
            os.replace(unfinished, path)
        except (OSError, pa.ArrowException) as error:
            raise CorpusError(path, f"cannot be written ({error})") from error

    def withdraw(self) -> None:
        """Take away what this run has added."""
        for path in self._place.glob(f"{self.run}-*.parquet"):
            path.unlink(missing_ok=True)

    @contextmanager
    def merged(self) -> Iterator[Path | None]:
        """Keep the sorted table of everything that is kept, until the block ends; None if empty.

        Raises:
            CorpusError: a file is no part of a store, or belongs to another model.
        """
        try:
            self._place.mkdir(parents=True, exist_ok=True)
            self._clean()
            table = self._locked()
        except OSError as error:
            raise CorpusError(self._place, f"cannot be written ({error.strerror})") from error
        with table:
            try:
                yield self._table if self._merge(table) else None
            finally:
                self._table.unlink(missing_ok=True)

    def _locked(self) -> BinaryIO:
        """Open the table and lock it; another run may have taken it for one that was left."""
        while True:
            table = self._table.open("w+b")
            fcntl.flock(table, fcntl.LOCK_EX)
            if self._table.exists() and os.path.samestat(
                self._table.stat(), os.fstat(table.fileno())
            ):
                return table
            table.close()

    def _clean(self) -> None:
        """Remove what runs have left that were killed."""
        for path in sorted(self._place.iterdir()):
            found = _LEFT.fullmatch(path.name)
            if found is not None:
                run = found["table"] or found["task"]
                if not _is_locked(self._place / f"known-{run}.tmp"):
                    path.unlink(missing_ok=True)

    def _merge(self, table: BinaryIO) -> bool:
        """Write the sorted table; tell whether there is anything in it."""
        files = sorted(self._place.glob("*.parquet"))
        total = sum(self._check(path) for path in files)
        buckets = -(-total // _BUCKET)
        low = self._table.with_suffix(".low")
        try:
            with low.open("w+b") as lows:
                for bucket in range(buckets):
                    rows = _sorted([_bucket(path, bucket, buckets) for path in files])
                    table.write(rows[:, 0].tobytes())
                    lows.write(rows[:, 1].tobytes())
                lows.seek(0)
                while part := lows.read(1 << 20):
                    table.write(part)
            table.flush()
        finally:
            low.unlink(missing_ok=True)
        return total > 0

    def _check(self, path: Path) -> int:
        """Return the number of rows of a file of this model."""
        try:
            with pq.ParquetFile(path) as file:
                metadata, schema = file.metadata, file.schema_arrow
        except UNREADABLE as error:
            raise _damaged(path, f"cannot be read: {error}") from error
        about = metadata.metadata or {}
        wanted = {b"format": _FORMAT, b"version": _VERSION, b"model": self.model}
        for key, value in wanted.items():
            if about.get(key) != value.encode():
                raise _damaged(path, f"is not of the {key.decode()} {value}")
        if not schema.equals(_SCHEMA):
            raise _damaged(path, "has other columns than one of fingerprints")
        return int(metadata.num_rows)


def _is_locked(table: Path) -> bool:
    """Tell whether a run that is not over has this table."""
    try:
        with table.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:  # it is locked, or nobody can tell
        return True
    return False


def _damaged(path: Path, reason: str) -> CorpusError:
    reason = " ".join(reason.split())  # Arrow's has several lines
    return CorpusError(
        path, f"{reason}; delete this file: it only spares judging again what was accepted"
    )


def _bucket(path: Path, bucket: int, buckets: int) -> Pairs:
    """Return the fingerprints of a file that fall into a bucket, as pairs of 64-bit numbers."""
    try:
        column = pq.read_table(path).column("fingerprint").combine_chunks()
    except UNREADABLE as error:
        raise _damaged(path, f"cannot be read: {error}") from error
    data = column.buffers()[1]
    start = column.offset * KEY_BYTES
    numbers = np.frombuffer(data, dtype=">u8", offset=start, count=2 * len(column))
    rows: Pairs = numbers.reshape(-1, 2).astype(np.uint64)
    if buckets > 1:
        rows = rows[rows[:, 0] // np.uint64(-(-(1 << 64) // buckets)) == bucket]
    return rows


def _sorted(parts: list[Pairs]) -> Pairs:
    """Return the different rows, in order."""
    rows = np.concatenate(parts)
    rows = np.take(rows, np.lexsort((rows[:, 1], rows[:, 0])), axis=0)
    differs = np.ones(len(rows), dtype=bool)
    differs[1:] = np.any(rows[1:] != rows[:-1], axis=1)
    kept: Pairs = rows[differs]
    return kept


class _Known:
    """The sorted table: all first halves, then all second halves."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).cast("Q")
        self._count = len(view) // 2
        self._high, self._low = view[: self._count], view[self._count :]

    def __contains__(self, key: object) -> bool:
        assert isinstance(key, bytes)
        high, low = int.from_bytes(key[:8], "big"), int.from_bytes(key[8:], "big")
        at = bisect_left(self._high, high)
        while at < self._count and self._high[at] == high:
            if self._low[at] == low:
                return True
            at += 1
        return False


@lru_cache(maxsize=1)
def open_known(path: Path) -> Container[bytes]:
    """Map the table of a run into memory; once in each process."""
    return _Known(path)
