"""The index files of DLedger, and that they say what the data files do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import DLedgerFileError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_data_file import DataFile, scan_data_files
from rocketha.formats.dledger_entry import DLedgerEntry, EntryCheck
from rocketha.formats.dledger_index_file import (
    INDEX_UNIT_SIZE,
    DLedgerIndexEntry,
    check_index,
    decode_index_entry,
    decode_index_file,
    encode_index,
    encode_index_entry,
    index_entry,
)
from rocketha.types import INT32_MAX, INT64_MAX, LogIndex, Offset, SizeBytes, Term
from tests.golden.generate_dledger import FILE_SIZE, GOLDEN, INDEX_FILE_SIZE, checked_log

IN_A_FILE: Final = INDEX_FILE_SIZE // INDEX_UNIT_SIZE
# By hand, after the table: entry 8 of term 4 with 51 bytes at 512.
BY_HAND: Final = bytes.fromhex(
    "00000001 0000000000000200 00000033 0000000000000008 0000000000000004"
)


def golden(kind: str) -> list[tuple[Offset, bytes]]:
    return [
        (Offset(int(p.name)), p.read_bytes()) for p in sorted((GOLDEN / kind / "index").iterdir())
    ]


def entries_of(kind: str) -> tuple[DLedgerEntry, ...]:
    check = EntryCheck.CHECKED if kind == "checked" else EntryCheck.ORIGINAL
    paths = sorted((GOLDEN / kind / "data").iterdir())
    files = [DataFile(Offset(int(p.name)), p.read_bytes()) for p in paths]
    return scan_data_files(files, file_size=FILE_SIZE, check=check).entries


kinds = pytest.mark.parametrize("kind", ["checked", "original"])


@kinds
def test_an_index_agrees_with_its_data_and_can_be_made_of_it(kind: str) -> None:
    entries = entries_of(kind)
    read = [one for at, data in golden(kind) for one in decode_index_file(data, offset=at)]
    assert read == [index_entry(one) for one in entries]
    assert check_index(entries, read) is None
    whole = b"".join(data for _, data in golden(kind))
    assert encode_index(entries).ljust(2 * INDEX_FILE_SIZE, b"\0") == whole


def test_an_index_entry_by_hand_is_the_last_one_of_dledger() -> None:
    (entry,) = decode_index_file(golden("original")[1][1], offset=Offset(INDEX_FILE_SIZE))
    assert encode_index_entry(entry) == BY_HAND


@kinds
def test_every_flipped_bit_of_an_index_is_refused_or_found_by_its_data(kind: str) -> None:
    entries = entries_of(kind)
    files = golden(kind)
    refused = found = 0
    for number, (offset, data) in enumerate(files):
        for bit in range(8 * len(data)):
            turned = bytearray(data)
            turned[bit // 8] ^= 1 << bit % 8
            read: list[DLedgerIndexEntry] = []
            try:
                for other, (at, kept) in enumerate(files):
                    read += decode_index_file(bytes(turned) if other == number else kept, offset=at)
            except DLedgerFileError:
                refused += 1
                continue
            # Rebuilt from here on it has the same content again.
            assert check_index(entries, read) == number * IN_A_FILE + bit // (8 * INDEX_UNIT_SIZE)
            assert offset == number * INDEX_FILE_SIZE
            found += 1
    assert refused
    assert found


@kinds
def test_every_truncation_of_an_index_is_refused_or_found_by_its_data(kind: str) -> None:
    entries = entries_of(kind)
    (_, first), (offset, second) = golden(kind)
    for size in range(len(first)):
        try:
            read = decode_index_file(first[:size], offset=Offset(0))
        except DLedgerFileError:
            assert size % INDEX_UNIT_SIZE
            continue
        read += decode_index_file(second, offset=offset)
        assert check_index(entries, read) == size // INDEX_UNIT_SIZE


def test_an_index_that_has_more_than_the_data_names_what_was_durable() -> None:
    entries = entries_of("checked")
    read = [one for at, data in golden("checked") for one in decode_index_file(data, offset=at)]
    assert check_index(entries[:5], read) is None
    paths = sorted((GOLDEN / "checked/data").iterdir())
    cut = paths[0].read_bytes()[: entries[5].pos].ljust(FILE_SIZE, b"\0")
    with pytest.raises(DLedgerFileError, match="ends with entry 4, and 9 was promised"):
        scan_data_files(
            [DataFile(Offset(0), cut)], file_size=FILE_SIZE, promised=read[-1].index
        ).undamaged()


def test_an_index_whose_beginning_was_deleted_is_read() -> None:
    whole = encode_index(checked_log()[0])[:INDEX_FILE_SIZE]
    kept = decode_index_file(whole, offset=Offset(0))[3:]
    filler = (b"\xff\xff\xff\xff" + (96).to_bytes(4)).ljust(96, b"\0")
    assert decode_index_file(filler + whole[96:], offset=Offset(0)) == kept
    assert decode_index_file(bytes(96) + whole[96:], offset=Offset(0)) == kept
    assert decode_index_file(b"?" * 96 + whole[96:], offset=Offset(0), begin=LogIndex(3)) == kept


def test_one_wrong_field_is_found() -> None:
    entries = entries_of("checked")
    index = [index_entry(one) for one in entries]
    for wrong in (
        replace(index[4], pos=Offset(7)),
        replace(index[4], size=SizeBytes(49)),
        replace(index[4], term=Term(9)),
        replace(index[4], kind=DLedgerEntryType.NOOP),
    ):
        assert check_index(entries, [*index[:4], wrong, *index[5:]]) == 4
    assert check_index(entries, index[:-1]) == index[-1].index
    assert check_index(entries, index[1:]) == 0


def test_dledger_has_the_magic_of_a_normal_entry_for_every_type() -> None:
    entries = entries_of("checked")
    index = [replace(index_entry(one), kind=DLedgerEntryType.NORMAL) for one in entries]
    assert entries[1].kind is DLedgerEntryType.NOOP
    assert check_index(entries, index) == 1
    assert check_index(entries, index, check=EntryCheck.ORIGINAL) is None


@pytest.mark.parametrize(
    ("data", "offset", "reason"),
    [
        (bytes(33), 0, "no multiples of 32"),
        (bytes(32), 5, "no multiples of 32"),
        (BY_HAND, 0, "has the index 8, not 0"),
        (bytes.fromhex("00000004") + BY_HAND[4:], 256, "has the magic 4"),
        (BY_HAND[:4] + b"\xff" + BY_HAND[5:], 256, "has the offset -"),
        (BY_HAND[:15] + b"\x2f" + BY_HAND[16:], 256, "has the size 47"),
        (BY_HAND[:24] + b"\xff" + BY_HAND[25:], 256, "has the term -"),
        (BY_HAND + bytes(32) + BY_HAND, 256, "goes on behind its end"),
        (b"\xff\xff\xff\xff" + bytes(28), 0, "has a filler of 0 bytes"),
        (b"\xff\xff\xff\xff\0\0\0\x40" + bytes(24), 0, "has a filler of 64 bytes"),
    ],
)
def test_a_hostile_index_is_refused_with_its_reason(data: bytes, offset: int, reason: str) -> None:
    with pytest.raises(DLedgerFileError, match=reason):
        decode_index_file(data, offset=Offset(offset))


@given(
    st.builds(
        DLedgerIndexEntry,
        kind=st.sampled_from(DLedgerEntryType),
        pos=st.integers(0, INT64_MAX),
        size=st.integers(48, INT32_MAX),
        index=st.integers(0, INT64_MAX),
        term=st.integers(0, INT64_MAX),
    )
)
def test_what_is_written_is_read(entry: DLedgerIndexEntry) -> None:
    data = encode_index_entry(entry)
    assert len(data) == INDEX_UNIT_SIZE
    assert decode_index_entry(data, 0, index=entry.index) == entry
    with pytest.raises(DLedgerFileError, match="is cut"):
        decode_index_entry(data, 1, index=entry.index)


@given(st.binary(max_size=160).map(lambda data: data[: len(data) // 32 * 32]))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = decode_index_file(data, offset=Offset(0))
    except DLedgerFileError:
        return
    assert b"".join(map(encode_index_entry, found)) in data
