"""The settings of a broker; the defaults are RocketMQ's.

Source: common `BrokerConfig`, store/config `MessageStoreConfig`
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketha.broker.rules import BROKER_RULES, BrokerRules
from rocketha.ha.state import HaOptions
from rocketha.types import INT32_MAX

__all__ = ["GroupOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """How the brokers of a group are configured."""

    cluster_name: str = "DefaultCluster"
    broker_name: str = "broker-a"
    ha: HaOptions = field(default_factory=HaOptions)
    all_ack_in_sync_state_set: bool = False
    """A message waits for the whole SyncStateSet. RocketMQ's default promises nothing."""
    in_sync_replicas: int = 1
    """How many copies it waits for otherwise, the master's included."""
    min_in_sync_replicas: int = 1
    """With fewer members in its SyncStateSet a master takes no messages."""
    sync_flush: bool = False
    """A producer is answered when its message is on the master's disk (`SYNC_FLUSH`)."""
    sync_flush_timeout_ms: int = 5_000
    slave_timeout_ms: int = 3_000
    """A producer waits so long for slaves."""
    slave_not_catchup_ms: int = 15_000
    """A member that was not caught up for longer is removed (`haMaxTimeSlaveNotCatchup`)."""
    check_sync_state_set_ms: int = 5_000
    """How often a master looks for such members, and sends again what is not decided."""
    controllers: tuple[str, ...] = ()
    """Where all controllers are, as they name each other; needed if there are several."""
    sync_controller_metadata_ms: int = 10_000
    """How often it asks them who leads (`syncControllerMetadataPeriod`), if there are several."""
    sync_metadata_ms: int = 5_000
    """How often a broker asks the controller who is master (`syncBrokerMetadataPeriod`)."""
    heartbeat_interval_ms: int = 1_000
    heartbeat_timeout_ms: int = 10_000
    """The controller takes a broker for dead after so long (`controllerHeartBeatTimeoutMills`)."""
    request_timeout_ms: int = 3_000
    """An answer of the controller that takes longer is not waited for."""
    election_priority: int = INT32_MAX
    rules: BrokerRules = field(default=BROKER_RULES, repr=False)
