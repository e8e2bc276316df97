"""What a member of a DLedger group writes of itself: how it is set up, its disk, its memory.

| part                           | what                                                         |
|--------------------------------|--------------------------------------------------------------|
| `kept`                         | term and vote, as `currterm` on the disk has them            |
| `log`                          | each entry behind `begin`: its term, CRC-32 of its body      |
| `begin`, `begin_term`          | the last entry that is cut, and its term                     |
| `synced`, `snapshot`           | the last entry that no power cut takes; the newest snapshot  |
| `needless`                     | simulated: files that have nothing of the log                |
| `curr_term`, `vote`            | term and vote in memory                                      |
| `role`, `leader`               | what it is, whom it follows                                  |
| `known`                        | the largest term above its own that it has heard of, or -1   |
| `raises`, `to_next`            | it has to go to a larger term; its last round says so        |
| `taking`, `transferee`         | in which term it shall lead; whom it hands over to           |
| `own_answer`                   | what it has answered itself in its round, if there is one    |
| `same`, `committed`, `applied` | of its log: the leader's, committed, applied                 |

Indexes and terms are DLedger's, from 0 on; -1 is none.

Of its disk a process writes what its store says. A simulated machine writes what a power cut would
leave of that, which only a simulated disk knows; so it writes -1 for `synced` where the disk has
something else than the log, up to there or behind its end.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.node_state import NodeState
from rocketha.dledger.performers import DLedgerFiles
from rocketha.dledger.state import ParseResult, VoteRound
from rocketha.dledger.store_options import StoreOptions, look_at_term
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.recording.recorder import LongSequence, Parts
from rocketha.storage.disk import Disk
from rocketha.types import LogIndex

__all__ = ["MEMBER", "HeardFrame", "MemberParts", "OnDisk", "reported_on_disk", "settings_of"]

MEMBER: Final = "dledger"
"""What the settings of a member say of it, whatever is above its log."""
_NOTHING: Final = LongSequence(())


@dataclass(frozen=True, slots=True)
class HeardFrame:
    """A request or an answer of a member that keeps no records."""

    id: str
    sender: str
    code: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDisk:
    """What a member has on its disk, but for its log."""

    kept: TermAndVote | None
    synced: LogIndex
    snapshot: LogIndex
    needless: tuple[str, ...] | None = None
    """Files of the log that have nothing of it; None: nobody has looked."""


def reported_on_disk(disk: Disk, options: StoreOptions, files: DLedgerFiles) -> OnDisk:
    """Return what its files show, and its store says of them. Raises: TermFileError, DiskError"""
    snapshots = files.snapshots.indexes
    return OnDisk(
        kept=look_at_term(disk, options),
        synced=files.store.synced_index,
        snapshot=snapshots[-1] if snapshots else LogIndex(-1),
    )


def settings_of(config: DLedgerConfig) -> Parts:
    """Return how a member is set up."""
    return {
        "kind": MEMBER,
        "group": config.group,
        "peers": config.peers,
        "preferred_leader_ids": config.preferred_leader_ids,
        "heart_beat_time_interval_ms": config.heart_beat_time_interval_ms,
        "max_heart_beat_leak": config.max_heart_beat_leak,
        "min_vote_interval_ms": config.min_vote_interval_ms,
        "min_take_leadership_vote_interval_ms": config.min_take_leadership_vote_interval_ms,
        "max_vote_interval_ms": config.max_vote_interval_ms,
        "waits_after_restart": config.waits_after_restart,
        "max_pending_requests_num": config.max_pending_requests_num,
        "max_wait_ack_time_ms": config.max_wait_ack_time_ms,
        "max_push_time_out_ms": config.max_push_time_out_ms,
        "push_commit_interval_ms": config.push_commit_interval_ms,
        "push_retry_ms": config.push_retry_ms,
        "rpc_timeout_ms": config.rpc_timeout_ms,
        "flush_file_interval_ms": config.flush_file_interval_ms,
        "apply_wait_ms": config.apply_wait_ms,
        "legacy_push": config.legacy_push,
        "leadership_transfer_wait_timeout_ms": config.leadership_transfer_wait_timeout_ms,
        "max_leadership_transfer_wait_index": config.max_leadership_transfer_wait_index,
        "enable_snapshot": config.enable_snapshot,
        "snapshot_threshold": config.snapshot_threshold,
        "max_snapshot_reserved_num": config.max_snapshot_reserved_num,
    }


class MemberParts:
    """Looks at a member that runs, and changes nothing."""

    def __init__(self, files: Callable[[], DLedgerFiles], on_disk: Callable[[], OnDisk]) -> None:
        """Take what says which files are open, and what of them is on the disk."""
        self._files = files
        self._on_disk = on_disk
        self._log, self._begin = _NOTHING, LogIndex(-1)
        """What was seen last, and behind which entry."""

    def starts(self) -> None:
        """Forget what was seen: the disk is what is left of it."""
        self._log, self._begin = _NOTHING, LogIndex(-1)

    def of(self, state: NodeState) -> Parts:
        """Return all parts. Raises: DLedgerFileError, TermFileError, DiskError"""
        store, on_disk = self._files().store, self._on_disk()
        elector, pusher = state.elector, state.pusher
        member = elector.member
        known = member.known_max_term_in_group
        looked = {} if on_disk.needless is None else {"needless": on_disk.needless}
        return looked | {
            "kept": on_disk.kept,
            "log": self._log_of(store),
            "begin": store.before_begin_index,
            "begin_term": store.before_begin_term,
            "synced": on_disk.synced,
            "snapshot": on_disk.snapshot,
            "curr_term": member.curr_term,
            "vote": member.curr_vote_for,
            "role": member.role.value,
            "leader": member.leader_id,
            "known": known if known > member.curr_term else -1,
            "raises": elector.need_increase_term_immediately,
            "to_next": elector.last_parse_result is ParseResult.WAIT_TO_VOTE_NEXT,
            "taking": member.term_to_take_leadership,
            "transferee": member.transferee,
            "own_answer": _own_answer(elector.round, member.self_id),
            "same": pusher.same_index,
            "committed": pusher.committed_index,
            "applied": pusher.applied_index,
        }

    def _log_of(self, store: LedgerView) -> LongSequence:
        """Look at the entries that are new; an entry that others follow stays what it was."""
        begin, end = store.before_begin_index, store.end_index
        items = self._log.items
        if begin != self._begin:
            cut = begin - self._begin
            items = items[cut:] if 0 < cut <= len(items) else ()
        kept = min(len(items), end - begin)
        while kept and _term(items[kept - 1]) != store.term_at(LogIndex(begin + kept)):
            kept -= 1
        if begin == self._begin and kept == len(self._log.items) == end - begin:
            return self._log
        new = [_item(store, LogIndex(at)) for at in range(begin + 1 + kept, end + 1)]
        self._log, self._begin = LongSequence((*items[:kept], *new)), begin
        return self._log


def _item(store: LedgerView, index: LogIndex) -> tuple[int, int]:
    entry = store.entry(index)
    return entry.term, zlib.crc32(entry.body)


def _term(item: object) -> int:
    assert isinstance(item, tuple)
    term: int = item[0]
    return term


def _own_answer(voting: VoteRound | None, name: str) -> tuple[str, int] | None:
    if voting is None:
        return None
    answer = voting.answers[name]
    return answer.vote_result.value, answer.term
