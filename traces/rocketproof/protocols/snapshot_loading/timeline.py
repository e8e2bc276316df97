"""What an action of SnapshotLoading changed, in words.

ms  node   action           what changed
40  n1     Apply            applied 0 -> 1
50  n1     Save(good)       file 1 tmp
80  n1     SyncDirectory    file 1 new -> kept
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rocketproof.timeline_text import fields_of, numbers, plain
from tlatrace.values import State, TlaSet, Value

__all__ = ["SNAPSHOT_SPEC", "snapshot_changes"]

SNAPSHOT_SPEC: Final = "SnapshotLoading"
_NUMBERS: Final = ("agreed", "kept", "mode", "applied", "commit", "begin", "bTerm", "lastSnap")


def snapshot_changes(before: State, after: State) -> str:
    """Say what changed; of the state only how many entries it is of."""
    parts = [
        f"{name} {plain(before[name])} -> {plain(after[name])}"
        for name in _NUMBERS
        if before[name] != after[name]
    ]
    if before["log"] != after["log"]:
        parts.append(f"log [{numbers(after['log'])}]")
    return "; ".join([*parts, *_files(before["snaps"], after["snaps"])])


def _files(before: Value, after: Value) -> Iterator[str]:
    was, now = _told(before), _told(after)
    for index in sorted(was.keys() | now.keys()):
        old, new = was.get(index), now.get(index)
        if old is None:
            yield f"file {index} {new}"
        elif new is None:
            yield f"file {index} is no more"
        elif old != new:
            yield f"file {index} {old} -> {new}"


def _told(snaps: Value) -> dict[int, str]:
    assert isinstance(snaps, TlaSet)
    found: dict[int, list[str]] = {}
    for file in snaps:
        fields = fields_of(file)
        index = fields["idx"]
        assert isinstance(index, int)
        synced = "" if fields["synced"] is True else " unsynced"
        sound = "" if fields["data"] == "good" else f" {plain(fields['data'])}"
        found.setdefault(index, []).append(f"{plain(fields['name'])}{sound}{synced}")
    return {index: " and ".join(sorted(texts)) for index, texts in found.items()}
