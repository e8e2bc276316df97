"""The numbers and names of the protocols, each with its own type, the epoch entry, the identity.

Offsets count bytes in the CommitLog from its beginning; ranges are half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NewType, TypeAlias

__all__ = [
    "INT32_MAX",
    "INT32_MIN",
    "INT64_MAX",
    "INT64_MIN",
    "MASTER",
    "NO_EPOCH",
    "UNBOUNDED",
    "BrokerId",
    "ConnectionId",
    "Epoch",
    "EpochEntry",
    "HaAddress",
    "Identity",
    "LogIndex",
    "Offset",
    "PutId",
    "RequestId",
    "RequestReference",
    "SizeBytes",
    "SyncStateSetEpoch",
    "Term",
    "TimestampMs",
    "chain_epochs",
]

Epoch = NewType("Epoch", int)
"""Number of a master, 32 bits, assigned by the controller; grows with every election."""

SyncStateSetEpoch = NewType("SyncStateSetEpoch", int)
"""Version of a group's SyncStateSet, 32 bits; grows with every change of the set."""

Offset = NewType("Offset", int)
"""Position in the CommitLog in bytes, 64 bits."""

BrokerId = NewType("BrokerId", int)
"""Identity of a replica, 64 bits, assigned by the controller from 1 on."""

ConnectionId = NewType("ConnectionId", int)
"""A connection of a node, of which one incarnation numbers each in its turn: larger is later."""

HaAddress = NewType("HaAddress", str)
"""Where a broker accepts slaves; for the cores a name without structure."""

PutId = NewType("PutId", int)
"""A producer's call, unique within one incarnation of a broker; simulated, within a run."""

RequestId = NewType("RequestId", int)
"""A request that came from another node and waits for its answer: its receiver's number for it."""

RequestReference: TypeAlias = tuple[int, ...]
"""A request to another node: what its sender calls it."""

MASTER: Final = BrokerId(0)
"""In a request: whoever is master, as a name server has it. Source: MixAll.MASTER_ID"""

LogIndex = NewType("LogIndex", int)
"""Number of an entry in a replicated log, 64 bits, from 1 on; 0 is before the first one.

DLedger counts from 0 on, and -1 is before the first one."""

Term = NewType("Term", int)
"""Number of a leader of a replicated log, 64 bits; 0 without leaders, in DLedger -1."""

SizeBytes = NewType("SizeBytes", int)
"""A length in bytes."""

TimestampMs = NewType("TimestampMs", int)
"""Milliseconds since 1970-01-01 UTC."""

INT32_MAX: Final = 2**31 - 1
INT32_MIN: Final = -(2**31)
INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)

UNBOUNDED: Final = Offset(INT64_MAX)
"""End of the last epoch: it grows with the log. `Long.MAX_VALUE` in RocketMQ."""

NO_EPOCH: Final = Epoch(-1)
"""What a replica without epochs reports as its last epoch."""


@dataclass(frozen=True, slots=True)
class EpochEntry:
    """The part `[start_offset, end_offset)` of the CommitLog that was written in one epoch.

    Source: remoting `EpochEntry`.
    """

    epoch: Epoch
    start_offset: Offset
    end_offset: Offset = UNBOUNDED

    def __post_init__(self) -> None:
        assert 0 <= self.epoch <= INT32_MAX, self.epoch
        assert 0 <= self.start_offset <= INT64_MAX, self.start_offset
        assert self.start_offset <= self.end_offset <= INT64_MAX, self


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the identity files say. Source: store/ha/autoswitch `MetadataFile`."""

    broker_id: BrokerId
    register_check_code: str | None = None
    """In the temporary file only: the id is asked for and not given."""


def chain_epochs(starts: Sequence[tuple[Epoch, Offset]]) -> tuple[EpochEntry, ...]:
    """Make entries of which each ends where the next one starts; the last one is unbounded.

    Neither the epoch file nor the handshake carries ends.
    """
    bounded = [EpochEntry(epoch, start, end) for (epoch, start), (_, end) in pairwise(starts)]
    return (*bounded, *(EpochEntry(epoch, start) for epoch, start in starts[-1:]))
