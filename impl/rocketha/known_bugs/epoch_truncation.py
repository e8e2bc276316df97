"""Known bugs of the replication of epochs, as overrides of its rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Final, TypeAlias

from rocketha.epoch.cache import NOTHING_KNOWN, EpochCache
from rocketha.ha.rules import HA_RULES, HaRules
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.known_bugs.storage import STORAGE_BUGS
from rocketha.types import UNBOUNDED, Epoch, EpochEntry, Offset

__all__ = ["EPOCH_BUGS", "HA_OVERRIDES", "at_log_end", "ha_rules"]


@cache
def ha_rules(bugs: Bugs) -> HaRules:
    """Return the rules of replication with these bugs in them."""
    return overridden(HA_RULES, HA_OVERRIDES, bugs)


def _received_survives(rules: HaRules) -> HaRules:
    """Keep the last epoch that was received, though its entry may have been cut off."""
    return replace(rules, received_after_handshake=lambda received, cache: received)


def _border_stays(rules: HaRules) -> HaRules:
    """Leave the end of the epoch in open connections as it was."""
    return replace(rules, refreshed_entry=lambda cur, cache, next_offset: cur)


def _equal_start_refused(rules: HaRules) -> HaRules:
    """Refuse an entry that does not start later; the callers do not look."""

    def append_epoch(epochs: EpochCache, epoch: Epoch, start: Offset) -> EpochCache:
        last = epochs.entries[-1] if epochs.entries else None
        if last is not None and (last.epoch >= epoch or last.start_offset >= start):
            return epochs
        return rules.append_epoch(epochs, epoch, start)

    return replace(rules, append_epoch=append_epoch)


def _old_end_kept(rules: HaRules) -> HaRules:
    """Lift the end of the new last entry in a copy of it."""

    def as_before(epochs: EpochCache, cut: EpochCache) -> EpochCache:
        kept = set(cut.starts())
        return EpochCache(tuple(e for e in epochs.entries if (e.epoch, e.start_offset) in kept))

    return replace(
        rules,
        truncate_suffix_by_offset=lambda epochs, offset: as_before(
            epochs, rules.truncate_suffix_by_offset(epochs, offset)
        ),
        truncate_suffix_by_epoch=lambda epochs, epoch: as_before(
            epochs, rules.truncate_suffix_by_epoch(epochs, epoch)
        ),
    )


def _next_epoch_named(rules: HaRules) -> HaRules:
    """Go to the next epoch when a batch is cut, before its header is built, and take any header."""

    def batch_entry(cur: EpochEntry, epochs: EpochCache, uncut_end: Offset) -> EpochEntry:
        if uncut_end > cur.end_offset:
            return epochs.find_epoch_entry_by_offset(cur.end_offset) or cur
        return rules.batch_entry(cur, epochs, uncut_end)

    return replace(rules, batch_entry=batch_entry, epoch_may_follow=lambda epochs, batch: True)


def _epoch_forgotten(rules: HaRules) -> HaRules:
    """Take the epoch that one is told, even one in which one was master before."""
    return replace(rules, known_at_restart=lambda epochs: NOTHING_KNOWN)


def _any_master_followed(rules: HaRules) -> HaRules:
    """Look at no master's epoch."""
    return replace(rules, may_follow=lambda known, epoch: True)


def _every_link_kept(rules: HaRules) -> HaRules:
    """Do not ask where a connection leads."""
    return replace(rules, may_keep_link=lambda is_elected: True)


def _epochs_beyond_the_log(rules: HaRules) -> HaRules:
    """Take the epoch file as it is, and report the consistent point that comes of it.

    The last end stays unbounded if the log is shorter than its last epoch.
    """

    def last_end(own: EpochCache, log_end: Offset) -> Offset:
        if own.entries and log_end < own.entries[-1].start_offset:
            return UNBOUNDED
        return rules.last_end(own, log_end)

    return replace(
        rules,
        recover_epochs=lambda epochs, log_end: epochs.with_ends(),
        last_end=last_end,
        report_after_truncate=lambda point, log_end: point,
    )


def _nothing_flushed(rules: HaRules) -> HaRules:
    """Note the start of the epoch although the log before it may still be lost."""
    return replace(rules, flushed_at_become_master=lambda: ())


def _batch_teaches_nothing(rules: HaRules) -> HaRules:
    return replace(rules, known_after_batch=lambda known, epoch: known)


def _slave_answers(rules: HaRules) -> HaRules:
    return replace(rules, may_answer=lambda role: True)


def _own_end_alone(rules: HaRules) -> HaRules:
    return replace(rules, nearer_end=lambda own_end, others_end: own_end)


_ContinuesAt: TypeAlias = Callable[[Offset, Offset, bool], Offset | None]


def at_log_end(continues_at: _ContinuesAt) -> _ContinuesAt:
    """Append what does not continue the log all the same."""

    def anywhere(offset: Offset, log_end: Offset, may_begin: bool) -> Offset:
        at = continues_at(offset, log_end, may_begin)
        return log_end if at is None else at

    return anywhere


def _any_offset_taken(rules: HaRules) -> HaRules:
    return replace(rules, continues_at=at_log_end(rules.continues_at))


def _point_reported(rules: HaRules) -> HaRules:
    return replace(rules, report_after_truncate=lambda point, log_end: point)


def _epoch_alone_compared(rules: HaRules) -> HaRules:
    return replace(rules, same_start=lambda own, other: own.epoch == other.epoch)


HA_OVERRIDES: Final[dict[Bug, Override[HaRules]]] = {
    Bug.B01: _received_survives,
    Bug.B02: _border_stays,
    Bug.B03: _equal_start_refused,
    Bug.B04: _old_end_kept,
    Bug.B05: _next_epoch_named,
    Bug.B10: _epoch_forgotten,
    Bug.B11: _any_master_followed,
    Bug.B83: _epochs_beyond_the_log,
    Bug.FLUSH_BEFORE_EPOCH: _nothing_flushed,
    Bug.KEPT_LINK: _every_link_kept,
    Bug.KNOWN_FOLLOWS_BATCH: _batch_teaches_nothing,
    Bug.MASTER_ANSWERS: _slave_answers,
    Bug.MIN_END: _own_end_alone,
    Bug.OFFSET_CONTINUES: _any_offset_taken,
    Bug.REPORT_OWN_END: _point_reported,
    Bug.START_COMPARED: _epoch_alone_compared,
}

EPOCH_BUGS: Final[Bugs] = frozenset(HA_OVERRIDES) | STORAGE_BUGS
"""What replication by epochs may have, its disk included."""
