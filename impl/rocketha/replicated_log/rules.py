"""The rules of a log with snapshots: each is an operator of SnapshotLoading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from rocketha.formats.controller_snapshot import SnapshotVersion
from rocketha.types import LogIndex, Term

__all__ = ["SNAPSHOT_RULES", "At", "Received", "SnapshotRules", "Validity"]

At: TypeAlias = tuple[Term, LogIndex]
"""Of the last entry that is in a state."""

Received: TypeAlias = tuple[LogIndex, bytes]
"""A leader's snapshot that is on its way."""

_Indexes: TypeAlias = Sequence[LogIndex]

_Listing: TypeAlias = Callable[[], _Indexes]
"""Asks the disk which snapshots there are."""


class Validity(Enum):
    """What a snapshot is for a state machine that is somewhere already."""

    EXPIRED = "expired"
    """The state machine has passed it."""
    LOADABLE = "loadable"


# ---- the log ----


def boundary_after_start(stored: Term) -> Term:
    """Return the term of the entry before the first, when the log is opened.

    Spec: SnapshotLoading!BoundaryAfterStart
    """
    return stored


def boundary_of_cut(index: LogIndex, end: LogIndex) -> LogIndex:
    """Return the entry whose term a log keeps that is cut up to it.

    Spec: SnapshotLoading!TermOfCut
    """
    return index


def cut_to(reserved: _Indexes, most: int) -> LogIndex | None:
    """Return up to where the log goes: to the oldest snapshot, if there are as many as may be.

    Spec: SnapshotLoading!CutTo
    """
    return reserved[0] if len(reserved) == most else None


def cut_to_applied(applied: LogIndex, snapshots: _Listing) -> LogIndex | None:
    """Return up to where the log goes when an entry was applied: it stays.

    Spec: SnapshotLoading!CutTo
    """
    return None


def keeps_log(own: Term | None, term: Term) -> bool:
    """Tell whether the log goes on behind a snapshot: it has the entry, and of the same term.

    Spec: SnapshotLoading!KeepsLog
    """
    return own == term


def may_replay(loaded: LogIndex, first: LogIndex) -> bool:
    """Tell whether the log goes on where the state ends.

    Spec: SnapshotLoading!MayReplay, SnapshotLoading!Continues
    """
    return loaded + 1 >= first


# ---- a snapshot is saved ----


def snap_index(applied: LogIndex, commit: LogIndex) -> LogIndex:
    """Return the index that a snapshot carries: of the last entry that is in it.

    Spec: SnapshotLoading!SnapIndex
    """
    return applied


def file_version() -> SnapshotVersion:
    """Return how snapshots are written, and what is read at least: with a checksum.

    Spec: SnapshotLoading!IsWhole
    """
    return SnapshotVersion.CHECKED


def syncs_contents() -> bool:
    """Tell whether a snapshot is on the disk before it has its name.

    Spec: SnapshotLoading!MayRename
    """
    return True


def syncs_name() -> bool:
    """Tell whether its name is on the disk before it is read back.

    Spec: SnapshotLoading!MayReadBack, SnapshotLoading!Proven
    """
    return True


def read_back(read: Callable[[], bytes], written: bytes) -> bytes:
    """Return what is looked at before anybody counts on a snapshot: what the disk has of it.

    Spec: SnapshotLoading!ReadsBack
    """
    return read()


def expired_when_written(snapshots: _Listing, written: LogIndex) -> Iterable[LogIndex]:
    """Return the snapshots that go when one is written, but not read yet: none.

    Spec: SnapshotLoading!ExpiredFiles
    """
    return ()


# ---- a snapshot is loaded ----


def is_older(offered: At, applied: At) -> bool:
    """Tell whether a snapshot is older than the state: terms decide, then indexes.

    Spec: SnapshotLoading!IsOlder
    """
    return offered < applied


def validity(older: bool) -> Validity:
    """Return what a snapshot is for a state; one of the present state can be loaded.

    Spec: SnapshotLoading!Validity
    """
    return Validity.EXPIRED if older else Validity.LOADABLE


def loaded(before: Mapping[str, int], found: Mapping[str, int]) -> Mapping[str, int]:
    """Return the registers when a snapshot is loaded: its own and no others.

    Spec: SnapshotLoading!Loaded
    """
    return found


def after_failed_load(fill: Callable[[], None]) -> None:
    """Leave the state as it was when a snapshot is damaged; `fill` puts in what can be read.

    Spec: SnapshotLoading!AfterFailedLoad
    """


def commit_after_load(index: LogIndex, commit: LogIndex) -> LogIndex:
    """Return up to where entries are agreed on: what is in a snapshot was.

    Spec: SnapshotLoading!CommitAfterLoad
    """
    return index


# ---- a leader's snapshot is installed ----


def is_fresh(index: LogIndex, commit: LogIndex, last: LogIndex) -> bool:
    """Tell whether a leader's snapshot is ahead of all that the node knows.

    Spec: SnapshotLoading!IsFresh
    """
    return index > commit


def may_install(receiving: Received | None) -> bool:
    """Tell whether a leader's snapshot may be taken: one at a time.

    Spec: SnapshotLoading!MayInstall
    """
    return receiving is None


def after_install(receiving: Received) -> Received | None:
    """Return what is on its way when a snapshot has arrived: nothing.

    Spec: SnapshotLoading!AfterInstall
    """
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRules:
    """When a snapshot counts, what is loaded, and what of the log stays."""

    boundary_after_start: Callable[[Term], Term] = boundary_after_start
    boundary_of_cut: Callable[[LogIndex, LogIndex], LogIndex] = boundary_of_cut
    cut_to: Callable[[_Indexes, int], LogIndex | None] = cut_to
    cut_to_applied: Callable[[LogIndex, _Listing], LogIndex | None] = cut_to_applied
    keeps_log: Callable[[Term | None, Term], bool] = keeps_log
    may_replay: Callable[[LogIndex, LogIndex], bool] = may_replay
    snap_index: Callable[[LogIndex, LogIndex], LogIndex] = snap_index
    file_version: Callable[[], SnapshotVersion] = file_version
    syncs_contents: Callable[[], bool] = syncs_contents
    syncs_name: Callable[[], bool] = syncs_name
    read_back: Callable[[Callable[[], bytes], bytes], bytes] = read_back
    expired_when_written: Callable[[_Listing, LogIndex], Iterable[LogIndex]] = expired_when_written
    is_older: Callable[[At, At], bool] = is_older
    validity: Callable[[bool], Validity] = validity
    loaded: Callable[[Mapping[str, int], Mapping[str, int]], Mapping[str, int]] = loaded
    after_failed_load: Callable[[Callable[[], None]], None] = after_failed_load
    commit_after_load: Callable[[LogIndex, LogIndex], LogIndex] = commit_after_load
    is_fresh: Callable[[LogIndex, LogIndex, LogIndex], bool] = is_fresh
    may_install: Callable[[Received | None], bool] = may_install
    after_install: Callable[[Received], Received | None] = after_install


SNAPSHOT_RULES: Final = SnapshotRules()
"""The rules as the specification has them."""
