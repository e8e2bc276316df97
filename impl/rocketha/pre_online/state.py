"""What a broker knows that may be a master in isolation, or a slave that acts; how it is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType

from rocketha.formats.name_server_requests import DataVersion, TopicConfig
from rocketha.formats.offset_tables import NO_OFFSETS, OffsetTable, TableKind
from rocketha.pre_online.due import Due
from rocketha.pre_online.rules import RULES, Links, PreOnlineRules
from rocketha.types import MASTER, BrokerId, ConnectionId, HaAddress, TimestampMs

__all__ = ["Asked", "HaClient", "PreOnlineOptions", "PreOnlineState", "Table", "Waits", "loaded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreOnlineOptions:
    """How a broker is set up. Source: BrokerConfig, BrokerIdentity, MessageStoreConfig"""

    cluster_name: str
    broker_name: str
    address: str
    broker_id: BrokerId
    """0: it is the master, whenever it runs."""
    ha_address: HaAddress
    name_server: BrokerId
    """`namesrvAddr`: what its host calls it."""
    topics: Mapping[str, TopicConfig]
    steps: Mapping[TableKind, int]
    """`consumerOffsetUpdateVersionStep`, `delayOffsetUpdateVersionStep`; 0: no version moves."""
    register_ms: int = 30_000
    """`registerNameServerPeriod`"""
    heartbeat_ms: int = 1_000
    """`brokerHeartbeatInterval`"""
    not_active_ms: int = 10_000
    """`brokerNotActiveTimeoutMillis`: for how long name servers believe that it is alive."""
    poll_ms: int = 1_000
    """`syncBrokerMemberGroupPeriod`"""
    copy_ms: int = 3_000
    """`slaveSyncPeriod`: time between two tables that a slave copies."""
    persist_ms: int = 5_000
    """`flushConsumerOffsetInterval`"""
    pre_online_ms: int = 1_000
    """How long a master waits until it tries again what has failed."""
    request_timeout_ms: int = 3_000
    """After it a connection is closed."""
    report_ms: int = 3_000
    """A connection is closed if its slave does not report within this time when it is asked to."""
    reconnect_ms: int = 5_000
    """How long a slave waits until it connects again, or takes a handshake for lost."""
    transfer_ms: int = 5_000
    """`haSendHeartbeatInterval`: how often a master sends something over each connection."""
    silent_ms: int = 20_000
    """`haHousekeepingInterval`: a slave closes a connection over which it hears nothing so long."""
    rules: PreOnlineRules = field(default=RULES, repr=False)

    @property
    def is_master(self) -> bool:
        """Tell whether it is the master."""
        return self.broker_id == MASTER


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table in memory, and what of it is in its file."""

    present: OffsetTable
    saved: OffsetTable
    moves: int = 0
    """`versionChangeCounter`, since the version moved or the broker started."""


class Asked(IntEnum):
    """What a broker waits for: the first number of a request's reference.

    No other core of a broker has these numbers.
    """

    REGISTERED = 31
    POLLED = 32
    """A slave, who is there."""
    GROUP = 33
    """The master in isolation, who is there."""
    COPY = 34
    """A slave, the master's table."""
    TOLD = 35
    """The master, that a slave knows where to connect to."""
    TABLE = 36
    """The master, a slave's table."""
    REPORT = 37
    """The master, that the connection of who gave its tables is still there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """What a broker has asked last: it asks nothing else until it hears, or waits no longer."""

    what: Asked
    number: int
    slave: BrokerId = MASTER
    """Whom the master has asked."""
    kind: TableKind = TableKind.CONSUMER
    """Which table is asked for."""
    conn: ConnectionId | None = None
    """Of the slave whose tables are asked for, as long as it stands."""
    given: Mapping[TableKind, OffsetTable] = field(default_factory=lambda: MappingProxyType({}))
    """What the slave has given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HaClient:
    """A slave's connection with its master."""

    address: HaAddress | None = None
    """Where to connect to."""
    conn: ConnectionId | None = None
    heard_ms: int = 0
    """When it stood, or when the master was last heard over it."""
    has_reply: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PreOnlineState:
    """What a broker has in its memory."""

    options: PreOnlineOptions
    tables: Mapping[TableKind, Table]
    version: DataVersion
    """Of what it registers; counts on with each connection that it loses."""
    serves: bool = False
    """Clients' commits are taken, and messages that are due delivered."""
    waits: Waits | None = None
    due: tuple[Due, ...] = ()
    """What was put off until it waits no more."""
    asks: int = 0
    """Requests so far."""
    turn: int = 0
    """Which of several slaves, or tables, is next."""
    # a slave
    master_address: str | None = None
    """Whom it copies from. Source: SlaveSynchronize.masterAddr"""
    ha: HaClient = field(default_factory=HaClient)
    # the master
    isolated: bool = False
    members: frozenset[BrokerId] = frozenset()
    """Slaves in the last answer of the name server."""
    asked: bool = False
    """It has asked who is there since it started, or took tables."""
    done: frozenset[BrokerId] = frozenset()
    """Slaves of which it has the tables."""
    told: frozenset[BrokerId] = frozenset()
    """Slaves that know where to connect to, as far as it has heard."""
    links: Links = field(default_factory=lambda: MappingProxyType({}))
    unreported: Mapping[ConnectionId, int] = field(default_factory=lambda: MappingProxyType({}))
    """Connection -> what was sent over it and not reported yet; each is, in order."""

    @property
    def wanted(self) -> frozenset[BrokerId]:
        """Return of whom it needs the tables.

        Spec: PreOnline!Wanted
        """
        return self.members - self.done

    def with_table(self, kind: TableKind, table: Table) -> PreOnlineState:
        """Return a state with another table."""
        return replace(self, tables=MappingProxyType({**self.tables, kind: table}))


def loaded(
    files: Mapping[TableKind, OffsetTable | None], *, now_ms: TimestampMs
) -> dict[TableKind, Table]:
    """Return the tables of a broker that starts, by what its files say; None: there is no file."""
    tables = {}
    for kind in TableKind:
        table = files.get(kind)
        if table is None:
            table = OffsetTable(offsets=NO_OFFSETS, version=DataVersion(0, 0, now_ms))
        tables[kind] = Table(present=table, saved=table)
    return tables
