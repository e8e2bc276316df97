"""What a controller knows of its broker groups: a value, made from the entries of its log alone.

Time is in it as the time of the last entry. It never goes back: an entry with an earlier time, from
a controller whose clock is behind, counts as one with the same.

Differences from RocketMQ: a group that was cleaned leaves its epochs and its next id behind, so
that neither is given out again (B37); the heartbeat table is a part of this state and of the group,
and knows channels and incarnations (B28).

Source: controller/impl/manager `ReplicasInfoManager`, `BrokerReplicaInfo`, `SyncStateInfo`,
controller/impl/heartbeat `BrokerLiveInfo`, `RaftBrokerHeartBeatManager`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from rocketha.controller.group_table import GroupTable
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import FIRST_INCARNATION, Incarnation
from rocketha.formats.controller_responses import LiveMaster
from rocketha.types import (
    INT32_MAX,
    NO_EPOCH,
    BrokerId,
    ConnectionId,
    Epoch,
    Offset,
    SyncStateSetEpoch,
    TimestampMs,
)

__all__ = [
    "FIRST_BROKER_ID",
    "HEARTBEAT_TIMEOUT_MS",
    "NOTHING_SAID",
    "NO_CHANNEL",
    "UNHEARD",
    "ControllerState",
    "Group",
    "Heard",
    "Replica",
]

NO_CHANNEL: Final = ConnectionId(0)
"""Stands for the connections before the controller's last start."""

FIRST_BROKER_ID: Final = BrokerId(1)
"""Source: MixAll.FIRST_BROKER_CONTROLLER_ID"""

HEARTBEAT_TIMEOUT_MS: Final = 10_000
"""For a broker that names none (`DEFAULT_BROKER_CHANNEL_EXPIRED_TIME`)."""

NOTHING_SAID: Final = Offset(-1)
"""For a replica that did not say how far it is."""

_NO_ELECTION: Final = Epoch(0)
_BEGINNING: Final = TimestampMs(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The signs of life of a replica's present incarnation.

    What counts is the last heartbeat on each open channel; how far the replica is was said in the
    last one of all, and may go down: a truncated log is shorter.
    """

    channels: Mapping[ConnectionId, TimestampMs] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """When the last heartbeat came on each channel that is open."""
    timeout_ms: int = HEARTBEAT_TIMEOUT_MS
    epoch: Epoch = NO_EPOCH
    max_offset: Offset = NOTHING_SAID
    confirm_offset: Offset = NOTHING_SAID
    election_priority: int = INT32_MAX
    """The smaller, the sooner it is elected among equals."""

    def is_alive(self, now_ms: TimestampMs) -> bool:
        """Tell whether a heartbeat on any channel is recent enough.

        Source: DefaultBrokerHeartbeatManager.isBrokerActive
        """
        return any(last + self.timeout_ms >= now_ms for last in self.channels.values())

    def on_channel(self, channel: ConnectionId, now_ms: TimestampMs) -> Heard:
        """Note a sign of life on a channel. The channels before the last start are gone then.

        Spec: ReplicaGroup!OwnsEntry
        """
        times = {c: last for c, last in self.channels.items() if c != NO_CHANNEL}
        times[channel] = now_ms
        return replace(self, channels=MappingProxyType(times))


UNHEARD: Final = Heard()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """A registered replica: its identity is its id, not its address (B34)."""

    address: str
    check_code: str
    """Who applied for the id."""
    incarnation: Incarnation = FIRST_INCARNATION
    heard: Heard = UNHEARD


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The replicas with one broker name.

    A group without replicas was cleaned: to brokers it is unknown.
    """

    cluster_name: str
    broker_name: str
    next_broker_id: BrokerId = FIRST_BROKER_ID
    """Greater than every id that was ever given out."""
    replicas: Mapping[BrokerId, Replica] = field(default_factory=lambda: MappingProxyType({}))
    master: BrokerId | None = None
    """Whether it is alive or not; `None` before the first election and after its restart."""
    master_epoch: Epoch = _NO_ELECTION
    """Number of elections: no two masters have the same."""
    sync_state_set: SyncStateSet = field(
        default_factory=lambda: SyncStateSet(frozenset(), SyncStateSetEpoch(0))
    )
    unfit: frozenset[BrokerId] = frozenset()
    """Members of the set that registered with a torn log: they are not elected."""
    former: Mapping[BrokerId, Replica] = field(default_factory=lambda: MappingProxyType({}))
    """Replicas of the group when all of it was removed: they may come back with their ids."""

    @property
    def members(self) -> frozenset[BrokerId]:
        """Return the SyncStateSet without its version."""
        return self.sync_state_set.members

    @property
    def is_new(self) -> bool:
        """Tell whether it has never had a master since it was registered."""
        return self.master is None and not self.members

    def is_alive(self, broker_id: BrokerId, now_ms: TimestampMs) -> bool:
        """Tell whether there is such a replica, and it is heard of."""
        replica = self.replicas.get(broker_id)
        return replica is not None and replica.heard.is_alive(now_ms)

    def live_master(self, now_ms: TimestampMs) -> LiveMaster | None:
        """Return the master if it is heard of."""
        if self.master is None or not self.is_alive(self.master, now_ms):
            return None
        return self.show_master(self.master)

    def show_master(self, master: BrokerId) -> LiveMaster:
        """Return a replica as the master of the present epochs."""
        return LiveMaster(
            broker_id=master,
            address=self.replicas[master].address,
            epoch=self.master_epoch,
            sync_state_set_epoch=self.sync_state_set.epoch,
        )

    def member_group(self) -> BrokerMemberGroup:
        """Return where all replicas are. Source: ReplicasInfoManager.buildBrokerMemberGroup"""
        return BrokerMemberGroup(
            cluster_name=self.cluster_name,
            broker_name=self.broker_name,
            addresses=MappingProxyType({i: r.address for i, r in sorted(self.replicas.items())}),
        )

    def with_replica(self, broker_id: BrokerId, replica: Replica) -> Group:
        """Put a replica in, or in the place of the one with its id."""
        changed = {**self.replicas, broker_id: replica}
        return replace(self, replicas=MappingProxyType(changed))

    def with_set(self, members: frozenset[BrokerId]) -> Group:
        """Take a SyncStateSet as the next version; who is not in it is not unfit any more."""
        epoch = SyncStateSetEpoch(self.sync_state_set.epoch + 1)
        unfit = self.unfit & members
        return replace(self, sync_state_set=SyncStateSet(members, epoch), unfit=unfit)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerState:
    """All groups by name, and the time of the last entry."""

    groups: Mapping[str, Group] = field(default_factory=GroupTable)
    clock_ms: TimestampMs = _BEGINNING

    def known(self, broker_name: str) -> Group | None:
        """Return a group that has replicas. Source: ReplicasInfoManager.isContainsBroker"""
        group = self.groups.get(broker_name)
        return group if group is not None and group.replicas else None

    def with_group(self, group: Group) -> ControllerState:
        """Put a group in, or in the place of the one with its name."""
        groups = self.groups if isinstance(self.groups, GroupTable) else GroupTable(self.groups)
        return replace(self, groups=groups.put(group.broker_name, group))
