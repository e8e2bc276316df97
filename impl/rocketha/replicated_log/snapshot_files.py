"""The snapshots on a disk, and how one gets there: whole, or not at all.

| file                        | content                                                         |
|-----------------------------|-----------------------------------------------------------------|
| snapshot/snapshot_`index`   | the snapshot of the state after that entry                      |
| snapshot/tmp                | one that is being written, or was when the power went off       |

A file is that of `rocketha.formats.controller_snapshot`. What RIP-59 writes to a file of its own is
a section here, so that one checksum is over both: META, the JSON object `lastIncludedIndex`,
`lastIncludedTerm`.

Source: RIP-59, "SnapshotWriter", "SnapshotReader"; openmessaging/dledger `SnapshotManager`,
`FileSnapshotStore`, `SnapshotMeta`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rocketha.errors import PacketError, SnapshotError
from rocketha.formats.controller_snapshot import (
    SNAPSHOT_FILE_MAX,
    Section,
    SectionType,
    SnapshotVersion,
    decode_snapshot,
    encode_snapshot,
)
from rocketha.formats.json_text import as_object, integer_at, read_json, write_json
from rocketha.replicated_log.rules import SNAPSHOT_RULES, SnapshotRules
from rocketha.storage.disk import Disk
from rocketha.types import LogIndex, Term

__all__ = ["SnapshotFiles", "SnapshotMeta", "SnapshotReader", "SnapshotWriter"]

_NAME: Final = re.compile(r"snapshot_([1-9][0-9]{0,18})\Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotMeta:
    """The last entry whose effect is in a snapshot."""

    last_included_index: LogIndex
    last_included_term: Term


class SnapshotReader:
    """One snapshot, read as a whole. Make it with `SnapshotReader.of`."""

    __slots__ = ("_bodies", "meta")

    def __init__(self, meta: SnapshotMeta, bodies: Mapping[int, bytes]) -> None:
        """Take what was in a file."""
        self.meta = meta
        self._bodies = bodies

    @classmethod
    def of(
        cls, data: bytes, *, accept_unchecked: bool = False, accept_damaged: bool = False
    ) -> SnapshotReader:
        """Read the bytes of a snapshot, as `decode_snapshot` does. Raises: SnapshotError"""
        _, sections = decode_snapshot(
            data, accept_unchecked=accept_unchecked, accept_damaged=accept_damaged
        )
        bodies = {section.kind: section.body for section in sections}
        return cls(_pull_meta(bodies), bodies)

    def section(self, kind: SectionType) -> bytes:
        """Return the body of a section. Raises: SnapshotError"""
        return _body(self._bodies, kind)


class SnapshotWriter:
    """Collects the sections of one snapshot."""

    __slots__ = ("_sections", "meta")

    def __init__(self, meta: SnapshotMeta) -> None:
        """Begin with the index and term of the entry that was applied last."""
        self.meta = meta
        fields = {
            "lastIncludedIndex": meta.last_included_index,
            "lastIncludedTerm": meta.last_included_term,
        }
        self._sections = [Section(SectionType.META, write_json(fields))]

    def add(self, kind: SectionType, body: bytes) -> None:
        """Add a part of the state."""
        self._sections.append(Section(kind, body))

    def encoded(self, rules: SnapshotRules = SNAPSHOT_RULES) -> bytes:
        """Return the bytes of the file. Raises: EncodingError"""
        return encode_snapshot(self._sections, rules.file_version())


class SnapshotFiles:
    """The directory of snapshots of one node."""

    __slots__ = ("_directory", "_disk", "_rules", "_unchecked")

    def __init__(
        self, disk: Disk, directory: str = "snapshot", rules: SnapshotRules = SNAPSHOT_RULES
    ) -> None:
        """Use this directory."""
        self._disk = disk
        self._directory = directory
        self._rules = rules
        self._unchecked = rules.file_version() is SnapshotVersion.UNMERGED

    @property
    def indexes(self) -> tuple[LogIndex, ...]:
        """Return the indexes of the snapshots that are there, in their order."""
        matches = (_NAME.match(name) for name in self._disk.names(self._directory))
        numbers = sorted(int(match[1]) for match in matches if match is not None)
        return tuple([LogIndex(number) for number in numbers])

    def make_durable(self) -> None:
        """Make durable which names there are, before anybody counts on it.

        A process may have ended after a rename, or a removal, while the disk went on.

        Raises: DiskError
        """
        self._disk.fsync_dir(self._directory)

    def read(self, index: LogIndex, *, accept_damaged: bool = False) -> SnapshotReader:
        """Read a snapshot. Raises: SnapshotError, DiskError"""
        return self._reader(index, self._data(index), accept_damaged=accept_damaged)

    def _data(self, index: LogIndex) -> bytes:
        return self._disk.read(self._path(index), 0, SNAPSHOT_FILE_MAX + 1)

    def _reader(
        self, index: LogIndex, data: bytes, *, accept_damaged: bool = False
    ) -> SnapshotReader:
        """Raises: SnapshotError"""
        reader = SnapshotReader.of(
            data, accept_unchecked=self._unchecked, accept_damaged=accept_damaged
        )
        if reader.meta.last_included_index != index:
            found = reader.meta.last_included_index
            raise SnapshotError("snapshot", offset=0, reason=f"is of entry {found}, not {index}")
        return reader

    def write(self, index: LogIndex, data: bytes) -> None:
        """Write a snapshot so that it is there as a whole or not at all.

        It is at a temporary place until it is on the disk, and has its name before anybody counts
        on it, which is not before it was read back.

        Spec: SnapshotLoading!SyncTemporary, SnapshotLoading!Rename, SnapshotLoading!SyncDirectory
        Raises: DiskError
        """
        aside = f"{self._directory}/tmp"
        if self._disk.exists(aside):
            self._disk.truncate(aside, 0)
        self._disk.write(aside, 0, data)
        if self._rules.syncs_contents():
            self._disk.fsync(aside)
        self._disk.rename(aside, self._path(index))
        if self._rules.syncs_name():
            self._disk.fsync_dir(self._directory)

    def read_back(self, index: LogIndex, data: bytes) -> SnapshotReader:
        """Read what was written. Raises: SnapshotError if it is something else now; DiskError"""
        return self._reader(index, self._rules.read_back(lambda: self._data(index), data))

    def remove(self, index: LogIndex) -> None:
        """Delete a snapshot; after a power cut it may be there again. Raises: DiskError"""
        self._disk.unlink(self._path(index))

    def _path(self, index: LogIndex) -> str:
        return f"{self._directory}/snapshot_{index}"


def _body(bodies: Mapping[int, bytes], kind: SectionType) -> bytes:
    if kind not in bodies:
        raise SnapshotError("snapshot", offset=0, reason=f"has no section {kind.name}")
    return bodies[kind]


def _pull_meta(bodies: Mapping[int, bytes]) -> SnapshotMeta:
    """Raises: SnapshotError"""
    try:
        fields = as_object(read_json(_body(bodies, SectionType.META), "meta"), "meta")
        index = integer_at(fields, "lastIncludedIndex", least=1)
        term = integer_at(fields, "lastIncludedTerm", least=0)
    except PacketError as error:
        raise SnapshotError("snapshot meta", offset=0, reason=str(error)) from None
    return SnapshotMeta(last_included_index=LogIndex(index), last_included_term=Term(term))
