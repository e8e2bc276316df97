"""Verdicts that outlive a run: the accepted transitions of a model, by their fingerprints.

    <store>/<model>/<run>-<task>.parquet     one column `fingerprint`, 16 bytes

`<model>` is the fingerprint of the model, so another text, configuration or compiler begins with
nothing. Only acceptance is kept, of the step and of all invariants after it: what was refused is
judged again, and its texts are needed anyway. A task writes its file when it has ended; the file
appears complete or not at all, so a run that was killed has lost only its unfinished tasks.

For a run, all files are merged into one sorted table, which the workers of a machine map into their
memory and share: a lookup is a bisection, and takes no memory of its own.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tlatrace.corpus.fingerprint import KEY_BYTES
from tlatrace.errors import CorpusError

__all__ = ["VerdictStore", "open_known"]

_FORMAT: Final = "rocketproof-verdicts"
_VERSION: Final = "1"
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
    def _merged(self) -> Path:
        return self._place / f"known-{self.run}.tmp"

    def add(self, task: str, keys: Sequence[bytes]) -> None:
        """Keep the transitions that a task has accepted; a second time replaces the first.

        Raises:
            CorpusError: the file cannot be written.
        """
        if not keys:
            return
        schema = pa.schema(
            [("fingerprint", pa.binary(KEY_BYTES))],
            metadata={"format": _FORMAT, "version": _VERSION, "model": self.model},
        )
        rows = pa.array(sorted(keys), type=pa.binary(KEY_BYTES))
        path = self._place / f"{self.run}-{task}.parquet"
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Fingerprints are random: nothing makes them shorter.
            pq.write_table(
                pa.Table.from_arrays([rows], schema=schema),
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

    def merge(self) -> Path | None:
        """Write the sorted table of everything that is kept; None if there is nothing.

        Raises:
            CorpusError: a file is no part of a store, or belongs to another model.
        """
        files = sorted(self._place.glob("*.parquet"))
        total = sum(self._check(path) for path in files)
        if not total:
            return None
        buckets = -(-total // _BUCKET)
        with self._merged.open("wb") as high:
            low = self._merged.with_suffix(".low")
            with low.open("w+b") as lows:
                count = 0
                for bucket in range(buckets):
                    rows = _sorted([_bucket(path, bucket, buckets) for path in files])
                    count += len(rows)
                    high.write(rows[:, 0].tobytes())
                    lows.write(rows[:, 1].tobytes())
                lows.seek(0)
                while part := lows.read(1 << 20):
                    high.write(part)
            low.unlink()
        return self._merged

    def close(self) -> None:
        """Remove the sorted table."""
        self._merged.unlink(missing_ok=True)

    def _check(self, path: Path) -> int:
        """Return the number of rows of a file of this model."""
        try:
            metadata = pq.read_metadata(path)
        except (OSError, pa.ArrowException) as error:
            raise CorpusError(path, f"cannot be read ({error})") from error
        about = metadata.metadata or {}
        wanted = {b"format": _FORMAT, b"version": _VERSION, b"model": self.model}
        for key, value in wanted.items():
            if about.get(key) != value.encode():
                raise CorpusError(path, f"is not of the {key.decode()} {value}")
        return int(metadata.num_rows)


def _bucket(path: Path, bucket: int, buckets: int) -> Pairs:
    """Return the fingerprints of a file that fall into a bucket, as pairs of 64-bit numbers."""
    column = pq.read_table(path).column("fingerprint").combine_chunks()
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
