"""The requests that a controller answers, and the notice that it sends.

Each is a frame with a code; its fields travel as `extFields` (see `rocketha.formats.ext_fields`),
some have a body (see `rocketha.formats.controller_bodies`). `controller_request_codec` reads and
writes them.

| code | request           | fields                                                            |
|-----:|-------------------|-------------------------------------------------------------------|
|  904 | Heartbeat         | clusterName, brokerName, brokerAddr, brokerId L, epoch I?,        |
|      |                   | maxOffset L?, confirmOffset L?, heartbeatTimeoutMills L?,         |
|      |                   | electionPriority I?, incarnation L+                               |
| 1001 | AlterSyncStateSet | brokerName, masterBrokerId L, masterEpoch I, invokeTime L?,       |
|      |                   | joiningIncarnations+; body: SyncStateSet, whose epoch is that of  |
|      |                   | the set that it changes                                           |
| 1002 | ElectMaster       | clusterName, brokerName, brokerId L (-1: nobody's),               |
|      |                   | designateElect B, invokeTime L?                                   |
| 1003 | RegisterBroker    | clusterName, brokerName, brokerId L, brokerAddress,               |
|      |                   | invokeTime L?, incarnation L+, logTorn B+                         |
| 1004 | GetReplicaInfo    | brokerName                                                        |
| 1005 | GetMetadataInfo   |                                                                   |
| 1006 | GetSyncStateData  | body: list of groups                                              |
| 1008 | RoleChanged       | masterAddress, masterBrokerId L, masterEpoch I,                   |
|      |                   | syncStateSetEpoch I; body: SyncStateSet                           |
| 1009 | UpdateController- | body: settings (see `rocketha.formats.properties`)                |
|      | Config            |                                                                   |
| 1010 | GetController-    |                                                                   |
|      | Config            |                                                                   |
| 1011 | CleanBrokerData   | clusterName?, brokerName, brokerControllerIdsToClean? ("1;2"),    |
|      |                   | isCleanLivingBroker B (false), invokeTime L?                      |
| 1012 | GetNextBrokerId   | clusterName, brokerName                                           |
| 1013 | ApplyBrokerId     | clusterName, brokerName, appliedBrokerId L,                       |
|      |                   | registerCheckCode ("address;milliseconds")                        |

I 32 bits, L 64 bits, B truth value, without letter a text; ? may be missing; + is ours and may be
missing: RocketMQ neither sends it nor minds it, and where it is missing its rule is not applied,
but for one: who registers and does not say its incarnation counts as started again.
`incarnation` counts the starts of a replica, `logTorn` says that it lost a part of its log in the
last crash, `joiningIncarnations` ("2:7") names the incarnation of each broker that joins as the
master saw it. `heartbeatTimeoutMills` is RocketMQ's spelling.

Source: remoting/protocol/header/controller, remoting/protocol/header/namesrv
`BrokerHeartbeatRequestHeader`, remoting/protocol/header `NotifyBrokerRoleChangedRequestHeader`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NewType, TypeAlias

from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.types import BrokerId, Epoch, Offset, TimestampMs

__all__ = [
    "FIRST_INCARNATION",
    "AlterSyncStateSet",
    "ApplyBrokerId",
    "CleanBrokerData",
    "ControllerRequest",
    "ElectMaster",
    "GetControllerConfig",
    "GetMetadataInfo",
    "GetNextBrokerId",
    "GetReplicaInfo",
    "GetSyncStateData",
    "Heartbeat",
    "Incarnation",
    "RegisterBroker",
    "RoleChanged",
    "UpdateControllerConfig",
]

Incarnation = NewType("Incarnation", int)
"""Number of starts of a replica, kept by itself; grows with every start."""

FIRST_INCARNATION: Final = Incarnation(0)
"""Also of a broker that does not say, as RocketMQ's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A replica is alive, and how far it is; what it does not say is `None`."""

    cluster_name: str
    broker_name: str
    broker_address: str
    broker_id: BrokerId
    epoch: Epoch | None = None
    max_offset: Offset | None = None
    confirm_offset: Offset | None = None
    timeout_ms: int | None = None
    election_priority: int | None = None
    incarnation: Incarnation = FIRST_INCARNATION


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterSyncStateSet:
    """A master proposes a SyncStateSet in the place of version `sync_state_set.epoch`."""

    broker_name: str
    master_broker_id: BrokerId
    master_epoch: Epoch
    sync_state_set: SyncStateSet
    joining: Mapping[BrokerId, Incarnation] = field(default_factory=lambda: MappingProxyType({}))
    invoke_time_ms: TimestampMs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectMaster:
    """A broker, an operator (`designate_elect`), or nobody but the controller wants a master."""

    cluster_name: str = ""
    broker_name: str
    broker_id: BrokerId | None = None
    designate_elect: bool = False
    invoke_time_ms: TimestampMs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterBroker:
    """A replica that started says where it is, and asks who is master."""

    cluster_name: str
    broker_name: str
    broker_id: BrokerId
    broker_address: str
    incarnation: Incarnation | None = FIRST_INCARNATION
    """None: the broker does not say, as RocketMQ's; it may have started again."""
    log_torn: bool = False
    invoke_time_ms: TimestampMs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetReplicaInfo:
    """Somebody asks for the master and the SyncStateSet of a group."""

    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMetadataInfo:
    """Somebody asks who leads the controllers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSyncStateData:
    """An operator asks for all replicas of some groups."""

    broker_names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GetControllerConfig:
    """An operator asks how the controller is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateControllerConfig:
    """An operator wants other settings."""

    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanBrokerData:
    """An operator removes replicas, or without ids a whole group.

    The ids are a text, because a wrong one has a response code of its own.
    """

    cluster_name: str | None = None
    broker_name: str
    ids_to_clean: str | None = None
    clean_living: bool = False
    invoke_time_ms: TimestampMs | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetNextBrokerId:
    """A broker without identity asks which id is free."""

    cluster_name: str
    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyBrokerId:
    """A broker without identity wants an id; the check code tells it from others that want it."""

    cluster_name: str
    broker_name: str
    applied_broker_id: BrokerId
    register_check_code: str

    @property
    def broker_address(self) -> str:
        """Return the address, the first part of the check code."""
        return self.register_check_code.partition(";")[0]


ControllerRequest: TypeAlias = (
    Heartbeat
    | AlterSyncStateSet
    | ElectMaster
    | RegisterBroker
    | GetReplicaInfo
    | GetMetadataInfo
    | GetSyncStateData
    | CleanBrokerData
    | GetNextBrokerId
    | ApplyBrokerId
    | GetControllerConfig
    | UpdateControllerConfig
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChanged:
    """The controller tells a broker, one way, that there is a new master."""

    master_broker_id: BrokerId
    master_address: str
    master_epoch: Epoch
    sync_state_set: SyncStateSet
