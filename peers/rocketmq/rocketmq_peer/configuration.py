"""Configuration files of name server, controllers and brokers, as dataclasses that write text.

Files are small, so that a run has kilobytes: a segment has 1 MiB. Durations are short, so that
what takes RocketMQ minutes by default takes seconds, but a broker is not taken for dead while the
machine is busy. What is not a field here is added, or overridden, by `more`, in RocketMQ's own
names.

Source: common `ControllerConfig`, `BrokerConfig`, `namesrv/NamesrvConfig`; store
`MessageStoreConfig`; remoting `NettyServerConfig`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final, TypeAlias

from rocketmq_peer.errors import PeerError
from rocketmq_peer.frame_rewriting import address

__all__ = [
    "CLUSTER",
    "SEGMENT_SIZE",
    "BrokerConfiguration",
    "BrokerTiming",
    "ControllerConfiguration",
    "ControllerKind",
    "ControllerPorts",
    "NameServerConfiguration",
    "Promises",
    "Value",
    "properties_file",
]

CLUSTER: Final = "rocketproof"
"""The name of the cluster that brokers say they are in."""

SEGMENT_SIZE: Final = 1 << 20
"""Bytes of a file of the CommitLog."""

Value: TypeAlias = "str | int | bool | Path"


def properties_file(values: Mapping[str, Value]) -> str:
    """Write a file of Java properties, in order.

    Raises: PeerError for a name or value that would need escapes.
    """
    lines = []
    for name, value in values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if not name.isidentifier() or any(bad in text for bad in "\n\r\\"):
            raise PeerError(f"{name}={text!r} cannot stand in a configuration file")
        lines.append(f"{name}={text}\n")
    return "".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameServerConfiguration:
    """A name server."""

    home: Path
    port: int
    more: Mapping[str, Value] = field(default_factory=dict)
    """RocketMQ's own names -> values."""

    def text(self) -> str:
        """Write the file. Raises: PeerError"""
        return properties_file(
            {
                "rocketmqHome": self.home,
                "kvConfigPath": self.home / "kv.json",
                "configStorePath": self.home / "namesrv.properties",
                "bindAddress": "127.0.0.1",
                "listenPort": self.port,
                **self.more,
            }
        )


_OF_ROCKETHA: Final = (
    "controllerStorePath",
    "controllerType",
    "scanNotActiveBrokerInterval",
    "enableElectUncleanMaster",
)
"""What rocketha's controller takes besides DLedger's settings: see its
`process.controller_configuration`."""


class ControllerKind(Enum):
    """By what controllers agree with each other."""

    DLEDGER = "DLedger"
    JRAFT = "jRaft"
    ROCKETHA = "rocketha"
    """No RocketMQ: rocketha's controller, which is alone."""


@dataclass(frozen=True, slots=True)
class ControllerPorts:
    """Where a controller listens: for requests, and with JRaft for other controllers."""

    remoting: int
    raft: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfiguration:
    """One of the controllers of a group of them; DLedger's name them from 0."""

    home: Path
    kind: ControllerKind
    peers: Sequence[ControllerPorts]
    own: int
    """Which of the peers this one is."""
    elect_unclean: bool = False
    """Whether a broker outside of the SyncStateSet may be elected."""
    scan_brokers_ms: int = 1000
    more: Mapping[str, Value] = field(default_factory=dict)

    def text(self) -> str:
        """Write the file. Raises: PeerError"""
        values: dict[str, Value] = {
            "rocketmqHome": self.home,
            "configStorePath": self.home / "controller.properties",
            "controllerStorePath": self.home / "store",
            "controllerType": self.kind.value,
            "mappedFileSize": SEGMENT_SIZE,
            "scanNotActiveBrokerInterval": self.scan_brokers_ms,
            "scanInactiveMasterInterval": self.scan_brokers_ms,
            "enableElectUncleanMaster": self.elect_unclean,
        }
        match self.kind:
            case ControllerKind.DLEDGER:
                values |= self._dledger()
            case ControllerKind.JRAFT:
                values |= self._jraft()
            case ControllerKind.ROCKETHA:
                values = {name: values[name] for name in _OF_ROCKETHA} | self._dledger()
        return properties_file(values | dict(self.more))

    def _dledger(self) -> dict[str, Value]:
        peers = [f"n{at}-{address(peer.remoting)}" for at, peer in enumerate(self.peers)]
        return {
            "controllerDLegerGroup": "controllers",
            "controllerDLegerSelfId": f"n{self.own}",
            "controllerDLegerPeers": ";".join(peers),
        }

    def _jraft(self) -> dict[str, Value]:
        return {
            "jRaftGroupId": "controllers",
            "jRaftServerId": address(self.peers[self.own].raft),
            "jRaftInitConf": ",".join(address(peer.raft) for peer in self.peers),
            "jRaftControllerRPCAddr": ",".join(address(peer.remoting) for peer in self.peers),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """What an acknowledgement means; the defaults are RocketMQ's."""

    all_ack_in_sync_state_set: bool = False
    in_sync_replicas: int = 1
    min_in_sync_replicas: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerTiming:
    """How often a broker asks and says something, and how long it waits; all in milliseconds."""

    heartbeat_ms: int = 500
    heartbeat_timeout_ms: int = 10_000
    """Then the controller takes it for dead. With 3 s a busy machine elects without a reason."""
    metadata_ms: int = 1000
    register_ms: int = 10_000
    """At the name server, which tells a slave where its master replicates; 10 s at least."""
    check_sync_state_set_ms: int = 1000
    slave_behind_ms: int = 4000
    """Then a master proposes a set without the slave."""
    ha_heartbeat_ms: int = 1000
    ha_idle_ms: int = 5000
    """Then a connection of replication is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfiguration:
    """A replica of a group under controllers."""

    home: Path
    group: str
    name_server: str
    """Where it registers, "host:port"."""
    controllers: Sequence[str]
    port: int
    """Two below it is another one, for clients in a hurry."""
    ha_port: int
    promises: Promises = field(default_factory=Promises)
    timing: BrokerTiming = field(default_factory=BrokerTiming)
    more: Mapping[str, Value] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        """The folder of its files."""
        return self.home / "store"

    def text(self) -> str:
        """Write the file. Raises: PeerError"""
        values = self._identity() | self._files() | self._periods()
        values |= {
            "allAckInSyncStateSet": self.promises.all_ack_in_sync_state_set,
            "inSyncReplicas": self.promises.in_sync_replicas,
            "minInSyncReplicas": self.promises.min_in_sync_replicas,
            "enableControllerMode": True,
            "enableSlaveActingMaster": False,
            "slaveReadEnable": False,
            "autoCreateTopicEnable": True,
            "defaultTopicQueueNums": 1,
            "traceTopicEnable": False,
            "timerWheelEnable": False,
            "waitTimeMillsInSendQueue": 5000,
        }
        return properties_file(values | dict(self.more))

    def _identity(self) -> dict[str, Value]:
        return {
            "brokerClusterName": CLUSTER,
            "brokerName": self.group,
            "brokerId": -1,
            "brokerRole": "SLAVE",
            "namesrvAddr": self.name_server,
            "controllerAddr": ";".join(self.controllers),
            "brokerIP1": "127.0.0.1",
            "brokerIP2": "127.0.0.1",
            "bindAddress": "127.0.0.1",
            "listenPort": self.port,
            "haListenPort": self.ha_port,
        }

    def _files(self) -> dict[str, Value]:
        return {
            "rocketmqHome": self.home,
            "storePathRootDir": self.store,
            "storePathCommitLog": self.store / "commitlog",
            "storePathEpochFile": self.store / "epochFileCheckpoint",
            "storePathBrokerIdentity": self.store / "brokerIdentity",
            "mappedFileSizeCommitLog": SEGMENT_SIZE,
            "mappedFileSizeConsumeQueue": 6000,
            "mappedFileSizeConsumeQueueExt": 1 << 16,
            "mappedFileSizeTimerLog": 1 << 20,
            "maxHashSlotNum": 1000,
            "maxIndexNum": 4000,
            "maxMessageSize": 1 << 16,
            "flushDiskType": "ASYNC_FLUSH",
            "diskMaxUsedSpaceRatio": 99,
            "cleanFileForciblyEnable": False,
        }

    def _periods(self) -> dict[str, Value]:
        timing = self.timing
        return {
            "brokerHeartbeatInterval": timing.heartbeat_ms,
            "controllerHeartBeatTimeoutMills": timing.heartbeat_timeout_ms,
            "sendHeartbeatTimeoutMillis": 1000,
            "registerNameServerPeriod": timing.register_ms,
            "syncBrokerMetadataPeriod": timing.metadata_ms,
            "syncControllerMetadataPeriod": timing.metadata_ms,
            "checkSyncStateSetPeriod": timing.check_sync_state_set_ms,
            "haMaxTimeSlaveNotCatchup": timing.slave_behind_ms,
            "haSendHeartbeatInterval": timing.ha_heartbeat_ms,
            "haHousekeepingInterval": timing.ha_idle_ms,
        }
