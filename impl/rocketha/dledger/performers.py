"""The effects of a DLedger node that are about its files and its state machine, performed.

Source: DLedgerMmapFileStore, MemberState.persistState, StateMachineCaller, SnapshotManager
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, assert_never, get_args

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.connections import install_request
from rocketha.dledger.push_state import (
    AppendPushed,
    ApplyCommitted,
    DeleteBefore,
    InstallSnapshot,
    SaveSnapshot,
    SendSnapshot,
    SyncLedger,
    TruncateLedger,
    WriteEntry,
)
from rocketha.dledger.snapshots import SnapshotStore
from rocketha.dledger.state import KeepTermAndVote, RoleChanged
from rocketha.dledger.store import DLedgerStore
from rocketha.dledger.store_options import StoreOptions
from rocketha.errors import DamagedLogError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.runtime.effects import SendRequest
from rocketha.runtime.performer import Performer
from rocketha.storage.disk import Disk
from rocketha.types import LogIndex

__all__ = ["AppliedMachine", "DLedgerFiles", "LedgerPerformer", "MachinePerformer", "RolePerformer"]

_NONE = LogIndex(-1)
_LedgerEffect: TypeAlias = (
    KeepTermAndVote | WriteEntry | AppendPushed | SyncLedger | TruncateLedger | DeleteBefore
)
_MachineEffect: TypeAlias = ApplyCommitted | SaveSnapshot | InstallSnapshot | SendSnapshot


class AppliedMachine(Protocol):
    """The state that the entries of a log make. Source: StateMachine"""

    def on_apply(self, entry: bytes) -> object:
        """Apply an entry; what it returns is the answer to who wanted it. Raises: FormatError"""
        ...

    def on_snapshot_save(self) -> bytes:
        """Return all of the state."""
        ...

    def on_snapshot_load(self, data: bytes) -> None:
        """Have this state, and nothing of the one before. Raises: FormatError"""
        ...


@dataclass(slots=True)
class DLedgerFiles:
    """What a node has on its disk, opened: its log, its snapshots. Make it with `open`."""

    store: DLedgerStore
    snapshots: SnapshotStore
    snapshot_index: LogIndex
    """Of the newest snapshot, which the machine has loaded; -1: there is none."""

    @classmethod
    def open(cls, disk: Disk, options: StoreOptions, machine: AppliedMachine) -> DLedgerFiles:
        """Recover the files; a damaged log is thrown away, if the options say so.

        Spec: DLedger!Crash, DLedger!Discard
        Source: SnapshotManager.loadSnapshot
        Raises: DLedgerFileError, TermFileError, FormatError, DiskError
        """
        try:
            return cls._recovered(disk, options, machine)
        except DamagedLogError:
            if not options.discard_damaged_log:
                raise
            DLedgerStore.discard(disk, options)
            return cls._recovered(disk, options, machine)

    @classmethod
    def _recovered(cls, disk: Disk, options: StoreOptions, machine: AppliedMachine) -> DLedgerFiles:
        """Recover the log and load the newest snapshot; finish an install that was cut short."""
        snapshots = SnapshotStore(disk, options.path("snapshot"))
        newest = snapshots.recover()
        before = None if newest is None else newest.meta.point
        store = DLedgerStore.open(disk, options, before=before)
        if newest is None:
            if store.before_begin_index >= 0:
                reason = f"begins behind entry {store.before_begin_index}, and no snapshot has it"
                raise DamagedLogError("data file", offset=0, reason=reason)
            snapshots.delete_unfinished(_NONE)
            return cls(store, snapshots, _NONE)
        index, term = newest.meta.last_included_index, newest.meta.last_included_term
        if index < store.before_begin_index:
            reason = f"begins behind entry {store.before_begin_index}, the snapshot has {index}"
            raise DamagedLogError("data file", offset=0, reason=reason)
        machine.on_snapshot_load(newest.data)
        snapshots.delete_unfinished(index)
        if store.term_at(index) != term:
            store.reset(index, term, chain_crc=newest.meta.chain_crc or 0)
        return cls(store, snapshots, index)


class LedgerPerformer(Performer[Any, object]):
    """Writes the log, and term and vote."""

    effects = get_args(_LedgerEffect)

    def __init__(self, files: Callable[[], DLedgerFiles]) -> None:
        """Take what says which files are open."""
        self._files = files

    def view(self) -> DLedgerStore:
        """Return the log, as the core may see it."""
        return self._files().store

    def perform(self, effect: _LedgerEffect, action: object) -> None:
        """Write. Raises: DLedgerFileError, EncodingError, DiskError"""
        del action
        store = self._files().store
        match effect:
            case KeepTermAndVote(kept=kept):
                if store.kept != kept:
                    store.keep(kept)
            case WriteEntry(kind=kind, term=term, body=body):
                store.append(kind, term, body)
            case AppendPushed(entry=entry):
                store.append_entry(entry)
            case SyncLedger():
                store.sync()
            case TruncateLedger(index=index):
                store.truncate(index)
            case DeleteBefore(index=index):
                store.delete_before(index)
            case _ as unreachable:
                assert_never(unreachable)


class MachinePerformer(Performer[Any, object]):
    """Lets the state machine have entries, and keeps its snapshots."""

    effects = get_args(_MachineEffect)

    def __init__(
        self,
        files: Callable[[], DLedgerFiles],
        machine: Callable[[], AppliedMachine],
        config: DLedgerConfig,
        send: Callable[[SendRequest], None],
    ) -> None:
        """Take the files, the machine, and what sends a request."""
        self._files = files
        self._machine = machine
        self._config = config
        self._send = send
        self.outcome: object = None
        """What the machine made of the last entry."""

    def perform(self, effect: _MachineEffect, action: object) -> None:
        """Apply, save, load or send. Raises: FormatError, DLedgerFileError, DiskError"""
        del action
        files = self._files()
        match effect:
            case ApplyCommitted(index=index):
                entry = files.store.entry(index)
                is_normal = entry.kind is DLedgerEntryType.NORMAL
                self.outcome = self._machine().on_apply(entry.body) if is_normal else None
                self.applied(entry)
            case SaveSnapshot(index=index, term=term):
                chain = files.store.entry(index).chain_crc
                data = self._machine().on_snapshot_save()
                files.snapshots.save(index, term, data, chain_crc=chain)
                files.snapshot_index = index
                files.snapshots.delete_expired(self._config.max_snapshot_reserved_num)
            case InstallSnapshot():
                self._install(effect)
            case SendSnapshot(index=index):
                snapshot = files.snapshots.read(index)
                term = snapshot.meta.last_included_term
                self._send(install_request(self._config, effect, term, snapshot.data))
            case _ as unreachable:
                assert_never(unreachable)

    def applied(self, entry: DLedgerEntry) -> None:
        """Hear that the machine has had an entry, or that one is agreed on that it does not see."""

    def loaded(self) -> None:
        """Hear that the machine has another state, of a snapshot that a leader has sent."""

    def _install(self, effect: InstallSnapshot) -> None:
        files, index = self._files(), effect.index
        self._machine().on_snapshot_load(effect.data)
        files.snapshots.save(index, effect.term, effect.data)
        files.snapshot_index = index
        if effect.keeps_log:
            files.store.delete_before(index)
        else:
            files.store.reset(index, effect.term)
        files.snapshots.delete_expired(self._config.max_snapshot_reserved_num)
        self.loaded()


class RolePerformer(Performer[Any, object]):
    """Tells whoever wants to know who leads. Source: DLedgerLeaderElector.RoleChangeHandler"""

    effects = (RoleChanged,)

    def __init__(self, tell: Callable[[RoleChanged], None]) -> None:
        """Take whom to tell."""
        self._tell = tell

    def perform(self, effect: RoleChanged, action: object) -> None:
        """Tell."""
        del action
        self._tell(effect)
