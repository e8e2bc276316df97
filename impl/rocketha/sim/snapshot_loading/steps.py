"""Steps of a node with snapshots, seen from its disk and its log.

A save is one call: what the node does to its disk and asks of its log tells where one action of the
specification ends and the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from rocketha.replicated_log.log import NO_TERM, DurableLog
from rocketha.storage.disk import Disk, parent
from rocketha.types import LogIndex, SizeBytes, Term

__all__ = [
    "Call",
    "SnapshotAction",
    "SnapshotActionName",
    "SteppedDisk",
    "SteppedLog",
    "Steps",
]

_TMP: Final = "snapshot/tmp"
_LOG_ASIDE: Final = "controllerLog.tmp"
_SNAPSHOTS: Final = "snapshot"
_CHANGES: Final = frozenset({"write", "truncate", "fsync", "fsync_dir", "rename"})
"""What a node may end before. Of files that are removed together a trace shows all or none."""


class SnapshotActionName(StrEnum):
    """Actions of SnapshotLoading."""

    AGREE = "Agree"
    LEADER_COMPACTS = "LeaderCompacts"
    APPEND_ENTRY = "AppendEntry"
    APPEND_STRAY = "AppendStray"
    COMMIT = "Commit"
    APPLY = "Apply"
    SAVE = "Save"
    INSTALL = "Install"
    SYNC_TEMPORARY = "SyncTemporary"
    RENAME = "Rename"
    SYNC_DIRECTORY = "SyncDirectory"
    READ_BACK = "ReadBack"
    DELETE_EXPIRED = "DeleteExpired"
    CUT_LOG = "CutLog"
    CRASH = "Crash"
    ROT = "Rot"
    START = "Start"
    LOAD_NEWEST = "LoadNewest"


_Name = SnapshotActionName


@dataclass(frozen=True, slots=True)
class SnapshotAction:
    """One action, with the index that it is about."""

    name: SnapshotActionName
    index: LogIndex | None = None


class Call(Enum):
    """What a node is called to do."""

    FOLLOW = "follow"
    """To append an entry, to learn what was agreed on, or to apply an entry."""
    SAVE = "save"
    """To save a snapshot if it is time, and to clean up."""
    RECEIVE = "receive"
    LOAD = "load"
    START = "start"


class Steps:
    """Tells actions apart while a node does what it was called for."""

    def __init__(
        self,
        ended: Callable[[SnapshotAction], None],
        shown: Callable[[SnapshotAction], None],
        at_seam: Callable[[], None],
    ) -> None:
        """Tell `ended` of each action at its end, and `at_seam` before what changes the disk.

        Of an action in which the node ends, but which is there, `shown` is told.
        """
        self._at_seam = at_seam
        self.call: Call | None = None
        self.writes: Call | None = None
        """A snapshot is being written: its own (SAVE), or a leader's (RECEIVE)."""
        self._ended, self._shown = ended, shown
        self._pending: SnapshotAction | None = None
        self._has_unlinked = False

    def begin(self, call: Call, first: SnapshotAction | None = None) -> None:
        """Begin a call, and its first action if it is one whatever the node does."""
        self.call, self._pending, self._has_unlinked = call, first, False

    def end(self) -> None:
        """End a call, and its last action."""
        last = self._pending
        self.forget()
        if last is not None:
            self._ended(last)

    def show(self) -> None:
        """Show the action under way as one that is done: the node ends in it."""
        assert self._pending is not None
        self._shown(self._pending)

    def forget(self) -> None:
        """Leave a call where it is: the node is gone."""
        self.call = self._pending = self.writes = None

    def border(self, then: SnapshotAction | None = None) -> None:
        """End an action, and begin another one."""
        ended, self._pending = self._pending, None
        if ended is not None:
            self._ended(ended)
        self._pending = then

    # ---- what the node does ----

    def looks_at_begin(self) -> None:
        """Ask the log for its first index: all snapshots were damaged, perhaps."""
        if self.call is Call.START and self._has_unlinked:
            self._has_unlinked = False
            self.border(SnapshotAction(_Name.LOAD_NEWEST))

    def before(self, what: str, path: str) -> None:
        """Do something to the disk."""
        if self.call is None:
            return
        self._tell_border(what, path)
        if what in _CHANGES and not self._has_unlinked and not self._makes_names_durable(path):
            self._at_seam()

    def _makes_names_durable(self, path: str) -> bool:
        """Tell whether a start comes to what it counts on: before, it is as the end left it."""
        return self.call is Call.START and path == _SNAPSHOTS

    def _tell_border(self, what: str, path: str) -> None:
        if path == _TMP:
            self._writes(what)
        elif path == _SNAPSHOTS:
            if self.call is Call.START:
                return  # after a power cut all names are durable
            # names: before the old files go
            syncs = what == "fsync_dir"
            self.border(SnapshotAction(_Name.SYNC_DIRECTORY) if syncs else None)
        elif parent(path) == _SNAPSHOTS:
            self._touches(what)
        elif path == _LOG_ASIDE and what == "exists" and self.call is Call.SAVE:
            self.border(SnapshotAction(_Name.CUT_LOG))

    def _writes(self, what: str) -> None:
        match what:
            case "fsync":
                self.border(SnapshotAction(_Name.SYNC_TEMPORARY))
            case "rename":
                self.border(SnapshotAction(_Name.RENAME))
            case _ if not self._is(self._begins()):
                self.border(SnapshotAction(self._begins()))
                self.writes = self.call
            case _:
                pass

    def _begins(self) -> SnapshotActionName:
        return _Name.INSTALL if self.call is Call.RECEIVE else _Name.SAVE

    def _touches(self, what: str) -> None:
        if self.call is Call.START:
            if what == "read":
                self.looks_at_begin()
            else:
                self._has_unlinked = True
        elif what == "read":
            if self.call is Call.SAVE:
                self.border(SnapshotAction(_Name.READ_BACK))
            self.writes = None
        elif not self._is(_Name.READ_BACK) and not self._is(_Name.DELETE_EXPIRED):
            self.border(SnapshotAction(_Name.DELETE_EXPIRED))

    def _is(self, name: SnapshotActionName) -> bool:
        return self._pending is not None and self._pending.name is name


class SteppedDisk:
    """A disk that tells what is done to it."""

    __slots__ = ("_inner", "_steps")

    def __init__(self, inner: Disk, steps: Steps) -> None:
        """Pass everything on."""
        self._inner = inner
        self._steps = steps

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        self._steps.before("exists", path)
        return self._inner.exists(path)

    def size(self, path: str) -> SizeBytes:
        """Return the size of a file."""
        return self._inner.size(path)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the files in a directory."""
        self._steps.before("names", directory)
        return self._inner.names(directory)

    def folders(self, directory: str) -> tuple[str, ...]:
        """Return the sorted names of the directories in one."""
        return self._inner.folders(directory)

    def read(self, path: str, offset: int = 0, size: int | None = None) -> bytes:
        """Read up to `size` bytes, or all."""
        self._steps.before("read", path)
        return self._inner.read(path, offset, size)

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write at `offset`."""
        self._steps.before("write", path)
        self._inner.write(path, offset, data)

    def truncate(self, path: str, size: int) -> None:
        """Cut a file."""
        self._steps.before("truncate", path)
        self._inner.truncate(path, size)

    def fsync(self, path: str) -> None:
        """Make the content of a file durable."""
        self._steps.before("fsync", path)
        self._inner.fsync(path)

    def fsync_dir(self, directory: str) -> None:
        """Make the names in a directory durable."""
        self._steps.before("fsync_dir", directory)
        self._inner.fsync_dir(directory)

    def rename(self, src: str, dst: str) -> None:
        """Give a file another name."""
        self._steps.before("rename", src)
        self._inner.rename(src, dst)

    def unlink(self, path: str) -> None:
        """Remove a file."""
        self._steps.before("unlink", path)
        self._inner.unlink(path)


class SteppedLog:
    """A log that tells when it is asked where it begins."""

    __slots__ = ("_inner", "_steps")

    def __init__(self, inner: DurableLog, steps: Steps) -> None:
        """Pass everything on."""
        self._inner = inner
        self._steps = steps

    @property
    def first_index(self) -> LogIndex:
        """Return the index of the first entry that is there, or would be."""
        self._steps.looks_at_begin()
        return self._inner.first_index

    @property
    def end_index(self) -> LogIndex:
        """Return the index of the last entry."""
        return self._inner.end_index

    def append(self, entry: bytes, term: Term = NO_TERM) -> None:
        """Make an entry durable behind the ones before it."""
        self._inner.append(entry, term)

    def overwrite(self, index: LogIndex, entry: bytes, term: Term) -> None:
        """Put an entry in the place of this one and of all behind it."""
        self._inner.overwrite(index, entry, term)

    def entry(self, index: LogIndex) -> bytes:
        """Read an entry."""
        return self._inner.entry(index)

    def entries(self, first: LogIndex) -> Iterator[bytes]:
        """Read the entries from this one on."""
        return self._inner.entries(first)

    def term_of(self, index: LogIndex) -> Term | None:
        """Return the term of an entry."""
        return self._inner.term_of(index)

    def cut(self, index: LogIndex) -> None:
        """Remove everything up to this entry."""
        self._inner.cut(index)

    def reset(self, index: LogIndex, term: Term) -> None:
        """Remove everything, and go on behind this entry."""
        self._inner.reset(index, term)
