"""The controller's state machine as one that has snapshots.

Source: RIP-59, "ControllerStateMachine", onSnapshotSave and onSnapshotLoad; controller/impl
`DLedgerControllerStateMachine`, in which both are empty
"""

from __future__ import annotations

from rocketha.controller.applied import Applied
from rocketha.controller.entry import Entry, decode_entry, encode_entry
from rocketha.controller.machine import apply
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import ControllerState
from rocketha.controller.tables import pull_tables, push_tables
from rocketha.errors import PacketError, SnapshotError
from rocketha.formats.controller_snapshot import SectionType
from rocketha.replicated_log.snapshot_files import SnapshotReader, SnapshotWriter

__all__ = ["ControllerStateMachine"]


class ControllerStateMachine:
    """All groups of one controller."""

    __slots__ = ("_rules", "_state")

    def __init__(self, rules: ControllerRules = CONTROLLER_RULES) -> None:
        """Begin without groups."""
        self._rules = rules
        self._state = ControllerState()

    @property
    def state(self) -> ControllerState:
        """Return the state after the last entry."""
        return self._state

    def encode(self, entry: Entry) -> bytes:
        """Write an entry. Raises: EncodingError"""
        return encode_entry(entry)

    def on_apply(self, entry: Entry) -> Applied:
        """Apply an entry, and return what came of it."""
        applied = apply(self._state, entry, self._rules)
        self._state = applied.state
        return applied

    def on_replay(self, entry: bytes) -> None:
        """Apply an entry of the log once more. Raises: ControllerLogError"""
        self.on_apply(decode_entry(entry))

    def on_snapshot_save(self, writer: SnapshotWriter) -> None:
        """Write both tables."""
        writer.add(SectionType.REPLICAS_INFO_MANAGER, push_tables(self._state))

    def decode_snapshot(self, reader: SnapshotReader) -> ControllerState:
        """Read both tables, and take nothing of them. Raises: SnapshotError"""
        try:
            return pull_tables(reader.section(SectionType.REPLICAS_INFO_MANAGER))
        except PacketError as error:
            raise SnapshotError("controller's tables", offset=0, reason=str(error)) from None

    def on_snapshot_load(self, found: ControllerState) -> None:
        """Take these groups and no others."""
        self._state = self._rules.loaded(self._state, found)
