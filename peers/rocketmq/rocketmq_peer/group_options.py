"""What kind of group of brokers is started, and what the headers of records say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from rocketha.formats.remoting_command import Serialization
from rocketmq_peer.configuration import (
    SEGMENT_SIZE,
    BrokerTiming,
    ControllerKind,
    Promises,
    Value,
)
from rocketmq_peer.ports import GroupPorts, any_ports

__all__ = ["GroupOptions", "Replication"]

_SMALLEST_RECORD: Final = 91
"""Bytes of a record without body, topic and properties. Source: `MessageExtEncoder.calMsgLength`"""


class Replication(Enum):
    """By what brokers know who is master, and for whom producers wait."""

    CONTROLLERS = "controllers"
    SYNC_MASTER = "SYNC_MASTER"
    """b1 for ever; producers wait for as many replicas as `in_sync_replicas` says, b1 included."""
    ASYNC_MASTER = "ASYNC_MASTER"
    """b1 for ever; they wait for nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """What kind of group it is."""

    brokers: int = 3
    rocketha_brokers: frozenset[int] = frozenset()
    """Numbers of brokers that are rocketha's, not RocketMQ's; nobody keeps records of them."""
    rocketha_name_server: bool = False
    """The name server is rocketha's."""
    controllers: int = 1
    """Without them b1 is master for ever (`replication`)."""
    replication: Replication = Replication.CONTROLLERS
    other_masters: Mapping[int, str] = field(default_factory=dict)
    """Numbers of brokers without controllers that are masters of their own groups -> brokerName."""
    ports_suit: Callable[[GroupPorts], bool] = any_ports
    """Whether the group may have these ports."""
    controller_kind: ControllerKind = ControllerKind.DLEDGER
    promises: Promises = field(default_factory=Promises)
    timing: BrokerTiming = field(default_factory=BrokerTiming)
    elect_unclean: bool = False
    more_of_brokers: Mapping[str, Value] = field(default_factory=dict)
    """RocketMQ's own names -> values, for every broker."""
    more_of_controllers: Mapping[str, Value] = field(default_factory=dict)
    more_of_name_server: Mapping[str, Value] = field(default_factory=dict)
    headers: Serialization = Serialization.JSON
    protocol: str = "replica_group"
    """Of the records."""
    said_of_brokers: Mapping[str, Any] = field(default_factory=dict)
    """More that the headers of brokers say."""
    said_of_consumers: Mapping[str, Any] = field(default_factory=dict)
    """What the headers of clients say that are watched."""
    capture: bool = False
    agent: bool = True
    """Without it nobody writes records."""

    @property
    def is_legacy(self) -> bool:
        """Whether the group has no controllers, whatever `controllers` says."""
        return self.replication is not Replication.CONTROLLERS

    @property
    def controller_names(self) -> tuple[str, ...]:
        """The controllers that are started."""
        count = 0 if self.is_legacy else self.controllers
        return tuple([f"c{number}" for number in range(1, count + 1)])

    def role_of(self, number: int) -> dict[str, Value]:
        """Return what the configuration of a broker says of its role, b1 being number 1."""
        if not self.is_legacy:
            return {}
        if (name := self.other_masters.get(number)) is not None:
            own: dict[str, Value] = {"brokerName": name, "brokerRole": "ASYNC_MASTER"}
            return {**own, "brokerId": 0, "enableControllerMode": False}
        return {
            "enableControllerMode": False,
            "brokerRole": self.replication.value if number == 1 else "SLAVE",
            "brokerId": number - 1,
        }

    def headers_of(self, process: str) -> Serialization:
        """Return how a process writes headers; DLedger's codes do not fit into binary ones."""
        several = self.controllers > 1 and self.controller_kind is ControllerKind.DLEDGER
        return Serialization.JSON if several and process.startswith("c") else self.headers

    def settings_of(self, node: str) -> dict[str, Any]:
        """Return what the header of a node's records says.

        Brokers are called b1, ..., controllers c1, ...; every other name is a consumer's.
        """
        if node.startswith("c"):
            return {
                "kind": "controller",
                "elect_unclean": self.elect_unclean,
                "controller": self.controller_kind.value,
            }
        if not node.startswith("b"):
            return {"kind": "consumer", **self.said_of_consumers}
        brokers = [f"b{number}" for number in range(1, self.brokers + 1)]
        if self.is_legacy:
            return self._legacy_settings(node, *brokers)
        return {
            "kind": "broker",
            "brokers": brokers,
            "all_ack_in_sync_state_set": self.promises.all_ack_in_sync_state_set,
            "in_sync_replicas": self.promises.in_sync_replicas,
            "heartbeat_timeout_ms": self.timing.heartbeat_timeout_ms,
            **self.said_of_brokers,
        }

    def _legacy_settings(self, node: str, master: str, *slaves: str) -> dict[str, Any]:
        if node != master:
            return {"kind": "slave", "master": master}
        waits = self.replication is Replication.SYNC_MASTER
        return {
            "kind": "master",
            "slaves": list(slaves),
            "slaves_to_wait_for_max": self.promises.in_sync_replicas - 1 if waits else 0,
            "segment_bytes": SEGMENT_SIZE,
            "records_per_segment": SEGMENT_SIZE // _SMALLEST_RECORD,
            **self.said_of_brokers,
        }
