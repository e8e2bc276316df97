"""Checksums of the files of a corpus: `corpus.json` has them, readers compare before they judge.

Parquet's own do not suffice: they cover pages, neither their headers nor the footer, and Spark does
not compare them. Of 1,500 bits flipped in a file of steps, 333 gave other rows without an error.
They are against damage, not against somebody who writes both the file and its checksum.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlatrace.errors import CorpusError

__all__ = ["TABLES", "FileChecksum", "check_files", "checksums_in", "missing_files"]

TABLES: Final = ("steps", "traces")
"""The folders of a corpus."""

_MAX_THREADS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChecksum:
    """Of all bytes of a file."""

    bytes: int
    sha256: str
    """64 lower-case hexadecimal digits."""

    @classmethod
    def of(cls, path: Path) -> FileChecksum:
        """Read a file.

        Raises:
            OSError: it cannot be read.
        """
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            return cls(bytes=file.tell(), sha256=sha256)


def checksums_in(folder: Path) -> dict[str, FileChecksum]:
    """Read all files of a corpus; their names are as in `corpus.json`.

    Raises:
        CorpusError: a file cannot be read.
    """
    paths = {name: path for table in TABLES for name, path in _inside(folder, table)}
    with ThreadPoolExecutor(min(os.cpu_count() or 1, _MAX_THREADS)) as pool:
        return dict(zip(paths, pool.map(_read, paths.values()), strict=True))


def check_files(folder: Path, wanted: Mapping[str, FileChecksum]) -> None:
    """Compare the files that are there with their checksums; missing ones are no error here.

    Raises:
        CorpusError: a file is damaged or cannot be read, or has no checksum.
    """
    for name, found in checksums_in(folder).items():
        if name not in wanted:
            raise CorpusError(folder / name, "is none of the files that corpus.json names")
        if found != wanted[name]:
            raise CorpusError(folder / name, "is damaged: corpus.json has another checksum of it")


def missing_files(folder: Path, wanted: Mapping[str, FileChecksum]) -> list[str]:
    """Name the files that are not there."""
    return sorted([name for name in wanted if not (folder / name).exists()])


def _inside(folder: Path, table: str) -> Iterator[tuple[str, Path]]:
    """List what a driver may read: Spark reads all that does not begin with "_" or "."."""
    place = folder / table
    if place.is_dir():
        for path in sorted(place.iterdir()):
            if path.name[0] not in "_.":
                yield f"{table}/{path.name}", path


def _read(path: Path) -> FileChecksum:
    try:
        return FileChecksum.of(path)
    except OSError as error:
        raise CorpusError(path, f"cannot be read ({error.strerror})") from error
