"""A controller that starts from a snapshot has the state of its log, all of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.machine import replay
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import ControllerState
from rocketha.controller.state_machine import ControllerStateMachine
from rocketha.controller.tables import pull_tables, push_tables
from rocketha.errors import PacketError, SnapshotError, SnapshotGapError
from rocketha.formats.controller_snapshot import SectionType
from rocketha.known_bugs import Bug
from rocketha.known_bugs.replica_group import controller_rules
from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotReader, SnapshotWriter
from rocketha.replicated_log.snapshot_manager import SnapshotOptions
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
from tests.impl.controller.scene import METADATA
from tests.impl.controller.test_replay import logs
from tests.impl.controller.walks import walk
from tests.impl.storage.tears import Told, every_tear

OPTIONS = ControllerOptions(
    metadata=METADATA,
    snapshots=SnapshotOptions(snapshot_threshold=3, max_snapshot_reserved_num=2),
)


def committed(disk: Disk, log: list[Entry]) -> ControllerNode:
    node, _ = ControllerNode.open(disk, OPTIONS)
    for entry in log:
        node.log.propose(entry)
    return node


def reader_of(body: bytes) -> SnapshotReader:
    writer = SnapshotWriter(
        SnapshotMeta(last_included_index=LogIndex(1), last_included_term=Term(0))
    )
    writer.add(SectionType.REPLICAS_INFO_MANAGER, body)
    return SnapshotReader.of(writer.encoded())


# ---- The tables ----


@pytest.mark.parametrize("seed", range(40))
def test_a_state_is_read_as_it_was_written(seed: int) -> None:
    state = replay(walk(seed))
    assert state.groups
    assert pull_tables(push_tables(state)) == state


@given(logs())
@settings(max_examples=60)
def test_any_state_is_read_as_it_was_written(log: list[Entry]) -> None:
    for size in range(len(log) + 1):
        state = replay(log[:size])
        assert pull_tables(push_tables(state)) == state


def test_numbers_for_names_need_quotes() -> None:
    tables = push_tables(replay(walk(1)))
    bare = tables.replace(b'"brokerIdInfo":{"1":', b'"brokerIdInfo":{1:')
    assert bare != tables
    with pytest.raises(PacketError):
        pull_tables(bare)


def _changes() -> list[tuple[str, str, object]]:
    """Name a member of a group's two objects, and what cannot be there."""
    names: dict[str, tuple[object, ...]] = {
        "brokerName": ("broker-b", 1, None),
        "clusterName": ("other", 7, None),
    }
    replicas: dict[str, tuple[object, ...]] = {
        "nextAssignBrokerId": (0, "1", None),
        "brokerIdInfo": ([], {"x": {}}, {"-1": {}}, {"01": {}}, {"9" * 25: {}}, {"1": {}}, None),
        "formerBrokerIdInfo": ({"\u0661": {}}, {"1": []}, None),
    }
    sets: dict[str, tuple[object, ...]] = {
        "masterBrokerId": (99, "1"),
        "masterEpoch": (-1, 1 << 31, None),
        "syncStateSet": ("1", [-1], ["1"], None),
        "syncStateSetEpoch": (-1, None),
        "unfit": (7, None),
    }
    return [
        (table, member, value)
        for table, members in (
            ("replicaInfoTable", names | replicas),
            ("syncStateSetInfoTable", names | sets),
        )
        for member, values in members.items()
        for value in values
    ]


@pytest.mark.parametrize(("table", "member", "value"), _changes())
def test_a_table_that_cannot_be_is_refused(table: str, member: str, value: object) -> None:
    tables = json.loads(push_tables(replay(walk(1))))
    tables[table]["broker-a"][member] = value
    with pytest.raises(PacketError):
        pull_tables(json.dumps(tables).encode())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"clockMs":-1,"replicaInfoTable":{},"syncStateSetInfoTable":{}}',
        b'{"clockMs":1,"replicaInfoTable":{"b":{}},"syncStateSetInfoTable":{}}',
        b'{"clockMs":1,"replicaInfoTable":{},"syncStateSetInfoTable":[]}',
        b'{"clockMs":1,"replicaInfoTable":{"b":[]},"syncStateSetInfoTable":{"b":[]}}',
    ],
)
def test_tables_that_cannot_be_leave_the_state_as_it_is(body: bytes) -> None:
    machine = ControllerStateMachine()
    for entry in walk(1):
        machine.on_apply(entry)
    before = machine.state
    with pytest.raises(SnapshotError):
        machine.decode_snapshot(reader_of(body))
    assert machine.state is before


def test_a_snapshot_that_is_decoded_is_not_loaded() -> None:
    machine = ControllerStateMachine()
    before = machine.state
    machine.decode_snapshot(reader_of(push_tables(ControllerState())))
    assert machine.state is before


# ---- Starts ----


@given(logs(), st.data())
@settings(max_examples=60)
def test_a_controller_with_snapshots_goes_on_as_one_without(
    log: list[Entry], data: st.DataObject
) -> None:
    """The disk loses at each restart all that it may lose."""
    options = replace(
        OPTIONS,
        snapshots=SnapshotOptions(
            snapshot_threshold=data.draw(st.integers(1, 5)),
            max_snapshot_reserved_num=data.draw(st.integers(1, 3)),
        ),
    )
    disk = MemoryDisk()
    node, _ = ControllerNode.open(disk, options)
    restarts = data.draw(st.sets(st.integers(0, len(log)), max_size=4))
    for index, entry in enumerate(log):
        if index in restarts:
            disk.lose_unsynced()
            node, _ = ControllerNode.open(disk, options)
        node.log.propose(entry)
        assert node.state == replay(log[: index + 1])


def test_a_start_applies_the_log_behind_the_snapshot_only() -> None:
    log = walk(3)
    disk = MemoryDisk()
    node = committed(disk, log)
    again, opened = ControllerNode.open(disk, OPTIONS)
    assert again.state == node.state == replay(log)
    assert again.loaded.index == len(log) // 3 * 3
    assert again.loaded.replayed == len(log) % 3
    assert opened.first_index == again.loaded.index - 3 + 1


def test_the_defaults_of_rip_59_leave_a_short_log_alone() -> None:
    disk = MemoryDisk()
    node, _ = ControllerNode.open(disk, ControllerOptions(metadata=METADATA))
    for entry in walk(3):
        node.log.propose(entry)
    assert disk.names("snapshot") == ()


def test_a_log_of_before_the_snapshots_is_taken_over() -> None:
    disk, log = MemoryDisk(), walk(4)
    node, _ = ControllerNode.open(disk, ControllerOptions(metadata=METADATA))
    for entry in log[:-6]:
        node.log.propose(entry)
    assert disk.read("controllerLog").startswith(b"RKCTLOG1")
    committed(disk, log[-6:])
    assert disk.read("controllerLog").startswith(b"RKCTLOG2")
    assert ControllerNode.open(disk, OPTIONS)[0].state == replay(log)


def test_a_damaged_snapshot_is_passed_over_and_two_are_a_refusal() -> None:
    disk, log = MemoryDisk(), walk(5)
    committed(disk, log)
    names = disk.names("snapshot")
    assert len(names) == 2
    for number, name in enumerate(sorted(names, key=_index, reverse=True)):
        path = f"snapshot/{name}"
        disk.write(path, 100, bytes([disk.read(path, 100, 1)[0] ^ 4]))
        if number == 0:
            again, _ = ControllerNode.open(disk, OPTIONS)
            assert (again.state, len(again.loaded.damaged)) == (replay(log), 1)
    with pytest.raises(SnapshotGapError):
        ControllerNode.open(disk, OPTIONS)


def _index(name: str) -> int:
    return int(name.rpartition("_")[2])


def test_every_power_cut_leaves_the_state_of_one_entry() -> None:
    log = walk(6)[:10]
    states = [replay(log[:size]) for size in range(len(log) + 1)]

    def act(disk: Disk, told: Told) -> None:
        node, _ = ControllerNode.open(disk, OPTIONS)
        for number, entry in enumerate(log, start=1):
            node.log.propose(entry)
            told.append(number)

    looked = 0
    for torn in every_tear(MemoryDisk, act):
        node, _ = ControllerNode.open(torn.disk, OPTIONS)
        least = torn.told[-1] if torn.told else 0
        assert node.state in states[least : least + 2], (torn.cut_before, torn.how)
        looked += 1
    assert looked >= 900


def test_b53_brings_back_a_group_that_the_snapshot_does_not_have() -> None:
    for bugs, groups in ((frozenset[Bug](), set[str]()), (frozenset({Bug.B53}), {"broker-a"})):
        machine = ControllerStateMachine(controller_rules(bugs))
        for entry in walk(1):
            machine.on_apply(entry)
        machine.on_snapshot_load(ControllerState())
        assert set(machine.state.groups) == groups
