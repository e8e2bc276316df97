"""What a core may see of the log of its node; indexes are from 0 on, -1 is none."""

from __future__ import annotations

from typing import Protocol

from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.types import LogIndex, Term

__all__ = ["LedgerView"]


class LedgerView(Protocol):
    """A log, to be read. Source: DLedgerStore"""

    @property
    def before_begin_index(self) -> LogIndex:
        """Return the last entry that was cut off at the beginning; -1 if none was."""

    @property
    def before_begin_term(self) -> Term:
        """Return the term of that entry; -1 if there is none."""

    @property
    def end_index(self) -> LogIndex:
        """Return the last entry; `before_begin_index` if there is none."""

    @property
    def end_term(self) -> Term:
        """Return the term of the last entry; `before_begin_term` if there is none."""

    @property
    def synced_index(self) -> LogIndex:
        """Return the last entry that no power cut takes."""

    def term_at(self, index: LogIndex) -> Term | None:
        """Return the term of an entry, also of `before_begin_index`; `None` of others.

        Spec: DLedger!TermAt
        """

    def entry(self, index: LogIndex) -> DLedgerEntry:
        """Read an entry in `(before_begin_index, end_index]`.

        Raises: IndexError if it is none of these; DLedgerFileError; DiskError
        """
