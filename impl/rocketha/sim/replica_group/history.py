"""The history of a simulated run: what clients say, and what an observer sees of masters."""

from __future__ import annotations

from rocketha.controller.applied import MasterElected
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.histories.history import (
    BecameMaster,
    ElectionHeld,
    FinalLog,
    HistoryEvent,
)
from rocketha.sim.engine.log_reader import messages_of
from rocketha.sim.replica_group.actions import (
    ControllerActed,
    Exchanged,
    GroupClusterAction,
)
from rocketha.sim.replica_group.cluster import GroupCluster, GroupObserver
from rocketha.types import BrokerId, ConnectionId

__all__ = ["HistoryRecorder"]


class HistoryRecorder:
    """An observer that passes everything on, and writes the history."""

    def __init__(self, inner: GroupObserver) -> None:
        """Begin an empty history."""
        self.events: list[HistoryEvent] = []
        self._inner = inner

    def started(self, cluster: GroupCluster) -> None:
        """Pass it on."""
        self._inner.started(cluster)

    def sent(
        self, cluster: GroupCluster, broker: BrokerId, conn: ConnectionId, data: bytes
    ) -> None:
        """Pass it on."""
        self._inner.sent(cluster, broker, conn, data)

    def acted(
        self, cluster: GroupCluster, broker: BrokerId | None, action: GroupClusterAction
    ) -> None:
        """Note elections and the logs of masters."""
        if isinstance(action, ControllerActed):
            for event in action.events:
                if isinstance(event, MasterElected):
                    self.events.append(
                        ElectionHeld(
                            at_ms=cluster.now_ms,
                            broker=event.master,
                            epoch=event.epoch,
                            clean=event.clean,
                        )
                    )
        elif isinstance(action, SpecAction) and action.name is ActionName.BECOME_MASTER:
            assert broker is not None
            node = cluster.nodes[broker]
            self.events.append(
                BecameMaster(
                    at_ms=cluster.now_ms,
                    broker=broker,
                    epoch=node.running().ha.known_epoch,
                    log=messages_of(node.log),
                )
            )
        self._inner.acted(cluster, broker, action)

    def stepped(self, cluster: GroupCluster, broker: BrokerId) -> None:
        """Pass it on."""
        self._inner.stepped(cluster, broker)

    def exchanged(self, cluster: GroupCluster, what: Exchanged) -> None:
        """Pass it on."""
        self._inner.exchanged(cluster, what)

    def finish(self, cluster: GroupCluster) -> None:
        """Note the log of the present master, if it runs and knows that it is."""
        group = cluster.group
        if group is None or group.master is None:
            return
        node = cluster.nodes[group.master]
        state = node.state
        if state is None or not state.is_master or state.ha.known_epoch != group.master_epoch:
            return
        self.events.append(
            FinalLog(
                at_ms=cluster.now_ms,
                broker=node.id,
                epoch=group.master_epoch,
                log=messages_of(node.log),
            )
        )
