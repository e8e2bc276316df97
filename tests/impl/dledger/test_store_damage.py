"""What was durable and is no more is refused, and a store that is refused can begin anew."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Final

import pytest

from rocketha.dledger.store import DLedgerStore
from rocketha.dledger.store_options import read_term
from rocketha.errors import DamagedLogError, DLedgerFileError, PowerCutError, TermFileError
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import Term
from tests.impl.dledger.store_model import (
    OPTIONS,
    DeleteBefore,
    Keep,
    Life,
    Log,
    Operation,
    Sync,
    appends,
    seen,
)

DATA: Final = "dledger-n0/data"
INDEX: Final = "dledger-n0/index"
TERM_FILE: Final = "dledger-n0/currterm"
LOST: Final = TermAndVote(curr_term=Term(2), refill_term=Term(2))
"""What it keeps when its log is thrown away."""
VOTE: Final = TermAndVote(curr_term=Term(1), vote_leader="n0")
EIGHT: Final[tuple[Operation, ...]] = (
    Keep(1, "n0"),
    *appends(0, 2),
    Sync(),
    *appends(2, 6),
    Sync(),
)


def written(*more: Operation) -> tuple[MemoryDisk, Log]:
    disk, life = MemoryDisk(), Life()
    store = DLedgerStore.open(disk, OPTIONS)
    life.perform(store, (*EIGHT, *more))
    store.close()
    return disk, life.log


@pytest.mark.parametrize("more", [(), (DeleteBefore(3),)])
def test_every_flipped_bit_of_the_log_is_refused_or_changes_nothing(
    more: tuple[Operation, ...],
) -> None:
    """Also of the last synchronization, which looks torn: the index knows that it was durable."""
    disk, log = written(*more)
    counted: Counter[str] = Counter()
    for name in disk.names(DATA):
        path = f"{DATA}/{name}"
        data = disk.read(path)
        for bit in range(0, 8 * len(data), 3):
            turned = copy.deepcopy(disk)
            turned.write(path, bit // 8, bytes([data[bit // 8] ^ 1 << bit % 8]))
            try:
                store = DLedgerStore.open(turned, OPTIONS)
            except DLedgerFileError:
                counted["refused"] += 1
                continue
            counted["read"] += 1
            assert seen(store) == log, (name, bit)
    assert counted["refused"] > counted["read"] > 0


def test_every_file_that_is_gone_is_missed() -> None:
    for name in written()[0].names(DATA):
        disk, _ = written()
        disk.unlink(f"{DATA}/{name}")
        with pytest.raises(DLedgerFileError, match=r"\S"):
            DLedgerStore.open(disk, OPTIONS)


def test_without_its_index_a_log_does_not_know_what_it_promised_last() -> None:
    """The entries of the last synchronization look torn."""
    disk, log = written()
    last = disk.names(DATA)[-1]
    disk.truncate(f"{DATA}/{last}", 0)
    with pytest.raises(DLedgerFileError, match="ends with entry 5, and 7 was promised"):
        DLedgerStore.open(disk, OPTIONS)
    for name in disk.names(INDEX):
        disk.unlink(f"{INDEX}/{name}")
    assert seen(DLedgerStore.open(disk, OPTIONS)).entries == log.entries[:6]


def test_a_refused_log_is_left_as_it_was() -> None:
    disk, _ = written()
    disk.write(f"{DATA}/{0:020}", 60, b"damage")
    kept = copy.deepcopy(disk)
    for _ in range(2):
        with pytest.raises(DLedgerFileError, match="bodyCrc"):
            DLedgerStore.open(disk, OPTIONS)
    for folder in (DATA, INDEX):
        for name in kept.names(folder):
            assert disk.read(f"{folder}/{name}") == kept.read(f"{folder}/{name}")


def test_files_that_are_none_of_its_are_refused() -> None:
    for path, reason in (
        (f"{DATA}/readme", "has a file 'readme'"),
        (f"{DATA}/{300:020}", "are not all of 256 bytes"),
        (f"{DATA}/{1024:020}", "are not all of 256 bytes"),
    ):
        disk, log = written()
        disk.write(path, 0, b"?")
        with pytest.raises(DLedgerFileError, match=reason):
            DLedgerStore.open(disk, OPTIONS)
        disk.unlink(path)
        assert seen(DLedgerStore.open(disk, OPTIONS)) == log
    disk, _ = written()
    disk.truncate(f"{DATA}/{0:020}", 257)
    with pytest.raises(DLedgerFileError, match="are not all of 256 bytes"):
        DLedgerStore.open(disk, OPTIONS)


def test_a_damaged_log_begins_anew_in_the_next_term() -> None:
    disk, _ = written()
    disk.write(f"{DATA}/{0:020}", 60, b"damage")
    disk.write("dledger-n0/checkpoint", 0, b"old")
    DLedgerStore.discard(disk, OPTIONS)
    disk.lose_unsynced()
    store = DLedgerStore.open(disk, OPTIONS)
    assert seen(store) == Log(kept=LOST)
    assert not disk.exists("dledger-n0/checkpoint"), "older programs would believe it"
    life = Life(Log(kept=LOST))
    life.perform(store, (*appends(0, 9), Sync()))
    assert seen(DLedgerStore.open(disk, OPTIONS)) == life.log


def test_a_crash_while_a_log_is_thrown_away_leaves_it_refused() -> None:
    """As long as the index says what was lost. Before anything goes it is known that it will."""
    damaged, _ = written()
    again = TermAndVote(curr_term=Term(3), refill_term=Term(3))
    last = f"{DATA}/{damaged.names(DATA)[-1]}"
    damaged.truncate(last, 0)
    damaged.fsync(last)
    at, refused, ended = 0, 0, False
    while not ended:
        for names in (0, 1, 99):
            disk = copy.deepcopy(damaged)
            disk.write("dledger-n0/checkpoint", 0, b"old")
            try:
                DLedgerStore.discard(CutDisk(disk, cut_before=at), OPTIONS)
                ended = True
            except PowerCutError:
                ended = False
            disk.tear(lambda size: size, names=names)
            left = read_term(disk, OPTIONS)
            if disk.names(DATA) != damaged.names(DATA):
                assert left == LOST
            try:
                found = seen(DLedgerStore.open(disk, OPTIONS))
            except DamagedLogError:
                refused += 1
                DLedgerStore.discard(disk, OPTIONS)
                found = seen(DLedgerStore.open(disk, OPTIONS))
                assert found == Log(kept=again if left == LOST else LOST)
            assert found in (Log(kept=LOST), Log(kept=again))
        at += 1
    assert refused > 10


def test_a_vote_that_is_lost_cannot_be_made_up() -> None:
    """Neither by a new file, nor by an older one, nor by a log that was thrown away."""
    whole = written()[0].read(TERM_FILE)
    for data in (b"", whole[:-1], whole.replace(b"n0", b"n1")):
        disk, _ = written()
        disk.truncate(TERM_FILE, 0)
        disk.write(TERM_FILE, 0, data)
        before = disk.names(DATA)
        with pytest.raises(TermFileError, match="currterm"):
            DLedgerStore.open(disk, OPTIONS)
        with pytest.raises(TermFileError, match="currterm"):
            DLedgerStore.discard(disk, OPTIONS)
        assert disk.names(DATA) == before
    disk, _ = written()
    disk.unlink(TERM_FILE)
    before = disk.names(DATA)
    with pytest.raises(TermFileError, match="is not there, and the log has entry 7"):
        DLedgerStore.open(disk, OPTIONS)
    with pytest.raises(TermFileError, match="it was in some term"):
        DLedgerStore.discard(disk, OPTIONS)
    assert disk.names(DATA) == before
    disk = MemoryDisk()
    disk.write(f"{TERM_FILE}.bak", 0, whole)
    with pytest.raises(TermFileError, match="which is older"):
        DLedgerStore.open(disk, OPTIONS)
