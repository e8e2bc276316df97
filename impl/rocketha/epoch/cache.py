"""The epoch cache: which master's reign wrote which part of the log.

A cache is a sequence of entries (epoch, start, end), all three growing; an entry ends where the
next one starts and the last one is unbounded. Comparing two caches from back to front tells up to
where two logs are sure to be equal. Everything here is a pure function of its arguments, in bytes
where the specification counts records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocketha.known_bugs.bug import NO_BUGS, Bug, Bugs
from rocketha.types import UNBOUNDED, Epoch, EpochEntry, Offset, chain_epochs

__all__ = [
    "NOTHING_KNOWN",
    "NO_EPOCHS",
    "EpochCache",
    "consistent_point",
    "recover_epochs",
]

NOTHING_KNOWN: Final = Epoch(0)
"""The epoch before the first one: no entry has it."""


@dataclass(frozen=True, slots=True)
class EpochCache:
    """The epochs of one replica, oldest first.

    Source: store/ha/autoswitch `EpochFileCache`.
    """

    entries: tuple[EpochEntry, ...] = ()

    @property
    def last_epoch(self) -> Epoch:
        """Return the newest epoch, `NOTHING_KNOWN` if there is none.

        Spec: EpochTruncation!LastEpoch
        Source: EpochFileCache.lastEpoch
        """
        return self.entries[-1].epoch if self.entries else NOTHING_KNOWN

    def starts(self) -> tuple[tuple[Epoch, Offset], ...]:
        """Return what the epoch file and the handshake carry: epochs with their starts.

        Spec: EpochTruncation!Starts
        Source: EpochFileCache.getAllEntries
        """
        return tuple((entry.epoch, entry.start_offset) for entry in self.entries)

    def with_ends(self) -> EpochCache:
        """Return the cache in which each entry ends where the next one starts.

        Spec: EpochTruncation!WithEnds
        Source: EpochFileCache.initCacheFromEntries
        """
        return EpochCache(chain_epochs(self.starts()))

    def find_epoch_entry_by_offset(self, offset: Offset) -> EpochEntry | None:
        """Return the entry whose range `[start, end)` contains `offset`, `None` if no one does.

        Spec: EpochTruncation!EpochAt
        Source: EpochFileCache.findEpochEntryByOffset
        """
        for entry in reversed(self.entries):
            if entry.start_offset <= offset and (
                entry.end_offset == UNBOUNDED or offset < entry.end_offset
            ):
                return entry
        return None

    def append_epoch(self, epoch: Epoch, start: Offset, bugs: Bugs = NO_BUGS) -> EpochCache:
        """Return the cache in which `epoch` begins at `start`.

        Entries that begin there or later have no records and give way.

        Spec: EpochTruncation!AppendEpoch
        Source: EpochFileCache.appendEntry
        """
        if Bug.B03 in bugs:
            # The source refuses an entry that does not start later, and its callers do not look.
            last = self.entries[-1] if self.entries else None
            if last is not None and (last.epoch >= epoch or last.start_offset >= start):
                return self
        kept = [pair for pair in self.starts() if pair[1] < start]
        return EpochCache(chain_epochs([*kept, (epoch, start)]))

    def truncate_suffix_by_offset(self, offset: Offset, bugs: Bugs = NO_BUGS) -> EpochCache:
        """Return the cache without the entries that begin at `offset` or later.

        Spec: EpochTruncation!TruncateSuffixByOffset
        Source: EpochFileCache.truncateSuffixByOffset
        """
        return _truncated([e for e in self.entries if e.start_offset < offset], bugs)

    def truncate_suffix_by_epoch(self, epoch: Epoch, bugs: Bugs = NO_BUGS) -> EpochCache:
        """Return the cache without `epoch` and newer ones.

        Spec: EpochTruncation!TruncateSuffixByEpoch
        Source: EpochFileCache.truncateSuffixByEpoch
        """
        return _truncated([e for e in self.entries if e.epoch < epoch], bugs)


NO_EPOCHS: Final = EpochCache()


def _truncated(kept: Sequence[EpochEntry], bugs: Bugs) -> EpochCache:
    if Bug.B04 in bugs:
        # The source lifts the end of the new last entry in a copy of it.
        return EpochCache(tuple(kept))
    return EpochCache(tuple(kept)).with_ends()


def recover_epochs(cache: EpochCache, log_end: Offset, bugs: Bugs = NO_BUGS) -> EpochCache:
    """Return the cache of a broker that restarts with a log that ends at `log_end`.

    What begins beyond the end was never written; what begins just there may still be.

    Spec: EpochTruncation!RecoverEpochs
    Source: EpochFileCache.initCacheFromFile
    """
    if Bug.B83 in bugs:
        # The source takes the file as it is.
        return cache.with_ends()
    return EpochCache(tuple(e for e in cache.entries if e.start_offset <= log_end)).with_ends()


def consistent_point(
    own: EpochCache,
    own_end: Offset,
    others: EpochCache,
    others_end: Offset,
    bugs: Bugs = NO_BUGS,
) -> Offset:
    """Return up to where a log with the epochs `own` is sure to equal one with `others`.

    The ends are those of the logs: the last epochs end there. 0 if no epoch is common.

    Spec: EpochTruncation!ConsistentPoint
    Source: EpochFileCache.findConsistentPoint
    """
    if Bug.B83 in bugs and own.entries and own_end < own.entries[-1].start_offset:
        # The source leaves the last end unbounded if the log is shorter than its last epoch.
        own_end = UNBOUNDED
    for i, entry in reversed(list(enumerate(own.entries))):
        for j, other in reversed(list(enumerate(others.entries))):
            if _same_start(entry, other, bugs):
                return _nearer_end(_end_at(own, i, own_end), _end_at(others, j, others_end), bugs)
    return Offset(0)


def _same_start(own: EpochEntry, other: EpochEntry, bugs: Bugs) -> bool:
    if Bug.START_COMPARED in bugs:
        # The source compares the starts, too.
        return own.epoch == other.epoch
    return own.epoch == other.epoch and own.start_offset == other.start_offset


def _end_at(cache: EpochCache, index: int, log_end: Offset) -> Offset:
    """Return the end of an entry; the last one ends with the log."""
    if index + 1 < len(cache.entries):
        return cache.entries[index + 1].start_offset
    return log_end


def _nearer_end(own_end: Offset, others_end: Offset, bugs: Bugs) -> Offset:
    if Bug.MIN_END in bugs:
        # The source takes the smaller one.
        return own_end
    return min(own_end, others_end)
