"""Segments of a CommitLog: the golden log with every truncation and every flipped bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketha.errors import CommitLogError
from rocketha.formats.message import Record, push_blank
from rocketha.formats.segment import decode_segment, segment_name, segment_start
from rocketha.types import Offset, SizeBytes
from tests.golden.generate import MESSAGES, SEGMENT_SIZE, golden_segments

GOLDEN = Path(__file__).parents[2] / "golden" / "commitlog"
STARTS = (Offset(0), Offset(SEGMENT_SIZE))


def _golden(start: Offset) -> bytes:
    return (GOLDEN / segment_name(start)).read_bytes()


def _decode(data: bytes, start: Offset) -> tuple[Record, ...]:
    return decode_segment(data, start=start, size=SEGMENT_SIZE)


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
    with pytest.raises(CommitLogError, match="has 768 bytes, not 1024"):
        decode_segment(_golden(STARTS[0]), start=Offset(0), size=SizeBytes(1024))
