"""When snapshots are written, loaded and deleted, and how much of the log they stand for.

Differences from RIP-59, each a mutant of the specification: the log is cut up to the *oldest*
snapshot that is kept, and only when as many are there as shall be kept, so that a fall back finds
its entries; nothing is deleted before the new snapshot was read back; a node whose log does not go
on behind a snapshot says so and does not start; a node that lacks what its leader has removed
installs the leader's snapshot.

What a node does at the same time are events here: it appends what a leader sends, learns what was
agreed on, and applies that; and while a leader's snapshot is on its way to the disk, the entries go
on. A save is several steps: what one has asked for is done before the next one looks.

| event              | what it does, and what comes next                                           |
|--------------------|-----------------------------------------------------------------------------|
| `EntryReceived`    | appends, or overwrites                                                      |
| `CommitLearned`    | notes what was agreed on                                                    |
| `ApplyDue`         | applies the next entry, if it was agreed on and is there                    |
| `SaveDue`          | writes the state: `SnapshotWritten`                                         |
| `SnapshotReceived` | writes the leader's snapshot: `SnapshotWritten`                             |
| `SnapshotWritten`  | deletes nothing yet; one of the own: `ReadBackDue`                          |
| `LoadDue`          | of the leader's snapshot: `ReadBackDue`                                     |
| `ReadBackDue`      | deletes it if it cannot be loaded; else `CleanUpDue`, or loads the leader's |
| `CleanUpDue`       | deletes the snapshots that are too many, then the log before the oldest     |
| `StartDue`         | `LoadNewestDue`, which tries one snapshot after the other; then `ReplayDue` |

Source: RIP-59, "SnapshotManager"; openmessaging/dledger `SnapshotManager`, `DLedgerEntryPusher`
(handleDoInstallSnapshot)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias, get_args

from rocketha.errors import EncodingError, RockethaError, SnapshotError, SnapshotGapError
from rocketha.replicated_log.rules import SNAPSHOT_RULES, Received, SnapshotRules, Validity
from rocketha.replicated_log.snapshot_effects import (
    AppendEntry,
    ApplyEntry,
    CutLog,
    DeleteSnapshot,
    DropDamaged,
    EntriesReplayed,
    LearnCommit,
    LoadState,
    OverwriteEntries,
    ReplayLog,
    ResetLog,
    SnapshotEffect,
    StateLoaded,
    SyncNames,
    WriteSnapshot,
)
from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotReader
from rocketha.replicated_log.snapshot_performer import SnapshotView
from rocketha.runtime.core import Core
from rocketha.runtime.effects import Then
from rocketha.types import LogIndex, Term, TimestampMs

__all__ = [
    "ApplyDue",
    "CleanUpDue",
    "CommitLearned",
    "EntryReceived",
    "FitLogDue",
    "LoadDue",
    "LoadNewestDue",
    "ReadBackDue",
    "ReplayDue",
    "SaveDue",
    "SnapshotCore",
    "SnapshotEvent",
    "SnapshotOptions",
    "SnapshotReceived",
    "SnapshotState",
    "SnapshotStepped",
    "SnapshotWritten",
    "StartDue",
]

_NOTHING: Final = LogIndex(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotOptions:
    """RIP-59's parameters, with its defaults."""

    snapshot_threshold: int = 1000
    """Entries from one snapshot to the next."""
    max_snapshot_reserved_num: int = 3
    """Snapshots that are kept."""


# ---- what happens to a node ----


@dataclass(frozen=True, slots=True)
class EntryReceived:
    """A leader has an entry for this index."""

    index: LogIndex
    entry: bytes
    term: Term


@dataclass(frozen=True, slots=True)
class CommitLearned:
    """The group has agreed on everything up to this entry."""

    index: LogIndex


@dataclass(frozen=True, slots=True)
class ApplyDue:
    """There may be an entry to apply."""


@dataclass(frozen=True, slots=True)
class SaveDue:
    """An entry was applied: it may be time to save a snapshot."""


@dataclass(frozen=True, slots=True)
class SnapshotReceived:
    """A leader has a snapshot."""

    data: bytes


@dataclass(frozen=True, slots=True)
class LoadDue:
    """The leader's snapshot is on the disk."""


@dataclass(frozen=True, slots=True)
class CleanUpDue:
    """There may be too many snapshots."""


@dataclass(frozen=True, slots=True)
class StartDue:
    """The node comes up."""

    follows: bool
    """It does not know what of its log was agreed on."""


# ---- what it asks to be told ----


@dataclass(frozen=True, slots=True)
class SnapshotWritten:
    """The bytes of a snapshot are in their file: the node's own, or a leader's."""

    index: LogIndex
    data: bytes
    is_own: bool


@dataclass(frozen=True, slots=True)
class ReadBackDue:
    """A snapshot that was written is to be read from its file again."""

    index: LogIndex
    data: bytes
    is_own: bool


@dataclass(frozen=True, slots=True)
class LoadNewestDue:
    """A node that starts is to load the newest snapshot that it can."""


@dataclass(frozen=True, slots=True)
class FitLogDue:
    """The log is to go on where a snapshot that was loaded ends."""

    meta: SnapshotMeta


@dataclass(frozen=True, slots=True)
class ReplayDue:
    """The entries behind the snapshot are to be applied."""


SnapshotEvent: TypeAlias = (
    EntryReceived
    | CommitLearned
    | ApplyDue
    | SaveDue
    | SnapshotReceived
    | LoadDue
    | CleanUpDue
    | StartDue
    | StateLoaded
    | EntriesReplayed
    | SnapshotWritten
    | ReadBackDue
    | LoadNewestDue
    | FitLogDue
    | ReplayDue
)
_Does: TypeAlias = SnapshotEffect | Then[SnapshotEvent]


@dataclass(frozen=True, slots=True)
class SnapshotState:
    """What a node knows of its snapshots."""

    last: LogIndex = _NOTHING
    """The last snapshot that was read."""
    attempted: LogIndex = _NOTHING
    """The entry at which the node has tried to save."""
    receiving: Received | None = None
    """The leader's snapshot that is on its way."""
    failure: RockethaError | None = None
    """Why the last snapshot that was to be saved or loaded does not count, if it does not."""
    follows: bool = False
    damaged: tuple[SnapshotError, ...] = ()
    """Why snapshots were passed over at the start, and deleted."""


@dataclass(frozen=True, slots=True)
class SnapshotStepped:
    """The result of one step."""

    state: SnapshotState
    effects: tuple[_Does, ...] = ()
    action: None = None


class SnapshotCore(Core[SnapshotState, SnapshotEvent, None, SnapshotView]):
    """The core of a node with a log and snapshots; what it does does not depend on the time."""

    effects = get_args(_Does)

    def __init__(self, options: SnapshotOptions, rules: SnapshotRules = SNAPSHOT_RULES) -> None:
        """Take the parameters."""
        self._options = options
        self._rules = rules

    def step(
        self, state: SnapshotState, event: SnapshotEvent, *, now_ms: TimestampMs, log: SnapshotView
    ) -> SnapshotStepped:
        """Take one event.

        Raises: SnapshotError if a leader's snapshot is none; SnapshotGapError; DiskError
        """
        del now_ms
        match event:
            case EntryReceived():
                return _append(state, event, log)
            case CommitLearned(index=index):
                return SnapshotStepped(state, (LearnCommit(index),))
            case ApplyDue():
                return _apply_next(state, log)
            case SaveDue():
                return self._save(state, log)
            case SnapshotReceived(data=data):
                return self._receive(state, data, log)
            case SnapshotWritten():
                return self._written(state, event, log)
            case LoadDue():
                return self._load_received(state)
            case ReadBackDue(is_own=True):
                return _prove(state, event, log)
            case ReadBackDue():
                return _read_received(state, event, log)
            case CleanUpDue():
                return self._clean_up(state, log)
            case _:
                return self._start(state, event, log)

    # ---- a snapshot is saved ----

    def _save(self, state: SnapshotState, log: SnapshotView) -> SnapshotStepped:
        """Save a snapshot if there were enough entries since the last one.

        A snapshot that the disk has damaged, or that would be too large, is no error: the log is
        still there, and after as many entries there is another attempt. While a leader's snapshot
        is on its way there is none.

        Spec: SnapshotLoading!Save
        """
        applied = log.applied.last_included_index
        cut = _cut_to(self._rules.cut_to_applied(applied, log.snapshots), log)
        since = applied - max(state.last, state.attempted)
        if state.receiving is not None or since < self._options.snapshot_threshold:
            return SnapshotStepped(state, cut)
        attempt = replace(state, attempted=applied)
        try:
            saved = log.save()
            data = saved.encoded(self._rules)
        except EncodingError as error:
            return SnapshotStepped(replace(attempt, failure=error), cut)
        index = saved.meta.last_included_index
        written = SnapshotWritten(index, data, is_own=True)
        return SnapshotStepped(attempt, (*cut, WriteSnapshot(index, data), Then(event=written)))

    def _written(
        self, state: SnapshotState, event: SnapshotWritten, log: SnapshotView
    ) -> SnapshotStepped:
        index, data = event.index, event.data
        expired = self._rules.expired_when_written(log.snapshots, index)
        effects = tuple([DeleteSnapshot(older) for older in expired])
        if not event.is_own:
            return SnapshotStepped(replace(state, receiving=(index, data)), effects)
        proof = ReadBackDue(index, data, is_own=True)
        return SnapshotStepped(state, (*effects, Then(event=proof)))

    def _clean_up(self, state: SnapshotState, log: SnapshotView) -> SnapshotStepped:
        """Delete the snapshots that are too many, then the log before the oldest one that stays.

        Spec: SnapshotLoading!DeleteExpired, SnapshotLoading!CutLog
        """
        most = self._options.max_snapshot_reserved_num
        proven = [index for index in log.snapshots() if index <= state.last]
        newest = proven[-most:]
        expired = [DeleteSnapshot(index) for index in proven[: -len(newest)]]
        return SnapshotStepped(state, (*expired, *_cut_to(self._rules.cut_to(newest, most), log)))

    # ---- a leader's snapshot ----

    def _receive(self, state: SnapshotState, data: bytes, log: SnapshotView) -> SnapshotStepped:
        """Put the leader's snapshot on the disk if it is ahead of all that this node knows.

        It goes the way over the disk, as one of the own does. One at a time is on its way.

        Spec: SnapshotLoading!Install
        Raises: SnapshotError if it is damaged
        """
        index = SnapshotReader.of(data).meta.last_included_index
        is_fresh = self._rules.is_fresh(index, log.commit, state.last)
        if not is_fresh or not self._rules.may_install(state.receiving):
            return SnapshotStepped(state)
        written = SnapshotWritten(index, data, is_own=False)
        return SnapshotStepped(state, (WriteSnapshot(index, data), Then(event=written)))

    def _load_received(self, state: SnapshotState) -> SnapshotStepped:
        assert state.receiving is not None
        index, data = state.receiving
        after = replace(state, receiving=self._rules.after_install(state.receiving))
        return SnapshotStepped(after, (Then(event=ReadBackDue(index, data, is_own=False)),))

    def _loaded_received(
        self, state: SnapshotState, event: StateLoaded, log: SnapshotView
    ) -> SnapshotStepped:
        after = _counting_on(state, event.meta.last_included_index)
        return SnapshotStepped(after, self._fit_log(event.meta, log))

    # ---- a node comes up ----

    def _start(
        self, state: SnapshotState, event: SnapshotEvent, log: SnapshotView
    ) -> SnapshotStepped:
        """Load the newest snapshot that is whole, and apply the log behind it.

        Spec: SnapshotLoading!Start, SnapshotLoading!LoadNewest
        """
        match event:
            case StartDue(follows=follows):
                effects = SyncNames(), Then(event=LoadNewestDue())
                return SnapshotStepped(replace(state, follows=follows), effects)
            case LoadNewestDue():
                return _load_newest(state, log)
            case StateLoaded(at_start=True):
                return _loaded(state, event)
            case StateLoaded():
                return self._loaded_received(state, event, log)
            case FitLogDue(meta=meta):
                reaches = meta.last_included_index + 1 >= log.first_index
                fits = self._fit_log(meta, log) if reaches else ()
                return SnapshotStepped(state, (*fits, Then(event=ReplayDue())))
            case ReplayDue():
                first = log.first_index
                if not self._rules.may_replay(state.last, first):
                    raise SnapshotGapError(first_index=first, loaded=state.last)
                return SnapshotStepped(state, (ReplayLog(all_agreed=not state.follows),))
            case EntriesReplayed():
                return SnapshotStepped(state)
            case _:
                raise AssertionError(f"no event of a start: {event}")

    def _fit_log(self, meta: SnapshotMeta, log: SnapshotView) -> tuple[ResetLog, ...]:
        """Drop the log if it does not have the snapshot's last entry."""
        index, term = meta.last_included_index, meta.last_included_term
        return () if self._rules.keeps_log(log.term_of(index), term) else (ResetLog(index, term),)


def _append(state: SnapshotState, event: EntryReceived, log: SnapshotView) -> SnapshotStepped:
    """Make an entry of a leader durable, in the place of what another leader wrote there.

    Spec: SnapshotLoading!AppendEntry
    """
    index, entry, term = event.index, event.entry, event.term
    if index <= log.end_index:
        return SnapshotStepped(state, (OverwriteEntries(index, entry, term),))
    return SnapshotStepped(state, (AppendEntry(entry, term),))


def _apply_next(state: SnapshotState, log: SnapshotView) -> SnapshotStepped:
    """Apply the next entry again if it was agreed on and is there."""
    index = LogIndex(log.applied.last_included_index + 1)
    if index > log.commit or not log.first_index <= index <= log.end_index:
        return SnapshotStepped(state)
    term = log.term_of(index)
    assert term is not None, index
    return SnapshotStepped(state, (ApplyEntry(log.entry(index), term),))


def _cut_to(index: LogIndex | None, log: SnapshotView) -> tuple[CutLog, ...]:
    if index is not None and log.first_index <= index <= log.end_index:
        return (CutLog(index),)
    return ()


def _prove(state: SnapshotState, event: ReadBackDue, log: SnapshotView) -> SnapshotStepped:
    """Count on a snapshot of the own that the disk has as it was written.

    Spec: SnapshotLoading!ReadBack
    """
    try:
        log.read_back(event.index, event.data)
    except SnapshotError as error:
        return SnapshotStepped(replace(state, failure=error), (DeleteSnapshot(event.index),))
    return SnapshotStepped(_counting_on(state, event.index), (Then(event=CleanUpDue()),))


def _counting_on(state: SnapshotState, index: LogIndex) -> SnapshotState:
    """Count on a snapshot that was read, unless a newer one was read meanwhile."""
    return replace(state, failure=None, last=LogIndex(max(state.last, index)))


def _read_received(state: SnapshotState, event: ReadBackDue, log: SnapshotView) -> SnapshotStepped:
    """Load the leader's snapshot unless it is passed meanwhile; the log behind it stays.

    Spec: SnapshotLoading!ReadBack
    """
    try:
        snapshot = log.read_back(event.index, event.data)
    except SnapshotError as error:
        return SnapshotStepped(replace(state, failure=error), (DeleteSnapshot(event.index),))
    if log.validity(snapshot.meta) is Validity.LOADABLE:
        return SnapshotStepped(state, (LoadState(snapshot, at_start=False),))
    return SnapshotStepped(_counting_on(state, event.index))


def _load_newest(state: SnapshotState, log: SnapshotView) -> SnapshotStepped:
    """Try the newest snapshot; one that is damaged goes, and then it is the turn of another."""
    indexes = log.snapshots()
    if not indexes:
        return SnapshotStepped(state, (Then(event=ReplayDue()),))
    index = indexes[-1]
    try:
        snapshot = log.read(index)
    except SnapshotError as error:
        after = replace(state, damaged=(*state.damaged, error))
        return SnapshotStepped(after, (DropDamaged(index), Then(event=LoadNewestDue())))
    return SnapshotStepped(state, (LoadState(snapshot, at_start=True),))


def _loaded(state: SnapshotState, event: StateLoaded) -> SnapshotStepped:
    """Go on behind a snapshot."""
    after = _counting_on(state, event.meta.last_included_index)
    return SnapshotStepped(after, (Then(event=FitLogDue(event.meta)),))
