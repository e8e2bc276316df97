"""The configuration of a broker's process: a file of RocketMQ's, of which it takes what it knows.

| name                                        | what                                  | if missing |
|---------------------------------------------|---------------------------------------|------------|
| `brokerClusterName`, `brokerName`           | the cluster, and the group            | RocketMQ's |
| `brokerIP1`                                 | where it listens, an IPv4 address     | 127.0.0.1  |
| `listenPort`, `haListenPort`                | for requests, and for slaves          | 10911,     |
|                                             |                                       | 10912      |
| `controllerAddr`                            | `host:port;host:port`: one controller,| refused    |
|                                             | or all, as they name each other       |            |
| `namesrvAddr`                               | likewise                              | none       |
| `storePathRootDir`                          | the folder of its files               | refused    |
| `mappedFileSizeCommitLog`                   | bytes of a segment                    | 1 GiB      |
| `defaultTopicQueueNums`                     | queues of a new topic                 | 8          |
| `flushDiskType`                             | `SYNC_FLUSH`, or something else       | not        |
| `flushIntervalCommitLog`                    | milliseconds                          | 500        |
| `registerNameServerPeriod`                  | milliseconds                          | 30000      |
| `allAckInSyncStateSet`, `inSyncReplicas`,   | what an acknowledgement means         | RocketMQ's |
| `minInSyncReplicas`, `slaveTimeout`         |                                       |            |
| `haTransferBatchSize`,                      | replication, bytes and milliseconds   | RocketMQ's |
| `haSendHeartbeatInterval`,                  |                                       |            |
| `haHousekeepingInterval`,                   |                                       |            |
| `haMaxTimeSlaveNotCatchup`                  |                                       |            |
| `haReconnectInterval`                       | ours: a slave tries again after it    | 1000       |
| `checkSyncStateSetPeriod`,                  | how often it asks and tells the       | RocketMQ's |
| `syncBrokerMetadataPeriod`,                 | controller, milliseconds              |            |
| `syncControllerMetadataPeriod`,             |                                       |            |
| `brokerHeartbeatInterval`,                  |                                       |            |
| `controllerHeartBeatTimeoutMills`           |                                       |            |
| `brokerElectionPriority`                    | lower is elected before others        | the last   |

Every other name is passed by: the same file starts a broker of RocketMQ.

Source: common `BrokerConfig`, store/config `MessageStoreConfig`
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rocketha.broker.options import GroupOptions
from rocketha.ha.rules import HA_RULES
from rocketha.ha.state import HaOptions
from rocketha.process.settings import Settings
from rocketha.types import Epoch, SizeBytes

__all__ = ["BrokerConfiguration", "may_follow_who_was_named"]

_GIB: Final = 1 << 30
_SEGMENT_MIN: Final = 1024


def may_follow_who_was_named(known: Epoch, epoch: Epoch) -> bool:
    """Follow a master that the controller has named, however old its last epoch is.

    RocketMQ's master that is elected again before it had a message keeps its older epoch, and names
    that one for ever (5.3.3 to 5.5.0): a slave that wants the epoch of the election would never
    follow. What `may_follow` guards against is kept away otherwise: `ReplicationSockets` asks
    whoever is at the address that the controller named, and he must be master.

    Source: EpochFileCache.appendEntry, AutoSwitchHAService.changeToMasterWhenLastRoleIsMaster
    """
    del known, epoch
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConfiguration:
    """What a broker's process is told."""

    host: str
    port: int
    """`listenPort`; two below it clients and slaves reach it, too (`fastListenPort`)."""
    ha_port: int
    name_servers: tuple[str, ...]
    store: Path
    segment_size: SizeBytes
    queues: int
    """Of a topic that is created because a producer uses it."""
    register_ms: int
    """How often it registers with name servers."""
    flush_ms: int
    """How often the log is written through to the disk."""
    group: GroupOptions

    @property
    def address(self) -> str:
        """Where it takes requests."""
        return f"{self.host}:{self.port}"

    @property
    def ha_address(self) -> str:
        """Where it takes slaves."""
        return f"{self.host}:{self.ha_port}"

    @classmethod
    def read(cls, path: Path) -> BrokerConfiguration:
        """Read a file of properties, `name=value` each line.

        Raises: ConfigurationError
        """
        values = Settings.read(path)
        host = values.ip4("brokerIP1", "127.0.0.1")
        return cls(
            host=host,
            port=values.port("listenPort", 10911),
            ha_port=values.port("haListenPort", 10912),
            name_servers=values.addresses("namesrvAddr", required=False),
            store=Path(values.text("storePathRootDir", None)),
            segment_size=SizeBytes(
                values.number("mappedFileSizeCommitLog", _GIB, least=_SEGMENT_MIN)
            ),
            queues=values.number("defaultTopicQueueNums", 8),
            register_ms=values.number("registerNameServerPeriod", 30_000),
            flush_ms=values.number("flushIntervalCommitLog", 500),
            group=_group(values),
        )


def _group(values: Settings) -> GroupOptions:
    """Read how the group works. Raises: ConfigurationError"""
    known, ha = GroupOptions(), HaOptions()
    return GroupOptions(
        cluster_name=values.text("brokerClusterName", known.cluster_name),
        broker_name=values.text("brokerName", known.broker_name),
        ha=HaOptions(
            rules=replace(HA_RULES, may_follow=may_follow_who_was_named),
            transfer_batch_bytes=SizeBytes(
                values.number("haTransferBatchSize", ha.transfer_batch_bytes)
            ),
            heartbeat_ms=values.number("haSendHeartbeatInterval", ha.heartbeat_ms),
            housekeeping_ms=values.number("haHousekeepingInterval", ha.housekeeping_ms),
            reconnect_ms=values.number("haReconnectInterval", 1_000),
        ),
        all_ack_in_sync_state_set=values.flag("allAckInSyncStateSet", False),
        in_sync_replicas=values.number("inSyncReplicas", known.in_sync_replicas),
        min_in_sync_replicas=values.number("minInSyncReplicas", known.min_in_sync_replicas),
        sync_flush=values.text("flushDiskType", "ASYNC_FLUSH") == "SYNC_FLUSH",
        slave_timeout_ms=values.number("slaveTimeout", known.slave_timeout_ms),
        slave_not_catchup_ms=values.number("haMaxTimeSlaveNotCatchup", known.slave_not_catchup_ms),
        check_sync_state_set_ms=values.number(
            "checkSyncStateSetPeriod", known.check_sync_state_set_ms
        ),
        controllers=values.addresses("controllerAddr"),
        sync_controller_metadata_ms=values.number(
            "syncControllerMetadataPeriod", known.sync_controller_metadata_ms
        ),
        sync_metadata_ms=values.number("syncBrokerMetadataPeriod", known.sync_metadata_ms),
        heartbeat_interval_ms=values.number("brokerHeartbeatInterval", known.heartbeat_interval_ms),
        heartbeat_timeout_ms=values.number(
            "controllerHeartBeatTimeoutMills", known.heartbeat_timeout_ms
        ),
        election_priority=values.number("brokerElectionPriority", known.election_priority, least=0),
    )
