"""What a core may see of a node's log."""

from __future__ import annotations

from typing import Protocol

from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.types import LogIndex, Term

__all__ = ["LedgerView", "has_entry", "last_of_term"]


class LedgerView(Protocol):
    """The entries behind those that were cut. Source: DLedgerStore"""

    @property
    def before_begin_index(self) -> LogIndex:
        """The last entry that was cut; -1: none was."""
        ...

    @property
    def before_begin_term(self) -> Term:
        """Its term; -1: none."""
        ...

    @property
    def end_index(self) -> LogIndex:
        """The last entry; of an empty log what was cut last."""
        ...

    @property
    def end_term(self) -> Term:
        """Its term."""
        ...

    @property
    def synced_index(self) -> LogIndex:
        """Up to here a power cut takes nothing."""
        ...

    @property
    def body_max(self) -> int:
        """So many bytes the body of an entry has at most: a file has room for it."""
        ...

    def term_at(self, index: LogIndex) -> Term | None:
        """Return the term of an entry, or of the last one that was cut; None: it is not here."""
        ...

    def entry(self, index: LogIndex) -> DLedgerEntry:
        """Return an entry behind those that were cut. Raises: DLedgerFileError, DiskError"""
        ...


def has_entry(log: LedgerView, index: LogIndex, term: Term) -> bool:
    """Tell whether a log has an entry, or has cut it last, and it is of this term.

    Spec: DLedgerMessages!Has
    """
    return log.term_at(index) == term


def last_of_term(log: LedgerView, term: Term, index: LogIndex) -> LogIndex:
    """Return the last entry of a term up to `index`, or -1 if there is none; terms never fall.

    Source: DLedgerStore.getFirstLogOfTargetTerm, for the other end
    """
    low, high = log.before_begin_index, min(index, log.end_index)
    while low < high:
        middle = LogIndex((low + high + 1) // 2)
        found = log.term_at(middle)
        assert found is not None, middle
        low, high = (middle, high) if found <= term else (low, LogIndex(middle - 1))
    return low if log.term_at(low) == term else LogIndex(-1)
