"""Entries of DLedger: their bytes, their two checksums, and what is no entry."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import DLedgerFileError, EncodingError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_data_file import prefix_filler
from rocketha.formats.dledger_entry import (
    UNSYNCED_MAX,
    DLedgerEntry,
    EntryCheck,
    LogPoint,
    channel_of,
    decode_entry,
    encode_entry,
    sealed,
    unsynced_of,
)
from rocketha.types import INT32_MAX, INT64_MAX, LogIndex, Offset, Term
from tests.golden.generate_dledger import BODIES, GOLDEN, checked_log, laid_out

BEFORE_FOUR: Final = LogPoint(LogIndex(3), Term(0), checked_log()[0][3].chain_crc)
# The header, after the table of `dledger_entry`.
HEADER: Final = struct.Struct(">iiqqqiiii")


def test_an_entry_assembled_by_hand_is_the_first_one_of_the_golden_file() -> None:
    """After the table of `dledger_entry`, and not with its code."""
    summed = zlib.crc32(b"hello")
    head = bytes.fromhex("00000001 00000035 0000000000000000 0000000000000000")
    chained = zlib.crc32(bytes(4) + head + struct.pack(">I", summed) + bytes.fromhex("00000005"))
    by_hand = head + bytes(12) + struct.pack(">II", chained, summed)
    by_hand += bytes.fromhex("00000005") + b"hello"
    assert (GOLDEN / "checked/data" / ("0" * 20)).read_bytes().startswith(by_hand)


def test_a_whole_log_with_one_other_body_has_another_chain_from_there_on() -> None:
    ours = laid_out(BODIES)[0]
    others = laid_out((*BODIES[:3], replace(BODIES[3], body=b"y"), *BODIES[4:]))[0]
    same = [one.chain_crc == other.chain_crc for one, other in zip(ours, others, strict=True)]
    assert same == [True] * 3 + [False] * 7


def test_a_chain_does_not_say_where_an_entry_is_or_what_was_synchronized() -> None:
    synced = tuple([replace(one, unsynced=0) for one in BODIES])
    moved = laid_out(synced[4:], before=BEFORE_FOUR, begin=100)[0]
    ours = checked_log()[0][4:]
    assert [one.chain_crc for one in moved] == [one.chain_crc for one in ours]


def test_what_does_not_fit_is_not_written() -> None:
    entry = checked_log()[0][0]
    for fields in ({"index": -1}, {"term": 2**63}, {"pos": -1}):
        with pytest.raises(EncodingError, match=next(iter(fields))):
            encode_entry(replace(entry, **fields))  # type: ignore[arg-type]
    with pytest.raises(EncodingError, match="has 47 bytes"):
        prefix_filler(47, BEFORE_FOUR)
    with pytest.raises(EncodingError, match="without a chainCrc"):
        prefix_filler(48, replace(BEFORE_FOUR, chain_crc=None))


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ((0, 48, 0, 0, 0, 0, 0, 0, 0), "has the magic 0"),
        ((4, 48, 0, 0, 0, 0, 0, 0, 0), "has the magic 4"),
        ((1, 49, 0, 0, 0, 0, 0, 0, 0), "has the size 49 and a body of 0 bytes"),
        ((1, 47, 0, 0, 0, 0, 0, 0, -1), "has the size 47 and a body of -1 bytes"),
        ((1, 49, 0, 0, 0, 0, 0, 0, 1), "has the size 49, 48 bytes are there"),
        ((1, 48, -1, 0, 0, 0, 0, 0, 0), "has the index -1"),
        ((1, 48, 0, -1, 0, 0, 0, 0, 0), "has the term -1"),
        ((1, 48, 0, 0, 7, 0, 0, 0, 0), "says that it is at 7"),
        ((1, 48, 0, 0, 0, -1, 0, 0, 0), "has the channel -1"),
        ((1, 48, 0, 0, 0, 0, 0, 9, 0), "has the bodyCrc 9, its body has 0"),
    ],
)
def test_a_hostile_header_is_refused_with_its_reason(header: tuple[int, ...], reason: str) -> None:
    with pytest.raises(DLedgerFileError, match=reason):
        decode_entry(HEADER.pack(*header), 0, pos=Offset(0))


@given(st.integers(0, 100_000), st.integers(0, 31))
def test_a_channel_with_one_other_bit_is_none(unsynced: int, bit: int) -> None:
    channel = channel_of(unsynced)
    assert 0 <= channel <= INT32_MAX
    assert unsynced_of(channel) == min(unsynced, UNSYNCED_MAX)
    (turned,) = struct.unpack(">i", struct.pack(">I", channel ^ 1 << bit))
    assert unsynced_of(turned) is None


@given(
    st.binary(max_size=60),
    st.sampled_from(DLedgerEntryType),
    *[st.integers(0, INT64_MAX)] * 3,
    st.integers(0, 40000),
    st.integers(-(2**31), 2**31 - 1),
)
def test_an_entry_that_is_written_is_read(
    body: bytes,
    kind: DLedgerEntryType,
    index: int,
    term: int,
    pos: int,
    unsynced: int,
    previous: int,
) -> None:
    entry = DLedgerEntry(
        kind=kind,
        index=LogIndex(index),
        term=Term(term),
        pos=Offset(pos),
        channel=channel_of(unsynced),
        body=body,
    )
    entry = sealed(entry, previous)
    for check in EntryCheck:
        assert decode_entry(b"--" + encode_entry(entry), 2, pos=entry.pos, check=check) == entry
