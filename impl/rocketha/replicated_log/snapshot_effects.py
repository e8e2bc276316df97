"""What a node with a log and snapshots does to its disk and its state machine, and what it hears.

Effects change something; what a core only looks at, files too, it has in its view
(`rocketha.replicated_log.snapshot_performer`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.replicated_log.snapshot_files import SnapshotMeta
from rocketha.replicated_log.state_machine import DecodedSnapshot
from rocketha.runtime.effects import Effect
from rocketha.types import LogIndex, Term

__all__ = [
    "AppendEntry",
    "ApplyEntry",
    "CutLog",
    "DeleteSnapshot",
    "DropDamaged",
    "EntriesReplayed",
    "LearnCommit",
    "LoadState",
    "OverwriteEntries",
    "ReplayLog",
    "ResetLog",
    "SnapshotEffect",
    "StateLoaded",
    "SyncNames",
    "WriteSnapshot",
]


# ---- the log ----


@dataclass(frozen=True, slots=True)
class AppendEntry(Effect):
    """Make an entry durable behind the ones before it."""

    entry: bytes
    term: Term


@dataclass(frozen=True, slots=True)
class OverwriteEntries(Effect):
    """Put an entry in the place of this one and of all behind it, durably and at once."""

    index: LogIndex
    entry: bytes
    term: Term


@dataclass(frozen=True, slots=True)
class CutLog(Effect):
    """Remove everything up to this entry, durably."""

    index: LogIndex


@dataclass(frozen=True, slots=True)
class ResetLog(Effect):
    """Remove everything, durably, and go on behind this entry."""

    index: LogIndex
    term: Term


# ---- the snapshots ----


@dataclass(frozen=True, slots=True)
class SyncNames(Effect):
    """Make the names of snapshots durable that are seen."""


@dataclass(frozen=True, slots=True)
class WriteSnapshot(Effect):
    """Write a snapshot so that it is there as a whole or not at all."""

    index: LogIndex
    data: bytes


@dataclass(frozen=True, slots=True)
class DeleteSnapshot(Effect):
    """Delete a snapshot; after a power cut it may be there again."""

    index: LogIndex


@dataclass(frozen=True, slots=True)
class DropDamaged(Effect):
    """Delete a snapshot that could not be loaded; nothing of it is in the state machine."""

    index: LogIndex


# ---- the state machine ----


@dataclass(frozen=True, slots=True)
class LearnCommit(Effect):
    """Note that everything up to this entry was agreed on."""

    index: LogIndex


@dataclass(frozen=True, slots=True)
class ApplyEntry(Effect):
    """Apply the next entry again."""

    entry: bytes
    term: Term


@dataclass(frozen=True, slots=True)
class LoadState(Effect):
    """Put a snapshot that was read in the place of the state; `StateLoaded` follows at once."""

    snapshot: DecodedSnapshot
    at_start: bool
    """The node starts; otherwise it is the leader's snapshot."""


@dataclass(frozen=True, slots=True)
class ReplayLog(Effect):
    """Apply all that was agreed on, with one reading of the log; `EntriesReplayed` follows."""

    all_agreed: bool
    """Everything in the log was agreed on."""


SnapshotEffect: TypeAlias = (
    AppendEntry
    | OverwriteEntries
    | CutLog
    | ResetLog
    | SyncNames
    | WriteSnapshot
    | DeleteSnapshot
    | DropDamaged
    | LearnCommit
    | ApplyEntry
    | LoadState
    | ReplayLog
)


# ---- what comes of them ----


@dataclass(frozen=True, slots=True)
class StateLoaded:
    """A snapshot is in the place of the state."""

    meta: SnapshotMeta
    at_start: bool


@dataclass(frozen=True, slots=True)
class EntriesReplayed:
    """What was agreed on behind the snapshot is applied: the node is up."""
