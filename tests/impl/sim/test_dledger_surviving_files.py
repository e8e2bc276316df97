"""What a power cut would leave of a member's files: not what its store says, but what is there."""

from __future__ import annotations

import pytest

from rocketha.dledger.performers import DLedgerFiles
from rocketha.dledger.register import RegisterService, write_entry
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.formats.segment import segment_name
from rocketha.sim.dledger.member import STORE
from rocketha.sim.dledger.surviving_files import SurvivingFiles
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import LogIndex, Offset, Term

ENTRIES = 90
"""So many are in two files."""


class ForgetfulDisk(MemoryDisk):
    """A disk whose synchronizations do nothing while it is told so."""

    __slots__ = ("forgets",)

    def __init__(self) -> None:
        super().__init__()
        self.forgets = ""

    def fsync(self, path: str) -> None:
        if self.forgets != "fsync":
            super().fsync(path)

    def fsync_dir(self, directory: str) -> None:
        if self.forgets != "fsync_dir":
            super().fsync_dir(directory)


class Scene:
    """A member's files, with a log that is synchronized."""

    def __init__(self) -> None:
        self.disk = ForgetfulDisk()
        self.files = DLedgerFiles.open(self.disk, STORE, RegisterService())
        self.files.store.keep(TermAndVote(curr_term=Term(1), vote_leader=None))
        self.write(ENTRIES)
        self.files.store.sync()
        self.surviving = SurvivingFiles(self.disk, STORE, lambda: self.files)

    def write(self, count: int) -> None:
        for number in range(count):
            self.files.store.append(DLedgerEntryType.NORMAL, Term(1), write_entry("r", number))


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_what_is_synchronized_survives(scene: Scene) -> None:
    scene.write(3)

    seen = scene.surviving.look()

    assert seen.synced == ENTRIES - 1
    assert seen.kept == TermAndVote(curr_term=Term(1), vote_leader=None)
    assert (seen.snapshot, seen.needless) == (-1, ())


@pytest.mark.parametrize("forgets", ["fsync", "fsync_dir"])
def test_entries_that_are_called_synchronized_and_are_not_do_not(
    scene: Scene, forgets: str
) -> None:
    scene.surviving.look()
    scene.disk.forgets = forgets
    scene.write(ENTRIES)  # with a new file
    scene.files.store.sync()

    assert scene.files.store.synced_index == 2 * ENTRIES - 1
    assert scene.surviving.look().synced == -1


def test_an_end_that_was_cut_and_comes_back_does_not(scene: Scene) -> None:
    scene.disk.forgets = "fsync"
    scene.files.store.truncate(LogIndex(ENTRIES - 2))

    assert scene.files.store.synced_index == ENTRIES - 3
    assert scene.surviving.look().synced == -1


@pytest.mark.parametrize("forgets", ["fsync", "fsync_dir"])
def test_a_vote_that_is_not_on_the_disk_is_not_kept(scene: Scene, forgets: str) -> None:
    scene.disk.forgets = forgets
    scene.files.store.keep(TermAndVote(curr_term=Term(1), vote_leader="b1"))

    seen = scene.surviving.look()

    assert seen.kept == (
        TermAndVote(curr_term=Term(1), vote_leader=None) if forgets == "fsync_dir" else None
    )


def test_a_snapshot_that_is_not_on_the_disk_is_none(scene: Scene) -> None:
    scene.files.snapshots.save(LogIndex(4), Term(1), b"{}")
    scene.disk.forgets = "fsync"
    scene.files.snapshots.save(LogIndex(9), Term(1), b"{}")

    assert scene.files.snapshots.indexes[-1] == 9
    assert scene.surviving.look().snapshot == 4


def test_a_file_whose_entries_are_all_cut_is_needless(scene: Scene) -> None:
    scene.write(ENTRIES)
    scene.files.store.sync()
    data, index = "data/00000000000000000000", "index/00000000000000000000"
    saved = {path: scene.disk.read(path) for path in (data, index)}
    scene.files.store.delete_before(LogIndex(2 * ENTRIES - 5))
    assert scene.surviving.look().needless == ()

    for path, content in saved.items():
        scene.disk.write(path, 0, content)
    scene.surviving.starts()

    assert scene.surviving.look().needless == (data, index)


def test_a_file_that_is_removed_and_comes_back_is_needless(scene: Scene) -> None:
    scene.write(ENTRIES)
    scene.files.store.sync()
    scene.disk.forgets = "fsync_dir"
    scene.files.store.delete_before(LogIndex(2 * ENTRIES - 5))

    (left,) = scene.disk.names(STORE.path("data"))
    gone = range(0, int(left), STORE.mapped_file_size_for_entry_data)
    assert len(gone) >= 3
    assert scene.surviving.look().needless == tuple(
        f"data/{segment_name(Offset(start))}" for start in gone
    )
