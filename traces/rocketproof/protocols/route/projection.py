"""Runs of `rocketha.nameserver` and `rocketha.acting` as behaviours of Route, by whole states.

What a step is, and what is seen of nodes, `rocketproof.protocols.route.follower` says.
"""

from __future__ import annotations

from typing import Final, assert_never

from rocketha.acting.core import NameServerLost
from rocketha.histories.routes import RouteAnswer
from rocketha.nameserver.core import RemovalDue
from rocketha.sim.engine.node import broker_address
from rocketha.sim.route.cluster import RouteCluster
from rocketha.sim.route.steps import (
    BrokerStarted,
    BrokerStepped,
    BrokerStopped,
    Elected,
    NameServerStepped,
    NameServerStopped,
    RouteStep,
)
from rocketha.types import BrokerId
from rocketproof.protocols.route.follower import Found, RouteFollower
from rocketproof.protocols.route.seen import BrokerSeen, broker_seen, server_seen
from tlatrace.trace import Event
from tlatrace.values import State, Value, tla_set

__all__ = ["ROUTE_SPEC", "RouteProjection"]

ROUTE_SPEC: Final = "Route"


class RouteProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._cluster: RouteCluster | None = None
        self._follower: RouteFollower | None = None

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as the run has them."""
        assert self._cluster is not None
        options = self._cluster.plan.name_server
        return {
            "Broker": tla_set(int(number) for number in self._cluster.brokers),
            "NameServer": tla_set(map(_name, self._cluster.name_servers)),
            "Acting": options.support_acting_master,
            "Notifies": options.notify_min_broker_id_changed,
        }

    # ---- the observer ----

    def started(self, cluster: RouteCluster) -> None:
        """Record the initial state."""
        self._cluster = cluster
        follower = self._follower = RouteFollower(
            {_name(number): int(number) for number in cluster.brokers},
            list(map(_name, cluster.name_servers)),
            master=cluster.elections[0].address,
            act=self._record,
        )
        self._record(None, "Init")
        for number in cluster.brokers:
            follower.broker_starts(_name(number), _seen(cluster, number))

    def stepped(self, cluster: RouteCluster, step: RouteStep) -> None:
        """Record the actions of a step, and the state after each."""
        follower = self._follower
        assert follower is not None
        match step:
            case Elected(broker=broker):
                follower.elected(_name(broker))
            case BrokerStepped(broker=broker, event=event, received=received, sent=sent):
                follower.broker_steps(
                    _name(broker),
                    _seen(cluster, broker),
                    has_lost=isinstance(event, NameServerLost),
                    received=received,
                    sent=sent,
                )
            case BrokerStopped(broker=broker, says=says):
                follower.broker_stops(_name(broker), says=says)
            case BrokerStarted(broker=broker):
                follower.broker_starts(_name(broker), _seen(cluster, broker))
            case NameServerStepped():
                follower.server_steps(
                    _name(step.name_server),
                    server_seen(cluster.name_servers[step.name_server].running()),
                    removes=isinstance(step.event, RemovalDue),
                    received=step.received,
                    sent=step.sent,
                    found=None if step.answered is None else _found(step.answered),
                )
            case NameServerStopped(name_server=name_server):
                follower.server_stops(_name(name_server))
            case _ as unreachable:
                assert_never(unreachable)

    def _record(self, node: str | None, action: str, *params: Value) -> None:
        assert self._cluster is not None
        assert self._follower is not None
        self.events.append(
            Event(
                step=len(self.events),
                action=action,
                params=params,
                node=node or "none",
                state=self._follower.state(),
                clock=self._cluster.scheduler.now_ms,
            )
        )


def _seen(cluster: RouteCluster, broker: BrokerId) -> BrokerSeen:
    return broker_seen(cluster.brokers[broker].running(), serves=cluster.serves(broker))


def _found(answer: RouteAnswer) -> Found:
    return answer.brokers, answer.writable


def _name(number: BrokerId) -> str:
    return str(broker_address(number))
