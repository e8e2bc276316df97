"""Operations that run to their end, stopped where the specification has a step.

Saving, installing, cleaning up and loading are one call each. What they do to their disk and to
their log goes through here; where one step of the specification ends and the next one begins, the
call is left by an exception. It goes on by being made again, from the same beginning, up to the
place that comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, assert_never

from rocketha.controller.log import NO_TERM, DurableLog
from rocketha.storage.disk import Disk, parent
from rocketha.types import LogIndex, SizeBytes, Term

__all__ = ["Operation", "OperationKind", "Run", "Stopped", "StoppingDisk", "StoppingLog"]

_SNAPSHOTS: Final = "snapshot"
_LOG_ASIDE: Final = "controllerLog.tmp"


class OperationKind(Enum):
    """What is called."""

    SAVE = "save"
    INSTALL = "install"
    CLEAN = "clean"
    OPEN = "open"


@dataclass(slots=True)
class Operation:
    """A call, and how far it has got."""

    kind: OperationKind
    index: LogIndex = field(default=LogIndex(0))
    """Of the snapshot that is written."""
    stop_at: int | None = 1
    """The stop at which it is left, counted from 1; None: it is not."""
    damage: dict[int, list[LogIndex]] = field(default_factory=dict)
    """What the disk damages while it is stopped, by stop."""


class Stopped(Exception):
    """The call is left here; nothing catches it on the way."""


class Run:
    """One call of an operation."""

    def __init__(self, operation: Operation, damage: Callable[[LogIndex], None]) -> None:
        """Begin; `damage` damages a snapshot."""
        self.operation = operation
        self.passed = 0
        self.has_read = False
        """A snapshot was read."""
        self.is_replaying = False
        """The snapshots are loaded, and the log is looked at."""
        self.has_ended = False
        self._damage = damage
        self._done: list[str] = []

    def before(self, what: str, path: str) -> None:
        """Stop before an operation of the disk, if a step ends here."""
        if self._ends_step(what, path):
            self.stop()
        if what not in ("exists", "names"):
            self._done.append(what)

    def before_look_at_log(self) -> None:
        """Stop before the log decides whether the node may start without snapshots."""
        if self.operation.kind is OperationKind.OPEN and self._done[-1:] == ["unlink"]:
            self.stop()

    def stop(self) -> None:
        """End a step. Raises: Stopped if it is the one"""
        self.passed += 1
        self._done.clear()
        for index in self.operation.damage.get(self.passed, ()):
            self._damage(index)
        if self.passed == self.operation.stop_at:
            raise Stopped

    def _ends_step(self, what: str, path: str) -> bool:
        if not self._done:
            return False
        of_snapshot = _SNAPSHOTS in (path, parent(path))
        match self.operation.kind:
            case OperationKind.OPEN:
                return what == "read" and of_snapshot and self._done[-1] == "unlink"
            case OperationKind.INSTALL:
                return what in ("fsync", "rename", "fsync_dir", "read") and of_snapshot
            case OperationKind.SAVE | OperationKind.CLEAN:
                puts = what in ("fsync", "rename", "fsync_dir", "read", "names") and of_snapshot
                return puts or (what == "exists" and path == _LOG_ASIDE)
            case _ as unreachable:
                assert_never(unreachable)


class StoppingDisk:
    """A disk that shows a run what is done to it."""

    def __init__(self, inner: Disk) -> None:
        """Pass everything on."""
        self._inner = inner
        self.run: Run | None = None
        """What is under way."""

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        self._before("exists", path)
        return self._inner.exists(path)

    def size(self, path: str) -> SizeBytes:
        """Return the size of a file."""
        return self._inner.size(path)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the files in a directory."""
        self._before("names", directory)
        return self._inner.names(directory)

    def read(self, path: str, offset: int = 0, size: int | None = None) -> bytes:
        """Read up to `size` bytes, or all."""
        if parent(path) == _SNAPSHOTS:
            self._before("read", path)
            if self.run is not None:
                self.run.has_read = True
        return self._inner.read(path, offset, size)

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write at `offset`."""
        self._before("write", path)
        self._inner.write(path, offset, data)

    def truncate(self, path: str, size: int) -> None:
        """Cut a file."""
        self._before("truncate", path)
        self._inner.truncate(path, size)

    def fsync(self, path: str) -> None:
        """Make the content of a file durable."""
        self._before("fsync", path)
        self._inner.fsync(path)

    def fsync_dir(self, directory: str) -> None:
        """Make the names in a directory durable."""
        self._before("fsync_dir", directory)
        self._inner.fsync_dir(directory)

    def rename(self, src: str, dst: str) -> None:
        """Give a file another name."""
        self._before("rename", src)
        self._inner.rename(src, dst)

    def unlink(self, path: str) -> None:
        """Remove a file."""
        self._before("unlink", path)
        self._inner.unlink(path)

    def _before(self, what: str, path: str) -> None:
        if self.run is not None:
            self.run.before(what, path)


class StoppingLog:
    """A log that stops a start before it learns what was agreed on, and before each entry."""

    def __init__(self, inner: DurableLog, disk: StoppingDisk, commit: Callable[[], int]) -> None:
        """Pass everything on; `commit` tells what is known to be agreed on."""
        self._inner = inner
        self._disk = disk
        self._commit = commit

    @property
    def first_index(self) -> LogIndex:
        """Return the index of the first entry that is there, or would be."""
        if self._disk.run is not None:
            self._disk.run.before_look_at_log()
        return self._inner.first_index

    @property
    def end_index(self) -> LogIndex:
        """Return the index of the last entry."""
        run = self._disk.run
        if run is not None and run.operation.kind is OperationKind.OPEN:
            run.is_replaying = True
            if self._inner.end_index > self._commit():
                run.stop()
        return self._inner.end_index

    def append(self, entry: bytes, term: Term = NO_TERM) -> None:
        """Make an entry durable behind the ones before it."""
        self._inner.append(entry, term)

    def entries(self, first: LogIndex) -> Iterator[bytes]:
        """Read the entries from this one on."""
        return self._inner.entries(first)

    def term_of(self, index: LogIndex) -> Term | None:
        """Return the term of an entry."""
        if self._disk.run is not None and self._disk.run.is_replaying:
            self._disk.run.stop()
        return self._inner.term_of(index)

    def cut(self, index: LogIndex) -> None:
        """Remove everything up to this entry."""
        self._inner.cut(index)

    def reset(self, index: LogIndex, term: Term) -> None:
        """Remove everything, and go on behind this entry."""
        self._inner.reset(index, term)
