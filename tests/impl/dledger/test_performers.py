"""A node's effects on its files and its state machine, and what a start refuses."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from rocketha.dledger.member_state import Role
from rocketha.dledger.performers import DLedgerFiles, RolePerformer
from rocketha.dledger.push_state import (
    AppendPushed,
    ApplyCommitted,
    SendSnapshot,
    TruncateLedger,
    WriteEntry,
)
from rocketha.dledger.register import RegisterService, read_entry, write_entry
from rocketha.dledger.snapshots import SnapshotStore
from rocketha.dledger.state import KeepTermAndVote, RequestNumber, RoleChanged
from rocketha.dledger.store_options import read_term
from rocketha.errors import DamagedLogError, DLedgerFileError, PacketError, SnapshotError
from rocketha.formats.dledger_codes import DLedgerEntryType, DLedgerRequestCode
from rocketha.formats.dledger_request_codec import pull_request
from rocketha.formats.dledger_requests import InstallSnapshotRequest
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tests.impl.dledger.pusher_scene import entry
from tests.impl.dledger.store_model import OPTIONS
from tests.impl.dledger.test_snapshot_crash import (
    EIGHT,
    Running,
    cuts_log,
    installs,
    saves,
    snapshot_of,
    state_after,
)

SNAPSHOTS = f"{OPTIONS.directory}/snapshot"


def running(disk: MemoryDisk, reserved: int = 3) -> Running:
    node = Running(disk, reserved)
    for effect in EIGHT:
        node.perform(effect)
    return node


def test_an_empty_disk_has_nothing() -> None:
    node = Running(MemoryDisk(), 3)
    assert (node.files.snapshot_index, node.files.store.end_index) == (-1, -1)
    assert node.registers.values == {}


def test_term_and_vote_are_written_when_they_change() -> None:
    disk = MemoryDisk()
    node = running(disk)
    kept = TermAndVote(curr_term=Term(4), vote_leader="n1")
    node.perform(KeepTermAndVote(kept=kept))
    before = disk.unsynced
    node.perform(KeepTermAndVote(kept=kept))
    assert disk.unsynced == before
    disk.lose_unsynced()
    assert Running(disk, 3).files.store.kept == kept


def test_entries_are_written_and_cut() -> None:
    node = running(MemoryDisk())
    node.perform(TruncateLedger(index=LogIndex(6)))
    assert node.files.store.end_index == 5
    node.perform(AppendPushed(entry=entry(6, 3, b"x")))
    assert (node.files.store.end_term, node.files.store.entry(LogIndex(6)).body) == (3, b"x")


def test_the_machine_has_what_is_in_entries_and_no_others() -> None:
    node = running(MemoryDisk())
    for kind, body, outcome in (
        (DLedgerEntryType.NORMAL, write_entry("k", 7), None),
        (DLedgerEntryType.NORMAL, read_entry("k"), 7),
        (DLedgerEntryType.NOOP, b"", None),
    ):
        node.perform(WriteEntry(kind=kind, term=Term(3), body=body))
        node.perform(ApplyCommitted(index=node.files.store.end_index))
        assert node.machine.outcome == outcome
    assert node.registers.values["k"] == 7


def test_a_snapshot_is_sent_as_it_is_on_the_disk() -> None:
    node = running(MemoryDisk())
    node.perform(saves(4))
    number = RequestNumber(9)
    node.perform(SendSnapshot(number=number, peer="n0", term=Term(3), index=LogIndex(4)))
    (sent,) = node.sent
    assert sent.code == DLedgerRequestCode.INSTALL_SNAPSHOT
    assert sent.reference == (sent.code, number, 1)
    message = pull_request(RemotingCommand(code=sent.code, body=sent.body, opaque=1))
    assert isinstance(message, InstallSnapshotRequest)
    told = (message.last_included_index, message.last_included_term, message.term)
    assert told == (4, 1, 3)
    assert message.data == snapshot_of((1,) * 5)


@pytest.mark.parametrize("reserved", [1, 2])
def test_so_many_snapshots_are_kept(reserved: int) -> None:
    disk = MemoryDisk()
    node = running(disk, reserved)
    for index in (4, 5):
        if index > 4:
            node.perform(ApplyCommitted(index=LogIndex(index)))
        node.perform(saves(index))
    assert SnapshotStore(disk, SNAPSHOTS).indexes == (LogIndex(4), LogIndex(5))[-reserved:]


def test_what_is_unfinished_is_neither_a_snapshot_nor_counted() -> None:
    disk = MemoryDisk()
    node = running(disk, 1)
    disk.write(f"{SNAPSHOTS}/snapshot_9/data", 0, b"{}")
    disk.write(f"{SNAPSHOTS}/snapshot_9/snapshot_meta", 0, b'{"lastIncl')
    disk.write(f"{SNAPSHOTS}/snapshot_8/data", 0, b"{}")
    disk.write(f"{SNAPSHOTS}/other/data", 0, b"{}")
    store = SnapshotStore(disk, SNAPSHOTS)
    assert store.indexes == (8, 9)
    for index in (8, 9):
        with pytest.raises(SnapshotError):
            store.read(LogIndex(index))
    assert store.newest() is None
    node = Running(disk, 1)
    assert not SnapshotStore(disk, SNAPSHOTS).indexes
    assert node.files.snapshot_index == -1


def test_an_older_snapshot_is_loaded_where_the_log_goes_with_it() -> None:
    disk = MemoryDisk()
    node = running(disk)
    node.perform(saves(4))
    node.perform(ApplyCommitted(index=LogIndex(5)))
    node.perform(saves(5))
    disk.write(f"{SNAPSHOTS}/snapshot_5/data", 2, b"?")
    again = Running(disk, 3)
    assert again.files.snapshot_index == 4
    assert again.registers.values == state_after((1,) * 5)


def test_a_log_without_its_snapshot_is_refused_and_nothing_is_deleted() -> None:
    disk = MemoryDisk()
    node = running(disk)
    for effect in (saves(4), *cuts_log(4)):
        node.perform(effect)
    path = f"{SNAPSHOTS}/snapshot_4/data"
    good = disk.read(path)
    disk.write(path, 2, b"?")
    with pytest.raises(DLedgerFileError, match="no snapshot has it"):
        DLedgerFiles.open(disk, OPTIONS, RegisterService())
    disk.write(path, 0, good)
    assert Running(disk, 3).files.snapshot_index == 4


def test_a_log_that_begins_behind_its_snapshot_is_refused() -> None:
    disk = MemoryDisk()
    node = running(disk)
    node.perform(saves(4))
    node.perform(installs(9))
    disk.unlink(f"{SNAPSHOTS}/snapshot_9/data")
    with pytest.raises(DLedgerFileError, match="the snapshot has 4"):
        DLedgerFiles.open(disk, OPTIONS, RegisterService())
    assert disk.exists(f"{SNAPSHOTS}/snapshot_9/snapshot_meta")


def test_who_wants_to_know_hears_of_a_role() -> None:
    told: list[RoleChanged] = []
    changed = RoleChanged(term=Term(3), role=Role.LEADER, leader_id="n0")
    RolePerformer(told.append).perform(changed, None)
    assert told == [changed]


# ---- registers ----


def test_registers_have_what_was_written_last() -> None:
    service = RegisterService()
    for key, value in (("a", 1), ("b", -(2**63)), ("a", 3)):
        assert service.on_apply(write_entry(key, value)) is None
    assert service.on_apply(read_entry("a")) == 3
    assert service.on_apply(read_entry("c")) is None
    assert service.values == {"a": 3, "b": -(2**63)}
    other = RegisterService()
    other.on_apply(write_entry("gone", 1))
    other.on_snapshot_load(service.on_snapshot_save())
    assert other.values == service.values


@pytest.mark.parametrize(
    "entry_body",
    [b"", b"[]", b"{}", b'{"key":"k"}', b'{"key":1,"value":2}', b'{"value":2}', b"\xff"],
)
def test_what_is_no_entry_is_refused(entry_body: bytes) -> None:
    service = RegisterService()
    with pytest.raises(PacketError):
        service.on_apply(entry_body)
    assert service.values == {}


@pytest.mark.parametrize("data", [b"", b"[]", b'{"k":"v"}', b'{"k":null}'])
def test_what_is_no_snapshot_is_refused(data: bytes) -> None:
    service = RegisterService()
    service.on_apply(write_entry("k", 1))
    with pytest.raises(PacketError):
        service.on_snapshot_load(data)
    assert service.values == {"k": 1}


def damaged(*, with_snapshot: bool) -> MemoryDisk:
    """The disk of a node in term 9 whose log is damaged where it was durable."""
    disk = MemoryDisk()
    node = running(disk)
    node.perform(KeepTermAndVote(kept=TermAndVote(curr_term=Term(9), vote_leader="n1")))
    if with_snapshot:
        node.perform(saves(4))
    node.files.store.close()
    path = f"{OPTIONS.directory}/data/{0:020}"
    disk.write(path, 60, bytes([disk.read(path, 60, 1)[0] ^ 1]))
    return disk


@pytest.mark.parametrize("with_snapshot", [False, True])
def test_a_damaged_log_is_refused_or_goes_and_its_snapshot_stays(*, with_snapshot: bool) -> None:
    disk = damaged(with_snapshot=with_snapshot)
    before = copy.deepcopy(disk)
    with pytest.raises(DamagedLogError):
        DLedgerFiles.open(disk, OPTIONS, RegisterService())
    assert read_term(disk, OPTIONS) == read_term(before, OPTIONS)

    machine = RegisterService()
    goes = replace(OPTIONS, discard_damaged_log=True)
    files = DLedgerFiles.open(disk, goes, machine)
    last = 4 if with_snapshot else -1
    assert (files.store.end_index, files.snapshot_index) == (last, last)
    assert files.store.kept == TermAndVote(curr_term=Term(10), refill_term=Term(10))
    assert (machine.values != {}) == with_snapshot

    disk.lose_unsynced()
    again = DLedgerFiles.open(disk, goes, RegisterService())
    assert (again.store.end_index, again.store.kept) == (last, files.store.kept)


def test_files_of_another_layout_are_no_damage() -> None:
    """Nothing is thrown away because of a wrong setting, or of a file of somebody else."""
    for path, size in (("data/readme", 0), (f"data/{300:020}", 0), (f"data/{0:020}", 4_096)):
        disk = MemoryDisk()
        running(disk).files.store.close()
        disk.write(f"{OPTIONS.directory}/{path}", size, b"?")
        before = copy.deepcopy(disk)
        with pytest.raises(DLedgerFileError):
            DLedgerFiles.open(disk, replace(OPTIONS, discard_damaged_log=True), RegisterService())
        assert read_term(disk, OPTIONS) == read_term(before, OPTIONS)
        for folder in (f"{OPTIONS.directory}/data", f"{OPTIONS.directory}/index"):
            assert disk.names(folder) == before.names(folder) != ()
            for name in disk.names(folder):
                assert disk.read(f"{folder}/{name}") == before.read(f"{folder}/{name}")
