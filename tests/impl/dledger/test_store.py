"""What a DLedger store does between two crashes, its files byte for byte, and DLedger's own."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.store import DLedgerStore, StoreOptions
from rocketha.errors import (
    ConfigurationError,
    DiskError,
    DLedgerFileError,
    EncodingError,
    TermFileError,
)
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_data_file import DataFile, scan_data_files
from rocketha.formats.dledger_entry import (
    UNSYNCED_MAX,
    DLedgerEntry,
    EntryCheck,
    LogPoint,
    sealed,
    unsynced_of,
)
from rocketha.formats.dledger_index_file import check_index, decode_index_file
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.storage.disk import Disk, RealDisk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Offset, SizeBytes, Term
from tests.golden.generate_dledger import (
    BODIES,
    CHECKED_TERM,
    FILE_SIZE,
    GOLDEN,
    INDEX_FILE_SIZE,
    checked_log,
    golden_dledger_files,
)
from tests.impl.dledger.store_model import (
    OPTIONS,
    Append,
    DeleteBefore,
    Keep,
    Life,
    Log,
    Operation,
    Reset,
    Sync,
    Truncate,
    appends,
    body,
    seen,
)

GOLDEN_SIZES: Final = StoreOptions(
    mapped_file_size_for_entry_data=SizeBytes(FILE_SIZE),
    mapped_file_size_for_entry_index=SizeBytes(INDEX_FILE_SIZE),
)
ORIGINAL: Final = replace(GOLDEN_SIZES, check=EntryCheck.ORIGINAL)
EIGHT: Final[tuple[Operation, ...]] = (Keep(1, "n0"), *appends(0, 8), Sync())


def disks(tmp_path: Path) -> tuple[Disk, ...]:
    return MemoryDisk(), RealDisk(tmp_path)


def golden_disk(*renamed: tuple[str, str]) -> MemoryDisk:
    """A disk with golden files of a folder, under other names."""
    disk = MemoryDisk()
    for source, name in renamed:
        path = GOLDEN / source
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        for file in files:
            disk.write(f"{name}/{file.name}" if path.is_dir() else name, 0, file.read_bytes())
    return disk


def as_view(store: DLedgerStore) -> LedgerView:
    """A core sees no more than this."""
    return store


def test_a_store_that_is_new_has_nothing(tmp_path: Path) -> None:
    for disk in disks(tmp_path):
        store = DLedgerStore.open(disk, OPTIONS)
        assert seen(store) == Log()
        assert store.kept is None
        view = as_view(store)
        assert (view.before_begin_index, view.before_begin_term) == (-1, -1)
        assert view.term_at(LogIndex(-1)) == -1


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    script: tuple[Operation, ...] = (
        *EIGHT,
        Keep(2),
        *appends(8, 3, term=2, follower=True),
        DeleteBefore(2),
        Sync(),
        Truncate(9),
        *appends(20, 5, term=3, size=70),
        Sync(),
        DeleteBefore(11),
        Append(3, b"", DLedgerEntryType.NOOP),
        Sync(),
    )
    for disk in disks(tmp_path):
        life = Life()
        store = DLedgerStore.open(disk, OPTIONS)
        for operation in script:
            life.perform(store, (operation,))
            if life.log.synced == life.log.end:
                store = DLedgerStore.open(disk, OPTIONS)
                assert seen(store) == life.log
        assert store.term_at(LogIndex(11)) == 3, "known of an entry that is gone (B59)"


def test_the_files_are_the_golden_ones() -> None:
    disk = MemoryDisk()
    store = DLedgerStore.open(disk, GOLDEN_SIZES)
    store.keep(CHECKED_TERM)
    for one in BODIES:
        if not one.unsynced:
            store.sync()
        store.append(one.kind, Term(one.term), one.body)
    store.sync()
    wanted = golden_dledger_files()
    for folder in ("data", "index"):
        names = [name.partition("/")[2] for name in wanted if name.startswith(f"{folder}/")]
        assert disk.names(folder) == tuple(sorted(names))
        for name in names:
            assert disk.read(f"{folder}/{name}") == wanted[f"{folder}/{name}"], name
    assert disk.read("currterm") == wanted["currterm"]
    assert disk.names("") == ("currterm",)


def test_a_deletion_leaves_what_the_golden_files_say() -> None:
    disk = golden_disk(("checked/data", "data"), ("checked/currterm", "currterm"))
    store = DLedgerStore.open(disk, GOLDEN_SIZES)
    store.delete_before(LogIndex(3))
    files = [DataFile(Offset(int(n)), disk.read(f"data/{n}")) for n in disk.names("data")]
    golden = golden_disk(("checked/data_behind_snapshot", "data"))
    wanted = [DataFile(Offset(int(n)), golden.read(f"data/{n}")) for n in golden.names("data")]
    found = scan_data_files(files, file_size=FILE_SIZE)
    assert found == scan_data_files(wanted, file_size=FILE_SIZE)
    assert found.entries == checked_log()[0][4:]


@pytest.mark.parametrize("data", ["checked/data", "checked/data_behind_snapshot"])
def test_golden_files_of_ours_are_opened_and_written_on(data: str) -> None:
    disk = golden_disk((data, "data"), ("checked/index", "index"), ("checked/currterm", "currterm"))
    store = DLedgerStore.open(disk, GOLDEN_SIZES)
    behind = store.before_begin_index + 1
    assert behind == (4 if "behind" in data else 0)
    assert store.kept == CHECKED_TERM
    assert [store.entry(LogIndex(i)) for i in range(behind, 10)] == list(checked_log()[0][behind:])
    life = Life(seen(store))
    life.perform(store, (*appends(0, 9, term=6), Sync(), Truncate(12), DeleteBefore(11)))
    disk.lose_unsynced()
    assert seen(DLedgerStore.open(disk, GOLDEN_SIZES)) == life.log


def test_files_of_dledger_are_opened_and_written_on() -> None:
    """Releases 0.3.1.2 and 0.4.0 write the same; see the README beside the golden files."""
    disk = golden_disk(*((f"original/{n}", n) for n in ("data", "index", "currterm", "checkpoint")))
    with pytest.raises(TermFileError, match="checksum"):
        DLedgerStore.open(disk, GOLDEN_SIZES)
    DLedgerStore.open(disk, ORIGINAL)
    disk.lose_unsynced()  # DLedger has synchronized nothing; what is opened is.
    store = DLedgerStore.open(disk, ORIGINAL)
    assert store.kept == TermAndVote(curr_term=Term(4), vote_leader="n0")
    found = seen(store)
    assert [(term, text) for term, _, text in found.entries][:5] == [
        (0, b"hello"),
        (0, b""),
        (0, b"a body of its own length"),
        (0, b"x"),
        (4, b"second term"),
    ]
    assert (found.end, found.end_term) == (8, 4)
    life = Life(found)
    life.perform(store, (Keep(6), *appends(0, 9, term=6), Sync(), Truncate(12), DeleteBefore(2)))
    assert seen(DLedgerStore.open(disk, ORIGINAL)) == life.log
    life.perform(store, (Truncate(8), Sync(), *appends(30, 9, term=7), Sync(), DeleteBefore(10)))
    assert seen(DLedgerStore.open(disk, ORIGINAL)) == life.log


def test_a_log_of_dledger_behind_a_snapshot_is_opened() -> None:
    disk = golden_disk(("original/data_behind_snapshot", "data"), ("original/currterm", "currterm"))
    before = LogPoint(LogIndex(2), Term(0), None)
    store = DLedgerStore.open(disk, ORIGINAL, before=before)
    assert (store.before_begin_index, store.before_begin_term, store.end_index) == (2, 0, 4)
    assert store.term_at(LogIndex(2)) == 0
    forgotten = DLedgerStore.open(disk, ORIGINAL)
    assert forgotten.before_begin_index == 2
    assert forgotten.term_at(LogIndex(2)) is None, "nobody knows"
    with pytest.raises(EncodingError, match="has entry 2 of term -1 before it"):
        forgotten.truncate(LogIndex(3))
    store.truncate(LogIndex(3))
    assert seen(DLedgerStore.open(disk, ORIGINAL)) == seen(store)
    assert store.term_at(LogIndex(2)) == 0


def test_a_log_that_only_a_snapshot_stands_for_says_so_from_then_on() -> None:
    before = LogPoint(LogIndex(7), Term(3), 99)
    disk = MemoryDisk()
    DLedgerStore.open(disk, OPTIONS).keep(TermAndVote(curr_term=Term(3)))
    store = DLedgerStore.open(disk, OPTIONS, before=before)
    assert (store.before_begin_index, store.before_begin_term, store.end_index) == (7, 3, 7)
    store = DLedgerStore.open(disk, OPTIONS)
    assert (store.before_begin_index, store.before_begin_term) == (7, 3)
    entry = store.append(DLedgerEntryType.NORMAL, Term(3), b"a")
    assert entry == sealed(entry, 99)


def test_the_index_is_dledger_s() -> None:
    disk = MemoryDisk()
    store = DLedgerStore.open(disk, OPTIONS)
    Life().perform(store, (*EIGHT, DeleteBefore(4), *appends(8, 3), Sync()))
    entries = [store.entry(LogIndex(index)) for index in range(5, 11)]
    names = disk.names("dledger-n0/index")
    assert names == tuple(f"{at:020}" for at in (96, 192, 288))
    units = [
        unit
        for name in names
        for unit in decode_index_file(
            disk.read(f"dledger-n0/index/{name}"), offset=Offset(int(name))
        )
    ]
    assert [unit.index for unit in units] == list(range(3, 11))
    assert check_index(entries, units) is None


@pytest.mark.parametrize("damage", ["gone", "first gone", "flipped", "short", "of another size"])
def test_an_index_is_made_again(damage: str) -> None:
    disk = MemoryDisk()
    store = DLedgerStore.open(disk, OPTIONS)
    Life().perform(store, EIGHT)
    folder = "dledger-n0/index"
    names = disk.names(folder)
    whole = {name: disk.read(f"{folder}/{name}") for name in names}
    if damage == "gone":
        for name in names:
            disk.unlink(f"{folder}/{name}")
    elif damage == "first gone":
        disk.unlink(f"{folder}/{names[0]}")
    elif damage == "flipped":
        disk.write(f"{folder}/{names[1]}", 40, b"\1")
    elif damage == "short":
        disk.truncate(f"{folder}/{names[0]}", 50)
    else:
        disk.truncate(f"{folder}/{names[0]}", 192)
    assert seen(DLedgerStore.open(disk, OPTIONS)) == seen(store)
    assert {name: disk.read(f"{folder}/{name}") for name in disk.names(folder)} == whole


def test_an_index_that_has_lost_its_end_goes_on_elsewhere() -> None:
    """Its files were not durable, and the entries before the present ones are deleted."""
    disk = MemoryDisk()
    store = DLedgerStore.open(disk, OPTIONS)
    life = Life()
    life.perform(store, (*EIGHT, *appends(8, 6), Sync()))
    first, *others = disk.names("dledger-n0/index")
    for name in others:
        disk.unlink(f"dledger-n0/index/{name}")
    copied = copy.deepcopy(disk)
    life.perform(DLedgerStore.open(disk, OPTIONS), (DeleteBefore(10),))
    copied.write(f"dledger-n0/index/{first}", 0, b"")
    for name in disk.names("dledger-n0/data"):
        copied.write(f"dledger-n0/data/{name}", 0, disk.read(f"dledger-n0/data/{name}"))
    for name in set(copied.names("dledger-n0/data")) - set(disk.names("dledger-n0/data")):
        copied.unlink(f"dledger-n0/data/{name}")
    assert seen(DLedgerStore.open(copied, OPTIONS)) == life.log
    assert copied.names("dledger-n0/index")[0] == f"{32 * 9:020}"


def test_an_entry_of_a_leader_gets_what_is_this_log_s_own() -> None:
    store = DLedgerStore.open(MemoryDisk(), OPTIONS)
    store.keep(TermAndVote(curr_term=Term(1)))
    first = store.append(DLedgerEntryType.NORMAL, Term(1), b"a")
    sent = replace(sealed(replace(first, index=LogIndex(1)), 5), pos=Offset(4711), channel=0)
    store.append_entry(sent)
    found = store.entry(LogIndex(1))
    assert (found.pos, unsynced_of(found.channel)) == (first.end, 1)
    assert found == sealed(found, first.chain_crc)
    store.append_entry(replace(sent, index=LogIndex(2), body_crc=0))  # As DLedger sends it.
    assert store.entry(LogIndex(2)).body_crc == found.body_crc


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"index": LogIndex(2)}, "index: is 2 behind 0"),
        ({"index": LogIndex(0)}, "index: is 0 behind 0"),
        ({"term": Term(0)}, "term: is 0 behind 1"),
        ({"body_crc": 7}, "bodyCrc: of entry 1 is 7"),
        ({"body": b"b"}, "bodyCrc: of entry 1 is"),
        ({"body": bytes(201), "body_crc": 0}, "has 249 bytes, a file 256"),
    ],
)
def test_an_entry_that_does_not_fit_is_refused_and_changes_nothing(
    fields: dict[str, object], reason: str
) -> None:
    disk = MemoryDisk()
    store = DLedgerStore.open(disk, OPTIONS)
    store.keep(TermAndVote(curr_term=Term(1)))
    first = store.append(DLedgerEntryType.NORMAL, Term(1), b"a")
    entry = sealed(replace(first, index=LogIndex(1)), 5)
    before = seen(store), disk.unsynced
    with pytest.raises(EncodingError, match=reason):
        store.append_entry(replace(entry, **fields))  # type: ignore[arg-type]
    assert (seen(store), disk.unsynced) == before
    store.append_entry(entry)


def test_an_index_that_is_not_there_is_no_damage() -> None:
    store = DLedgerStore.open(MemoryDisk(), OPTIONS)
    Life().perform(store, (*EIGHT, DeleteBefore(3)))
    for index in (-1, 3, 8):
        with pytest.raises(IndexError, match=rf"has the entries 4 \.\. 7, not {index}"):
            store.entry(LogIndex(index))


def test_an_entry_that_changed_on_the_disk_is_not_given_away() -> None:
    disk = MemoryDisk()
    store = DLedgerStore.open(disk, OPTIONS)
    Life().perform(store, EIGHT)
    entry = store.entry(LogIndex(1))
    path = f"dledger-n0/data/{0:020}"
    other: DLedgerEntry = replace(sealed(replace(entry, term=Term(2)), 0))
    for at, data, reason in (
        (entry.end - 1, b"y", "bodyCrc"),
        (entry.pos + 16, other.term.to_bytes(8), "is another one than it was"),
        (entry.pos + 36, b"\1\2\3\4", "is another one than it was"),
    ):
        kept = disk.read(path)
        disk.write(path, at, data)
        with pytest.raises(DLedgerFileError, match=reason):
            store.entry(LogIndex(1))
        disk.write(path, 0, kept)
    assert store.entry(LogIndex(1)) == entry


def test_so_many_entries_are_not_left_to_one_synchronization() -> None:
    """A channel could not say it (see `dledger_entry`)."""
    sizes = replace(
        OPTIONS,
        mapped_file_size_for_entry_data=SizeBytes(1 << 22),
        mapped_file_size_for_entry_index=SizeBytes(1 << 21),
    )
    store = DLedgerStore.open(MemoryDisk(), sizes)
    entry = store.append(DLedgerEntryType.NOOP, Term(0), b"")
    for _ in range(UNSYNCED_MAX):
        assert store.synced_index == -1
        entry = store.append(DLedgerEntryType.NOOP, Term(0), b"")
    assert store.synced_index == UNSYNCED_MAX - 1
    assert entry.channel == 0
    assert unsynced_of(store.entry(LogIndex(UNSYNCED_MAX - 1)).channel) == UNSYNCED_MAX - 1


def test_a_store_that_is_closed_takes_nothing_more() -> None:
    disk = MemoryDisk()
    store = DLedgerStore.open(disk, OPTIONS)
    life = Life()
    life.perform(store, (*EIGHT, *appends(8, 2)))
    store.close()
    store.close()
    assert disk.unsynced == 0
    refused: tuple[Operation, ...] = (Keep(2), *appends(10, 1), Truncate(3), Reset(9, 1))
    for operation in (*refused, DeleteBefore(3)):
        with pytest.raises(DiskError, match="dledger-n0: the store is closed"):
            operation.perform(store)
    with pytest.raises(DiskError, match="closed"):
        store.entry(LogIndex(3))
    assert seen(DLedgerStore.open(disk, OPTIONS)).end == 9


def test_a_chain_goes_on_behind_a_snapshot_that_has_it() -> None:
    """Then logs with and without the beginning have one chainCrc at each index."""
    whole = DLedgerStore.open(MemoryDisk(), OPTIONS)
    Life().perform(whole, EIGHT)
    installed = DLedgerStore.open(MemoryDisk(), OPTIONS)
    last = whole.entry(LogIndex(5))
    installed.keep(TermAndVote(curr_term=Term(1)))
    installed.reset(last.index, last.term, chain_crc=last.chain_crc)
    for index in (6, 7):
        installed.append_entry(whole.entry(LogIndex(index)))
        chains = [one.entry(LogIndex(index)).chain_crc for one in (whole, installed)]
        assert chains[0] == chains[1]
    with pytest.raises(EncodingError, match="has entry -1 of term 0 before it"):
        installed.reset(LogIndex(-1), Term(0))
    assert installed.end_index == 7


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"mapped_file_size_for_entry_data": 103}, "mappedFileSizeForEntryData: is less than 104"),
        ({"mapped_file_size_for_entry_index": 33}, "mappedFileSizeForEntryIndex: is no multiple"),
        ({"mapped_file_size_for_entry_index": 0}, "mappedFileSizeForEntryIndex: is no multiple"),
    ],
)
def test_sizes_that_no_entry_fits_into_are_refused(options: dict[str, int], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        replace(OPTIONS, **options)  # type: ignore[arg-type]


def test_files_of_the_least_size_are_enough() -> None:
    sizes = replace(OPTIONS, mapped_file_size_for_entry_data=SizeBytes(104))
    disk = MemoryDisk()
    store = DLedgerStore.open(disk, sizes)
    life = Life()
    life.perform(
        store,
        (
            Keep(1),
            *appends(0, 3, size=48),
            Sync(),
            DeleteBefore(1),
            *appends(3, 3, size=48),
            Reset(9, 1),
            Append(1, body(10, 48)),
            Append(1, b""),
            Sync(),
            DeleteBefore(11),
        ),
    )
    assert seen(DLedgerStore.open(disk, sizes)) == life.log
