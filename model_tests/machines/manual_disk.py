"""Power cuts that leave as many records as a test wants."""

from __future__ import annotations

from typing import Final, TypeVar

from rocketha.formats.segment import segment_start
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.records import record_offset

__all__ = ["cut_power"]

S = TypeVar("S")

_LOG_DIRECTORY: Final = "commitlog"


def cut_power(node: Node[S], kept: int) -> None:
    """Lose what is not synced, except the first `kept` records of the log."""
    disk = node.disk
    names = disk.names(_LOG_DIRECTORY)
    before = {name: disk.read(f"{_LOG_DIRECTORY}/{name}") for name in names}
    disk.lose_unsynced()
    for name, data in before.items():
        start = segment_start(name)
        assert start is not None
        survivors = data[: max(0, record_offset(kept) - start)]
        path = f"{_LOG_DIRECTORY}/{name}"
        if survivors and (not disk.exists(path) or disk.read(path) != survivors):
            disk.write(path, 0, survivors)
            disk.truncate(path, len(survivors))
            disk.fsync(path)
    disk.fsync_dir(_LOG_DIRECTORY)
