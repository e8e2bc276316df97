"""The real disk and the one in memory do the same as long as the power is on."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import DiskError, MissingFileError
from rocketha.storage import disk as disk_module
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.disk import Disk, RealDisk, parent
from rocketha.storage.memory_disk import MemoryDisk


@pytest.fixture(params=["real", "memory", "cut"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    if request.param == "real":
        return RealDisk(tmp_path / "not" / "yet")
    return MemoryDisk() if request.param == "memory" else CutDisk(MemoryDisk())


def test_what_is_written_is_read(disk: Disk) -> None:
    disk.write("log/a", 0, b"hello")
    disk.write("log/a", 4, b"O!")

    assert disk.read("log/a") == b"hellO!"
    assert disk.read("log/a", 1, 3) == b"ell"
    assert disk.read("log/a", 5, 100) == b"!"
    assert disk.read("log/a", 100) == b""
    assert disk.size("log/a") == 6


def test_a_gap_is_zero(disk: Disk) -> None:
    disk.write("a", 3, b"x")

    assert disk.read("a") == b"\0\0\0x"


def test_a_write_of_nothing_makes_a_file_and_no_gap(disk: Disk) -> None:
    disk.write("a", 3, b"")

    assert disk.read("a") == b""


def test_a_file_is_cut_and_filled_up(disk: Disk) -> None:
    disk.write("a", 0, b"hello")

    disk.truncate("a", 2)
    disk.truncate("a", 4)

    assert disk.read("a") == b"he\0\0"


def test_a_file_takes_the_place_of_another(disk: Disk) -> None:
    disk.write("log/a", 0, b"new")
    disk.write("log/b", 0, b"old")

    disk.rename("log/a", "log/b")

    assert disk.read("log/b") == b"new"
    assert disk.names("log") == ("b",)


def test_names_are_sorted_and_only_of_one_directory(disk: Disk) -> None:
    for path in ("log/b", "log/a", "c"):
        disk.write(path, 0, b"")

    disk.unlink("log/b")

    assert disk.names("log") == ("a",)
    assert disk.names("") == ("c",)
    assert disk.names("nowhere") == ()
    assert (disk.exists("c"), disk.exists("log/b")) == (True, False)


def test_synchronizing_changes_nothing_that_is_seen(disk: Disk) -> None:
    disk.write("log/a", 0, b"hello")

    disk.fsync("log/a")
    disk.fsync_dir("log")
    disk.fsync_dir("")

    assert disk.read("log/a") == b"hello"


def test_a_directory_goes_with_its_last_file(disk: Disk) -> None:
    for name in ("snapshot/7/data", "snapshot/7/meta", "snapshot/8/data"):
        disk.write(name, 0, b"x")

    disk.unlink("snapshot/7/data")
    assert disk.folders("snapshot") == ("7", "8")
    disk.unlink("snapshot/7/meta")
    disk.fsync_dir("snapshot/7")
    assert disk.folders("snapshot") == ("8",)

    disk.write("snapshot/7/data", 0, b"y")
    assert disk.folders("snapshot") == ("7", "8")
    assert disk.read("snapshot/7/data") == b"y"


def test_a_directory_is_durable_as_soon_as_something_is_written_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(
        disk_module,
        "_fsync_directory",
        lambda directory: synced.append(str(directory.relative_to(tmp_path))),
    )
    root = tmp_path / "root"
    RealDisk(root).write("snapshot/7/data", 0, b"x")
    made, synced[:] = [*synced], []
    again = RealDisk(root)  # of a program that ended before it had synchronized anything
    again.write("snapshot/7/data", 0, b"x")
    again.write("snapshot/7/meta", 0, b"y")

    assert made == [".", "root", "root/snapshot"]
    assert synced == ["root", "root/snapshot"]


@pytest.mark.parametrize(
    "operation",
    [
        lambda disk: disk.read("a"),
        lambda disk: disk.size("a"),
        lambda disk: disk.truncate("a", 0),
        lambda disk: disk.fsync("a"),
        lambda disk: disk.rename("a", "b"),
        lambda disk: disk.unlink("a"),
    ],
    ids=["read", "size", "truncate", "fsync", "rename", "unlink"],
)
def test_a_missing_file_is_a_typed_error(disk: Disk, operation: Callable[[Disk], object]) -> None:
    with pytest.raises(MissingFileError, match="a: does not exist"):
        operation(disk)


@pytest.mark.parametrize("path", ["../a", "a/../../b", "/etc/passwd"])
def test_a_path_out_of_the_root_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(DiskError, match="leaves the root"):
        RealDisk(tmp_path).write(path, 0, b"x")


def test_what_the_operating_system_refuses_is_a_typed_error(tmp_path: Path) -> None:
    RealDisk(tmp_path).write("a", 0, b"x")

    with pytest.raises(DiskError, match="a/b: "):
        RealDisk(tmp_path).write("a/b", 0, b"x")


def test_the_directory_of_a_path_is_what_is_before_the_last_slash() -> None:
    assert [parent(path) for path in ("a", "log/a", "x/log/a")] == ["", "log", "x/log"]


PATHS = st.sampled_from(("log/a", "log/b", "log/c"))
STEPS = st.one_of(
    st.tuples(st.just("write"), PATHS, st.integers(0, 9), st.binary(max_size=9)),
    st.tuples(st.just("truncate"), PATHS, st.integers(0, 9)),
    st.tuples(st.just("rename"), PATHS, PATHS),
    st.tuples(st.just("unlink"), PATHS),
    st.tuples(st.just("fsync"), PATHS),
)


def _after(disk: Disk, steps: list[tuple[str, ...]]) -> list[object]:
    """Do the steps; return what each said and what is there at the end."""
    said: list[object] = []
    for name, *arguments in steps:
        try:
            said.append(getattr(disk, name)(*arguments))
        except MissingFileError as error:
            said.append(str(error))
    return [*said, *((name, disk.read(f"log/{name}")) for name in disk.names("log"))]


@given(st.lists(STEPS, max_size=12))
def test_both_disks_do_the_same(steps: list[tuple[str, ...]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        assert _after(RealDisk(Path(root)), steps) == _after(MemoryDisk(), steps)
