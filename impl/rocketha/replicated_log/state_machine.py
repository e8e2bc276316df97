"""What a state machine must be able to do so that snapshots can stand for its log.

Source: RIP-59, "StateMachine": onSnapshotSave and onSnapshotLoad; its onApply is a part of each
machine here, since answers differ
"""

from __future__ import annotations

from typing import Protocol

from rocketha.replicated_log.snapshot_files import SnapshotReader, SnapshotWriter

__all__ = ["StateMachine"]


class StateMachine(Protocol):
    """A state that the entries of a log make."""

    def on_replay(self, entry: bytes) -> None:
        """Apply an entry of the log once more. Raises: FormatError"""

    def on_snapshot_save(self, writer: SnapshotWriter) -> None:
        """Put all of the state into the sections of a snapshot."""

    def check_snapshot(self, reader: SnapshotReader) -> None:
        """Read a snapshot as `on_snapshot_load` does, and change nothing. Raises: SnapshotError"""

    def on_snapshot_load(self, reader: SnapshotReader) -> None:
        """Take a snapshot for the state: all of it or, if it cannot be read, nothing.

        Raises: SnapshotError
        """
