"""The consistent point: up to where two logs are sure to be equal, by their epoch caches alone."""

from __future__ import annotations

from rocketha.epoch.cache import EpochCache
from rocketha.epoch.rules import EPOCH_RULES, EpochRules
from rocketha.types import Offset

__all__ = ["consistent_point"]


def consistent_point(
    own: EpochCache,
    own_end: Offset,
    others: EpochCache,
    others_end: Offset,
    rules: EpochRules = EPOCH_RULES,
) -> Offset:
    """Return up to where a log with the epochs `own` is sure to equal one with `others`.

    The ends are those of the logs: the last epochs end there. 0 if no epoch is common.

    Spec: EpochCache!ConsistentPoint
    Source: EpochFileCache.findConsistentPoint
    """
    own_end = rules.last_end(own, own_end)
    for i, entry in reversed(list(enumerate(own.entries))):
        for j, other in reversed(list(enumerate(others.entries))):
            if rules.same_start(entry, other):
                return rules.nearer_end(_end_at(own, i, own_end), _end_at(others, j, others_end))
    return Offset(0)


def _end_at(cache: EpochCache, index: int, log_end: Offset) -> Offset:
    """Return the end of an entry; the last one ends with the log.

    Spec: EpochCache!EndAt
    """
    if index + 1 < len(cache.entries):
        return cache.entries[index + 1].start_offset
    return log_end
