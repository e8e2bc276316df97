"""The CommitLog on a disk: appending, recovering, truncating, with the power cut everywhere."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import CommitLogError, EncodingError, IncompleteRecordError
from rocketha.formats.message import Message, Record, RecordCheck
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.disk import Disk, RealDisk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import Offset, SizeBytes
from tests.golden.generate import MESSAGES, SEGMENT_SIZE, golden_segments
from tests.impl.storage.power_cuts import AfterCut, after_every_power_cut

OPTIONS = CommitLogOptions(segment_size=SizeBytes(400))
BUG_B07 = CommitLogOptions(segment_size=SizeBytes(400), durable_truncate=False)
SIZE = 114
"""Bytes of a record of `_message`; three of them and a filler of 58 make a segment."""

Bodies = tuple[bytes, ...]


def _message(text: str) -> Message:
    return Message(topic="t", body=text.encode().ljust(2))


def _open(disk: Disk, options: CommitLogOptions = OPTIONS) -> CommitLog:
    return CommitLog.open(disk, options)[0]


def _bodies(log: CommitLog) -> Bodies:
    return tuple(record.message.body for record in log.records())


def _filled(disk: Disk, count: int, *, text: str = "a") -> CommitLog:
    """Append this many records and make them durable."""
    log = _open(disk)
    for index in range(count):
        log.append(_message(f"{text}{index}"))
    log.flush()
    return log


def _expected(count: int, *, text: str = "a") -> Bodies:
    return tuple(f"{text}{index}".encode() for index in range(count))


def test_a_new_log_is_empty() -> None:
    log, recovery = CommitLog.open(MemoryDisk(), OPTIONS)

    assert (log.min_offset, log.max_phy_offset, log.record_offsets()) == (0, 0, ())
    assert (recovery.end, recovery.disk_end, recovery.damage) == (0, 0, None)


def test_records_follow_each_other_and_segments_end_with_a_filler() -> None:
    disk = MemoryDisk()

    log = _filled(disk, 4)

    assert log.record_offsets() == (0, SIZE, 2 * SIZE, 400)
    assert log.max_phy_offset == 400 + SIZE
    assert disk.read(f"commitlog/{0:020}")[342:350] == bytes.fromhex("0000003A CBD43194")
    assert (disk.size(f"commitlog/{0:020}"), disk.size(f"commitlog/{400:020}")) == (400, SIZE)


@pytest.mark.parametrize(("size", "segments"), [(SIZE * 2 + 8, 1), (SIZE * 2 + 7, 2)])
def test_eight_bytes_of_a_segment_stay_for_the_filler(size: int, segments: int) -> None:
    disk = MemoryDisk()
    log = _open(disk, CommitLogOptions(segment_size=SizeBytes(size)))

    for text in ("a0", "a1"):
        log.append(_message(text))

    assert len(disk.names("commitlog")) == segments
    assert _bodies(log) == _expected(2)


def test_a_message_larger_than_a_segment_is_refused_and_changes_nothing() -> None:
    log = _filled(MemoryDisk(), 1)

    with pytest.raises(EncodingError, match="a segment has 400"):
        log.append(Message(topic="t", body=bytes(400)))

    assert log.max_phy_offset == SIZE


@pytest.mark.parametrize("count", range(8))
def test_a_log_is_recovered_as_it_was(count: int) -> None:
    disk = MemoryDisk()
    before = _filled(disk, count)

    after, recovery = CommitLog.open(disk, OPTIONS)

    assert _bodies(after) == _expected(count)
    assert after.record_offsets() == before.record_offsets()
    assert after.max_phy_offset == after.flushed_offset == before.max_phy_offset
    assert (recovery.end, recovery.damage) == (before.max_phy_offset, None)


def test_a_log_on_a_real_disk_is_recovered_as_it_was(tmp_path: Path) -> None:
    _filled(RealDisk(tmp_path), 7).truncate(Offset(400 + SIZE))

    log = _open(RealDisk(tmp_path))

    assert _bodies(log) == _expected(4)
    assert log.append(_message("a4")).offset == 400 + SIZE
    assert sorted(path.name for path in (tmp_path / "commitlog").iterdir()) == [
        f"{0:020}",
        f"{400:020}",
    ]


def test_segments_that_rocketmq_allocated_as_a_whole_are_recovered() -> None:
    disk = MemoryDisk()
    for name, data in golden_segments().items():
        disk.write(f"commitlog/{name}", 0, data)

    log, recovery = CommitLog.open(disk, CommitLogOptions(segment_size=SEGMENT_SIZE))

    assert tuple(record.message for record in log.records()) == MESSAGES
    assert recovery.disk_end == 2 * SEGMENT_SIZE
    assert recovery.end == 1000 + 91 + 12 + len(b"last") + 20
    assert log.max_phy_offset == recovery.end


def test_records_without_the_reserved_checksum_are_recovered_on_demand() -> None:
    disk = MemoryDisk()
    options = CommitLogOptions(segment_size=SizeBytes(400), check=RecordCheck.BODY)
    log = _open(disk, options)
    log.append(_message("a0"))

    assert _bodies(_open(disk, options)) == _expected(1)
    assert _bodies(_open(disk)) == ()


def test_a_byte_changed_anywhere_leaves_a_first_part_of_the_log() -> None:
    golden = golden_segments()
    for name, data in golden.items():
        for at in range(len(data)):
            disk = MemoryDisk()
            for other, content in golden.items():
                disk.write(f"commitlog/{other}", 0, content)
            disk.write(f"commitlog/{name}", at, bytes([data[at] ^ 1 << at % 8]))

            log = _open(disk, CommitLogOptions(segment_size=SEGMENT_SIZE))

            found = tuple(record.message for record in log.records())
            assert found == MESSAGES[: len(found)], f"byte {at} of {name}"


def test_a_file_cut_anywhere_leaves_a_first_part_of_the_log() -> None:
    for size in range(400 + 3 * SIZE):
        disk = MemoryDisk()
        _filled(disk, 6)
        if size < 400:
            disk.truncate(f"commitlog/{0:020}", size)
        else:
            disk.truncate(f"commitlog/{400:020}", size - 400)

        log, recovery = CommitLog.open(disk, OPTIONS)

        whole = size // SIZE if size < 400 else 3 + (size - 400) // SIZE
        assert _bodies(log) == _expected(min(whole, 3) if size < 400 else whole)
        assert recovery.end == log.max_phy_offset <= size
        assert log.append(_message("zz")).offset >= recovery.end
        assert _bodies(_open(disk))[-1] == b"zz"


def test_recovery_tells_what_is_broken() -> None:
    disk = MemoryDisk()
    _filled(disk, 6)
    disk.write(f"commitlog/{0:020}", SIZE + 90, b"X")

    _, recovery = CommitLog.open(disk, OPTIONS)

    assert (recovery.end, recovery.disk_end) == (SIZE, 400 + 3 * SIZE)
    assert recovery.damage is not None
    assert recovery.damage.offset == SIZE
    assert disk.names("commitlog") == (f"{0:020}",)


def test_segments_behind_a_gap_are_removed() -> None:
    disk = MemoryDisk()
    _filled(disk, 9)
    disk.unlink(f"commitlog/{400:020}")

    log = _open(disk)

    assert (_bodies(log), log.max_phy_offset) == (_expected(3), 400)
    assert disk.names("commitlog") == (f"{0:020}",)


@pytest.mark.parametrize(
    ("name", "said"),
    [("readme", "is no segment"), (f"{7:020}", "is no segment"), (f"{0:020}", "is longer")],
)
def test_files_that_are_no_segments_of_this_size_are_refused(name: str, said: str) -> None:
    disk = MemoryDisk()
    disk.write(f"commitlog/{name}", 0, bytes(401))

    with pytest.raises(CommitLogError, match=said):
        _open(disk)


@given(st.data())
def test_a_slave_that_receives_any_pieces_has_the_masters_log(data: st.DataObject) -> None:
    master, slave, disk = _filled(MemoryDisk(), 7), _open(MemoryDisk()), MemoryDisk()
    slave = _open(disk)
    while slave.max_phy_offset < master.max_phy_offset:
        at = slave.max_phy_offset
        slave.append_raw(at, master.read(at, data.draw(st.integers(1, 500))))

    assert slave.read(Offset(0), 10_000) == master.read(Offset(0), 10_000)
    assert _bodies(slave) == _bodies(_open(disk)) == _expected(7)


@pytest.mark.parametrize("extra", [1, 7, 8, 50, SIZE - 1])
def test_a_part_of_a_record_is_cut_off(extra: int) -> None:
    master, slave = _filled(MemoryDisk(), 3), _open(MemoryDisk())
    slave.append_raw(Offset(0), master.read(Offset(0), SIZE + extra))

    assert slave.max_phy_offset == SIZE + extra
    assert slave.aligned_end() == SIZE
    assert _bodies(slave) == _expected(1)
    assert slave.truncate_invalid_tail()
    assert slave.max_phy_offset == SIZE
    assert not slave.truncate_invalid_tail()


def test_a_part_of_a_filler_is_cut_off() -> None:
    master, slave = _filled(MemoryDisk(), 4), _open(MemoryDisk())
    slave.append_raw(Offset(0), master.read(Offset(0), 3 * SIZE + 20))

    assert slave.truncate_invalid_tail()
    assert slave.max_phy_offset == 3 * SIZE


def test_nothing_is_appended_behind_a_part_of_a_record() -> None:
    master, slave = _filled(MemoryDisk(), 3), _open(MemoryDisk())
    slave.append_raw(Offset(0), master.read(Offset(0), SIZE + 1))

    with pytest.raises(CommitLogError, match="ends inside a record"):
        slave.append(_message("xx"))


def test_bytes_that_do_not_continue_the_log_are_refused() -> None:
    log = _filled(MemoryDisk(), 1)

    for offset in (0, SIZE - 1, SIZE + 1):
        with pytest.raises(CommitLogError, match=f"the log ends at {SIZE}"):
            log.append_raw(Offset(offset), b"x")


def test_an_empty_log_may_begin_with_a_later_segment() -> None:
    master, disk = _filled(MemoryDisk(), 7), MemoryDisk()
    slave = _open(disk)

    slave.append_raw(Offset(400), master.read(Offset(400), 1000))

    for log in (slave, _open(disk)):
        assert (log.min_offset, log.max_phy_offset) == (400, master.max_phy_offset)
        assert _bodies(log) == _expected(7)[3:]


def test_an_empty_log_begins_inside_a_segment_only_by_a_bug() -> None:
    """B83: a slave without data takes bytes at its master's end, and keeps a hole."""
    disk = MemoryDisk()
    slave = _open(disk)

    with pytest.raises(CommitLogError, match="inside a segment"):
        slave.append_raw(Offset(SIZE), b"bytes")
    slave.append_raw(Offset(SIZE), b"bytes", allow_hole=True)

    assert (slave.min_offset, slave.max_phy_offset) == (0, SIZE + 5)
    assert slave.read(Offset(SIZE - 1), 9) == b"\0bytes"
    assert _open(disk).max_phy_offset == 0


def test_a_read_ends_where_the_log_does() -> None:
    log = _filled(MemoryDisk(), 4)

    assert len(log.read(Offset(300), 1000)) == 400 + SIZE - 300
    assert log.read(log.max_phy_offset, 10) == b""
    with pytest.raises(CommitLogError, match=r"the log is \[0, 514\)"):
        log.read(Offset(515), 1)


def test_records_begin_and_the_log_ends_at_boundaries() -> None:
    log = _filled(MemoryDisk(), 4)

    boundaries = [offset for offset in range(520) if log.is_record_boundary(Offset(offset))]

    # The filler begins at 342.
    assert boundaries == [0, SIZE, 2 * SIZE, 342, 400, 514]


def test_a_synchronized_log_survives() -> None:
    disk = MemoryDisk()
    log = _filled(disk, 5)
    log.append(_message("b"))

    assert log.flushed_offset == 400 + 2 * SIZE
    disk.lose_unsynced()

    assert _bodies(_open(disk)) == _expected(5)


def test_after_a_power_cut_the_log_has_at_least_what_was_synchronized() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        disk = MemoryDisk()
        log = _filled(disk, seed % 5)
        for index in range(seed % 5, 9):
            log.append(_message(f"a{index}"))
        disk.power_cut(rng)

        log = _open(disk)

        found = _bodies(log)
        assert found == _expected(9)[: len(found)]
        assert len(found) >= seed % 5


def _truncation(cut_at: int, options: CommitLogOptions) -> list[AfterCut[Bodies]]:
    """Truncate nine records, with the power cut everywhere; return what recovery finds."""

    def act(disk: Disk) -> None:
        log = _open(disk, options)
        log.truncate(Offset(cut_at))
        assert log.max_phy_offset == cut_at

    def look(disk: Disk) -> Bodies:
        return _bodies(_open(disk, options))

    return list(after_every_power_cut(lambda disk: _filled(disk, 9), act, look))


CUTS = pytest.mark.parametrize(
    ("cut_at", "kept"),
    [(0, 0), (SIZE, 1), (342, 3), (400, 3), (400 + SIZE, 4), (800, 6), (800 + 2 * SIZE, 8)],
    ids=["all", "one", "filler", "segment", "two segments", "last segment", "last record"],
)


@CUTS
def test_after_a_power_cut_the_log_is_the_one_before_or_after_the_truncation(
    cut_at: int, kept: int
) -> None:
    outcomes = _truncation(cut_at, OPTIONS)

    assert {outcome.found for outcome in outcomes} == {_expected(9), _expected(kept)}
    assert {outcome.found for outcome in outcomes if outcome.ended} == {_expected(kept)}


@CUTS
def test_b07_a_truncation_in_memory_is_detected(cut_at: int, kept: int) -> None:
    outcomes = _truncation(cut_at, BUG_B07)

    assert _expected(9) in {outcome.found for outcome in outcomes if outcome.ended}
    assert kept < 9


def test_b07_looks_right_as_long_as_the_replica_lives() -> None:
    disk = MemoryDisk()
    _filled(disk, 9)
    log = _open(disk, BUG_B07)

    log.truncate(Offset(SIZE))
    log.append(_message("b0"))

    assert _bodies(log) == (b"a0", b"b0")
    assert log.max_phy_offset == 2 * SIZE
    log.flush()
    assert _bodies(_open(disk, BUG_B07)) == (b"a0", b"b0", *_expected(9)[2:])


def test_records_after_a_truncation_are_followed_by_no_old_ones() -> None:
    """Power cuts while a truncated log grows again, over the places of the old records."""

    def act(disk: Disk) -> None:
        log = _open(disk)
        log.truncate(Offset(SIZE))
        for index in range(1, 5):
            log.append(_message(f"b{index}"))
        log.flush()

    new = (b"a0", *_expected(5, text="b")[1:])
    for outcome in after_every_power_cut(
        lambda disk: _filled(disk, 9), act, lambda disk: _bodies(_open(disk))
    ):
        assert outcome.found in (_expected(9), *(new[:size] for size in range(1, 6)))
        assert outcome.found == new or not outcome.ended


def test_recovery_can_be_cut_itself() -> None:
    def setup(disk: Disk) -> None:
        _filled(disk, 9)
        disk.write(f"commitlog/{0:020}", SIZE + 90, b"X")
        disk.fsync(f"commitlog/{0:020}")

    outcomes = after_every_power_cut(setup, _open, lambda disk: _bodies(_open(disk)))

    assert {outcome.found for outcome in outcomes} == {_expected(1)}


def test_a_truncation_below_the_first_segment_leaves_nothing() -> None:
    master, disk = _filled(MemoryDisk(), 7), MemoryDisk()
    slave = _open(disk)
    slave.append_raw(Offset(400), master.read(Offset(400), 1000))

    slave.truncate(Offset(10))

    assert (slave.min_offset, slave.max_phy_offset, _bodies(slave)) == (0, 0, ())
    disk.lose_unsynced()
    assert _open(disk).max_phy_offset == 0


def test_a_truncation_behind_the_end_changes_nothing() -> None:
    log = _filled(MemoryDisk(), 2)

    log.truncate(Offset(2 * SIZE))
    log.truncate(Offset(9999))

    assert _bodies(log) == _expected(2)


def test_a_truncation_inside_a_record_leaves_a_part_of_it() -> None:
    log = _filled(MemoryDisk(), 2)

    log.truncate(Offset(SIZE + 5))

    assert (log.max_phy_offset, log.aligned_end()) == (SIZE + 5, SIZE)
    assert _bodies(log) == _expected(1)


STEPS = st.lists(
    st.one_of(
        st.just(("append", 0)),
        st.just(("append", 0)),
        st.tuples(st.just("truncate"), st.integers(0, 1500)),
        st.just(("flush", 0)),
        st.just(("reopen", 0)),
        st.just(("power", 0)),
    ),
    max_size=30,
)


@given(STEPS, st.randoms(use_true_random=False))
def test_a_log_is_a_list_of_records_through_everything(
    steps: list[tuple[str, int]], rng: random.Random
) -> None:
    """Compare with a list; only what was not synchronized may be lost, and only from the end."""
    disk = MemoryDisk()
    log = _open(disk)
    model: list[Record] = []
    durable = 0
    for number, (name, at) in enumerate(steps):
        match name:
            case "append":
                log.truncate_invalid_tail()
                model.append(log.append(_message(f"{number}")))
            case "truncate":
                log.truncate(Offset(at))
                model = [record for record in model if record.offset + record.size <= at]
                durable = min(durable, len(model))
            case "flush":
                log.flush()
                durable = len(model)
            case "reopen":
                log = _open(disk)
                durable = len(model)
            case _:
                disk.power_cut(rng)
                log = _open(disk)
                survived = len(log.record_offsets())
                assert durable <= survived <= len(model)
                model, durable = model[:survived], survived
        assert list(log.records()) == model


def test_an_incomplete_tail_is_told_from_a_broken_one() -> None:
    disk = MemoryDisk()
    _filled(disk, 2)
    disk.truncate(f"commitlog/{0:020}", SIZE + 50)

    _, recovery = CommitLog.open(disk, OPTIONS)

    assert isinstance(recovery.damage, IncompleteRecordError)
