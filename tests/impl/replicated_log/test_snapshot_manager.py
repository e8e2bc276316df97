"""When snapshots are saved, loaded and deleted, and what they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from rocketha.errors import EncodingError, SnapshotError, SnapshotGapError
from rocketha.formats import controller_snapshot
from rocketha.formats.controller_snapshot import Section, SectionType, encode_snapshot
from rocketha.replicated_log.log import DurableLog
from rocketha.replicated_log.register import RegisterStateMachine
from rocketha.replicated_log.rules import Validity
from rocketha.replicated_log.snapshot_files import (
    SnapshotFiles,
    SnapshotMeta,
    SnapshotReader,
    SnapshotWriter,
)
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.storage.disk import RealDisk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, SizeBytes, Term
from tests.impl.replicated_log.registers import (
    HISTORY,
    STATES,
    Liar,
    Registers,
    after_five,
    entry_data,
    flip,
    install,
    leaders,
    meta,
    run,
)


def test_rip_59s_defaults() -> None:
    assert SnapshotOptions() == SnapshotOptions(
        snapshot_threshold=1000, max_snapshot_reserved_num=3
    )


def test_so_many_snapshots_are_kept_and_the_log_behind_the_oldest() -> None:
    disk = MemoryDisk()
    found = []
    node = Registers(disk)
    for entry in HISTORY:
        node.put(entry)
        found.append((node.files.indexes, node.log.first_index))
    assert found == [
        ((), 1),
        ((2,), 1),
        ((2,), 1),
        ((2, 4), 3),
        ((2, 4), 3),
        ((4, 6), 5),
        ((4, 6), 5),
        ((6, 8), 7),
    ]


@pytest.mark.parametrize("size", range(len(HISTORY) + 1))
def test_a_node_that_starts_again_has_the_state_of_its_log(size: int) -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:size])
    again = Registers(disk)
    assert again.values == STATES[size]
    assert again.applied == again.caller.commit == size
    assert again.loaded.index == size // 2 * 2
    assert again.loaded.replayed == size % 2


def test_a_cut_log_keeps_the_term_before_its_first_entry() -> None:
    disk = MemoryDisk()
    node = Registers(disk)
    for number, entry in enumerate(HISTORY[:5]):
        node.put(entry, Term(1 if number < 2 else 3))
    assert node.log.first_index == 3
    for log in (node.log, DurableLog.open(disk)[0]):
        terms = [log.term_of(LogIndex(index)) for index in range(1, 7)]
        assert terms == [None, 1, 3, 3, 3, None]


def test_a_start_that_finds_nothing_begins_at_nothing() -> None:
    node = Registers(MemoryDisk())
    assert (node.values, node.applied, node.loaded.index) == ({}, 0, 0)


def test_every_flipped_bit_of_the_newest_snapshot_is_seen_and_the_one_before_serves() -> None:
    size = after_five().size("snapshot/snapshot_4")
    for bit in range(8 * size):
        disk = after_five()
        flip(disk, "snapshot/snapshot_4", bit // 8, bit % 8)
        again = Registers(disk)
        assert again.values == STATES[5]
        assert (again.loaded.index, len(again.loaded.damaged)) == (2, 1)
        assert again.files.indexes == (2,)


def test_every_truncation_of_the_newest_snapshot_is_seen() -> None:
    for size in range(after_five().size("snapshot/snapshot_4")):
        disk = after_five()
        disk.truncate("snapshot/snapshot_4", size)
        again = Registers(disk)
        assert (again.values, again.loaded.index) == (STATES[5], 2)


def test_without_any_snapshot_a_cut_log_is_refused() -> None:
    disk = after_five()
    for index in (2, 4):
        flip(disk, f"snapshot/snapshot_{index}")
    with pytest.raises(SnapshotGapError, match="begins with entry 3, the snapshots end at 0"):
        Registers(disk)


def test_a_whole_log_serves_without_snapshots() -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:3])
    flip(disk, "snapshot/snapshot_2")
    again = Registers(disk)
    assert (again.values, again.loaded.index, again.loaded.replayed) == (STATES[3], 0, 3)


def test_a_snapshot_under_another_name_is_refused() -> None:
    disk = after_five()
    disk.write("snapshot/snapshot_9", 0, disk.read("snapshot/snapshot_4"))
    again = Registers(disk)
    assert again.values == STATES[5]
    assert [str(error) for error in again.loaded.damaged] == [
        "snapshot at byte 0: is of entry 4, not 9"
    ]


def test_what_a_save_has_left_behind_is_overwritten() -> None:
    disk = MemoryDisk()
    disk.write("snapshot/tmp", 0, bytes(5000))
    run(disk, HISTORY[:2])
    assert disk.names("snapshot") == ("snapshot_2",)
    assert SnapshotFiles(disk).read(LogIndex(2)).meta == meta(2)


def test_other_files_are_no_snapshots() -> None:
    disk = MemoryDisk()
    for name in ("snapshot_", "snapshot_0", "snapshot_01", "snapshot_1x", "xsnapshot_1", "tmp"):
        disk.write(f"snapshot/{name}", 0, b"?")
    assert SnapshotFiles(disk).indexes == ()


# ---- Install ----


def test_an_install_replaces_the_state_and_a_log_that_ends_before() -> None:
    disk = MemoryDisk()
    node = run(disk, HISTORY[:1])
    assert install(node, leaders(6))
    assert (node.values, node.applied, node.caller.commit) == (STATES[6], 6, 6)
    assert (node.log.first_index, node.log.end_index) == (7, 6)
    node.put(HISTORY[6])
    assert (node.values, Registers(disk).values) == (STATES[7], STATES[7])


def test_an_install_may_come_again() -> None:
    node = Registers(MemoryDisk())
    for index in (3, 5, 8):
        assert install(node, leaders(index))
        assert node.values == STATES[index]


def test_an_install_keeps_the_log_that_goes_on_behind_it() -> None:
    disk = MemoryDisk()
    node = Registers(disk)
    for entry in HISTORY[:1]:
        node.put(entry, Term(1))
    for entry in HISTORY[1:4]:  # in the log, and not known to be agreed on
        node.log.append(entry_data(entry), Term(1))
    assert install(node, leaders(3, term=1))
    assert (node.log.first_index, node.log.end_index) == (1, 4)
    assert node.values == STATES[3]
    assert Registers(disk).values == STATES[4]


def test_an_install_drops_a_log_of_another_leader() -> None:
    disk = MemoryDisk()
    node = run(disk, HISTORY[:1])
    for _ in range(4):
        node.log.append(entry_data(("stray", 0)), Term(2))
    assert install(node, leaders(3, term=3))
    assert (node.log.first_index, node.log.end_index) == (4, 3)
    assert node.log.term_of(LogIndex(3)) == 3
    assert Registers(disk).values == STATES[3]


def test_the_entries_go_on_while_a_snapshot_is_on_its_way() -> None:
    node = run(MemoryDisk(), HISTORY[:1])
    node.manager.receive(leaders(6))
    assert node.manager.receiving == 6
    node.manager.receive(leaders(7))
    assert node.manager.receiving == 6, "one at a time"
    node.put(HISTORY[1])
    assert (node.values, node.files.indexes) == (STATES[2], (6,)), "none of its own meanwhile"
    node.manager.load_received()
    assert node.values == STATES[6]
    assert node.manager.receiving is None


def test_a_leader_writes_over_the_entries_of_another_one() -> None:
    disk = MemoryDisk()
    node = run(disk, HISTORY[:1])
    for index in (2, 3):
        node.manager.append(LogIndex(index), entry_data(("stray", index)), Term(2))
    node.manager.append(LogIndex(2), entry_data(HISTORY[1]), Term(3))
    assert (node.log.end_index, node.log.term_of(LogIndex(2))) == (2, 3)
    assert not node.manager.apply_next(), "nobody said that it was agreed on"
    node.caller.learn_commit(LogIndex(2))
    assert node.manager.apply_next()
    assert not node.manager.apply_next(), "there is no more"
    assert (node.values, Registers(disk).values) == (STATES[2], STATES[2])


def test_a_node_that_follows_does_not_know_what_was_agreed_on() -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:3])
    node = Registers(disk, follows=True)
    assert (node.applied, node.caller.commit, node.loaded.replayed) == (2, 2, 0)


@pytest.mark.parametrize("index", [1, 2, 3])
def test_an_install_that_is_not_ahead_is_not_taken(index: int) -> None:
    node = run(MemoryDisk(), HISTORY[:3])
    assert not install(node, leaders(index))
    assert node.files.indexes == (2,)


def test_an_install_that_is_damaged_changes_nothing() -> None:
    node = run(MemoryDisk(), HISTORY[:3])
    data = bytearray(leaders(6))
    data[-1] ^= 1
    with pytest.raises(SnapshotError):
        install(node, bytes(data))
    assert (node.values, node.files.indexes) == (STATES[3], (2,))


def test_an_older_snapshot_than_an_installed_one_is_no_way_back() -> None:
    disk = MemoryDisk()
    node = run(disk, HISTORY[:2])
    install(node, leaders(6))
    flip(disk, "snapshot/snapshot_6")
    with pytest.raises(SnapshotGapError, match="begins with entry 7, the snapshots end at 2"):
        Registers(disk)


# ---- Validity ----


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (meta(2, 3), Validity.LOADABLE),
        (meta(3, 3), Validity.LOADABLE),
        (meta(1, 3), Validity.EXPIRED),
        (meta(9, 2), Validity.EXPIRED),
        (meta(1, 4), Validity.LOADABLE),
    ],
)
def test_first_the_term_decides_then_the_index(offered: SnapshotMeta, expected: Validity) -> None:
    node = Registers(MemoryDisk())
    for entry in HISTORY[:2]:
        node.put(entry, Term(3))
    assert node.caller.validity(offered) is expected


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {SectionType.META: b"{}", SectionType.REGISTER: b"{}"},
        {SectionType.META: b"[]", SectionType.REGISTER: b"{}"},
        {SectionType.META: b'{"lastIncludedIndex":0,"lastIncludedTerm":0}'},
        {SectionType.META: b'{"lastIncludedIndex":1,"lastIncludedTerm":-1}'},
        {SectionType.META: b'{"lastIncludedIndex":1,"lastIncludedTerm":1.5}'},
    ],
)
def test_a_snapshot_that_does_not_say_where_it_ends_is_refused(
    sections: dict[SectionType, bytes],
) -> None:
    data = encode_snapshot([Section(kind, body) for kind, body in sections.items()])
    with pytest.raises(SnapshotError):
        SnapshotReader.of(data)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"a":"b"}', b'{"a":1', b'{"a":9223372036854775808}']
)
def test_registers_that_cannot_be_read_leave_the_others_as_they_are(body: bytes) -> None:
    node = run(MemoryDisk(), HISTORY[:2])
    writer = SnapshotWriter(meta(6))
    writer.add(SectionType.REGISTER, body)
    reader = SnapshotReader.of(writer.encoded())
    with pytest.raises(SnapshotError):
        node.machine.decode_snapshot(reader)
    assert node.values == STATES[2]


def test_a_start_decodes_the_snapshot_that_it_loads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = MemoryDisk()
    before = run(disk)
    decode = RegisterStateMachine.decode_snapshot
    decoded: list[LogIndex] = []

    def noted(machine: RegisterStateMachine, reader: SnapshotReader) -> Mapping[str, int]:
        decoded.append(reader.meta.last_included_index)
        return decode(machine, reader)

    monkeypatch.setattr(RegisterStateMachine, "decode_snapshot", noted)
    after = run(disk, ())

    assert decoded == [before.manager.last_snapshot] != [0]
    assert after.values == before.values


def test_a_snapshot_that_is_decoded_is_not_loaded() -> None:
    node = run(MemoryDisk(), HISTORY[:2])
    node.machine.decode_snapshot(SnapshotReader.of(leaders(5)))
    assert node.values == STATES[2]


# ---- A disk that writes something else ----


def test_a_snapshot_that_does_not_read_back_does_not_count() -> None:
    disk = Liar(1, 2)
    node = run(disk, HISTORY[:5])
    assert (node.files.indexes, node.log.first_index) == ((), 1)
    assert isinstance(node.manager.failure, SnapshotError)
    assert Registers(disk).values == STATES[5]
    node.put(HISTORY[5])
    assert node.files.indexes == (6,)
    assert disk.saves == 3
    assert node.manager.failure is None


def test_a_state_that_is_too_large_for_a_snapshot_stays_in_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(controller_snapshot, "SNAPSHOT_FILE_MAX", 80)
    disk = MemoryDisk()
    node = run(disk)
    assert isinstance(node.manager.failure, EncodingError)
    assert (node.files.indexes, Registers(disk).values) == ((), STATES[-1])


def test_a_real_disk_serves(tmp_path: Path) -> None:
    for size, entry in enumerate(HISTORY, start=1):
        Registers(RealDisk(tmp_path)).put(entry)
        again = Registers(RealDisk(tmp_path))
        assert (again.values, again.loaded.index) == (STATES[size], size // 2 * 2)
    names = sorted(path.name for path in (tmp_path / "snapshot").iterdir())
    assert names == ["snapshot_6", "snapshot_8"]


def test_the_file_has_its_sections() -> None:
    disk = MemoryDisk()
    run(disk, HISTORY[:2])
    reader = SnapshotFiles(disk).read(LogIndex(2))
    assert reader.section(SectionType.REGISTER) == b'{"a":1,"b":2}'
    assert disk.size("snapshot/snapshot_2") == SizeBytes(22 + 6 + 44 + 6 + 13)
