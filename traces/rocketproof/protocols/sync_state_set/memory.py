"""What is remembered of a simulated group, for all its master epochs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rocketha.broker.state import GroupBroker
from rocketha.formats.controller_requests import Incarnation
from rocketha.ha.state import Phase
from rocketha.sim.engine.node import Node
from rocketha.sim.engine.record_epochs import RecordEpochs
from rocketha.sim.replica_group.cluster import GroupCluster
from rocketha.types import BrokerId, ConnectionId
from rocketproof.protocols.epoch_truncation.values import index

__all__ = ["Memory", "change_key", "common_length"]


@dataclass(slots=True)
class Memory:
    """What is remembered of the whole run, for all its master epochs."""

    record_epochs: Callable[[Node[GroupBroker]], RecordEpochs]
    """What a log has; of a broker that is down, what recovery would find."""
    losses: dict[BrokerId, dict[Incarnation, int]]
    """Broker -> incarnation -> how often its log had lost something, or may have, when it began."""
    registered: dict[BrokerId, int]
    """Broker -> the losses of which the controller knows."""
    reported: dict[ConnectionId, int] = field(default_factory=dict)
    """The last report that a slave has sent."""

    def register(self, broker: BrokerId, incarnation: Incarnation, *, torn: bool) -> None:
        """Note that the controller knows of a start of a broker, or knows of it again."""
        losses = self.losses[broker]
        if incarnation not in losses:
            losses[incarnation] = max(losses.values()) + torn
        self.registered[broker] = losses[incarnation]

    def look(self, cluster: GroupCluster) -> None:
        """Note what slaves have reported."""
        for node in cluster.nodes.values():
            client = None if node.state is None else node.state.ha.client
            if client is not None and client.phase is Phase.TRANSFER:
                self.reported[client.id] = index(client.reported)


def common_length(one: RecordEpochs, other: RecordEpochs) -> int:
    """Return the length of the common prefix."""
    for at, (this, that) in enumerate(zip(one, other, strict=False)):
        if this != that:
            return at
    return min(len(one), len(other))


def change_key(node: Node[GroupBroker]) -> tuple[object, ...]:
    """Return what is read of a broker; timers and requests are left out."""
    state = node.state
    if state is None:
        return node.files.log_version, node.incarnation
    ha = state.ha
    servers = tuple(ha.servers.values())
    own = (ha.role, ha.known_epoch, ha.client, servers, state.slave_incarnations)
    return (
        node.files.log_version,
        state.registration,
        *own,
        state.local,
        state.pending,
        state.confirm,
    )
