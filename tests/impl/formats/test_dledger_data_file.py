"""The data files of DLedger: golden files of both kinds, every damage, and what a crash leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import DLedgerFileError, EncodingError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_data_file import (
    DataFile,
    DataScan,
    Tail,
    cut_offset,
    deleted_point,
    end_filler,
    prefix_filler,
    scan_data_files,
)
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
    checked_log_behind_snapshot,
    files_of,
    golden_dledger_files,
    laid_out,
)

BEFORE_FOUR: Final = LogPoint(LogIndex(3), Term(0), checked_log()[0][3].chain_crc)
ORIGINAL_BODIES: Final = (
    (0, b"hello"),
    (0, b""),
    (0, b"a body of its own length"),
    (0, b"x"),
    (4, b"second term"),
    (4, b"0123456789" * 4),
    (4, b"fills the file"),
    (4, b"in the second file"),
    (4, b"end"),
)
LAST: Final = LogIndex(len(BODIES) - 1)
# Where the fields of an entry begin, after the table of `dledger_entry`.
FIELDS: Final = (
    (48, "body"),
    (44, "bodySize"),
    (40, "bodyCrc"),
    (36, "chainCrc"),
    (32, "channel"),
    (24, "pos"),
    (16, "term"),
    (8, "index"),
    (4, "size"),
    (0, "magic"),
)

bodies = st.lists(
    st.builds(
        Body,
        st.binary(max_size=200),
        st.just(0),
        st.sampled_from(DLedgerEntryType),
        st.integers(0, 40000),
    ),
    max_size=12,
)


def golden(name: str) -> tuple[DataFile, ...]:
    paths = sorted((GOLDEN / name).iterdir())
    assert paths
    return tuple([DataFile(Offset(int(path.name)), path.read_bytes()) for path in paths])


def scan(
    files: Sequence[DataFile],
    *,
    check: EntryCheck = EntryCheck.CHECKED,
    before: LogPoint | None = None,
    promised: LogIndex | None = None,
) -> DataScan:
    return scan_data_files(
        files, file_size=FILE_SIZE, check=check, before=before, promised=promised
    )


def content(found: DataScan) -> list[tuple[int, int, int, bytes]]:
    """What a log says to those who read it."""
    return [(one.index, one.term, one.kind, one.body) for one in found.entries]


def changed(files: Sequence[DataFile], at: int, data: bytes) -> tuple[DataFile, ...]:
    """Write over the bytes at this offset."""
    whole = bytearray(b"".join(file.data for file in files))
    begin = at - files[0].offset
    whole[begin : begin + len(data)] = data
    return tuple(
        [
            DataFile(f.offset, bytes(whole[n * FILE_SIZE : (n + 1) * FILE_SIZE]))
            for n, f in enumerate(files)
        ]
    )


def flips(files: Sequence[DataFile]) -> Iterator[tuple[int, int, tuple[DataFile, ...]]]:
    """Give every bit, the byte that it is in, and the files with it turned."""
    for number, file in enumerate(files):
        for bit in range(8 * len(file.data)):
            data = bytearray(file.data)
            data[bit // 8] ^= 1 << bit % 8
            turned = [*files]
            turned[number] = DataFile(file.offset, bytes(data))
            yield bit, file.offset + bit // 8, tuple(turned)


def resealed(files: Sequence[DataFile], entry: DLedgerEntry) -> tuple[DataFile, ...]:
    return changed(files, entry.pos, encode_entry(entry))


def test_the_encoder_writes_the_golden_files() -> None:
    folder = GOLDEN / "checked"
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert len(found) >= 8
    assert golden_dledger_files() == found


def test_our_log_is_read() -> None:
    found = scan(golden("checked/data"), promised=LAST)
    assert found.tail is Tail.CLEAN
    assert found.failure is None
    assert found.before == LOG_START
    assert found.entries == checked_log()[0]
    assert [(one.body, one.term, one.kind) for one in found.entries] == [
        (one.body, one.term, one.kind) for one in BODIES
    ]
    assert found.end == found.entries[-1].end
    assert found.undamaged() is found


def test_a_log_behind_a_snapshot_says_what_was_before() -> None:
    found = scan(golden("checked/data_behind_snapshot"), promised=LAST)
    assert (found.tail, found.before) == (Tail.CLEAN, BEFORE_FOUR)
    assert found.entries == checked_log_behind_snapshot()[0]


def test_a_log_of_dledger_is_read_only_as_one() -> None:
    files = golden("original/data")
    found = scan(files, check=EntryCheck.ORIGINAL)
    assert found.tail is Tail.CLEAN
    assert [(one.term, one.body) for one in found.entries] == list(ORIGINAL_BODIES)
    assert all(one.chain_crc == one.body_crc == one.channel == 0 for one in found.entries)
    mistaken = scan(files)
    assert mistaken.tail is Tail.DAMAGED, "nobody cuts it by mistake"
    with pytest.raises(DLedgerFileError, match="bodyCrc"):
        mistaken.undamaged()


def test_a_log_of_dledger_is_written_as_it_does() -> None:
    files = golden("original/data")
    entries = scan(files, check=EntryCheck.ORIGINAL).entries
    written = b""
    for entry in entries:
        written += end_filler(Offset(len(written)), entry.size, file_size=FILE_SIZE)
        assert len(written) == entry.pos
        written += encode_entry(entry)
    assert files_of(written) == files


def test_a_log_of_dledger_behind_a_snapshot_is_read() -> None:
    files = golden("original/data_behind_snapshot")
    before = LogPoint(LogIndex(2), Term(0), None)
    found = scan(files, check=EntryCheck.ORIGINAL, before=before)
    assert (found.before, found.tail) == (before, Tail.CLEAN)
    assert content(found) == [(3, 0, 1, b"four"), (4, 0, 1, b"five")]
    guessed = scan(files, check=EntryCheck.ORIGINAL)
    assert guessed.before == LogPoint(LogIndex(2), Term(-1), None)
    assert guessed.entries == found.entries
    with pytest.raises(DLedgerFileError, match="does not say what was deleted"):
        scan(files)


@pytest.mark.parametrize("name", ["data", "data_behind_snapshot"])
def test_every_flipped_bit_of_our_log_is_damage_or_changes_nothing(name: str) -> None:
    """Of the last synchronization only with a promise: without one it can look torn."""
    files = golden(f"checked/{name}")
    whole = scan(files)
    lost: set[int] = set()
    damaged = torn_behind = 0
    for _, at, turned in flips(files):
        try:
            found = scan(turned).undamaged()
            if len(found.entries) < len(whole.entries):
                assert found.tail is Tail.TORN
                # Where the next entry was, or the filler before it.
                next_one = whole.entries[len(found.entries)]
                assert found.end in (next_one.pos, found.entries[-1].end)
                lost.add(found.last.index + 1)
                found = scan(turned, promised=LAST).undamaged()
        except DLedgerFileError:
            damaged += 1
            continue
        torn_behind += found.tail is Tail.TORN
        assert content(found) == content(whole), at
        assert (found.before, found.end) == (whole.before, whole.end)
    assert damaged >= 8 * sum(one.size for one in whole.entries)
    assert torn_behind, "what is behind the end looks torn, and is no part of the log"
    # The last entry says of the one before it that it was not yet synchronized.
    assert lost == {LAST - 1, LAST}


@pytest.mark.parametrize("name", ["data", "data_behind_snapshot"])
def test_every_truncation_of_a_file_is_refused(name: str) -> None:
    files = golden(f"checked/{name}")
    for number, file in enumerate(files):
        for size in range(FILE_SIZE):
            cut = [*files]
            cut[number] = DataFile(file.offset, file.data[:size])
            with pytest.raises(DLedgerFileError, match=f"has {size} bytes, not {FILE_SIZE}"):
                scan(cut)


def test_every_truncation_that_is_padded_is_a_shorter_log_or_damage() -> None:
    """As a crash leaves a file that was to grow."""
    files = golden("checked/data")
    whole = scan(files)
    for at in range(whole.end):
        lost = changed(files, at, bytes(2 * FILE_SIZE - at))
        found = scan(lost)
        assert found.tail is not Tail.DAMAGED
        assert found.entries == whole.entries[: len(found.entries)]
        with pytest.raises(DLedgerFileError, match=r"\S"):
            scan(lost, promised=LAST).undamaged()


def test_which_flipped_bits_of_a_log_of_dledger_are_not_noticed() -> None:
    files = golden("original/data")
    whole = scan(files, check=EntryCheck.ORIGINAL)
    unnoticed: set[str] = set()
    for _, at, turned in flips(files):
        promised = LogIndex(len(ORIGINAL_BODIES) - 1)
        try:
            found = scan(turned, check=EntryCheck.ORIGINAL, promised=promised).undamaged()
        except DLedgerFileError:
            continue
        assert len(found.entries) == len(whole.entries)
        if found.entries != whole.entries:
            unnoticed.add(field_at(whole, at))
    assert unnoticed == {"magic", "term", "channel", "chainCrc", "body"}


def field_at(found: DataScan, at: int) -> str:
    entry = next(one for one in found.entries if one.pos <= at < one.end)
    return next(name for begin, name in FIELDS if at - entry.pos >= begin)


# What each check is for: an entry with one thing wrong, and everything else right.
def with_entry(
    number: int, **fields: object
) -> tuple[tuple[DataFile, ...], tuple[DLedgerEntry, ...]]:
    entries, files = checked_log()
    wrong = replace(entries[number], **fields)  # type: ignore[arg-type]
    return resealed(files, wrong), entries


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"chain_crc": 1}, "has the chainCrc 1"),
        ({"body_crc": 1}, "has the bodyCrc 1"),
        ({"body": b"A body of its own length"}, "has the bodyCrc"),
        ({"kind": DLedgerEntryType.CONFIG_CHANGE}, "has the chainCrc"),
        ({"term": Term(3)}, "has the chainCrc"),
        ({"index": LogIndex(3)}, "has the index 3, not 2"),
        ({"channel": 1}, "has the channel 1, which is none"),
    ],
)
def test_one_wrong_field_in_the_middle_is_damage(fields: dict[str, object], reason: str) -> None:
    files, entries = with_entry(2, **fields)
    found = scan(files)
    assert found.tail is Tail.DAMAGED
    assert found.entries == entries[:2]
    assert found.end == entries[2].pos
    with pytest.raises(DLedgerFileError, match=reason):
        found.undamaged()


def test_an_entry_of_another_log_is_noticed_by_the_chain() -> None:
    """It is right in itself, and its index and term fit."""
    entries, files = checked_log()
    other = sealed(replace(entries[4], body=b"SECOND TERM"), 12345)
    found = scan(resealed(files, other))
    assert found.tail is Tail.DAMAGED
    assert found.failure is not None
    assert "chainCrc" in found.failure.reason


def test_a_term_that_falls_is_damage() -> None:
    bodies_of_terms = [Body(b"a", 3), Body(b"b", 2), Body(b"c", 3), Body(b"d", 3)]
    found = scan(files_of(laid_out(bodies_of_terms)[1]))
    assert found.tail is Tail.DAMAGED
    assert found.failure is not None
    assert found.failure.reason == "has the term 2, below 3"


def torn_log(unsynced: int) -> tuple[DataFile, ...]:
    """Three durable entries, a hole where the fourth was, and a whole fifth one."""
    written = laid_out(
        [
            Body(b"a", 1),
            Body(b"b", 1),
            Body(b"c", 1),
            Body(b"d", 1),
            Body(b"e", 1, unsynced=unsynced),
        ]
    )[1]
    return files_of(written[: 3 * 49] + bytes(49) + written[4 * 49 :])


def test_a_hole_before_an_entry_that_was_written_with_it_is_a_torn_tail() -> None:
    """A disk may write the second one of two entries first."""
    found = scan(torn_log(1)).undamaged()
    assert (found.tail, len(found.entries), found.end) == (Tail.TORN, 3, 3 * 49)
    assert found.failure is not None
    assert found.failure.reason == "has nothing here, and something behind it"


def test_a_hole_before_an_entry_that_came_after_a_synchronization_is_damage() -> None:
    with pytest.raises(DLedgerFileError, match="has nothing here, and something behind it"):
        scan(torn_log(0)).undamaged()


def test_an_entry_that_was_promised_and_is_not_there_is_damage() -> None:
    files = torn_log(1)
    assert scan(files, promised=LogIndex(2)).tail is Tail.TORN
    with pytest.raises(DLedgerFileError, match="has nothing here"):
        scan(files, promised=LogIndex(3)).undamaged()
    with pytest.raises(DLedgerFileError, match="ends with entry -1, and 0 was promised"):
        scan([], promised=LogIndex(0)).undamaged()


def test_a_stale_entry_of_an_older_term_proves_nothing() -> None:
    written = laid_out([Body(b"a", 1), Body(b"b", 1), Body(b"c", 1), Body(b"d", 1)])[1]
    fresh = laid_out([Body(b"a", 1), Body(b"longer", 2)])[1]
    files = files_of(fresh + written[len(fresh) :])
    for check in EntryCheck:
        found = scan(files, check=check)
        assert (found.tail, len(found.entries)) == (Tail.TORN, 2)


def test_the_files_must_be_those_of_one_log() -> None:
    first, second = golden("checked/data")
    with pytest.raises(DLedgerFileError, match="begins at 1024"):
        scan([first, DataFile(Offset(1024), second.data)])
    with pytest.raises(DLedgerFileError, match="begins at 7"):
        scan([DataFile(Offset(7), first.data)])
    with pytest.raises(DLedgerFileError, match="begins with entry 8, and nothing is known"):
        scan([second])
    seven = scan([first]).last
    assert len(scan([second], before=seven).entries) == 2
    other = replace(seven, chain_crc=1)
    assert scan([second], before=other).entries == ()
    assert len(scan([second], before=replace(seven, chain_crc=None)).entries) == 2


def test_a_missing_last_file_is_noticed_by_what_was_promised() -> None:
    first, _ = golden("checked/data")
    found = scan([first])
    assert (found.tail, found.end) == (Tail.CLEAN, FILE_SIZE)
    with pytest.raises(DLedgerFileError, match="ends with entry 7, and 9 was promised"):
        scan([first], promised=LAST).undamaged()


def test_a_log_that_has_nothing_yet_is_empty() -> None:
    for files in ([], [DataFile(Offset(0), bytes(FILE_SIZE))]):
        found = scan(files)
        assert (found.entries, found.end, found.tail) == ((), 0, Tail.CLEAN)
        assert found.last == found.before == LOG_START
    deleted = DataFile(Offset(0), prefix_filler(100, BEFORE_FOUR).ljust(FILE_SIZE, b"\0"))
    found = scan([deleted])
    assert (found.last, found.end, found.tail) == (BEFORE_FOUR, 100, Tail.CLEAN)


@pytest.mark.parametrize(
    ("filler", "reason"),
    [
        (prefix_filler(FILE_SIZE + 1, BEFORE_FOUR), "begins with a filler of 513 bytes"),
        (bytes.fromhex("ffffffff 00000030") + bytes(24), "does not say what was deleted"),
        (prefix_filler(100, LOG_START), "does not say what was deleted"),
    ],
)
def test_a_wrong_filler_at_the_beginning_is_refused(filler: bytes, reason: str) -> None:
    with pytest.raises(DLedgerFileError, match=reason):
        scan([DataFile(Offset(0), filler.ljust(FILE_SIZE, b"\0"))])


def test_a_filler_at_the_beginning_says_what_was_deleted_or_nothing() -> None:
    filler = prefix_filler(100, BEFORE_FOUR)
    assert deleted_point(filler + b"anything") == BEFORE_FOUR
    assert deleted_point(filler[:-1]) is None
    assert deleted_point(prefix_filler(100, LOG_START)) is None
    assert deleted_point(golden("original/data_behind_snapshot")[0].data) is None
    for bit in range(8 * len(filler)):
        turned = bytearray(filler)
        turned[bit // 8] ^= 1 << bit % 8
        assert deleted_point(bytes(turned)) is None, bit


def test_a_filler_of_dledger_alone_does_not_say_where_the_log_goes_on() -> None:
    filler = bytes.fromhex("ffffffff 00000030")
    files = [DataFile(Offset(0), filler.ljust(FILE_SIZE, b"\0"))]
    with pytest.raises(DLedgerFileError, match="nothing says what was deleted"):
        scan(files, check=EntryCheck.ORIGINAL)
    found = scan(files, check=EntryCheck.ORIGINAL, before=BEFORE_FOUR)
    assert found.last == BEFORE_FOUR


def test_a_log_is_cut_where_an_entry_begins() -> None:
    found = scan(golden("checked/data"))
    assert [cut_offset(found, one.index) for one in found.entries] == [
        one.pos for one in found.entries
    ]
    assert cut_offset(found, LogIndex(LAST + 1)) == found.end
    for index in (-1, LAST + 2):
        with pytest.raises(DLedgerFileError, match=f"cannot be cut at {index}"):
            cut_offset(found, LogIndex(index))
    behind = scan(golden("checked/data_behind_snapshot"))
    assert cut_offset(behind, LogIndex(4)) == behind.entries[0].pos
    with pytest.raises(DLedgerFileError, match="cannot be cut at 3"):
        cut_offset(behind, LogIndex(3))


@pytest.mark.parametrize("entry_size", [FILE_SIZE - 7, 2 * FILE_SIZE])
def test_an_entry_that_no_file_has_room_for_is_not_placed(entry_size: int) -> None:
    with pytest.raises(EncodingError, match="a file 512"):
        end_filler(Offset(0), entry_size, file_size=FILE_SIZE)
    assert end_filler(Offset(0), FILE_SIZE - 8, file_size=FILE_SIZE) == b""


def test_an_entry_that_leaves_no_room_for_a_filler_is_refused() -> None:
    entry = sealed(DLedgerEntry(index=LogIndex(0), term=Term(0), pos=Offset(0), body=bytes(457)), 0)
    found = scan(files_of(encode_entry(entry)))
    assert found.failure is not None
    assert found.failure.reason == "leaves no room for a filler"


@given(bodies)
def test_a_log_that_is_written_is_read(drawn: list[Body]) -> None:
    entries, written = laid_out(drawn)
    found = scan(files_of(written))
    assert (found.entries, found.tail) == (entries, Tail.CLEAN)
    assert found.end == (entries[-1].end if entries else 0)


@given(bodies, st.data())
def test_a_cut_log_is_never_read_as_another_one(drawn: list[Body], data: st.DataObject) -> None:
    entries, written = laid_out(drawn)
    at = data.draw(st.integers(0, max(0, len(written) - 1)))
    noise = data.draw(st.binary(max_size=100))
    files = files_of(written)
    torn = changed(files, at, noise[: len(files) * FILE_SIZE - at]) if files else files
    try:
        found = scan(torn)
    except DLedgerFileError:
        return
    assert found.entries[: len(entries)] == entries[: len(found.entries)]


@given(st.binary(max_size=FILE_SIZE), st.sampled_from(EntryCheck))
def test_any_bytes_are_read_or_refused(data: bytes, check: EntryCheck) -> None:
    try:
        found = scan([DataFile(Offset(0), data.ljust(FILE_SIZE, b"\0"))], check=check)
    except DLedgerFileError:
        return
    assert (found.failure is None) is (found.tail is Tail.CLEAN)
