"""The durable log: every place where the power may go off, and every flipped bit."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.controller.log import DurableLog
from rocketha.errors import ControllerLogError, DiskError, EncodingError, PowerCutError
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk
from tests.impl.storage.power_cuts import after_every_power_cut

PATH = "controllerLog"
ENTRIES = [b'{"a":1}', b"x", bytes(40)]


def written(*entries: bytes) -> MemoryDisk:
    """Make a disk with a log."""
    disk = MemoryDisk()
    append(disk, *entries)
    return disk


def append(disk: Disk, *entries: bytes) -> None:
    """Open the log and append to it."""
    log, _ = DurableLog.open(disk)
    for entry in entries:
        log.append(entry)


def found(disk: Disk) -> list[bytes]:
    """Open the log and read it."""
    return list(DurableLog.open(disk)[1].entries)


def test_the_file_has_the_bytes_of_the_table() -> None:
    disk = written(b"abc")
    # CRC-32 of 0000000000000008 00000003 616263
    assert disk.read(PATH) == b"RKCTLOG1" + bytes.fromhex("00000003 DCE62F6C 616263")


def test_what_was_appended_is_found_and_goes_on() -> None:
    disk = written(*ENTRIES)
    log, opened = DurableLog.open(disk)
    assert (list(opened.entries), opened.torn) == (ENTRIES, 0)
    log.append(b"more")
    assert found(disk) == [*ENTRIES, b"more"]
    assert DurableLog.open(disk)[0].size == disk.size(PATH)


def test_what_was_appended_survives_the_loss_of_all_that_is_not_synchronized() -> None:
    disk = written(*ENTRIES)
    disk.lose_unsynced()
    assert found(disk) == ENTRIES


def test_a_power_cut_at_any_place_takes_at_most_the_entry_that_nobody_was_told_of() -> None:
    told = 0
    for outcome in after_every_power_cut(
        lambda disk: append(disk, *ENTRIES[:2]), lambda disk: append(disk, ENTRIES[2]), found
    ):
        allowed = [ENTRIES] if outcome.ended else [ENTRIES, ENTRIES[:2]]
        assert outcome.found in allowed
        told += outcome.ended
    assert told


def test_a_power_cut_while_the_log_is_made_leaves_an_empty_one() -> None:
    for outcome in after_every_power_cut(lambda _: None, DurableLog.open, found):
        assert outcome.found == []


def test_a_power_cut_in_the_middle_of_opening_loses_nothing() -> None:
    torn = written(*ENTRIES).read(PATH) + b"\0\0\0\x09torn"

    def setup(disk: Disk) -> None:
        disk.write(PATH, 0, torn)
        disk.fsync(PATH)
        disk.fsync_dir("")

    for outcome in after_every_power_cut(setup, found, found):
        assert outcome.found == ENTRIES


@pytest.mark.parametrize("size", range(8, len(written(*ENTRIES).read(PATH))))
def test_a_log_that_was_cut_ends_with_its_last_whole_entry(size: int) -> None:
    disk = written(*ENTRIES)
    disk.truncate(PATH, size)
    _, opened = DurableLog.open(disk)
    assert list(opened.entries) == ENTRIES[: len(opened.entries)]
    assert disk.size(PATH) == size - opened.torn
    # It takes entries again.
    append(disk, b"new")
    assert found(disk) == [*opened.entries, b"new"]


def test_a_flipped_bit_is_refused_or_looks_like_a_torn_last_entry() -> None:
    good = written(*ENTRIES).read(PATH)
    last = len(good) - len(ENTRIES[-1]) - 8
    for bit in range(len(good) * 8):
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        disk = MemoryDisk()
        disk.write(PATH, 0, bytes(data))
        if bit // 8 < last:
            with pytest.raises(ControllerLogError):
                DurableLog.open(disk)
        else:
            assert found(disk) == ENTRIES[:-1]


def test_damage_before_a_whole_entry_is_named_with_its_place() -> None:
    disk = written(*ENTRIES)
    disk.write(PATH, 16, b"?")
    said = "controllerLog at byte 8: is damaged, but a whole record follows at 23"
    with pytest.raises(ControllerLogError, match=re.escape(said)):
        DurableLog.open(disk)
    assert disk.read(PATH)[16:17] == b"?", "a refused log is left as it is"


def test_a_file_that_is_no_log_is_left_alone() -> None:
    disk = MemoryDisk()
    disk.write(PATH, 0, b"something else")
    with pytest.raises(ControllerLogError, match="is no controller's log"):
        DurableLog.open(disk)
    assert disk.read(PATH) == b"something else"


def test_a_record_inside_of_an_entry_is_no_record() -> None:
    inner = written(b"inner").read(PATH)[8:]
    disk = written(b"first", b"before" + inner + b"after")
    size = disk.size(PATH)
    disk.truncate(PATH, size - 1)
    assert found(disk) == [b"first"]


@pytest.mark.parametrize("entry", [b"", bytes(16_777_217)])
def test_an_entry_that_is_empty_or_too_large_is_refused(entry: bytes) -> None:
    log, _ = DurableLog.open(MemoryDisk())
    with pytest.raises(EncodingError):
        log.append(entry)
    log.append(b"fine")


def test_after_an_append_that_failed_the_log_takes_no_more_before_it_is_opened_again() -> None:
    disk = written(b"a")
    cut = CutDisk(disk, cut_before=3)
    log, _ = DurableLog.open(cut)
    with pytest.raises(PowerCutError):
        log.append(b"b")
    with pytest.raises(DiskError, match="nobody knows where the log ends"):
        log.append(b"c")
    assert found(disk) in ([b"a"], [b"a", b"b"])


@given(st.binary(max_size=80))
def test_any_bytes_behind_a_log_are_cut_off_or_refused(garbage: bytes) -> None:
    disk = written(b"a")
    disk.write(PATH, disk.size(PATH), garbage)
    assert found(disk) == [b"a"]
    assert found(disk) == [b"a"]
