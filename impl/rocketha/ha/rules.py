"""The rules of replication that a broker takes: each is an operator of EpochTruncation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.epoch.cache import NOTHING_KNOWN, EpochCache
from rocketha.epoch.rules import EpochRules
from rocketha.formats.ha_packets import Transfer
from rocketha.ha.roles import Role
from rocketha.runtime.effects import FlushLog
from rocketha.types import Epoch, EpochEntry, Offset

__all__ = [
    "HA_RULES",
    "HaRules",
    "batch_entry",
    "continues_at",
    "epoch_may_follow",
    "flushed_at_become_master",
    "known_after_batch",
    "known_at_restart",
    "may_answer",
    "may_follow",
    "may_keep_link",
    "received_after_handshake",
    "refreshed_entry",
    "report_after_truncate",
]


def known_at_restart(cache: EpochCache) -> Epoch:
    """Return the newest epoch that a broker knows when it comes back.

    Spec: EpochTruncation!KnownAtRestart
    """
    return cache.last_epoch


def flushed_at_become_master() -> tuple[FlushLog, ...]:
    """Return what is done before a new epoch is noted: nothing before its start may be lost.

    Spec: EpochTruncation!FlushedAtBecomeMaster
    """
    return (FlushLog(),)


def may_answer(role: Role) -> bool:
    """Tell whether a broker answers handshakes.

    Spec: EpochTruncation!MayAnswer
    """
    return role is Role.MASTER


def refreshed_entry(
    cur: EpochEntry | None,  # what the sender has cached
    cache: EpochCache,
    next_offset: Offset,
) -> EpochEntry | None:
    """Return the epoch of the next byte to send, after an epoch was appended to the cache.

    Spec: EpochTruncation!RefreshedLink
    """
    return cache.find_epoch_entry_by_offset(next_offset)


def batch_entry(cur: EpochEntry, cache: EpochCache, uncut_end: Offset) -> EpochEntry:
    """Return the epoch that a header names: that of the batch, which may have been cut at its end.

    Spec: EpochTruncation!BatchEntry
    """
    return cur


def may_follow(known: Epoch, epoch: Epoch) -> bool:
    """Tell whether a slave follows a master with this epoch: none that was replaced.

    The packet does not say whether the sender is master, and RocketMQ's HA server answers before
    its broker has registered, with the epochs of its file. A slave takes one that names the epoch
    it knows for its master, and cuts its log to what that one has left after a crash; ours answers
    as master only (`may_answer`).

    Spec: EpochTruncation!MayFollow
    Source: AutoSwitchHAService.AutoSwitchAcceptSocketService
    """
    return epoch >= known


def may_keep_link(is_elected: bool) -> bool:
    """Tell whether a slave keeps its connection when it hears of an election: to who was elected.

    Spec: EpochTruncation!MayKeepLink
    """
    return is_elected


def report_after_truncate(point: Offset, log_end: Offset) -> Offset:
    """Return what the first ack says: never more than there is.

    Spec: EpochTruncation!ReportAfterTruncate
    """
    return min(point, log_end)


def received_after_handshake(received: Epoch, cache: EpochCache) -> Epoch:
    """Return with what the first header is compared: the last epoch of the cache that was cut.

    Spec: EpochTruncation!ReceivedAfterHandshake
    """
    return cache.last_epoch


def continues_at(offset: Offset, log_end: Offset, may_begin: bool) -> Offset | None:
    """Return where a batch is appended; None: it does not continue the log.

    A log that `may_begin` with it is empty, and its owner skips the past.

    Spec: EpochTruncation!Continues, LegacyReplication!Continues
    """
    return offset if offset == log_end or may_begin else None


def epoch_may_follow(cache: EpochCache, batch: Transfer) -> bool:
    """Tell whether a master whose log this one continues can have sent such a header.

    That no offset is below 0 the format knows.
    """
    if batch.epoch <= NOTHING_KNOWN or batch.epoch_start_offset > batch.offset:
        return False
    if not cache.entries:
        return True
    last = cache.entries[-1]
    if batch.epoch == last.epoch:
        return batch.epoch_start_offset == last.start_offset
    return batch.epoch > last.epoch and batch.epoch_start_offset >= last.start_offset


def known_after_batch(known: Epoch, epoch: Epoch) -> Epoch:
    """Return the newest epoch that is known once a batch was received.

    Without it a slave of a master that was elected again follows an older one after a reconnect.

    Spec: EpochTruncation!KnownAfterBatch
    """
    return max(known, epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class HaRules(EpochRules):
    """What a master answers and sends, and what a slave takes."""

    known_at_restart: Callable[[EpochCache], Epoch] = known_at_restart
    flushed_at_become_master: Callable[[], tuple[FlushLog, ...]] = flushed_at_become_master
    may_answer: Callable[[Role], bool] = may_answer
    refreshed_entry: Callable[[EpochEntry | None, EpochCache, Offset], EpochEntry | None] = (
        refreshed_entry
    )
    batch_entry: Callable[[EpochEntry, EpochCache, Offset], EpochEntry] = batch_entry
    may_follow: Callable[[Epoch, Epoch], bool] = may_follow
    may_keep_link: Callable[[bool], bool] = may_keep_link
    report_after_truncate: Callable[[Offset, Offset], Offset] = report_after_truncate
    received_after_handshake: Callable[[Epoch, EpochCache], Epoch] = received_after_handshake
    continues_at: Callable[[Offset, Offset, bool], Offset | None] = continues_at
    epoch_may_follow: Callable[[EpochCache, Transfer], bool] = epoch_may_follow
    known_after_batch: Callable[[Epoch, Epoch], Epoch] = known_after_batch


HA_RULES: Final = HaRules()
"""The rules as the specification has them."""
