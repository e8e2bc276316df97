"""The rules of the epoch cache that a broker takes: each is an operator of EpochTruncation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.epoch.cache import EpochCache, recover_epochs
from rocketha.types import Epoch, EpochEntry, Offset

__all__ = ["EPOCH_RULES", "EpochRules", "last_end", "nearer_end", "same_start"]


def same_start(own: EpochEntry, other: EpochEntry) -> bool:
    """Tell whether two entries are of one master epoch: a number alone may have been given twice.

    Spec: EpochCache!SameStart
    """
    return own.epoch == other.epoch and own.start_offset == other.start_offset


def nearer_end(own_end: Offset, others_end: Offset) -> Offset:
    """Return up to where both logs have an epoch.

    Spec: EpochCache!NearerEnd
    """
    return min(own_end, others_end)


def last_end(own: EpochCache, log_end: Offset) -> Offset:
    """Return where the last epoch of the slave's own cache ends: with the log.

    Spec: EpochCache!EndAt
    """
    return log_end


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochRules:
    """How a cache grows and shrinks, and how two are compared."""

    append_epoch: Callable[[EpochCache, Epoch, Offset], EpochCache] = EpochCache.append_epoch
    truncate_suffix_by_offset: Callable[[EpochCache, Offset], EpochCache] = (
        EpochCache.truncate_suffix_by_offset
    )
    truncate_suffix_by_epoch: Callable[[EpochCache, Epoch], EpochCache] = (
        EpochCache.truncate_suffix_by_epoch
    )
    recover_epochs: Callable[[EpochCache, Offset], EpochCache] = recover_epochs
    same_start: Callable[[EpochEntry, EpochEntry], bool] = same_start
    nearer_end: Callable[[Offset, Offset], Offset] = nearer_end
    last_end: Callable[[EpochCache, Offset], Offset] = last_end


EPOCH_RULES: Final = EpochRules()
"""The rules as the specification has them."""
