"""The epoch cache: which master epoch wrote which part of the log.

A cache is a sequence of entries (epoch, start, end), all three growing; an entry ends where the
next one starts and the last one is unbounded. Everything here is a pure function of its arguments,
in bytes where the specification counts records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rocketha.types import Epoch, EpochEntry, Offset, chain_epochs

__all__ = [
    "NOTHING_KNOWN",
    "NO_EPOCHS",
    "EpochCache",
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

        Spec: EpochCache!LastEpoch
        Source: EpochFileCache.lastEpoch
        """
        return self.entries[-1].epoch if self.entries else NOTHING_KNOWN

    def starts(self) -> tuple[tuple[Epoch, Offset], ...]:
        """Return what the epoch file and the handshake carry: epochs with their starts.

        Spec: EpochCache!Starts
        Source: EpochFileCache.getAllEntries
        """
        return tuple((entry.epoch, entry.start_offset) for entry in self.entries)

    def with_ends(self) -> EpochCache:
        """Return the cache in which each entry ends where the next one starts.

        Spec: EpochCache!WithEnds
        Source: EpochFileCache.initCacheFromEntries
        """
        return EpochCache(chain_epochs(self.starts()))

    def find_epoch_entry_by_offset(self, offset: Offset) -> EpochEntry | None:
        """Return the entry whose range `[start, end)` contains `offset`, `None` if no one does.

        Spec: EpochCache!EpochAt
        Source: EpochFileCache.findEpochEntryByOffset
        """
        for entry in reversed(self.entries):
            if entry.start_offset <= offset < entry.end_offset:
                return entry
        return None

    def append_epoch(self, epoch: Epoch, start: Offset) -> EpochCache:
        """Return the cache in which `epoch` begins at `start`.

        Entries that begin there or later have no records and give way.

        Spec: EpochCache!AppendEpoch
        Source: EpochFileCache.appendEntry
        """
        kept = [pair for pair in self.starts() if pair[1] < start]
        return EpochCache(chain_epochs([*kept, (epoch, start)]))

    def truncate_suffix_by_offset(self, offset: Offset) -> EpochCache:
        """Return the cache without the entries that begin at `offset` or later.

        Spec: EpochCache!TruncateSuffixByOffset
        Source: EpochFileCache.truncateSuffixByOffset
        """
        return _kept(e for e in self.entries if e.start_offset < offset)

    def truncate_suffix_by_epoch(self, epoch: Epoch) -> EpochCache:
        """Return the cache without `epoch` and newer ones.

        Spec: EpochCache!TruncateSuffixByEpoch
        Source: EpochFileCache.truncateSuffixByEpoch
        """
        return _kept(e for e in self.entries if e.epoch < epoch)


NO_EPOCHS: Final = EpochCache()


def _kept(entries: Iterable[EpochEntry]) -> EpochCache:
    return EpochCache(tuple(entries)).with_ends()


def recover_epochs(cache: EpochCache, log_end: Offset) -> EpochCache:
    """Return the cache of a broker that restarts with a log that ends at `log_end`.

    What begins beyond the end was never written; what begins just there may still be.

    Spec: EpochCache!RecoverEpochs
    Source: EpochFileCache.initCacheFromFile
    """
    return _kept(e for e in cache.entries if e.start_offset <= log_end)
