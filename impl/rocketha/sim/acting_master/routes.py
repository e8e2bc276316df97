"""What clients believe of who is where: what some name server has told them, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from rocketha.formats.name_server_requests import TopicRouteData
from rocketha.sim.acting_master.cluster import ActingMasterCluster
from rocketha.sim.acting_master.plan import NAME_SERVERS
from rocketha.types import MASTER, BrokerId

__all__ = ["Master", "Routes"]

_WRITE: Final = 2
"""PermName.PERM_WRITE"""


@dataclass(frozen=True, slots=True)
class Master:
    """Who is brokerId 0 of a group, as a client was told."""

    broker: BrokerId
    may_write: bool


class Routes:
    """What a client was told, which it believes for a while.

    Source: MQClientInstance.updateTopicRouteInfoFromNameServer
    """

    def __init__(self, cluster: ActingMasterCluster, *, poll_ms: int) -> None:
        """Begin with nothing; `poll_ms` is `pollNameServerInterval`."""
        self._cluster = cluster
        self._poll_ms = poll_ms
        self._told: dict[str, tuple[int, dict[str, Master]]] = {}

    def masters(self, topic: str, rng: Random) -> dict[str, Master]:
        """Return who is brokerId 0 of each group that has a topic, as a name server has said."""
        now_ms = self._cluster.now_ms()
        at_ms, told = self._told.get(topic, (-self._poll_ms, {}))
        if told and now_ms < at_ms + self._poll_ms:
            return told
        route = self._cluster.find(rng.choice(NAME_SERVERS), topic)
        if route is not None:
            told = self._read(route)
            self._told[topic] = (now_ms, told)
        return told

    def _read(self, route: TopicRouteData) -> dict[str, Master]:
        writable = {one.broker_name for one in route.queue_datas if one.perm & _WRITE}
        return {
            one.broker_name: Master(
                self._cluster.number_of(one.addresses[MASTER]), one.broker_name in writable
            )
            for one in route.broker_datas
            if MASTER in one.addresses
        }
