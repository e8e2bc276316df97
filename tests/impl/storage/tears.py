"""Cut the power at every operation, and tear what was not synchronized in every way of a list."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.errors import PowerCutError
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk

Told: TypeAlias = list[int]
"""What was acknowledged, the last one at the end."""

ALL: Final = 1 << 30
SIZES: Final[dict[str, Callable[[int], int]]] = {
    "0 bytes": lambda _: 0,
    "1 byte": lambda size: min(1, size),
    "511 bytes": lambda size: min(511, size),
    "512 bytes": lambda size: min(512, size),
    "4095 bytes": lambda size: min(4095, size),
    "half": lambda size: size // 2,
    "all": lambda size: size,
}
NAMES: Final = (0, 1, ALL)
"""So many changes of names survive in each directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Torn:
    """A disk after a power cut, what was acknowledged before, and which operation was next."""

    disk: MemoryDisk
    told: tuple[int, ...]
    ended: bool
    cut_before: int
    how: str


def every_tear(
    setup: Callable[[], MemoryDisk], act: Callable[[Disk, Told], object]
) -> Iterator[Torn]:
    """Do `act` again and again on the disk that `setup` makes, and cut the power everywhere.

    The last cuts come right after its end.
    """
    cut_before, ended = 0, False
    while not ended:
        before, told = setup(), Told()
        try:
            act(CutDisk(before, cut_before=cut_before), told)
            ended = True
        except PowerCutError:
            ended = False
        for size, first_bytes in SIZES.items():
            for names in NAMES:
                disk = copy.deepcopy(before)
                disk.tear(first_bytes, names=names)
                how = f"{size} and {'all' if names == ALL else names} names survive"
                yield Torn(disk=disk, told=tuple(told), ended=ended, cut_before=cut_before, how=how)
        cut_before += 1
