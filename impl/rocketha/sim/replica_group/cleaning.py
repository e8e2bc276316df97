"""An operator has the controller forget a group that does not come to life, and starts it again.

The operator stops all brokers, waits until the controller has noticed, removes what it knows of the
group, and starts the brokers, which register with the ids that they have. Whoever does so loses
what the group has promised: so it is done only before the first promise, and not too often.
"""

from __future__ import annotations

from typing import Final

from rocketha.formats.controller_request_codec import push_request
from rocketha.formats.controller_requests import CleanBrokerData
from rocketha.formats.remoting_frame import push_command
from rocketha.sim.engine.faults import Fault
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.sim.replica_group.outsiders import Outsiders

__all__ = ["Cleaning"]

_TIMES: Final = 2
_LOOK_MS: Final = 20
_LOOKS: Final = 40
"""After so many looks the operator gives up, and starts the brokers."""


class Cleaning:
    """The operator, who does it once at a time."""

    def __init__(self, cluster: GroupCluster) -> None:
        """Prepare it; nothing happens yet."""
        self._cluster = cluster
        self._is_busy = False
        self._times = 0

    def begin(self, injection: Injection) -> None:
        """Stop the brokers, if the group was ever elected and has promised nothing."""
        cluster = self._cluster
        if self._is_busy or self._times == _TIMES or cluster.starting or not self._may_forget():
            return
        self._times += 1
        cluster.counts.add(Fault.CLEAN_DATA)
        injection.note("an operator stops all brokers, to remove the group from the controller")
        self._is_busy = True
        for node in cluster.up():
            cluster.crash(node)
        self._look(1)

    def _look(self, number: int) -> None:
        self._cluster.scheduler.after(_LOOK_MS, lambda: self._remove(number))

    def _remove(self, number: int) -> None:
        """Remove the group when its master is gone, for the controller, too; else look again."""
        cluster = self._cluster
        is_over = bool(cluster.up()) or number == _LOOKS or not self._may_forget()
        if not is_over and not self._is_noticed():
            self._look(number + 1)
            return
        if not is_over:
            request = CleanBrokerData(
                cluster_name=cluster.plan.broker.cluster_name,
                broker_name=cluster.plan.broker.broker_name,
            )
            removed = cluster.group
            cluster.channels.command(push_command(push_request(request, opaque=0)))
            if removed is not None and cluster.controller.serves:
                Outsiders(cluster).ask_of_removed(removed)
        self._is_busy = False
        for node in cluster.nodes.values():
            if node.state is None:
                cluster.restart(node)

    def _may_forget(self) -> bool:
        group = self._cluster.group
        return group is not None and bool(group.members) and not self._cluster.has_acknowledged

    def _is_noticed(self) -> bool:
        group = self._cluster.group
        if group is None or not self._cluster.controller.serves:
            return False
        return group.master is None or not group.replicas[group.master].heard.channels
