"""An observer of a group that does not look."""

from __future__ import annotations

from rocketha.sim.replica_group.actions import Exchanged, GroupClusterAction
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.types import BrokerId, ConnectionId

__all__ = ["NullGroupObserver"]


class NullGroupObserver:
    """An observer that does not look."""

    def started(self, cluster: GroupCluster) -> None:
        """Do nothing."""

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Do nothing."""

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        """Do nothing."""

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        """Do nothing."""

    def exchanged(self, cluster: GroupCluster, what: Exchanged) -> None:
        """Do nothing."""
