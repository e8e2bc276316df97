"""Runs of `rocketha.toy` as behaviours of Toy.

| specification | implementation                                             |
|---------------|------------------------------------------------------------|
| sent          | the number of the last message that the master sent        |
| copy          | the slaves' logs                                           |
| acked         | what the master knows of the slaves                        |
"""

from __future__ import annotations

from typing import assert_never

from rocketha.sim.engine.node import broker_address
from rocketha.sim.toy.cluster import ToyCluster
from rocketha.toy.core import ToyAction, ToyActionName
from rocketha.types import BrokerId
from tlatrace.trace import Event
from tlatrace.values import State, Value, record, tla_set

__all__ = ["ToyProjection"]


class ToyProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self.constants: State = {}
        self._sent: dict[BrokerId, int] = {}

    def started(self, cluster: ToyCluster) -> None:
        """Record the initial state."""
        self.constants = {"Slave": tla_set(map(broker_address, cluster.slaves))}
        self._sent = dict.fromkeys(cluster.slaves, 0)
        self._record(cluster, broker_address(cluster.master.id), "Init")

    def acted(self, cluster: ToyCluster, action: ToyAction) -> None:
        """Record an action, and the state after it."""
        slave, master = broker_address(action.slave), broker_address(cluster.master.id)
        match action.name:
            case ToyActionName.SEND:
                self._sent[action.slave] = action.message
                self._record(cluster, master, action.name, slave)
            case ToyActionName.RECEIVE:
                self._record(cluster, slave, action.name, slave, action.message)
            case ToyActionName.ACKNOWLEDGE:
                self._record(cluster, master, action.name, slave, action.message)
            case _ as unreachable:
                assert_never(unreachable)

    def _record(self, cluster: ToyCluster, node: str, action: str, *params: Value) -> None:
        state: State = {
            "sent": record({broker_address(s): n for s, n in self._sent.items()}),
            "copy": record({broker_address(s): copy for s, copy in cluster.copies().items()}),
            "acked": record({broker_address(s): n for s, n in cluster.master.acked.items()}),
        }
        event = Event(
            step=len(self.events),
            action=str(action),
            params=params,
            node=node,
            state=state,
            clock=cluster.scheduler.now_ms,
        )
        self.events.append(event)
