"""The rules of a broker that comes back, and of its slaves: each is an operator of PreOnline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.formats.name_server_requests import DataVersion
from rocketha.formats.offset_tables import OffsetTable, QueueKey
from rocketha.types import MASTER, BrokerId, ConnectionId

__all__ = ["RULES", "Links", "Offsets", "PreOnlineRules", "put"]

Offsets: TypeAlias = Mapping[QueueKey, int]
"""A queue that is missing has none, as one with 0 has."""
Links: TypeAlias = Mapping[BrokerId, ConnectionId]
"""Slave -> its connection, which is in TRANSFER."""
_Brokers: TypeAlias = frozenset[BrokerId]


def takes_commits(serves: bool, isolated: bool) -> bool:
    """Tell whether clients' commits are taken.

    Spec: PreOnline!TakesCommits
    """
    return serves


def is_counted() -> bool:
    """Tell whether a change of a table counts for its version.

    Spec: PreOnline!IsCounted
    """
    return True


def may_register(isolated: bool) -> bool:
    """Tell whether a broker says that it is there.

    Spec: PreOnline!MayRegister
    """
    return not isolated


def may_copy(serves: bool) -> bool:
    """Tell whether a slave copies its master's tables: not while it acts.

    Spec: PreOnline!MayCopy
    """
    return not serves


def may_be_copied(isolated: bool) -> bool:
    """Tell whether a broker gives its tables: a master in isolation does not.

    Spec: PreOnline!MayBeCopied
    """
    return not isolated


def put(mine: Offsets, theirs: Offsets) -> Offsets:
    """Put offsets of theirs over one's own, as far as there are any.

    Spec: PreOnline!Put
    """
    return {**mine, **{queue: offset for queue, offset in theirs.items() if offset}}


def copied(mine: Offsets, theirs: Offsets) -> tuple[Offsets, ...]:
    """Return what a slave that copies writes, one after the other: all at once.

    Spec: PreOnline!Copied
    """
    return (put(mine, theirs),)


def copied_version(mine: DataVersion, theirs: DataVersion) -> DataVersion:
    """Return the version of a table that was copied.

    Spec: PreOnline!CopiedVersion
    """
    return theirs


def members_of(brokers: _Brokers) -> _Brokers:
    """Return for whom a master waits: not for itself.

    Spec: PreOnline!MembersOf
    """
    return brokers - {MASTER}


def is_connected(links: Links, told: _Brokers, slave: BrokerId) -> bool:
    """Tell whether a slave's own connection is in TRANSFER; `told` knows where to connect to.

    Spec: PreOnline!IsConnected
    """
    return slave in links


def merged(mine: OffsetTable, theirs: OffsetTable) -> Offsets:
    """Take of each queue the larger offset.

    Spec: PreOnline!Merged
    """
    queues = mine.offsets.keys() | theirs.offsets.keys()
    return {
        queue: max(mine.offsets.get(queue, 0), theirs.offsets.get(queue, 0)) for queue in queues
    }


def asks_again() -> bool:
    """Tell whether who has taken a table asks again who is there.

    Spec: PreOnline!AsksAgain
    """
    return True


def is_complete(asked: bool, members: _Brokers, done: _Brokers) -> bool:
    """Tell whether every slave of the last answer has given its tables.

    Spec: PreOnline!IsComplete
    """
    return asked and members <= done


@dataclass(frozen=True, slots=True, kw_only=True)
class PreOnlineRules:
    """What a broker may do before it serves, and what becomes of its tables."""

    takes_commits: Callable[[bool, bool], bool] = takes_commits
    is_counted: Callable[[], bool] = is_counted
    may_register: Callable[[bool], bool] = may_register
    may_copy: Callable[[bool], bool] = may_copy
    may_be_copied: Callable[[bool], bool] = may_be_copied
    copied: Callable[[Offsets, Offsets], tuple[Offsets, ...]] = copied
    copied_version: Callable[[DataVersion, DataVersion], DataVersion] = copied_version
    members_of: Callable[[_Brokers], _Brokers] = members_of
    is_connected: Callable[[Links, _Brokers, BrokerId], bool] = is_connected
    merged: Callable[[OffsetTable, OffsetTable], Offsets] = merged
    asks_again: Callable[[], bool] = asks_again
    is_complete: Callable[[bool, _Brokers, _Brokers], bool] = is_complete


RULES: Final = PreOnlineRules()
"""The rules as the specification has them."""
