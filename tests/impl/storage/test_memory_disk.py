"""What a power cut takes from the disk in memory, and what it leaves."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import MissingFileError, PowerCutError
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk, PowerCut


def _durable(content: bytes = b"old") -> MemoryDisk:
    """Make a disk with one file that is durable by content and name."""
    disk = MemoryDisk()
    disk.write("a", 0, content)
    disk.fsync("a")
    disk.fsync_dir("")
    return disk


def test_what_was_synchronized_survives() -> None:
    disk = _durable()

    cut = disk.lose_unsynced()

    assert (disk.read("a"), cut, disk.unsynced) == (b"old", PowerCut(), 0)


def test_what_was_written_back_survives_but_for_what_is_taken_for_clean() -> None:
    disk = _durable()
    disk.write("a", 0, b"lost")
    disk.fail_fsync("a")
    disk.write("b", 0, b"kept")
    disk.rename("b", "c")

    disk.write_back()
    cut = disk.lose_unsynced()

    assert (disk.names(""), cut, disk.unsynced) == (("a", "c"), PowerCut(), 0)
    assert (disk.read("a"), disk.read("c")) == (b"old", b"kept")


def test_a_write_that_was_not_synchronized_is_lost() -> None:
    disk = _durable()
    disk.write("a", 0, b"new and longer")

    cut = disk.lose_unsynced()

    assert (disk.read("a"), cut) == (b"old", PowerCut(lost=1))


def test_a_truncation_that_was_not_synchronized_is_lost() -> None:
    disk = _durable()
    disk.truncate("a", 1)

    disk.lose_unsynced()

    assert disk.read("a") == b"old"


def test_a_file_whose_directory_was_not_synchronized_is_lost() -> None:
    disk = MemoryDisk()
    disk.write("a", 0, b"new")
    disk.fsync("a")

    cut = disk.lose_unsynced()

    assert (disk.exists("a"), cut) == (False, PowerCut(names_lost=1))


def test_a_name_is_durable_without_the_content() -> None:
    disk = MemoryDisk()
    disk.write("a", 0, b"new")
    disk.fsync_dir("")

    disk.lose_unsynced()

    assert disk.read("a") == b""


@pytest.mark.parametrize("synchronized", [False, True])
def test_a_rename_is_durable_with_its_directory(synchronized: bool) -> None:
    disk = _durable()
    disk.write("b", 0, b"new")
    disk.fsync("b")
    disk.fsync_dir("")
    disk.rename("b", "a")
    if synchronized:
        disk.fsync_dir("")

    disk.lose_unsynced()

    expected = {"a": b"new"} if synchronized else {"a": b"old", "b": b"new"}
    assert {name: disk.read(name) for name in disk.names("")} == expected


def test_a_removed_file_is_back_unless_its_directory_was_synchronized() -> None:
    disk = _durable()
    disk.unlink("a")

    disk.lose_unsynced()

    assert disk.read("a") == b"old"


def test_directories_are_synchronized_one_by_one() -> None:
    disk = MemoryDisk()
    for path in ("x/a", "y/a"):
        disk.write(path, 0, b"new")
        disk.fsync(path)
    disk.fsync_dir("x")

    disk.lose_unsynced()

    assert (disk.exists("x/a"), disk.exists("y/a")) == (True, False)


def test_a_power_cut_keeps_loses_and_tears_writes() -> None:
    """Among many draws each fate of one write is seen, and torn pieces of many kinds."""
    seen: set[bytes] = set()
    for seed in range(300):
        disk = _durable(b"....")
        disk.write("a", 2, b"abcd")
        disk.power_cut(random.Random(seed))
        seen.add(disk.read("a"))

    prefixes, suffix, middle = {b"..ab", b"..abcd", b"..a."}, b"....cd", b"...bc"
    assert seen >= {b"....", suffix, middle, *prefixes}


def test_a_later_write_may_survive_without_an_earlier_one() -> None:
    seen: set[bytes] = set()
    for seed in range(200):
        disk = _durable(b"")
        disk.write("a", 0, b"1")
        disk.write("a", 1, b"2")
        disk.power_cut(random.Random(seed))
        seen.add(disk.read("a"))

    assert seen == {b"", b"1", b"\x002", b"12"}


def test_names_survive_in_their_order() -> None:
    seen: set[tuple[str, ...]] = set()
    for seed in range(100):
        disk = MemoryDisk()
        for name in "abc":
            disk.write(name, 0, b"")
        disk.power_cut(random.Random(seed))
        seen.add(disk.names(""))

    assert seen == {(), ("a",), ("a", "b"), ("a", "b", "c")}


def _busy() -> MemoryDisk:
    disk = _durable(b"0123456789")
    for at in range(6):
        disk.write("a", at, bytes([at]) * 5)
        disk.write(f"new{at}", 0, b"new")
    disk.rename("new0", "new1")
    disk.truncate("a", 8)
    return disk


def test_one_seed_gives_one_disk() -> None:
    for seed in range(20):
        disks = [_busy(), _busy()]
        cuts = [disk.power_cut(random.Random(seed)) for disk in disks]

        contents = [{n: disk.read(n) for n in disk.names("")} for disk in disks]
        assert contents[0] == contents[1]
        assert cuts[0] == cuts[1]


@given(st.randoms(use_true_random=False))
def test_a_power_cut_leaves_nothing_open(rng: random.Random) -> None:
    disk = _busy()
    disk.power_cut(rng)
    before = {name: disk.read(name) for name in disk.names("")}

    second = disk.power_cut(rng)

    assert second == PowerCut()
    assert {name: disk.read(name) for name in disk.names("")} == before
    assert disk.unsynced == 0


def test_what_is_durable_is_what_is_left_without_all_else() -> None:
    disk = _busy()
    disk.write("a", 0, b"not synchronized")

    durable = disk.durable()

    assert disk.read("a").startswith(b"not synchronized"), "the disk itself loses nothing"
    disk.lose_unsynced()
    contents = [{n: one.read(n) for n in one.names("")} for one in (durable, disk)]
    assert contents[0] == contents[1]
    assert durable.unsynced == 0
    durable.write("a", 0, b"another disk's")
    assert disk.read("a") == contents[1]["a"]


def _shown(disk: MemoryDisk) -> list[tuple[bytes, bytes, bool]]:
    """Return all that a disk shows of the files that may be on it, now and after a power cut."""
    return [
        (
            disk.read(path) if disk.exists(path) else b"",
            disk.durable_content(path),
            disk.exists(path),
        )
        for path in "ab"
    ]


@given(st.lists(st.integers(0, 8), max_size=12), st.randoms(use_true_random=False))
def test_what_a_disk_shows_changes_with_the_count_of_its_changes(
    operations: list[int], rng: random.Random
) -> None:
    disk = _busy()
    for operation in operations:
        seen, changes = (_shown(disk), disk.durable_names("")), disk.changes
        with suppress(MissingFileError):
            (
                lambda: disk.write("a", rng.randrange(9), b"some"),
                lambda: disk.truncate("a", rng.randrange(9)),
                lambda: disk.fsync(rng.choice("ab")),
                lambda: disk.fail_fsync("a"),
                lambda: disk.fsync_dir(""),
                lambda: disk.rename("a", "b"),
                lambda: disk.unlink(rng.choice("ab")),
                lambda: disk.power_cut(rng),
                lambda: disk.become(_busy()),
            )[operation]()
        if disk.changes == changes:
            assert (_shown(disk), disk.durable_names("")) == seen


def test_the_power_goes_off_before_the_chosen_operation() -> None:
    inner = MemoryDisk()
    disk = CutDisk(inner, cut_before=2)
    disk.write("a", 0, b"1")
    disk.fsync("a")

    for _ in range(2):
        with pytest.raises(PowerCutError, match="before this truncate"):
            disk.truncate("a", 0)

    assert disk.operations == ("write a", "fsync a")
    assert inner.read("a") == b"1"
