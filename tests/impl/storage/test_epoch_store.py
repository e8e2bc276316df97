"""The epoch file is replaced as a whole, whenever the power goes off."""

from __future__ import annotations

import pytest

from rocketha.errors import EpochFileError
from rocketha.formats.epoch_file import encode_epoch_file
from rocketha.storage.disk import Disk
from rocketha.storage.epoch_store import EpochStore, EpochStoreOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import Epoch, EpochEntry, Offset, chain_epochs
from tests.impl.storage.power_cuts import AfterCut, after_every_power_cut

Entries = tuple[EpochEntry, ...]
NONE: Entries = ()
ONE = chain_epochs([(Epoch(1), Offset(0))])
TWO = chain_epochs([(Epoch(1), Offset(0)), (Epoch(2), Offset(100))])
THREE = chain_epochs([(Epoch(1), Offset(0)), (Epoch(3), Offset(7))])
MAIN, BACKUP = "epochFileCheckpoint", "epochFileCheckpoint.bak"


def _disk(**files: bytes) -> MemoryDisk:
    disk = MemoryDisk()
    for name, data in files.items():
        disk.write({"main": MAIN, "backup": BACKUP}[name], 0, data)
    return disk


def test_a_replica_that_never_had_an_epoch_has_no_file() -> None:
    assert EpochStore(MemoryDisk()).load() == NONE


def test_the_main_file_is_the_one_that_was_written_last() -> None:
    disk = MemoryDisk()
    store = EpochStore(disk)
    store.replace(ONE)
    store.replace(TWO)

    assert EpochStore(disk).load() == TWO
    assert disk.read(MAIN) == b"2\n355729437\n1-0\n2-100\n"
    assert disk.names("") == (MAIN, BACKUP)


def test_the_backup_is_one_version_older() -> None:
    disk = MemoryDisk()
    for entries in (ONE, TWO, THREE):
        EpochStore(disk).replace(entries)

    assert disk.read(BACKUP) == encode_epoch_file(TWO)


@pytest.mark.parametrize("size", range(len(encode_epoch_file(TWO))))
def test_the_backup_does_not_serve_for_a_damaged_file(size: int) -> None:
    """It is older: records of the second epoch would be of the first one."""
    disk = _disk(main=encode_epoch_file(TWO)[:size], backup=encode_epoch_file(ONE))

    with pytest.raises(EpochFileError):
        EpochStore(disk).load()


@pytest.mark.parametrize("size", range(len(encode_epoch_file(TWO))))
def test_b86_the_backup_serves_whatever_a_stopped_rewrite_in_place_has_left(size: int) -> None:
    """A kill of a RocketMQ broker left 0 bytes; its own reader stops at these."""
    disk = _disk(main=encode_epoch_file(TWO)[:size], backup=encode_epoch_file(ONE))

    assert EpochStore(disk, EpochStoreOptions(in_place=True)).load() == ONE


def test_a_file_that_is_missing_beside_its_backup_is_an_error() -> None:
    with pytest.raises(EpochFileError, match="which is older"):
        EpochStore(_disk(backup=encode_epoch_file(ONE))).load()


def test_an_empty_list_is_not_a_missing_file() -> None:
    """RocketMQ goes on to the backup and finds the epochs that were truncated."""
    files = _disk(main=encode_epoch_file(NONE), backup=encode_epoch_file(TWO))

    assert EpochStore(files).load() == NONE


@pytest.mark.parametrize(
    "disk",
    [_disk(main=b"x"), _disk(backup=b"x"), _disk(main=b"x", backup=b"y")],
    ids=["main", "backup", "both"],
)
def test_files_of_which_none_can_be_read_are_an_error(disk: MemoryDisk) -> None:
    with pytest.raises(EpochFileError):
        EpochStore(disk).load()
    assert EpochStore(disk, EpochStoreOptions(in_place=True)).load() == NONE


def test_a_damaged_file_does_not_replace_a_good_backup() -> None:
    disk = _disk(main=b"garbage", backup=encode_epoch_file(ONE))

    EpochStore(disk).replace(TWO)

    assert disk.read(BACKUP) == encode_epoch_file(ONE)
    assert EpochStore(disk).load() == TWO


def test_what_a_broken_replacement_left_behind_does_no_harm() -> None:
    disk = MemoryDisk()
    for name in (MAIN, BACKUP):
        disk.write(name + ".tmp", 0, b"something long that was torn" * 10)

    EpochStore(disk).replace(ONE)
    EpochStore(disk).replace(TWO)

    assert EpochStore(disk).load() == TWO
    assert disk.read(BACKUP) == encode_epoch_file(ONE)


def _replacement(
    before: Entries | None, after: Entries, options: EpochStoreOptions | None = None
) -> list[AfterCut[Entries | str]]:
    """Replace the epochs, with the power cut everywhere; return what a restart finds."""

    def setup(disk: Disk) -> None:
        EpochStore(disk).replace(THREE)
        EpochStore(disk).replace(TWO)
        if before is not None:
            EpochStore(disk).replace(before)

    def look(disk: Disk) -> Entries | str:
        try:
            return EpochStore(disk).load()
        except EpochFileError:
            return "damaged"

    def act(disk: Disk) -> None:
        EpochStore(disk, options).replace(after)

    return list(after_every_power_cut(setup if before is not None else _nothing, act, look))


def _nothing(disk: Disk) -> None:
    assert disk.names("") == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [(None, ONE), (ONE, TWO), (TWO, ONE), (TWO, NONE), (NONE, ONE), (ONE, ONE)],
    ids=["first", "append", "truncate", "truncate all", "from none", "same"],
)
def test_after_a_power_cut_the_epochs_are_the_old_or_the_new_ones(
    before: Entries | None, after: Entries
) -> None:
    outcomes = _replacement(before, after)

    old = before or NONE
    assert {outcome.found for outcome in outcomes} <= {old, after}
    assert {outcome.found for outcome in outcomes if outcome.ended} == {after}
    assert any(outcome.found == old for outcome in outcomes)


def test_the_backup_can_be_read_after_every_power_cut() -> None:
    def setup(disk: Disk) -> None:
        EpochStore(disk).replace(ONE)
        EpochStore(disk).replace(TWO)

    def look(disk: Disk) -> Entries:
        backup = EpochStore(disk, EpochStoreOptions(path=BACKUP))
        return backup.load()

    outcomes = after_every_power_cut(setup, lambda disk: EpochStore(disk).replace(THREE), look)

    assert {outcome.found for outcome in outcomes} == {ONE, TWO}


def test_b06_an_empty_list_that_is_not_written_is_detected() -> None:
    outcomes = _replacement(TWO, NONE, EpochStoreOptions(skip_empty_write=True))

    assert {outcome.found for outcome in outcomes if outcome.ended} == {TWO}


def test_b86_a_file_rewritten_in_place_is_detected() -> None:
    outcomes = _replacement(ONE, TWO, EpochStoreOptions(in_place=True))

    assert {outcome.found for outcome in outcomes if outcome.ended} != {TWO}
    assert not {outcome.found for outcome in outcomes} <= {ONE, TWO}
