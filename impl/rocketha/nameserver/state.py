"""What a name server has in its memory, and how it is set up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rocketha.nameserver.rules import RULES, NameServerRules
from rocketha.nameserver.sharded_map import ShardedMap
from rocketha.nameserver.table import NO_TOPICS, Group, Removal
from rocketha.types import ConnectionId

__all__ = ["NameServerOptions", "NameServerState"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameServerOptions:
    """How a name server is set up. Source: NamesrvConfig"""

    support_acting_master: bool = False
    """`supportActingMaster`: clients are shown a slave in the place of a master that is gone."""
    notify_min_broker_id_changed: bool = False
    """`notifyMinBrokerIdChanged`: brokers are told of another smallest brokerId."""
    scan_not_active_ms: int = 5_000
    """`scanNotActiveBrokerInterval`: time between two looks for brokers that are silent."""
    expired_ms: int = 120_000
    """`DEFAULT_BROKER_CHANNEL_EXPIRED_TIME`: how long who does not say it may be silent."""
    removal_ms: int = 0
    """How long the end of a registration waits until it is done."""
    removals_max: int = 3_000
    """`unRegisterBrokerQueueCapacity`: how many brokers' requests to end may wait."""
    delete_topics: bool = False
    """`deleteTopicWithBrokerRegistration`: a registration names all topics of its broker."""
    rules: NameServerRules = field(default=RULES, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameServerState:
    """What a name server knows. It has no disk."""

    options: NameServerOptions
    groups: ShardedMap[Group] = field(default_factory=lambda: ShardedMap[Group]())
    """brokerName -> group; one whose brokers are all gone stays for its epoch."""
    having: ShardedMap[frozenset[str]] = field(default_factory=lambda: ShardedMap[frozenset[str]]())
    """Topic -> the groups that have it, by name: nobody else is looked at for a route."""
    registered_over: ShardedMap[frozenset[str]] = field(
        default_factory=lambda: ShardedMap[frozenset[str]]()
    )
    """Connection -> the groups of which a broker has registered over it, by name."""
    removals: tuple[Removal, ...] = ()
    """What waits to be done, in the order in which it was decided."""
    removed_soon: ShardedMap[tuple[Removal, ...]] = field(
        default_factory=lambda: ShardedMap[tuple[Removal, ...]]()
    )
    """brokerName -> what waits to be done of its group."""

    def with_group(self, broker_name: str, group: Group) -> NameServerState:
        """Return a state in which this is the group of a name."""
        before = self.groups.get(broker_name)
        had = NO_TOPICS.keys() if before is None else before.topics.keys()
        having = self.having
        if before is None or before.topics is not group.topics:
            for topic in had - group.topics.keys():
                left = having[topic] - {broker_name}
                having = having.put(topic, left) if left else having.drop(topic)
            for topic in group.topics.keys() - had:
                having = having.put(topic, having.get(topic, frozenset()) | {broker_name})
        groups = self.groups.put(broker_name, group)
        over = self._over(broker_name, before, group)
        return replace(self, groups=groups, having=having, registered_over=over)

    def _over(self, name: str, before: Group | None, group: Group) -> ShardedMap[frozenset[str]]:
        over = self.registered_over
        had, has = _connections(before), _connections(group)
        for conn in had - has:
            left = over[conn] - {name}
            over = over.put(conn, left) if left else over.drop(conn)
        for conn in has - had:
            over = over.put(conn, over.get(conn, frozenset()) | {name})
        return over

    def groups_over(self, conn: ConnectionId) -> frozenset[str]:
        """Return the groups of which a broker has registered over a connection, by name."""
        return self.registered_over.get(str(conn), frozenset())

    def with_removal(self, removal: Removal) -> NameServerState:
        """Return a state in which one more removal waits."""
        name = removal.broker_name
        of_group = (*self.removed_soon.get(name, ()), removal)
        removals = (*self.removals, removal)
        return replace(self, removals=removals, removed_soon=self.removed_soon.put(name, of_group))

    def without_first_removal(self) -> NameServerState:
        """Return a state in which the first removal waits no more."""
        name = self.removals[0].broker_name
        left = self.removed_soon[name][1:]
        soon = self.removed_soon.put(name, left) if left else self.removed_soon.drop(name)
        return replace(self, removals=self.removals[1:], removed_soon=soon)


def _connections(group: Group | None) -> frozenset[str]:
    return frozenset([] if group is None else [str(one.conn) for one in group.brokers.values()])
