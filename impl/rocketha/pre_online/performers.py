"""What performs a broker's own effect: it writes the files of its tables."""

from __future__ import annotations

from typing import Never, Protocol

from rocketha.formats.offset_tables import TableKind
from rocketha.pre_online.events import StoreTable
from rocketha.runtime.performer import Performer

__all__ = ["OffsetFiles", "OffsetPerformer"]


class OffsetFiles(Protocol):
    """The files of a broker's tables (`rocketha.storage.offset_store`)."""

    def store(self, kind: TableKind, data: bytes) -> None:
        """Replace a table, durably."""
        ...


class OffsetPerformer(Performer[Never, object]):
    """Writes tables."""

    effects = (StoreTable,)

    def __init__(self, files: OffsetFiles) -> None:
        """Take the port."""
        self._files = files

    def perform(self, effect: StoreTable, action: object) -> None:
        """Write. Raises: DiskError"""
        del action
        self._files.store(effect.kind, effect.data)
