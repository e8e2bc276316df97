"""The records of each node: where they are written, and how they are read again.

A log is a node's header and its records. Each incarnation begins with `NodeStarted`, nothing of it
follows `NodeStopped`, its records are numbered without a gap, and a record without an end was not
written: what is not so is refused, as nobody knows what the node did meanwhile.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, cast

from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    pull_header,
    pull_record,
    push_line,
)

__all__ = ["NodeLines", "NodeLog", "RecordFiles", "pull_log", "read_logs"]

SUFFIX: Final = ".records.jsonl"
_COMPRESSED: Final = ".gz"
"""Of the file of a node: `b1.records.jsonl`."""

_LINES_BEFORE: Final = 2
"""Line of the first record: lines are counted from 1, and the first one is the header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLog:
    """What one node wrote."""

    header: NodeHeader
    records: tuple[NodeRecord, ...]
    name: str = field(default="", compare=False)
    """Of its file; of lines in memory, the node's."""

    def place_of(self, record: NodeRecord) -> tuple[str, int]:
        """Return the file of a record of it, and the number of the line."""
        meant = record.incarnation, record.sequence
        numbers = [(one.incarnation, one.sequence) for one in self.records]
        return self.name, numbers.index(meant) + _LINES_BEFORE


class NodeLines:
    """The lines of all nodes, in memory."""

    def __init__(self) -> None:
        """Begin without a node."""
        self.lines: dict[str, list[bytes]] = {}

    def write(self, line: NodeHeader | NodeRecord) -> None:
        """Add a line to those of its node."""
        self.lines.setdefault(line.node, []).append(push_line(line))

    def logs(self) -> tuple[NodeLog, ...]:
        """Read what was written. Raises: RecordError"""
        return tuple([pull_log(lines, node) for node, lines in self.lines.items()])


class RecordFiles:
    """A file for each node, in a folder; a context manager, which closes them."""

    def __init__(self, folder: Path) -> None:
        """Make the folder if it is not there. Raises: OSError"""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._files: dict[str, IO[bytes]] = {}

    def write(self, line: NodeHeader | NodeRecord) -> None:
        """Write a line behind those of its node. Raises: OSError"""
        file = self._files.get(line.node)
        if file is None:
            file = self._files[line.node] = (self._folder / f"{line.node}{SUFFIX}").open("wb")
        file.write(push_line(line))

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files. Raises: OSError"""
        for file in self._files.values():
            file.close()


def read_logs(folder: Path) -> tuple[NodeLog, ...]:
    """Read the files of a folder, compressed (`.gz`) or not. Raises: RecordError, OSError"""
    if not folder.is_dir():
        raise RecordError(f"{folder} is no folder")
    paths = sorted([*folder.glob(f"*{SUFFIX}"), *folder.glob(f"*{SUFFIX}{_COMPRESSED}")])
    if not paths:
        raise RecordError(f"{folder}: no file here ends with {SUFFIX}")
    logs = []
    for path in paths:
        with _opened(path) as file:
            try:
                logs.append(pull_log(file, str(path)))
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise RecordError(f"{path}: {error}") from None
    _check_together(logs, str(folder))
    return tuple(logs)


def _opened(path: Path) -> IO[bytes]:
    if path.name.endswith(_COMPRESSED):
        return cast(IO[bytes], gzip.open(path))
    return path.open("rb")


def pull_log(lines: Iterable[bytes], name: str) -> NodeLog:
    """Read what one node wrote; `name` is said in errors. Raises: RecordError"""
    header: NodeHeader | None = None
    records: list[NodeRecord] = []
    for number, line in enumerate(lines, start=1):
        try:
            if not line.endswith(b"\n"):
                raise RecordError("the line has no end")
            if header is None:
                header = pull_header(line)
                continue
            record = pull_record(line)
            _check_next(header, records, record)
        except RecordError as error:
            raise RecordError(f"{name}:{number}: {error}") from None
        records.append(record)
    if header is None or not records:
        raise RecordError(f"{name}: no record")
    return NodeLog(header=header, records=tuple(records), name=name)


def _check_next(header: NodeHeader, records: Sequence[NodeRecord], record: NodeRecord) -> None:
    """Refuse a record that does not follow. Raises: RecordError"""
    before = records[-1] if records else None
    incarnation, sequence = (1, 0) if before is None else (before.incarnation, before.sequence + 1)
    if before is not None and record.event == STARTED:
        incarnation, sequence = before.incarnation + 1, 0
    if record.node != header.node:
        raise RecordError(f"a record of {record.node!r} among those of {header.node!r}")
    if (record.incarnation, record.sequence) != (incarnation, sequence):
        raise RecordError(
            f"record {record.sequence} of incarnation {record.incarnation}"
            f" in the place of record {sequence} of incarnation {incarnation}"
        )
    if before is not None and before.event == STOPPED and record.event != STARTED:
        raise RecordError(f"{record.event} of a node that runs no more")
    if (record.event == STARTED) != (sequence == 0):
        raise RecordError(f"{record.event} is record {sequence} of its incarnation")
    if before is not None and record.at_ns < before.at_ns:
        raise RecordError("the recorder's clock went back")


def _check_together(logs: Sequence[NodeLog], name: str) -> None:
    """Refuse logs that are not of one run. Raises: RecordError"""
    protocols = sorted({log.header.protocol for log in logs})
    if len(protocols) > 1:
        raise RecordError(f"{name}: records of several protocols: {', '.join(protocols)}")
    nodes = [log.header.node for log in logs]
    twice = sorted({node for node in nodes if nodes.count(node) > 1})
    if twice:
        raise RecordError(f"{name}: several files of {', '.join(twice)}")
