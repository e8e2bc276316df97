"""The epoch file: golden files, damage, and what RocketMQ reads otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.format_strategies import epoch_entries
from rocketha.errors import EpochFileError
from rocketha.formats.epoch_file import EPOCH_FILE_MAX, decode_epoch_file, encode_epoch_file
from rocketha.types import UNBOUNDED, Epoch, EpochEntry, Offset, chain_epochs

GOLDEN = Path(__file__).parents[2] / "golden"
SEVEN_EIGHT = chain_epochs([(Epoch(7), Offset(7000)), (Epoch(8), Offset(8000))])
GOLDEN_FILES = [
    ("epochFileCheckpoint", chain_epochs([(Epoch(1), Offset(0)), (Epoch(2), Offset(100))]), b"\n"),
    ("epochFileCheckpoint.crlf", SEVEN_EIGHT, b"\r\n"),
]
golden_files = pytest.mark.parametrize(
    ("name", "entries", "line_break"), GOLDEN_FILES, ids=["LF", "CRLF"]
)

# The checksums are right, so that the line itself is what is refused.
REFUSED = [
    ("nothing", b"", "the last line has no end"),
    ("no checksum", b"0\n", "the checksum is missing"),
    ("no last line break", b"0\n0", "the last line has no end"),
    ("other line breaks", b"0\r\n0\n", "the last line has no end"),
    ("CRLF after LF", b"0\n0\r\n", "is not a number"),
    ("old Macintosh", b"0\r0\r", "the last line has no end"),
    ("signed count", b"+0\n0\n", "'+0' is not a number"),
    ("count with a zero before", b"00\n0\n", "'00' is not a number"),
    ("count with a space", b"0 \n0\n", "'0 ' is not a number"),
    ("negative count", b"-1\n0\n", "'-1' is not a number"),
    ("count in Arabic digits", "\u0660\n0\n".encode(), "is not a number"),
    ("count that is no int", b"2147483648\n0\n", "is not a number"),
    ("endless count", b"9" * 10_000 + b"\n0\n", "is not a number"),
    ("empty checksum", b"0\n\n", "'' is not a number"),
    ("too few entries", b"1\n0\n", "is 1, but 0 lines follow"),
    ("too many entries", b"0\n0\n1-0\n", "is 0, but 1 lines follow"),
    ("other checksum", b"0\n1\n", "is 1, but the entries have 0"),
]
LINES = [
    ("empty", b""),
    ("one number", b"1"),
    ("three numbers", b"1-0-0"),
    ("signed epoch", b"+1-0"),
    ("negative epoch", b"-1-0"),
    ("negative start", b"1--1"),
    ("zero before the epoch", b"01-0"),
    ("zero before the start", b"1-00"),
    ("space", b"1 -0"),
    ("space at the end", b"1-0 "),
    ("carriage return at the end", b"1-0\r"),
    ("underscore", b"1_0-0"),
    ("Arabic digit", "\u0661-0".encode()),
    ("epoch of 2^31", b"2147483648-0"),
    ("start of 2^63", b"1-9223372036854775808"),
]


def _file(*lines: bytes) -> bytes:
    """Make a file of these entry lines with the right count and checksum."""
    content = b"".join(line + b"\n" for line in lines)
    return b"%d\n%d\n" % (len(lines), _crc32(content) & 0x7FFFFFFF) + content


def _crc32(data: bytes) -> int:
    """Compute CRC-32 bit by bit: not the code under test."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@golden_files
def test_golden_files_are_read_and_written(
    name: str, entries: tuple[EpochEntry, ...], line_break: bytes
) -> None:
    data = (GOLDEN / name).read_bytes()

    assert decode_epoch_file(data) == entries
    assert encode_epoch_file(entries, line_break=line_break) == data


def test_the_line_break_is_part_of_the_checksum() -> None:
    """The example in the Javadoc of `CheckpointFile`."""
    assert encode_epoch_file(SEVEN_EIGHT) == b"2\n773307083\n7-7000\n8-8000\n"


@golden_files
def test_every_truncation_of_a_golden_file_is_refused(
    name: str,
    entries: tuple[EpochEntry, ...],  # noqa: ARG001
    line_break: bytes,  # noqa: ARG001
) -> None:
    data = (GOLDEN / name).read_bytes()

    for size in range(len(data)):
        with pytest.raises(EpochFileError):
            decode_epoch_file(data[:size])


@golden_files
def test_every_flipped_bit_of_a_golden_file_is_refused(
    name: str,
    entries: tuple[EpochEntry, ...],  # noqa: ARG001
    line_break: bytes,  # noqa: ARG001
) -> None:
    data = (GOLDEN / name).read_bytes()

    for bit in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(EpochFileError):
            decode_epoch_file(bytes(damaged))


@pytest.mark.parametrize(
    ("data", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_is_no_epoch_file_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(EpochFileError, match=re.escape(said)):
        decode_epoch_file(data)


@pytest.mark.parametrize("line", [row[1] for row in LINES], ids=[row[0] for row in LINES])
def test_a_line_that_is_not_spelled_like_ours_is_refused(line: bytes) -> None:
    with pytest.raises(EpochFileError, match="entry at byte"):
        decode_epoch_file(_file(line))


@pytest.mark.parametrize(
    "lines",
    [(b"2-0", b"1-5"), (b"1-0", b"1-5"), (b"1-5", b"2-5"), (b"1-5", b"2-4")],
    ids=["epoch falls", "epoch stays", "start stays", "start falls"],
)
def test_entries_that_do_not_grow_are_refused(lines: tuple[bytes, bytes]) -> None:
    with pytest.raises(EpochFileError, match="does not follow"):
        decode_epoch_file(_file(*lines))


def test_an_error_tells_where() -> None:
    with pytest.raises(EpochFileError) as caught:
        decode_epoch_file(_file(b"1-0", b"2-x"))

    at = _file(b"1-0", b"2-x").index(b"2-x")
    assert (caught.value.what, caught.value.offset) == ("entry", at)


def test_no_epochs_make_a_real_file() -> None:
    """RocketMQ writes nothing and keeps the old file (B06)."""
    assert encode_epoch_file(()) == b"0\n0\n"
    assert decode_epoch_file(b"0\n0\n") == ()


def test_a_file_without_a_checksum_is_accepted_only_on_demand() -> None:
    unchecked = b"1\n0\n1-0\n"

    assert decode_epoch_file(unchecked, accept_unchecked=True) == (
        EpochEntry(Epoch(1), Offset(0), UNBOUNDED),
    )
    with pytest.raises(EpochFileError, match="checksum"):
        decode_epoch_file(unchecked)


def test_a_wrong_checksum_is_refused_on_demand_too() -> None:
    with pytest.raises(EpochFileError, match="checksum"):
        decode_epoch_file(b"1\n5\n1-0\n", accept_unchecked=True)


def test_a_huge_file_is_refused_unread() -> None:
    with pytest.raises(EpochFileError, match="over"):
        decode_epoch_file(b"0" * (EPOCH_FILE_MAX + 1))


@given(epoch_entries(), st.sampled_from((b"\n", b"\r\n")))
def test_what_is_written_is_read(entries: tuple[EpochEntry, ...], line_break: bytes) -> None:
    assert decode_epoch_file(encode_epoch_file(entries, line_break=line_break)) == entries


@given(st.data())
def test_garbage_raises_nothing_but_the_typed_error(data: st.DataObject) -> None:
    lines = st.lists(st.text("0123456789-+ \r\u0663x", max_size=12).map(str.encode), max_size=4)
    garbage = data.draw(st.binary(max_size=60) | lines.map(lambda chosen: _file(*chosen)))

    try:
        entries = decode_epoch_file(garbage, accept_unchecked=data.draw(st.booleans()))
    except EpochFileError:
        return
    assert entries == chain_epochs([(entry.epoch, entry.start_offset) for entry in entries])
