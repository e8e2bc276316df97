"""What tells in a log of DLedger that something was durable, and what only looks like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest

from rocketha.errors import DLedgerFileError
from rocketha.formats.dledger_data_file import DataFile, DataScan, Tail, scan_data_files
from rocketha.formats.dledger_entry import (
    LOG_START,
    DLedgerEntry,
    EntryCheck,
    LogPoint,
    encode_entry,
    sealed,
)
from rocketha.types import LogIndex, Offset, Term
from tests.golden.generate_dledger import (
    BODIES,
    FILE_SIZE,
    GOLDEN,
    Body,
    checked_log,
    files_of,
    laid_out,
)

TWO: Final = laid_out([Body(b"a", 1), Body(b"b", 1)])[1]
# Behind the two entries and a header that was lost: a body in which an entry begins.
FAKE_AT: Final = Offset(len(TWO) + 48)
FAKE: Final = sealed(
    DLedgerEntry(index=LogIndex(3), term=Term(1), pos=FAKE_AT, body=b"what a client sent"), 7
)


def scan(
    files: Sequence[DataFile],
    check: EntryCheck = EntryCheck.CHECKED,
    before: LogPoint | None = None,
) -> DataScan:
    return scan_data_files(files, file_size=FILE_SIZE, check=check, before=before)


def tail_with(fake: DLedgerEntry, check: EntryCheck = EntryCheck.CHECKED) -> Tail:
    found = scan(files_of(TWO + bytes(48) + encode_entry(fake)), check)
    assert (len(found.entries), found.end) == (2, len(TWO))
    return found.tail


def unsealed(entries: Sequence[DLedgerEntry]) -> bytes:
    """Entries as DLedger writes them."""
    plain = [replace(one, chain_crc=0, body_crc=0, channel=0) for one in entries]
    return b"".join(map(encode_entry, plain))


def second_file(check: EntryCheck) -> bytes:
    """The bytes of a log that begins with entry 8."""
    name = f"{FILE_SIZE:020}"
    if check is EntryCheck.CHECKED:
        return (GOLDEN / "checked/data" / name).read_bytes()
    return unsealed(checked_log()[0][8:]).ljust(FILE_SIZE, b"\0")


def test_an_entry_that_is_one_proves_that_what_is_before_it_was_durable() -> None:
    assert tail_with(FAKE) is Tail.DAMAGED
    assert tail_with(replace(FAKE, index=LogIndex(2))) is Tail.TORN, "it is the next one itself"


def test_an_entry_in_a_body_does_not_know_where_it_is() -> None:
    assert tail_with(replace(FAKE, pos=Offset(FAKE_AT + 1))) is Tail.TORN


def test_an_entry_with_one_of_the_checksums_missing_proves_nothing() -> None:
    assert tail_with(replace(FAKE, body_crc=0)) is Tail.TORN
    assert tail_with(replace(FAKE, body_crc=1)) is Tail.TORN


def test_an_entry_without_checksums_is_dledger_s_and_proves_it_too() -> None:
    assert tail_with(replace(FAKE, body_crc=0, chain_crc=0)) is Tail.DAMAGED


def test_in_a_log_of_dledger_an_index_that_cannot_be_so_near_proves_nothing() -> None:
    for index, tail in ((3, Tail.DAMAGED), (4, Tail.TORN)):
        fake = replace(FAKE, index=LogIndex(index))
        assert tail_with(fake, EntryCheck.ORIGINAL) is tail


def test_a_log_whose_first_index_alone_is_wrong_is_damaged() -> None:
    whole = second_file(EntryCheck.ORIGINAL)
    found = scan([DataFile(Offset(FILE_SIZE), whole)], EntryCheck.ORIGINAL)
    assert (len(found.entries), found.tail) == (2, Tail.CLEAN)
    turned = whole[:15] + bytes([whole[15] ^ 1]) + whole[16:]
    with pytest.raises(DLedgerFileError, match="has the index 9, not 10"):
        scan([DataFile(Offset(FILE_SIZE), turned)], EntryCheck.ORIGINAL).undamaged()


@pytest.mark.parametrize("check", EntryCheck)
def test_the_first_entry_of_a_first_file_must_follow_something_known(check: EntryCheck) -> None:
    entry = sealed(
        DLedgerEntry(index=LogIndex(5), term=Term(1), pos=Offset(0), body=b"behind a snapshot"), 7
    )
    files = files_of(encode_entry(entry))
    with pytest.raises(DLedgerFileError, match="begins with entry 5, and nothing is known"):
        scan(files, check)
    before = LogPoint(LogIndex(4), Term(1), 7)
    assert scan(files, check, before).entries == (entry,)
    with pytest.raises(DLedgerFileError, match="begins with entry 5, and only entry 3 is known"):
        scan(files, check, replace(before, index=LogIndex(3)))


@pytest.mark.parametrize("check", EntryCheck)
def test_a_log_that_was_not_cut_is_read_from_its_beginning(check: EntryCheck) -> None:
    """A snapshot was saved, and the entries that it stands for not yet deleted."""
    entries, files = checked_log()
    last = entries[3]
    found = scan(files, check, LogPoint(last.index, last.term, last.chain_crc))
    assert found.before == LOG_START
    assert len(found.entries) == len(BODIES)


def test_a_first_entry_that_is_none_is_torn_if_nothing_durable_follows() -> None:
    before = LogPoint(LogIndex(4), Term(1), 7)
    entry = replace(FAKE, index=LogIndex(6), pos=Offset(100))
    for unsynced, tail in ((0, Tail.DAMAGED), (0x0001FFFE, Tail.TORN)):
        written = b"torn".ljust(100, b"\0") + encode_entry(replace(entry, channel=unsynced))
        found = scan(files_of(written), before=before)
        assert (found.tail, found.end, found.last) == (tail, 0, before)
