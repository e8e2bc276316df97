"""The durable log: every place where the power may go off, and every flipped bit."""

from __future__ import annotations

import re
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import ControllerLogError, DiskError, EncodingError, PowerCutError
from rocketha.known_bugs import Bug
from rocketha.known_bugs.snapshot_loading import snapshot_rules
from rocketha.replicated_log.log import DurableLog
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Term
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


def entries(log: DurableLog) -> list[bytes]:
    """Read all entries."""
    return list(log.entries(log.first_index))


def found(disk: Disk) -> list[bytes]:
    """Open the log and read it."""
    return entries(DurableLog.open(disk)[0])


def test_the_file_has_the_bytes_of_the_table() -> None:
    disk = written(b"abc")
    # CRC-32 of 0000000000000008 00000003 616263
    assert disk.read(PATH) == b"RKCTLOG1" + bytes.fromhex("00000003 DCE62F6C 616263")


def test_what_was_appended_is_found_and_goes_on() -> None:
    disk = written(*ENTRIES)
    log, opened = DurableLog.open(disk)
    assert (entries(log), opened.torn) == (ENTRIES, 0)
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
    log, opened = DurableLog.open(disk)
    there = entries(log)
    assert there == ENTRIES[: len(there)]
    assert disk.size(PATH) == size - opened.torn
    # It takes entries again.
    append(disk, b"new")
    assert found(disk) == [*there, b"new"]


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


# ---- A log whose beginning is gone ----


def with_terms(disk: Disk) -> DurableLog:
    """Write entries of two terms, and remove the first two."""
    log, _ = DurableLog.open(disk)
    for entry, term in zip([*ENTRIES, b"last"], (1, 1, 3, 3), strict=True):
        log.append(entry, Term(term))
    log.cut(LogIndex(2))
    return log


def shape(disk: Disk) -> tuple[int, Term | None, list[bytes]]:
    """Open the log; return its first index, its boundary and its entries."""
    log, opened = DurableLog.open(disk)
    assert opened.first_index == log.first_index
    boundary = log.term_of(LogIndex(log.first_index - 1))
    return log.first_index, boundary, entries(log)


def test_the_file_of_a_cut_log_has_the_bytes_of_the_table() -> None:
    disk = MemoryDisk()
    log, _ = DurableLog.open(disk)
    log.append(b"gone", Term(2))
    log.append(b"abc", Term(3))
    log.cut(LogIndex(1))
    header = b"RKCTLOG2" + bytes.fromhex("0000000000000002 0000000000000002")
    place_size_term = bytes.fromhex("000000000000001C 00000003 0000000000000003")
    assert disk.read(PATH) == (
        header
        + zlib.crc32(header).to_bytes(4)
        + bytes.fromhex("00000003")
        + zlib.crc32(place_size_term + b"abc").to_bytes(4)
        + bytes.fromhex("0000000000000003")
        + b"abc"
    )


def test_a_cut_log_goes_on() -> None:
    disk = MemoryDisk()
    log = with_terms(disk)
    log.append(b"more", Term(4))
    assert shape(disk) == (3, 1, [ENTRIES[2], b"last", b"more"])
    assert list(log.entries(LogIndex(3))) == [ENTRIES[2], b"last", b"more"]
    assert list(log.entries(LogIndex(5))) == [b"more"]
    assert list(log.entries(LogIndex(6))) == []
    assert [log.term_of(LogIndex(index)) for index in range(1, 7)] == [None, 1, 3, 3, 4, None]


def test_a_log_can_be_cut_again_and_to_its_end() -> None:
    disk = MemoryDisk()
    log = with_terms(disk)
    log.cut(LogIndex(4))
    assert (shape(disk), log.end_index) == ((5, 3, []), 4)
    log.append(b"more", Term(3))
    assert shape(disk) == (5, 3, [b"more"])


def test_a_reset_log_goes_on_behind_an_entry_that_it_never_had() -> None:
    disk = MemoryDisk()
    log = with_terms(disk)
    log.reset(LogIndex(9), Term(7))
    assert shape(disk) == (10, 7, [])


def test_an_entry_can_be_read_alone() -> None:
    log = with_terms(MemoryDisk())
    assert [log.entry(LogIndex(index)) for index in (4, 3)] == [b"last", ENTRIES[2]]


def test_an_entry_takes_the_place_of_all_that_is_there_and_behind() -> None:
    disk = MemoryDisk()
    log = with_terms(disk)
    log.overwrite(LogIndex(4), b"other", Term(5))
    assert (shape(disk), log.end_index) == ((3, 1, [ENTRIES[2], b"other"]), 4)
    log.overwrite(LogIndex(3), b"first", Term(6))
    log.append(b"more", Term(6))
    assert shape(disk) == (3, 1, [b"first", b"more"])
    assert [log.term_of(LogIndex(index)) for index in (2, 3, 4, 5)] == [1, 6, 6, None]


def test_an_entry_takes_no_place_that_is_not_there() -> None:
    log = with_terms(MemoryDisk())
    for index in (2, 5):
        with pytest.raises(AssertionError):
            log.overwrite(LogIndex(index), b"x", Term(3))
    with pytest.raises(EncodingError):
        log.overwrite(LogIndex(3), b"", Term(3))


def test_b59_forgets_the_boundary() -> None:
    disk = MemoryDisk()
    assert with_terms(disk).term_of(LogIndex(2)) == 1
    log, _ = DurableLog.open(disk, rules=snapshot_rules(frozenset({Bug.B59})))
    assert log.term_of(LogIndex(2)) == 0


def test_a_cut_may_take_the_term_of_another_entry() -> None:
    log, _ = DurableLog.open(MemoryDisk(), rules=snapshot_rules(frozenset({Bug.BOUNDARY_OF_CUT})))
    for term in (1, 1, 3):
        log.append(b"x", Term(term))
    log.cut(LogIndex(2))
    assert log.term_of(LogIndex(2)) == 3


def test_a_log_without_terms_gets_them_when_it_needs_them() -> None:
    disk = written(b"old")
    log, _ = DurableLog.open(disk)
    log.append(b"new", Term(1))
    assert shape(disk) == (1, 0, [b"old", b"new"])
    assert [log.term_of(LogIndex(index)) for index in (1, 2)] == [0, 1]


@pytest.mark.parametrize("change", ["cut", "reset", "overwrite", "terms"])
def test_a_power_cut_while_a_log_is_written_anew_leaves_the_old_one_or_the_new_one(
    change: str,
) -> None:
    def act(disk: Disk) -> None:
        log, _ = DurableLog.open(disk)
        if change == "cut":
            log.cut(LogIndex(2))
        elif change == "reset":
            log.reset(LogIndex(5), Term(2))
        elif change == "overwrite":
            log.overwrite(LogIndex(2), b"other", Term(2))
        else:
            log.append(b"more", Term(1))

    old: tuple[int, int, list[bytes]] = (1, 0, ENTRIES)
    allowed = {
        "cut": [old, (3, 0, ENTRIES[2:])],
        "reset": [old, (6, 2, [])],
        "overwrite": [old, (1, 0, [ENTRIES[0], b"other"])],
        "terms": [old, (1, 0, [*ENTRIES, b"more"])],
    }[change]
    for outcome in after_every_power_cut(lambda disk: append(disk, *ENTRIES), act, shape):
        assert outcome.found in (allowed[1:] if outcome.ended else allowed)


def test_a_flipped_bit_of_a_cut_log_is_refused_or_looks_like_a_torn_last_entry() -> None:
    disk = MemoryDisk()
    with_terms(disk)
    good = disk.read(PATH)
    last = len(good) - len(b"last") - 16
    for bit in range(len(good) * 8):
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        disk = MemoryDisk()
        disk.write(PATH, 0, bytes(data))
        if bit // 8 < last:
            with pytest.raises(ControllerLogError):
                DurableLog.open(disk)
        else:
            assert shape(disk) == (3, 1, [ENTRIES[2]])


@pytest.mark.parametrize("size", range(8, 28))
def test_a_cut_log_without_its_header_is_refused(size: int) -> None:
    disk = MemoryDisk()
    with_terms(disk)
    disk.truncate(PATH, size)
    with pytest.raises(ControllerLogError, match="damaged header"):
        DurableLog.open(disk)
