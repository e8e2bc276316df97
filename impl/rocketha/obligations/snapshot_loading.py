"""What a node with snapshots owes, each in the step in which it is its turn.

| obligation            | when it takes                             | what its record shows    |
|-----------------------|-------------------------------------------|--------------------------|
| entries appended      | EntryReceived                             | another log              |
| entries applied       | ApplyDue; the next entry is there and was | one entry more applied   |
|                       | agreed on                                 |                          |
| snapshots saved       | SaveDue, when the last one is far enough  | a temporary file         |
| old snapshots deleted | CleanUpDue, when there are too many       | there are not            |
| logs cut              | CleanUpDue, when there are as many as may | the log begins behind    |
|                       | be                                        | the oldest one           |
| snapshots taken       | SnapshotReceived; it is whole, ahead of   | a temporary file         |
|                       | all the node knows, and the only one      |                          |
| clean-ups             | a snapshot of its own counts now, and the | CleanUpDue               |
|                       | node does not end                         |                          |
| failures known        | a snapshot does not count, or counts      | why, or no reason        |
|                       | again                                     |                          |
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Final

from rocketha.histories.register_files import scan_snapshot
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.record import STARTED, STOPPED, NodeRecord

__all__ = ["SNAPSHOT_LOADING"]

_DIRECTORY: Final = "snapshot/"
_PREFIX: Final = "snapshot_"
_TMP: Final = "snapshot/tmp"

_APPENDED: Final = "entries appended"
_APPLIED: Final = "entries applied"
_SAVED: Final = "snapshots saved"
_DELETED: Final = "old snapshots deleted"
_CUT: Final = "logs cut"
_TAKEN: Final = "snapshots taken"
_CLEANED: Final = "clean-ups"
_KNOWN: Final = "failures known"


@dataclass(slots=True)
class _Node:
    """What a node has, as its records say."""

    first: int = 1
    entries: int = 0
    applied: int = 0
    commit: int = 0
    last: int = 0
    """The snapshot that it counts on."""
    attempted: int = 0
    """The entry at which it has written one last."""
    wrote_own: bool = False
    """The snapshot that it wrote last was its own."""
    receiving: int | None = None
    failure: str | None = None
    """Why the last snapshot does not count, as the node says."""
    damaged: int = 0
    """Snapshots that it has passed over at its start, as it says."""
    files: set[int] = field(default_factory=set)

    def note(self, record: NodeRecord) -> None:
        """Take what a step has changed."""
        state = record.state
        if record.event in (STARTED, STOPPED):
            self.applied = self.commit = self.last = self.attempted = 0
            self.receiving = None
        if _writes(record):
            self.wrote_own = record.event == "SaveDue"
        for operation in record.stored:
            if operation["is"] == "Renamed" and (index := _index(operation["to"])):
                self.files.add(index)
            elif operation["is"] == "Removed":
                self.files.discard(_index(operation["path"]) or 0)
        if "files" in state:  # what an end of the node has left
            self.files = {
                index for name, _ in state["files"] if (index := _index(_DIRECTORY + name))
            }
        if "log" in state:
            self.entries = state["log"]["kept"] + len(state["log"]["added"])
        self.first = state.get("first", self.first)
        self.applied = state.get("applied", self.applied)
        self.commit = state.get("commit", self.commit)
        self.last = state.get("last_snapshot", self.last)
        self.receiving = state.get("receiving", self.receiving)
        self.failure = state.get("failure", self.failure)
        self.damaged = state.get("damaged", self.damaged)
        if record.event == "SaveDue" and _writes(record):
            self.attempted = self.applied

    @property
    def proven(self) -> list[int]:
        """Return the snapshots that count, the oldest first."""
        return sorted(index for index in self.files if index <= self.last)


def _index(path: str) -> int | None:
    name = path.removeprefix(_DIRECTORY).removeprefix(_PREFIX)
    return int(name) if name.isdecimal() else None


def _writes(record: NodeRecord) -> bool:
    """Tell whether the temporary file is written."""
    return any(one["is"] == "Written" and one["path"] == _TMP for one in record.stored)


def _removes(record: NodeRecord) -> bool:
    """Tell whether a file is removed."""
    return any(one["is"] == "Removed" for one in record.stored)


def _dues(obligation: str, run: RecordedRun) -> Iterator[Due]:
    for name, records in run.by_node.items():
        settings, node = run.headers[name].settings, _Node()
        for record, following in pairwise([*records, None]):
            assert record is not None
            before_applied, before_damaged = node.applied, node.damaged
            owed = dict(_owed(record, node, settings))
            node.note(record)
            owed |= _owed_after(record, node, settings)
            owed |= _owed_next(record, following, node)
            if record.event == "LoadNewestDue" and _removes(record):
                owed[_KNOWN] = node.damaged == before_damaged + 1
            if obligation == _APPLIED and obligation in owed:
                owed[obligation] = node.applied == before_applied + 1
            if obligation in owed:
                at_ms = time_ms(record)
                yield Due(
                    node=name,
                    since_ms=at_ms,
                    by_ms=at_ms,
                    what=f"do what {record.event} asks for ({obligation})",
                    done_ms=at_ms if owed[obligation] else None,
                )


def _owed(record: NodeRecord, node: _Node, settings: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield what is due by what the node had before the step, and whether it was done."""
    match record.event:
        case "EntryReceived":
            yield _APPENDED, "log" in record.state
        case "ApplyDue":
            following, end = node.applied + 1, node.first + node.entries - 1
            if following <= node.commit and node.first <= following <= end:
                yield _APPLIED, False  # the record says what is applied now
        case "SaveDue":
            since = node.applied - max(node.last, node.attempted)
            if node.receiving is None and since >= settings["snapshot_threshold"]:
                yield _SAVED, _writes(record)
        case "SnapshotReceived" if record.heard and node.receiving is None:
            found = scan_snapshot(b64decode(record.heard[0]["data"]))
            if found is not None and found.is_checked and found.index > node.commit:
                yield _TAKEN, _writes(record)
        case _:
            pass


def _owed_after(record: NodeRecord, node: _Node, settings: dict[str, Any]) -> dict[str, bool]:
    """Return what is due by what the node has after a step that cleans up."""
    if record.event != "CleanUpDue" or not node.proven:
        return {}
    most = settings["max_snapshot_reserved_num"]
    owed = {_DELETED: len(node.proven) <= most}
    if len(node.proven) == most:
        owed[_CUT] = node.first > node.proven[0]
    return owed


def _owed_next(record: NodeRecord, following: NodeRecord | None, node: _Node) -> dict[str, bool]:
    """Return what is due when a snapshot was read back, and of what follows on that at once."""
    if record.event != "ReadBackDue" or following is None or following.event == STOPPED:
        return {}
    if _removes(record):
        return {_KNOWN: node.failure is not None}
    if following.event == "StateLoaded":
        return {_KNOWN: following.state.get("failure", node.failure) is None}
    owed = {_KNOWN: node.failure is None}
    if "last_snapshot" in record.state and node.last <= node.applied and node.wrote_own:
        owed[_CLEANED] = following.event == "CleanUpDue"
    return owed


SNAPSHOT_LOADING: Final = tuple(
    Obligation(name=name, dues=partial(_dues, name))
    for name in (_APPENDED, _APPLIED, _SAVED, _DELETED, _CUT, _TAKEN, _CLEANED, _KNOWN)
)
