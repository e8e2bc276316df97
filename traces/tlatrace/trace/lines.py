"""Reading the lines of an untrusted file in bounded memory.

A file is plain text or gzip, told apart by its first two bytes (0x1f 0x8b). No line is ever held
beyond `Limits.line_bytes`, and no more than `Limits.total_bytes` are read or inflated.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Final

from tlatrace.errors import TraceFormatError

__all__ = ["DEFAULT_LIMITS", "Limits", "numbered_lines", "read_whole"]

_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_RATIO_CAP: Final = 100
_RATIO_FREE_BYTES: Final = 8 * 2**20  # small files of equal lines compress beyond any sane cap


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a trace file may cost its reader."""

    line_bytes: int = 2**20
    """Bytes of one line, without its end."""
    depth: int = 68
    """Nesting of brackets in a line: `values.MAX_DEPTH`, and a state in an event around it."""
    events: int = 10**7
    total_bytes: int = 4 * 2**30
    """Bytes of the whole file, after inflating."""
    values_per_line: int = 100_000
    """Upper bound on the JSON values in a line."""


DEFAULT_LIMITS: Final = Limits()


def numbered_lines(path: Path, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line without its end); blank lines at the end are left out.

    Raises:
        TraceFormatError: unreadable, damaged gzip, a blank line in the middle, or over a limit.
    """
    number = 0
    try:
        with path.open("rb") as file:
            blank: int | None = None
            for line in _bounded_lines(path, file, limits):
                number += 1
                if not line or line.isspace():
                    blank = blank or number
                    continue
                if blank is not None:
                    raise TraceFormatError(path, blank, "the line is blank")
                yield number, line
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, number + 1, error) from error


def read_whole(path: Path, limits: Limits) -> bytes:
    """Read a file of at most `limits.total_bytes` bytes, inflated if it is gzip.

    Raises:
        TraceFormatError: unreadable, damaged gzip, or over a limit.
    """
    chunks: list[bytes] = []
    total = 0
    try:
        with path.open("rb") as file:
            stream = _plain_stream(path, file)
            while chunk := stream.read(2**16):
                total += len(chunk)
                _check_total(path, None, file, stream, total, limits)
                chunks.append(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, None, error) from error
    return b"".join(chunks)


def _unreadable(path: Path, line: int | None, error: Exception) -> TraceFormatError:
    if isinstance(error, OSError) and error.strerror:
        return TraceFormatError(path, None, f"the file cannot be read: {error.strerror}")
    return TraceFormatError(path, line, f"the compressed data is damaged: {error}")


def _bounded_lines(path: Path, file: BufferedReader, limits: Limits) -> Iterator[bytes]:
    stream = _plain_stream(path, file)
    number = 0
    total = 0
    while line := stream.readline(limits.line_bytes + 2):
        number += 1
        total += len(line)
        content = line.removesuffix(b"\n").removesuffix(b"\r")
        if len(content) > limits.line_bytes:
            reason = f"the line is longer than {limits.line_bytes} bytes"
            raise TraceFormatError(path, number, reason, limits.line_bytes + 1)
        _check_total(path, number, file, stream, total, limits)
        yield content


def _plain_stream(path: Path, file: BufferedReader) -> BufferedReader | gzip.GzipFile:
    magic = file.peek(4)[:4]
    if magic.startswith(_GZIP_MAGIC):
        return gzip.GzipFile(fileobj=file, mode="rb")
    if magic == _ZSTD_MAGIC:
        raise TraceFormatError(path, None, "zstd is not supported, recompress the file with gzip")
    return file


def _check_total(
    path: Path,
    line: int | None,
    file: BufferedReader,
    stream: BufferedReader | gzip.GzipFile,
    total: int,
    limits: Limits,
) -> None:
    if total > limits.total_bytes:
        raise TraceFormatError(path, line, f"the file holds more than {limits.total_bytes} bytes")
    if stream is not file and total > _RATIO_FREE_BYTES and total > _RATIO_CAP * file.tell():
        reason = f"the compressed data inflates to more than {_RATIO_CAP} times its size"
        raise TraceFormatError(path, line, reason)
