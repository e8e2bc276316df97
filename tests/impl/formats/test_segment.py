"""Segments of a CommitLog: the golden log with every truncation and every flipped bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import CommitLogError
from rocketha.formats.message import Message, Record, RecordCheck, push_blank
from rocketha.formats.segment import (
    decode_segment,
    decode_whole_segment,
    segment_name,
    segment_start,
)
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import Offset, SizeBytes
from tests.golden.generate import MESSAGES, SEGMENT_SIZE, golden_segments

GOLDEN = Path(__file__).parents[2] / "golden" / "commitlog"
STARTS = (Offset(0), Offset(SEGMENT_SIZE))


def _golden(start: Offset) -> bytes:
    return (GOLDEN / segment_name(start)).read_bytes()


def _decode(data: bytes, start: Offset) -> tuple[Record, ...]:
    return decode_whole_segment(data, start=start, size=SEGMENT_SIZE)


def test_the_golden_log_holds_the_golden_messages() -> None:
    records = [record for start in STARTS for record in _decode(_golden(start), start)]

    assert tuple(record.message for record in records) == MESSAGES
    assert [record.offset for record in records] == [0, 134, 311, 768, 1000]


def test_the_golden_log_is_what_is_written_now() -> None:
    assert golden_segments() == {segment_name(start): _golden(start) for start in STARTS}


@pytest.mark.parametrize("start", STARTS)
def test_every_truncation_of_a_golden_segment_is_refused(start: Offset) -> None:
    data = _golden(start)

    for size in range(len(data)):
        with pytest.raises(CommitLogError):
            _decode(data[:size], start)


@pytest.mark.parametrize("start", STARTS)
def test_every_flipped_bit_of_a_golden_segment_is_refused_or_without_meaning(start: Offset) -> None:
    data = _golden(start)
    records = _decode(data, start)
    without_meaning: set[int] = set()

    for bit in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            found = _decode(bytes(damaged), start)
        except CommitLogError:
            continue
        assert found == records, f"bit {bit} passes for data"
        without_meaning.add(bit // 8)

    # Only the bytes of the filler behind its header mean nothing.
    filler = data.find(bytes.fromhex("CBD43194"))
    assert without_meaning == (set() if filler < 0 else set(range(filler + 4, len(data))))


def test_a_segment_at_another_place_is_refused() -> None:
    with pytest.raises(CommitLogError, match="PHYSICALOFFSET"):
        _decode(_golden(STARTS[0]), STARTS[1])


def test_an_unwritten_segment_has_no_records() -> None:
    assert _decode(bytes(SEGMENT_SIZE), Offset(0)) == ()


def test_a_segment_may_be_a_filler_alone() -> None:
    assert _decode(push_blank(SEGMENT_SIZE), Offset(0)) == ()


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (0, "00000000000000000000"),
        (1073741824, "00000000001073741824"),
        (2**63 - 1, "09223372036854775807"),
    ],
)
def test_a_segment_is_named_by_its_start(start: int, name: str) -> None:
    """`UtilAll.offset2FileName`."""
    assert segment_name(Offset(start)) == name
    assert segment_start(name) == start


@pytest.mark.parametrize(
    "name",
    ["", "0", "0000000000000000000x", "-0000000000000000001", "09223372036854775808", "٠" * 20],
)
def test_other_names_are_no_segments(name: str) -> None:
    assert segment_start(name) is None


def test_the_size_of_a_segment_is_the_callers() -> None:
    for decode in (decode_segment, decode_whole_segment):
        with pytest.raises(CommitLogError, match="has 768 bytes, not 1024"):
            decode(_golden(STARTS[0]), start=Offset(0), size=SizeBytes(1024))


JAVAS_SIZE = SizeBytes(1024)
JAVAS = (GOLDEN.parent / "java" / "segment_after_a_cut").read_bytes()
"""Three records at 0, 136 and 352; a cut at 136; one that ends at 253; stale bytes up to 568."""


def _recovered(data: bytes, check: RecordCheck) -> tuple[list[Record], Offset, str | None]:
    """Let a CommitLog find what is in a segment of this content, the first of its log."""
    disk = MemoryDisk()
    disk.write(f"commitlog/{segment_name(Offset(0))}", 0, data)
    options = CommitLogOptions(segment_size=SizeBytes(len(data)), check=check)
    log, recovery = CommitLog.open(disk, options)
    return list(log.records()), recovery.end, str(recovery.damage)


def test_a_segment_after_a_cut_is_valid_up_to_its_end_and_the_rest_is_stale() -> None:
    segment = decode_segment(JAVAS, start=Offset(0), size=JAVAS_SIZE, check=RecordCheck.BODY)

    assert [(r.offset, r.message.body) for r in segment.records] == [
        (0, b"first" * 8),
        (136, b"instead" * 3),
    ]
    assert segment.end == 253
    assert str(segment.rest) == "MAGIC at byte 257: is 0x6F6E6473"
    found = (list(segment.records), segment.end, str(segment.rest))
    assert _recovered(JAVAS, RecordCheck.BODY) == found
    with pytest.raises(CommitLogError, match="MAGIC at byte 257"):
        decode_whole_segment(JAVAS, start=Offset(0), size=JAVAS_SIZE, check=RecordCheck.BODY)


def test_a_cut_where_nothing_was_written_on_shows_no_end() -> None:
    """B07: recovery finds what was cut off, too."""
    disk = MemoryDisk()
    options = CommitLogOptions(segment_size=SEGMENT_SIZE, durable_truncate=False)
    log, _ = CommitLog.open(disk, options)
    kept, cut = (log.append(Message(topic="t", body=body)) for body in (b"kept", b"cut"))
    log.truncate(cut.offset)
    raw = disk.read("commitlog/" + segment_name(Offset(0))).ljust(SEGMENT_SIZE, b"\0")

    segment = decode_segment(raw, start=Offset(0), size=SEGMENT_SIZE)

    assert (segment.records, segment.rest) == ((kept, cut), None)


@pytest.mark.parametrize("step", [0, 1])
def test_every_flipped_bit_and_truncation_of_a_cut_segment_is_refused_or_read(step: int) -> None:
    ends: set[int] = set()
    for bit in range(step, len(JAVAS) * 8, 2):
        damaged = bytearray(JAVAS)
        damaged[bit // 8] ^= 1 << bit % 8
        found = decode_segment(
            bytes(damaged), start=Offset(0), size=JAVAS_SIZE, check=RecordCheck.BODY
        )
        ends.add(found.end)
    for size in range(len(JAVAS)):
        with pytest.raises(CommitLogError):
            decode_segment(JAVAS[:size], start=Offset(0), size=JAVAS_SIZE)
    assert ends == {0, 136, 253}


@given(st.data())
def test_a_segment_of_a_log_that_was_cut_and_written_on_is_what_recovery_finds(
    data: st.DataObject,
) -> None:
    """With `durable_truncate` off our log leaves stale bytes as RocketMQ's does."""
    size, check = SizeBytes(600), data.draw(st.sampled_from(RecordCheck))
    disk = MemoryDisk()
    options = CommitLogOptions(segment_size=size, check=check, durable_truncate=False)
    log, _ = CommitLog.open(disk, options)
    for _ in range(data.draw(st.integers(1, 3))):
        log.truncate(data.draw(st.sampled_from([*log.record_offsets(), log.max_phy_offset])))
        for body in data.draw(st.lists(st.binary(max_size=60), max_size=4)):
            log.append(Message(topic="t", body=body))
    raw = disk.read("commitlog/" + segment_name(Offset(0))) if disk.names("commitlog") else b""
    raw = raw.ljust(size, b"\0")

    segment = decode_segment(raw, start=Offset(0), size=size, check=check)

    written = [record for record in log.records() if record.offset < size]
    assert list(segment.records)[: len(written)] == written, "never less than the log"
    records, end, damage = _recovered(raw, check)
    assert (list(segment.records), segment.end) == (records, end)
    assert segment.rest is None or str(segment.rest) == damage
    assert segment.rest is not None or not any(raw[segment.end :])
