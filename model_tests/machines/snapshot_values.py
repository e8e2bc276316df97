"""What is on a disk and in a node's memory, as values of SnapshotLoading.

| specification | real                                                                          |
|---------------|-------------------------------------------------------------------------------|
| begin, log,   | what a start finds in the log after a power cut; the entries are those of the |
| bTerm         | history, another one has term -1                                              |
| snaps         | files that are seen, and those that a power cut now brings back; what was     |
|               | left at the temporary place by somebody else is none                          |
| synced, name  | what a power cut now leaves of it                                             |
| sm            | the fold of so many entries, if the registers are what these entries make     |

The history is chosen so that each of its beginnings makes other registers.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Final

from rocketha.controller.log import DurableLog
from rocketha.errors import PacketError, SnapshotError
from rocketha.formats.controller_snapshot import SectionType
from rocketha.formats.json_text import as_object, read_json
from rocketha.snapshot.files import SnapshotMeta, SnapshotReader, SnapshotWriter
from rocketha.snapshot.register import RegisterStateMachine, push_set
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tlatrace.values import State, Value, record, tla_set

__all__ = ["History", "snapshot_path", "surviving"]

_ENTRIES: Final = (push_set("a", 1), push_set("b", 2), push_set("a", None), push_set("c", 4))
_ALL: Final = 1 << 30
_JUNK: Final = tla_set([(0, 0)])
_NO_TERM: Final = -1
_TMP: Final = "tmp"


def snapshot_path(index: LogIndex) -> str:
    """Return where a snapshot is."""
    return f"snapshot/snapshot_{index}"


class History:
    """The entries that a group agrees on, and what becomes of them."""

    def __init__(self, terms: Sequence[int]) -> None:
        """Take the terms of the entries."""
        self._terms = terms
        self._snapshots: dict[int, bytes] = {}
        machine = RegisterStateMachine()
        self._registers: list[Mapping[str, int]] = [machine.values]
        for index in range(1, len(terms) + 1):
            machine.on_replay(self.entry(index))
            self._registers.append(machine.values)
            meta = SnapshotMeta(
                last_included_index=LogIndex(index), last_included_term=self.term(index)
            )
            writer = SnapshotWriter(meta)
            machine.on_snapshot_save(writer)
            self._snapshots[index] = writer.encoded()

    def entry(self, index: int) -> bytes:
        """Return an entry."""
        return _ENTRIES[index - 1]

    def term(self, index: int) -> Term:
        """Return the term of an entry."""
        return Term(self._terms[index - 1])

    def snapshot(self, index: int) -> bytes:
        """Return the snapshot that a leader has at an entry."""
        return self._snapshots[index]

    def fold(self, count: int) -> Value:
        """Return the state after so many entries."""
        return tla_set([(i, int(self.term(i))) for i in (count - 1, count) if i > 0])

    def state(self, registers: Mapping[str, object]) -> Value:
        """Return the state that registers are."""
        for count, made in enumerate(self._registers):
            if made == registers:
                return self.fold(count)
        return _JUNK

    # ---- disks ----

    def log(self, disk: MemoryDisk) -> State:
        """Return what a start finds in the log."""
        left = copy.deepcopy(disk)
        left.lose_unsynced()
        log, opened = DurableLog.open(left)
        terms = []
        for index, entry in enumerate(opened.entries, start=log.first_index):
            term = log.term_of(LogIndex(index))
            known = index <= len(self._terms) and entry == self.entry(index)
            terms.append(int(term) if known and term is not None else _NO_TERM)
        boundary = log.term_of(LogIndex(log.first_index - 1))
        assert boundary is not None
        return {"begin": int(log.first_index), "log": tuple(terms), "bTerm": int(boundary)}

    def files(
        self, disk: MemoryDisk, damaged: Mapping[bytes, bytes], *, writing: bool
    ) -> Sequence[Value]:
        """Return the files of snapshots; `damaged` tells what damaged contents were before."""
        seen, durable = _contents(disk), _contents(_after_cut(disk, names=0))
        found = []
        for name, content in seen.items():
            if name == _TMP:
                if writing:
                    synced = _is_synced(disk, name)
                    found.append(self._file(content, damaged, name=_TMP, synced=synced))
                continue
            kept = "kept" if durable.get(name) == content else "new"
            synced = _is_synced(disk, name)
            found.append(self._file(content, damaged, name=kept, synced=synced))
        for name, content in durable.items():
            if name != _TMP and seen.get(name) != content:
                # Nobody can tell any more; one that got its name too early was noticed then.
                found.append(self._file(content, damaged, name="gone", synced=True))
        return found

    def _file(
        self, content: bytes, damaged: Mapping[bytes, bytes], *, name: str, synced: bool
    ) -> Value:
        data, meta = "bad", None
        state: Value = _JUNK
        try:
            reader = SnapshotReader.of(damaged.get(content, content), accept_unchecked=True)
            registers = as_object(read_json(reader.section(SectionType.REGISTER), "all"), "all")
            data, meta = "rotten" if content in damaged else "good", reader.meta
            state = self.state(registers)
        except (SnapshotError, PacketError):
            pass  # it was never whole
        return record(
            {
                "idx": 0 if meta is None else int(meta.last_included_index),
                "term": 0 if meta is None else int(meta.last_included_term),
                "state": state,
                "data": data,
                "synced": synced,
                "name": name,
            }
        )


def _after_cut(disk: MemoryDisk, *, names: int) -> MemoryDisk:
    """Return what a power cut leaves: half of each write, and so many changes of names."""
    left = copy.deepcopy(disk)
    left.tear(lambda size: size // 2, names=names)
    return left


def surviving(disk: MemoryDisk, changed: Mapping[LogIndex, bool]) -> int | None:
    """Return how many changes of names must survive a power cut so that these files are there.

    Of each snapshot it says whether it is as it is seen now, or as it was. None: a journal of names
    keeps a first part of the changes, so there is no such power cut.
    """
    seen, before = _contents(disk), _contents(_after_cut(disk, names=0))
    for count in range(disk.unsynced + 1):
        left = _contents(_after_cut(disk, names=count))
        wanted = [
            (left.get(name), (seen if new else before).get(name))
            for name, new in ((f"snapshot_{index}", new) for index, new in changed.items())
        ]
        if all(found == expected for found, expected in wanted):
            return count
    return None


def _contents(disk: MemoryDisk) -> dict[str, bytes]:
    return {name: disk.read(f"snapshot/{name}") for name in disk.names("snapshot")}


def _is_synced(disk: MemoryDisk, name: str) -> bool:
    told = copy.deepcopy(disk)
    before = told.unsynced
    told.fsync(f"snapshot/{name}")
    return told.unsynced == before
