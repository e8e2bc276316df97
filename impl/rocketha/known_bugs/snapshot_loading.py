"""Known bugs of a log with snapshots, as overrides of its rules.

Where two override one rule, the later one in the table has the last word. `ControllerRules.loaded`
has B53, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.errors import SnapshotError
from rocketha.formats.controller_snapshot import SnapshotVersion
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.replicated_log.rules import SNAPSHOT_RULES, SnapshotRules, Validity
from rocketha.types import LogIndex, Term

__all__ = ["SNAPSHOT_BUGS", "SNAPSHOT_OVERRIDES", "snapshot_rules"]


@cache
def snapshot_rules(bugs: Bugs) -> SnapshotRules:
    """Return the rules of a log with snapshots with these bugs in them."""
    return overridden(SNAPSHOT_RULES, SNAPSHOT_OVERRIDES, bugs)


# ---- the log ----


def _boundary_lost(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, boundary_after_start=lambda stored: Term(0))


def _last_term_kept(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, boundary_of_cut=lambda index, end: end)


def _cut_at_newest(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, cut_to=lambda reserved, most: reserved[-1])


def _cut_once_there_is_one(rules: SnapshotRules) -> SnapshotRules:
    def cut_to_applied(
        applied: LogIndex, snapshots: Callable[[], Sequence[LogIndex]]
    ) -> LogIndex | None:
        return applied if snapshots() else rules.cut_to_applied(applied, snapshots)

    return replace(rules, cut_to_applied=cut_to_applied)


def _cut_beside_snapshots(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, cut_to_applied=lambda applied, snapshots: applied)


def _log_always_goes(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, keeps_log=lambda own, term: False)


def _any_term_stays(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, keeps_log=lambda own, term: own is not None)


def _starts_behind_gap(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, may_replay=lambda loaded, first: True)


def _starts_from_nothing(rules: SnapshotRules) -> SnapshotRules:
    return replace(
        rules, may_replay=lambda loaded, first: not loaded or rules.may_replay(loaded, first)
    )


# ---- a snapshot is saved ----


def _index_of_commit(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, snap_index=lambda applied, commit: commit)


def _without_checksum(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, file_version=lambda: SnapshotVersion.UNMERGED)


def _named_first(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, syncs_contents=lambda: False)


def _name_not_synced(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, syncs_name=lambda: False)


def _never_read_back(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, read_back=lambda read, written: written)


def _older_ones_go_at_once(rules: SnapshotRules) -> SnapshotRules:
    def expired_when_written(
        snapshots: Callable[[], Sequence[LogIndex]], written: LogIndex
    ) -> list[LogIndex]:
        return [index for index in snapshots() if index < written]

    return replace(rules, expired_when_written=expired_when_written)


# ---- a snapshot is loaded ----


def _indexes_alone_compared(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, is_older=lambda offered, applied: offered[1] < applied[1])


def _everything_loaded(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, validity=lambda older: Validity.LOADABLE)


def _registers_come_back(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, loaded=lambda before, found: {**before, **found})


def _a_part_is_left(rules: SnapshotRules) -> SnapshotRules:
    """Fill the state while the file is read."""

    def after_failed_load(fill: Callable[[], None]) -> None:
        with suppress(SnapshotError):
            fill()

    return replace(rules, after_failed_load=after_failed_load)


def _commit_stays(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, commit_after_load=lambda index, commit: commit)


# ---- a leader's snapshot is installed ----


def _not_older_than_last(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, is_fresh=lambda index, commit, last: index >= last)


def _no_install(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, may_install=lambda receiving: False)


def _place_never_free(rules: SnapshotRules) -> SnapshotRules:
    return replace(rules, after_install=lambda receiving: receiving)


SNAPSHOT_OVERRIDES: Final[dict[Bug, Override[SnapshotRules]]] = {
    Bug.B59: _boundary_lost,
    Bug.BOUNDARY_OF_CUT: _last_term_kept,
    Bug.CUT_AT_OLDEST: _cut_at_newest,
    Bug.B55: _cut_once_there_is_one,
    Bug.B68: _cut_beside_snapshots,
    Bug.SUFFIX_KEPT: _log_always_goes,
    Bug.SUFFIX_DROPPED: _any_term_stays,
    Bug.REFUSE_GAP: _starts_from_nothing,
    Bug.B57: _starts_behind_gap,
    Bug.SNAP_AT_APPLIED: _index_of_commit,
    Bug.CRC: _without_checksum,
    Bug.SYNC_FIRST: _named_first,
    Bug.DIRECTORY_SYNC: _name_not_synced,
    Bug.READ_BACK: _never_read_back,
    Bug.EXPIRED: _older_ones_go_at_once,
    Bug.TERM_FIRST: _indexes_alone_compared,
    Bug.VALIDITY: _everything_loaded,
    Bug.B53: _registers_come_back,
    Bug.FRESH_OBJECT: _a_part_is_left,
    Bug.B58: _commit_stays,
    Bug.INSTALL_FRESH: _not_older_than_last,
    Bug.B54: _no_install,
    Bug.B56: _place_never_free,
}

SNAPSHOT_BUGS: Final[Bugs] = frozenset(SNAPSHOT_OVERRIDES)
"""What a log with snapshots may have."""
