"""The second reading of registers, logs and snapshots agrees with the node's own code."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from rocketha.formats.controller_snapshot import SnapshotVersion, encode_snapshot
from rocketha.histories import register_files
from rocketha.histories.register_files import fold, scan_log, scan_snapshot
from rocketha.replicated_log.log import DurableLog
from rocketha.replicated_log.register import RegisterStateMachine
from rocketha.replicated_log.snapshot_files import SnapshotMeta, SnapshotWriter
from rocketha.sim.snapshot_loading.entries import draw_history, push_set
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term

LOG = "controllerLog"


def test_it_shares_no_code_with_the_node() -> None:
    text = Path(register_files.__file__).read_text("utf-8")
    imported = {
        line.split()[1].partition(".")[0]
        for line in text.splitlines()
        if line.startswith(("import ", "from "))
    }

    assert imported <= sys.stdlib_module_names


@pytest.mark.parametrize("seed", range(5))
def test_entries_make_the_same_registers(seed: int) -> None:
    history, machine = draw_history(Random(seed)), RegisterStateMachine()

    for index, registers in enumerate(fold(history.entry(i + 1) for i in range(len(history)))):
        if index:
            machine.on_replay(history.entry(index))
        assert machine.values == registers == history.states[index]


def logs() -> list[MemoryDisk]:
    """Return disks with logs as they are begun, without terms, with them, cut and reset."""
    disks = []
    for terms in ((0, 0), (1, 3, 3, 4)):
        disk = MemoryDisk()
        log, _ = DurableLog.open(disk, LOG)
        for number, term in enumerate(terms):
            log.append(push_set("a", number), Term(term))
        disks.append(disk)
    cut, reset = MemoryDisk(), MemoryDisk()
    for disk in (cut, reset):
        disk.write(LOG, 0, disks[-1].read(LOG))
    DurableLog.open(cut, LOG)[0].cut(LogIndex(3))
    DurableLog.open(reset, LOG)[0].reset(LogIndex(9), Term(7))
    return [*disks, cut, reset]


@pytest.mark.parametrize("disk", logs())
def test_a_log_is_the_same_wherever_it_is_torn(disk: MemoryDisk) -> None:
    data = disk.read(LOG)
    for end in range(28 if data[7:8] == b"2" else 8, len(data) + 1):
        left = MemoryDisk()
        left.write(LOG, 0, data[:end])
        log, _ = DurableLog.open(left, LOG)
        entries = tuple(log.entries(log.first_index))

        scanned = scan_log(data[:end])

        assert scanned is not None
        assert scanned.first == log.first_index
        assert scanned.boundary == log.term_of(LogIndex(log.first_index - 1))
        assert tuple(entry for _, entry in scanned.records) == entries
        terms = [log.term_of(LogIndex(log.first_index + i)) for i in range(len(entries))]
        assert [term for term, _ in scanned.records] == terms


def test_a_damaged_header_is_no_log() -> None:
    data = bytearray(logs()[2].read(LOG))
    data[15] ^= 1

    assert scan_log(bytes(data)) is None


def written(version: SnapshotVersion) -> bytes:
    machine = RegisterStateMachine()
    machine.on_replay(push_set("a", 7))
    meta = SnapshotMeta(last_included_index=LogIndex(5), last_included_term=Term(3))
    writer = SnapshotWriter(meta)
    machine.on_snapshot_save(writer)
    return encode_snapshot(writer._sections, version)


@pytest.mark.parametrize("version", [SnapshotVersion.CHECKED, SnapshotVersion.UNMERGED])
def test_a_snapshot_has_what_was_written(version: SnapshotVersion) -> None:
    found = scan_snapshot(written(version))

    assert found is not None
    assert (found.index, found.term, found.registers) == (5, 3, {"a": 7})


def test_no_changed_byte_and_no_missing_end_passes_for_a_snapshot() -> None:
    data = written(SnapshotVersion.CHECKED)
    for at in range(len(data)):
        assert scan_snapshot(data[:at]) is None
        assert scan_snapshot(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]) is None
