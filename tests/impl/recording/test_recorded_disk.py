"""A disk that says what was done to it, and does the same."""

from __future__ import annotations

from base64 import b64encode

import pytest

from rocketha.errors import MissingFileError
from rocketha.recording.recorded_disk import (
    NamesSynced,
    Read,
    RecordedDisk,
    Removed,
    Renamed,
    Resized,
    Synced,
    Written,
)
from rocketha.storage.memory_disk import MemoryDisk


class Stored:
    """Keeps what it hears of a disk."""

    def __init__(self) -> None:
        self.operations: list[object] = []

    def stored(self, operation: object) -> None:
        self.operations.append(operation)


def in_base64(data: bytes) -> str:
    return b64encode(data).decode()


def test_what_is_done_to_a_disk_is_said_in_order() -> None:
    stored, inner = Stored(), MemoryDisk()
    disk = RecordedDisk(inner, stored, {"kept"})

    disk.write("kept/a", 0, b"xyz")
    disk.truncate("kept/a", 2)
    disk.fsync("kept/a")
    disk.rename("kept/a", "kept/b")
    disk.fsync_dir("kept")
    assert disk.read("kept/b", 1) == b"y"
    disk.write("log", 4, b"12345")
    assert disk.read("log", 5) == b"2345"
    disk.unlink("kept/b")

    assert stored.operations == [
        Written("kept/a", 0, 3, in_base64(b"xyz")),
        Resized("kept/a", 2),
        Synced("kept/a"),
        Renamed("kept/a", "kept/b"),
        NamesSynced("kept"),
        Read("kept/b", 1, in_base64(b"y")),
        Written("log", 4, 5, None),
        Removed("kept/b"),
    ]
    assert (disk.exists("log"), disk.exists("kept/b")) == (True, False)
    assert (disk.names(""), disk.size("log")) == (("log",), 9)
    assert inner.read("log") == b"\0\0\0\0" + b"12345"


def test_what_fails_is_not_said() -> None:
    stored = Stored()
    disk = RecordedDisk(MemoryDisk(), stored, {"kept"})

    for use in (disk.fsync, disk.unlink, disk.read):
        with pytest.raises(MissingFileError):
            use("kept/a")

    assert stored.operations == []
