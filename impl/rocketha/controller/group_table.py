"""The groups of a controller by name: a value, of which a changed copy costs little.

Every entry of the log makes a new state. Copying a table of 100,000 groups for it takes a
millisecond, so the table is cut into buckets, and only the one that changes is copied. A few groups
are in one bucket: to go through many empty ones takes longer than to copy it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

__all__ = ["GroupTable"]

V = TypeVar("V")

_BUCKETS: Final = 512
_FEW: Final = 64


class GroupTable(Mapping[str, V]):
    """A mapping that does not change. Its order is its own."""

    __slots__ = ("_buckets",)

    def __init__(self, items: Mapping[str, V] = MappingProxyType({})) -> None:
        """Take the items of a mapping."""
        if len(items) <= _FEW:
            self._buckets: tuple[dict[str, V], ...] = (dict(items),)
            return
        self._buckets = tuple([{} for _ in range(_BUCKETS)])
        for name, value in items.items():
            self._buckets[_bucket(name)][name] = value

    def __getitem__(self, name: str) -> V:
        """Return the value of a name. Raises: KeyError"""
        return self._buckets[self._number(name)][name]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        for bucket in self._buckets:
            yield from bucket

    def __len__(self) -> int:
        """Return the number of names."""
        return sum(map(len, self._buckets))

    def __repr__(self) -> str:
        """Show the items in the order of their names."""
        return f"GroupTable({dict(sorted(self.items(), key=lambda item: item[0]))!r})"

    def put(self, name: str, value: V) -> GroupTable[V]:
        """Return a copy with this value."""
        number, buckets = self._number(name), list(self._buckets)
        bucket = {**buckets[number], name: value}
        if len(buckets) == 1 and len(bucket) > _FEW:
            return GroupTable(bucket)
        buckets[number] = bucket
        changed: GroupTable[V] = GroupTable()
        changed._buckets = tuple(buckets)
        return changed

    def _number(self, name: str) -> int:
        return 0 if len(self._buckets) == 1 else _bucket(name)


def _bucket(name: str) -> int:
    return zlib.crc32(name.encode("utf-8", "surrogatepass")) % _BUCKETS
