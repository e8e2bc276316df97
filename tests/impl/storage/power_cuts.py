"""Cut the power at every operation of something, in many ways, and look at what is left."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from rocketha.errors import PowerCutError
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.disk import Disk
from rocketha.storage.memory_disk import MemoryDisk

T = TypeVar("T")

DRAWS = 12
"""Ways that are drawn for each place, besides the loss of everything."""


@dataclass(frozen=True, slots=True)
class AfterCut(Generic[T]):
    """What was found after a power cut, and whether `act` had ended before it."""

    cut_before: int
    ended: bool
    found: T


def after_every_power_cut(
    setup: Callable[[Disk], object], act: Callable[[Disk], object], look: Callable[[Disk], T]
) -> Iterator[AfterCut[T]]:
    """Do `setup` and `act` again and again, and cut the power before each operation of `act`.

    The last cuts come right after its end.
    """
    cut_before, ended = 0, False
    while not ended:
        for draw in range(DRAWS + 1):
            disk = MemoryDisk()
            setup(disk)
            try:
                act(CutDisk(disk, cut_before=cut_before))
                ended = True
            except PowerCutError:
                ended = False
            if draw == 0:
                disk.lose_unsynced()
            else:
                disk.power_cut(random.Random(f"{cut_before} {draw}"))
            yield AfterCut(cut_before, ended, look(disk))
        cut_before += 1
