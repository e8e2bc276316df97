"""What an observer of a run is told: every action of the specification that the cluster takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rocketha.ha.effects import SpecAction
from rocketha.types import BrokerId, ConnectionId

if TYPE_CHECKING:
    from rocketha.sim.cluster import Cluster

__all__ = ["ClusterAction", "Crashed", "Elected", "NullObserver", "Observer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Elected:
    """The controller elected a broker.

    Spec: EpochTruncation!ElectMaster
    """

    master: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """A broker stopped; its disk is what survived.

    Spec: EpochTruncation!Crash, LegacyReplication!Crash
    """

    broker: BrokerId


ClusterAction: TypeAlias = SpecAction | Elected | Crashed


class Observer(Protocol):
    """Whoever watches a run. It may look at everything and must change nothing."""

    def started(self, cluster: Cluster) -> None:
        """Look at the cluster before anything happens."""
        ...

    def sent(self, cluster: Cluster, broker: BrokerId, conn: ConnectionId, data: bytes) -> None:
        """Hear one packet that a broker sends, before `acted` tells in which action."""
        ...

    def acted(self, cluster: Cluster, broker: BrokerId | None, action: ClusterAction) -> None:
        """Look at the cluster after an action of a broker, or of the controller (None).

        A `Disconnect` may concern a connection of which the master knows nothing.
        """
        ...


class NullObserver:
    """An observer that does not look."""

    def started(self, cluster: Cluster) -> None:
        """Do nothing."""

    def sent(self, cluster: Cluster, broker: BrokerId, conn: ConnectionId, data: bytes) -> None:
        """Do nothing."""

    def acted(self, cluster: Cluster, broker: BrokerId | None, action: ClusterAction) -> None:
        """Do nothing."""
