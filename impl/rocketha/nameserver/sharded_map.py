"""A map of names that is not changed but followed by another one, however many names it has.

A name server hears thousands of brokers every second, and each sign of life makes a new state. So a
map is in parts, and a new one copies one of them. Which part a name is in does not depend on the
process, or the same run would have another order of names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar
from zlib import crc32

__all__ = ["ShardedMap"]

V = TypeVar("V")

_SHARDS: Final = 256


class ShardedMap(Mapping[str, V]):
    """An immutable map from names."""

    __slots__ = ("_shards", "_size")

    def __init__(self) -> None:
        """Make an empty map."""
        self._shards: tuple[dict[str, V], ...] = ({},) * _SHARDS
        self._size = 0

    def put(self, name: str, value: V) -> ShardedMap[V]:
        """Return a map that has a value for this name, and for all others what this one has."""
        place, shard = self._of(name)
        grows = name not in shard
        return self._followed(place, {**shard, name: value}, self._size + grows)

    def drop(self, name: str) -> ShardedMap[V]:
        """Return a map without this name."""
        place, shard = self._of(name)
        if name not in shard:
            return self
        rest = {other: value for other, value in shard.items() if other != name}
        return self._followed(place, rest, self._size - 1)

    def __getitem__(self, name: str) -> V:
        """Return the value of a name."""
        return self._of(name)[1][name]

    def __iter__(self) -> Iterator[str]:
        """Give all names, in an order that is the same in every process."""
        for shard in self._shards:
            yield from shard

    def __len__(self) -> int:
        """Return the number of names."""
        return self._size

    def __repr__(self) -> str:
        """Write it as a map."""
        return f"{type(self).__name__}({dict(self)!r})"

    def _of(self, name: str) -> tuple[int, dict[str, V]]:
        place = crc32(name.encode()) % _SHARDS
        return place, self._shards[place]

    def _followed(self, place: int, shard: dict[str, V], size: int) -> ShardedMap[V]:
        new: ShardedMap[V] = ShardedMap()
        new._shards = (*self._shards[:place], shard, *self._shards[place + 1 :])
        new._size = size
        return new
