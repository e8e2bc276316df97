"""What a broker knows of locks, and what a consumer knows of its own.

Times are what a machine's monotonic clock shows, in milliseconds; no two machines compare theirs.
All of it is in memory: a broker that restarts has forgotten every vote, a consumer that restarts is
another one.

Source: broker/client/rebalance `RebalanceLockManager`; client/impl/consumer `RebalanceImpl`,
`ProcessQueue`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NewType, TypeAlias

from rocketha.formats.lock_bodies import MessageQueue
from rocketha.locks.rules import CONSUMER_RULES, VOTING_RULES, ConsumerRules, VotingRules
from rocketha.types import BrokerId, RequestId, TimestampMs

__all__ = [
    "Attempt",
    "ConsumerOptions",
    "ConsumerState",
    "Lease",
    "LockKey",
    "LockManagerState",
    "LockOptions",
    "Round",
    "RoundId",
    "Vote",
]

RoundId = NewType("RoundId", int)
"""Of a broker's rounds; grows."""

LockKey: TypeAlias = "tuple[str, MessageQueue]"
"""A consumer group and a queue: what is locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOptions:
    """How the brokers of a group lock."""

    members: tuple[BrokerId, ...]
    """All replicas of the group, with this one."""
    total_replicas: int
    """`totalReplicas`: of how many a majority must vote. RocketMQ's default is 1."""
    strict: bool
    """`lockInStrictMode`: a majority must vote, not only the broker that is asked."""
    life_ms: int = 60_000
    """For how long a vote holds (`REBALANCE_LOCK_MAX_LIVE_TIME`)."""
    round_ms: int = 2_000
    """For how long the other brokers' votes are waited for."""
    rules: VotingRules = field(default=VOTING_RULES, repr=False)

    @property
    def quorum(self) -> int:
        """Return how many votes lock a queue."""
        return self.rules.quorum(self.total_replicas)


@dataclass(frozen=True, slots=True)
class Vote:
    """An entry of the lock table: a broker is for this consumer."""

    client_id: str
    attempt: int
    """The newest one that it was asked in."""
    voted_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The other brokers are being asked for their votes."""

    request: RequestId
    """What is answered in the end."""
    queues: frozenset[MessageQueue]
    """Those for which this broker has voted."""
    asked: frozenset[BrokerId]
    """Who has not answered yet."""
    yes: Mapping[BrokerId, frozenset[MessageQueue]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Who has, and for which queues it voted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockManagerState:
    """A broker's lock manager. It votes as soon as it has run for as long as a vote holds."""

    broker: BrokerId
    options: LockOptions
    started_ms: TimestampMs
    votes: Mapping[LockKey, Vote] = field(default_factory=lambda: MappingProxyType({}))
    """Those that have expired stay until somebody else asks, as in RocketMQ."""
    released: Mapping[tuple[str, LockKey], int] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Consumer and what was locked -> its last attempt that was given back. Never forgotten: a
    request that is late enough to need it can be late for ever."""
    rounds: Mapping[RoundId, Round] = field(default_factory=lambda: MappingProxyType({}))
    last_round: RoundId = RoundId(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerOptions:
    """How a consumer locks."""

    lease_ms: int = 30_000
    """For how long it holds a queue after the answer (`rocketmq.client.rebalance.lockMaxLiveTime`).
    It must be shorter than the life of a vote, by `patience_ms` and what clocks gain."""
    relock_ms: int = 20_000
    """How long after a lock it asks again (`rocketmq.client.rebalance.lockInterval`)."""
    patience_ms: int = 1_000
    """For how long it waits for an answer."""
    rules: ConsumerRules = field(default=CONSUMER_RULES, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A request for locks that is not answered yet."""

    number: int
    queues: frozenset[MessageQueue]
    began_ms: TimestampMs


@dataclass(frozen=True, slots=True)
class Lease:
    """A queue is held until `ends_ms`."""

    ends_ms: TimestampMs
    begun: bool
    """Something of it has been processed since it was got."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerState:
    """A consumer of a group, as far as locks matter."""

    client_id: str
    consumer_group: str
    options: ConsumerOptions
    tries: int = 0
    """Attempts so far; the number of the last one."""
    attempt: Attempt | None = None
    leases: Mapping[MessageQueue, Lease] = field(default_factory=lambda: MappingProxyType({}))
    """Those that have ended stay until the queue is got again, or given up."""

    def holds(self, queue: MessageQueue, now_ms: TimestampMs) -> bool:
        """Tell whether a lease is running."""
        lease = self.leases.get(queue)
        return lease is not None and now_ms < lease.ends_ms
