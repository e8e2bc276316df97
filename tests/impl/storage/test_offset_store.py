"""The files of tables of offsets: the power may go off at each operation, twice."""

from __future__ import annotations

import copy
import random

from rocketha.errors import PowerCutError
from rocketha.formats.name_server_requests import DataVersion
from rocketha.formats.offset_tables import OffsetTable, TableKind, push_offsets
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.storage.offset_store import OffsetStore
from rocketha.types import TimestampMs

KIND = TableKind.CONSUMER


def table(offset: int) -> OffsetTable:
    return OffsetTable(
        offsets={("orders@audit", 0): offset}, version=DataVersion(0, offset, TimestampMs(1))
    )


def stored(disk: MemoryDisk, offset: int, *, cut_before: int | None = None) -> bool:
    """Store a table; tell whether the power stayed on."""
    data = push_offsets(KIND, table(offset), is_file=True)
    try:
        OffsetStore(CutDisk(disk, cut_before=cut_before)).store(KIND, data)
    except PowerCutError:
        return False
    return True


def test_a_table_is_there_that_was_stored() -> None:
    disk = MemoryDisk()
    assert OffsetStore(disk).load(KIND) is None
    assert stored(disk, 1)
    assert stored(disk, 2)
    disk.lose_unsynced()

    assert OffsetStore(disk).load(KIND) == table(2)
    assert OffsetStore(disk).load(TableKind.DELAY) is None


def test_a_power_cut_leaves_the_table_or_the_one_before_also_the_second_time() -> None:
    found = set()
    for first in range(6):
        for second in range(6):
            for seed in range(6):
                disk = MemoryDisk()
                assert stored(disk, 1)
                whole = stored(disk, 2, cut_before=first)
                disk.power_cut(random.Random(seed))
                seen = OffsetStore(copy.deepcopy(disk)).read(KIND)
                loaded = OffsetStore(disk).load(KIND)
                assert loaded == seen
                assert loaded in ((table(2),) if whole else (table(1), table(2)))
                whole = stored(disk, 3, cut_before=second)
                disk.power_cut(random.Random(seed))
                again = OffsetStore(disk).load(KIND)
                assert again in ((table(3),) if whole else (loaded, table(3)))
                assert again is not None
                found.add(again.version.counter)
    assert found == {1, 2, 3}
