"""What is on a disk and in registers, as values of SnapshotLoading.

| specification | real                                                                          |
|---------------|-------------------------------------------------------------------------------|
| begin, log,   | what a start finds in the log after a power cut; the entries are those of the |
| bTerm         | history or of a leader that does not last, another one has term -1; of a      |
|               | node that runs, bTerm is what it knows                                        |
| snaps         | files that are seen, and those that a power cut now brings back; what was     |
|               | left at the temporary place by somebody else is none                          |
| synced, name  | what a power cut now leaves of it                                             |
| sm            | the fold of so many entries, if the registers are what these entries make     |

Each beginning of a history makes other registers.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

from rocketha.histories.register_files import scan_log, scan_snapshot
from rocketha.sim.snapshot_loading.entries import RegisterHistory
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex
from tlatrace.values import State, Value, record, tla_set

__all__ = [
    "JUNK",
    "NO_JOB",
    "NO_TERM",
    "files_value",
    "log_values",
    "settled",
    "state_value",
    "surviving",
]

NO_JOB: Final = record({"kind": "none", "idx": 0})
JUNK: Final = tla_set([(0, 0)])
NO_TERM: Final = -1
_TMP: Final = "tmp"
_SNAPSHOTS: Final = "snapshot"
_LOG: Final = "controllerLog"
_REMEMBERED: Final = 1024
"""Contents of files, by their bytes: from one step to the next few of them change."""


def state_value(history: RegisterHistory, registers: Mapping[str, object]) -> Value:
    """Return the state that registers are."""
    return _state_of(history, frozenset(registers.items()))


@lru_cache(maxsize=_REMEMBERED)
def _state_of(history: RegisterHistory, registers: frozenset[tuple[str, object]]) -> Value:
    for count, made in enumerate(history.states):
        if made.items() == registers:
            indexes = [index for index in (count - 1, count) if index > 0]
            return tla_set([(index, int(history.term(index))) for index in indexes])
    return JUNK


def log_values(history: RegisterHistory, disk: MemoryDisk) -> State:
    """Return what a start finds in the log: `begin`, `log` and `bTerm`."""
    durable = disk.durable()
    return _log_of(history, durable.read(_LOG) if durable.exists(_LOG) else b"")


@lru_cache(maxsize=_REMEMBERED)
def _log_of(history: RegisterHistory, content: bytes) -> State:
    log = scan_log(content)
    if log is None:
        return {"begin": 0, "log": (), "bTerm": NO_TERM}
    terms = []
    for index, (term, entry) in enumerate(log.records, start=log.first):
        known = entry == history.stray_entry(index)
        if not known and index <= len(history):
            known = entry == history.entry(index)
        terms.append(term if known else NO_TERM)
    return {"begin": log.first, "log": tuple(terms), "bTerm": log.boundary}


def files_value(
    history: RegisterHistory,
    disk: MemoryDisk,
    damaged: Mapping[bytes, bytes],
    *,
    writing: bool,
) -> Value:
    """Return the files of snapshots; `damaged` tells what damaged contents were before."""
    seen, durable = _contents(disk), _contents(disk.durable())
    found: list[Value] = []

    def add(content: bytes, name: str, *, synced: bool) -> None:
        whole = damaged.get(content)
        found.append(_file(history, content, whole, name=name, synced=synced))

    for name, content in seen.items():
        if name != _TMP:
            kept = "kept" if durable.get(name) == content else "new"
            add(content, kept, synced=disk.is_synced(f"snapshot/{name}"))
        elif writing:
            add(content, _TMP, synced=disk.is_synced(f"snapshot/{name}"))
    for name, content in durable.items():
        if name != _TMP and seen.get(name) != content:
            # Nobody can tell any more; one that got its name too early was noticed then.
            add(content, "gone", synced=True)
    return tla_set(found)


def surviving(
    disk: MemoryDisk, changed: Mapping[LogIndex, bool], lost: Collection[LogIndex]
) -> int | None:
    """Return how many changes of names must survive a power cut so that these files are left.

    Of each snapshot whose name is not for sure it says whether it is left as it is seen now, or as
    it was; of those that are `lost` nothing is. None: a journal of names keeps a first part of the
    changes, so there is no such power cut.
    """
    seen, before = _contents(disk), _contents(_after_cut(disk, names=0))
    wanted = {
        f"snapshot_{index}": (seen if new else before).get(f"snapshot_{index}")
        for index, new in changed.items()
    }
    wanted |= {f"snapshot_{index}": None for index in lost}
    for count in range(disk.unsynced + 1):
        left = _contents(_after_cut(disk, names=count))
        if all(left.get(name) == content for name, content in wanted.items()):
            return count
    return None


@lru_cache(maxsize=_REMEMBERED)
def _file(
    history: RegisterHistory, content: bytes, whole: bytes | None, *, name: str, synced: bool
) -> Value:
    """Return a file; `whole` is its content before it was damaged, None: it was not."""
    found = scan_snapshot(content if whole is None else whole)
    registers: Mapping[str, object] | None = None if found is None else found.registers
    is_whole = registers is not None and found is not None and found.is_checked
    data = "bad" if not is_whole else "good" if whole is None else "rotten"
    if found is not None and registers is None and 0 < found.index <= len(history):
        registers = history.states[found.index]  # what should be in it
    return record(
        {
            "idx": 0 if found is None else found.index,
            "term": 0 if found is None else found.term,
            "state": JUNK if registers is None else state_value(history, registers),
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


def _contents(disk: MemoryDisk) -> Mapping[str, bytes]:
    return {name: disk.read(f"snapshot/{name}") for name in disk.names("snapshot")}


def settled(disk: MemoryDisk) -> MemoryDisk:
    """Return what a disk has when everything that is seen is made durable."""
    left = copy.deepcopy(disk)
    for directory in ("", _SNAPSHOTS):
        for name in left.names(directory):
            left.fsync(f"{directory}/{name}" if directory else name)
        left.fsync_dir(directory)
    return left
