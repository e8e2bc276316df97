"""What the harness itself writes into the records of a node: how it is set up, what is left.

The agent writes a line for each step while the process runs. Before the first start the file gets
its header. When the process has ended, a last line without its end is cut away (the step was never
over), and the machine writes `NodeStopped` with what is on the disk, as a recovery would find it.
See `rocketha.recording.record` for the lines.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from rocketha.errors import CommitLogError
from rocketha.formats.message import Blank, Record, RecordCheck, pull_record
from rocketha.formats.segment import segment_start
from rocketha.recording.json_parts import as_json
from rocketha.recording.node_log import SUFFIX
from rocketha.recording.record import (
    STOPPED,
    Json,
    NodeHeader,
    NodeRecord,
    push_line,
)
from rocketha.recording.record import pull_record as pull_node_record
from rocketha.storage.disk import RealDisk
from rocketha.storage.epoch_store import EpochStore, EpochStoreOptions
from rocketha.types import EpochEntry, Offset, SizeBytes
from rocketmq_peer.errors import PeerError

__all__ = [
    "MachineClock",
    "NodeFile",
    "broker_left",
    "epochs_on",
    "id_of_body",
    "lose_tail",
    "records_on",
]

_ID_END: Final = re.compile(rb"[;\0]")
_ID_MAX: Final = 64
_CRC_MASK: Final = 0x7FFFFFFF
"""Source: `UtilAll.crc32`"""


class MachineClock:
    """CLOCK_MONOTONIC, which is also what Java's System.nanoTime shows on Linux."""

    def now_ns(self) -> int:
        """Return nanoseconds since the machine started."""
        return time.monotonic_ns()

    def shows_ms(self) -> int:
        """Return milliseconds since 1970, as nodes of this machine have them."""
        return time.time_ns() // 1_000_000


class NodeFile:
    """The file of the records of one node."""

    def __init__(self, folder: Path, node: str, clock: MachineClock | None = None) -> None:
        """Write and read `<node>.records.jsonl` of a folder."""
        self.node = node
        self.path = folder / f"{node}{SUFFIX}"
        self._clock = clock or MachineClock()

    def begin(self, protocol: str, settings: Mapping[str, Any]) -> None:
        """Write the header. Raises: PeerError if the file is there; OSError"""
        header = NodeHeader(protocol=protocol, node=self.node, settings=dict(settings))
        try:
            with self.path.open("xb") as file:
                file.write(push_line(header))
        except FileExistsError:
            raise PeerError(f"{self.path} is of another run") from None

    def next_incarnation(self) -> int:
        """Return the number of the node's next start, from 1. Raises: RecordError, OSError"""
        last = self._last()
        return 1 if last is None else last.incarnation + 1

    def stopped(self, left: Callable[[], Mapping[str, Json]]) -> NodeRecord | None:
        """Write that the process has ended, with what is left; return the record.

        One that ended before its first step leaves nothing: None.

        Raises: RecordError: the last line is no record; OSError
        """
        self.cut_torn()
        last = self._last()
        if last is None or last.event == STOPPED:
            return None
        record = NodeRecord(
            node=self.node,
            incarnation=last.incarnation,
            sequence=last.sequence + 1,
            at_ns=max(self._clock.now_ns(), last.at_ns),
            shows_ms=self._clock.shows_ms(),
            event=STOPPED,
            state=dict(left()),
        )
        with self.path.open("ab") as file:
            file.write(push_line(record))
        return record

    def cut_torn(self) -> int:
        """Cut a last line that has no end; return how many bytes it had. Raises: OSError"""
        data = self.path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            with self.path.open("r+b") as file:
                file.truncate(end)
        return len(data) - end

    def _last(self) -> NodeRecord | None:
        """Return the last whole record; None if there is none. Raises: RecordError, OSError"""
        lines = self.path.read_bytes().split(b"\n")
        if len(lines) < 3:  # the header, and what is behind its end
            return None
        return pull_node_record(lines[-2])


# ---- What is left of a broker ----


def broker_left(store: Path) -> dict[str, Json]:
    """Return what is on the disk of a broker that runs no more. Raises: OSError"""
    segments = _segments(store / "commitlog")
    return {
        "begin": segments[0][0] if segments else 0,
        "log": {"kept": 0, "added": [as_item(record) for record in records_on(store)]},
        "epoch_file": as_json(epochs_on(store)),
    }


def lose_tail(store: Path, kept: Offset) -> None:
    """Let a broker that runs no more lose what its log had from an offset on: zeros stand there.

    Its files stay as long as they were, as do those that are made of the log: a start mends them.

    Raises: OSError
    """
    for start, path in _segments(store / "commitlog"):
        size = path.stat().st_size
        keep = min(max(kept - start, 0), size)
        with path.open("r+b") as file:
            file.seek(keep)
            file.write(bytes(size - keep))


def as_item(record: Record) -> Json:
    """Return a record of a log as the agent writes it: where it ends, and its id."""
    end = record.offset + record.size
    return {"end": end, "id": id_of_body(record.message.body, end)}


def id_of_body(body: bytes, end: int) -> str:
    """Return what tells a record from others: its body up to a semicolon or a zero byte.

    Of a body that has none in its first 64 bytes it is where the record ends, with the checksum.

    Source: the agent's `StoredLog`
    """
    begin = body[:_ID_MAX]
    name = _ID_END.split(begin, 1)[0]
    if not name or len(name) == len(begin):
        return f"@{end}:{crc32(body) & _CRC_MASK:x}"
    return name.decode("latin-1")


def records_on(store: Path) -> Iterator[Record]:
    """Give the records that a recovery of the CommitLog finds, in order; fillers are passed over.

    It begins with the first segment and stops at the first thing that is no record, whose body has
    another checksum, or that says it begins elsewhere.

    Raises: OSError
    """
    expected: Offset | None = None
    for start, path in _segments(store / "commitlog"):
        if expected is not None and start != expected:
            return
        data = path.read_bytes()
        expected = Offset(start + len(data))
        at = 0
        while at < len(data):
            room = SizeBytes(len(data) - at)
            try:
                span = pull_record(
                    data, offset=Offset(start + at), room=room, check=RecordCheck.BODY, at=at
                )
            except CommitLogError:
                return
            at += span.size
            match span:
                case Record():
                    yield span
                case Blank():
                    break


def _segments(folder: Path) -> list[tuple[Offset, Path]]:
    if not folder.is_dir():
        return []
    named = ((segment_start(path.name), path) for path in folder.iterdir())
    return sorted((start, path) for start, path in named if start is not None)


def epochs_on(store: Path) -> tuple[EpochEntry, ...]:
    """Return what a start finds in the epoch file, or in its backup; nothing if nobody can read it.

    Source: EpochFileCache.initCacheFromFile
    """
    return EpochStore(RealDisk(store), EpochStoreOptions(in_place=True)).load()
