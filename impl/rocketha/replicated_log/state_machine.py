"""What a state machine must be able to do so that snapshots can stand for its log.

Source: RIP-59, "StateMachine": onSnapshotSave and onSnapshotLoad; its onApply is a part of each
machine here, since answers differ
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotReader, SnapshotWriter

__all__ = ["DecodedSnapshot", "StateMachine"]

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class DecodedSnapshot:
    """A snapshot that was read, and that can be loaded."""

    meta: SnapshotMeta
    state: Any
    """What its state machine has made of it."""


class StateMachine(Protocol[S]):
    """A state that the entries of a log make; `S` is what it reads from a snapshot."""

    def on_replay(self, entry: bytes) -> None:
        """Apply an entry of the log once more. Raises: FormatError"""

    def on_snapshot_save(self, writer: SnapshotWriter) -> None:
        """Put all of the state into the sections of a snapshot."""

    def decode_snapshot(self, reader: SnapshotReader) -> S:
        """Read all of the state that is in a snapshot; change nothing. Raises: SnapshotError"""
        ...

    def on_snapshot_load(self, found: S) -> None:
        """Take what was read from a snapshot for the state."""
