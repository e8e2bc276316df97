"""What a node's records say of its snapshots: which are there, and what a power cut may undo.

A name is durable when the names of its directory were synchronized after it was given; a content,
when the file was. Nothing is known of what the disk does later, until somebody reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rocketha.histories.register_files import ScannedSnapshot, scan_snapshot

__all__ = ["RecordedFile", "RecordedFiles", "index_of"]

_NAME: Final = re.compile(r"snapshot_([1-9][0-9]{0,18})\Z", re.ASCII)


@dataclass(slots=True, eq=False)
class RecordedFile:
    """A file, as it was written, or read later."""

    data: bytes
    is_synced: bool = False

    @property
    def content(self) -> ScannedSnapshot | None:
        """Return what is in it; None: it is no snapshot."""
        return scan_snapshot(self.data)


def index_of(name: str) -> int | None:
    """Return the index in the name of a snapshot; None of other files."""
    match = _NAME.match(name)
    return None if match is None else int(match[1])


@dataclass(slots=True)
class RecordedFiles:
    """The directory of snapshots."""

    temporary: RecordedFile | None = None
    seen: dict[int, RecordedFile] = field(default_factory=dict)
    """Index in the name -> a file."""
    durable: dict[int, RecordedFile] = field(default_factory=dict)

    def rename(self, index: int) -> None:
        """Give its name to what was at the temporary place."""
        if self.temporary is not None:
            self.seen[index], self.temporary = self.temporary, None

    def sync_names(self) -> None:
        """Make the names durable."""
        self.durable = dict(self.seen)

    def left(self, contents: Mapping[str, bytes]) -> tuple[set[int], bool]:
        """Take what a power cut has left, and say which changes of names survived it.

        Returns: the indexes of the files of which they did, and whether one that was removed and
            written again is there neither way. A file that nobody removed and that is not there is
            among them, as is one that nobody wrote.
        """
        found = {i: data for name, data in contents.items() if (i := index_of(name)) is not None}
        new = {i: f for i, f in self.seen.items() if self.durable.get(i) is not f}
        gone = {i: f for i, f in self.durable.items() if self.seen.get(i) is not f}
        twice = new.keys() & gone.keys()
        survived = {i for i in new if i in found and (i not in twice or new[i].data == found[i])}
        there = survived | (gone.keys() - twice - found.keys())
        sure = self.durable.keys() - gone.keys()
        there |= (sure - found.keys()) | (found.keys() - new.keys() - self.durable.keys())
        kept = {i: new[i] if i in survived else f for i, f in {**new, **self.durable}.items()}
        self.seen = {i: kept[i] for i in found if i in kept}
        self.temporary = None
        self.sync_names()
        return there, not twice <= found.keys()
