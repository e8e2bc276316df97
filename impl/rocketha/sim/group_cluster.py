"""A broker group with its controller, producers and consumers."""

from __future__ import annotations

from rocketha.broker.state import GroupBroker
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import Group
from rocketha.sim.cluster import EpochFile
from rocketha.sim.faults import FaultCounts
from rocketha.sim.group_options import GroupPlan
from rocketha.sim.network import Network
from rocketha.sim.node import Node
from rocketha.sim.scheduler import Scheduler
from rocketha.types import BrokerId

__all__ = ["GroupCluster"]


class GroupCluster:
    """The brokers of one group, what connects them, and the controller."""

    def __init__(
        self,
        *,
        brokers: int,
        plan: GroupPlan,
        scheduler: Scheduler,
        network: Network,
        counts: FaultCounts,
        controller: ControllerNode,
    ) -> None:
        """Make a group whose brokers were never started."""
        self.plan = plan
        self.scheduler = scheduler
        self.network = network
        self.counts = counts
        self.controller = controller
        """While it is down, the one that it was."""
        self.nodes: dict[BrokerId, Node[GroupBroker]] = {}
        self.epoch_files: dict[BrokerId, EpochFile] = {}
        self.boots: dict[BrokerId, int] = dict.fromkeys(map(BrokerId, range(1, brokers + 1)), 0)
        """How often the machine of each broker was switched on again."""

    @property
    def now_ms(self) -> int:
        """Return the true virtual time; every clock has its own."""
        return self.scheduler.now_ms

    @property
    def group(self) -> Group | None:
        """Return what the controller knows of the group."""
        return self.controller.state.groups.get(self.plan.broker.broker_name)

    @property
    def starting(self) -> frozenset[BrokerId]:
        """Return the brokers that run and that the controller does not know in this incarnation."""
        group = self.group
        found: set[BrokerId] = set()
        for node in self.nodes.values():
            replica = None if group is None else group.replicas.get(node.id)
            if node.state is not None and (
                replica is None or replica.incarnation != node.state.incarnation
            ):
                found.add(node.id)
        return frozenset(found)
