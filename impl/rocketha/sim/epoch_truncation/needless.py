"""What happens to brokers without need, and changes nothing: each asks whether there is a need.

A timer fires early, an idle connection is asked for a transfer, the controller says again what is
known, a producer writes to a slave, a slave that waits for its answer says again who it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from rocketha.ha.events import MessagePut, PacketReceived
from rocketha.ha.state import NOT_YET, BrokerState, Role
from rocketha.runtime.events import TimerFired, TransferDue
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.random_source import Injection
from rocketha.sim.engine.records import message_of_epoch
from rocketha.sim.epoch_truncation.cluster import Cluster
from rocketha.types import PutId

__all__ = ["NO_PUT", "disturb"]

NO_PUT = PutId(0)
"""The call of a producer whose message nobody takes."""


def disturb(cluster: Cluster, injection: Injection) -> None:
    """Let one of these happen to a broker that runs, if there is one."""
    up = cluster.up()
    if up:
        node = injection.rng.choice(up)
        words, act = injection.rng.choice(list(_of(cluster, node, injection.rng)))
        injection.note(f"{broker_address(node.id)} {words}")
        act()


def _of(
    cluster: Cluster, node: Node[BrokerState], rng: Random
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield what may happen to a broker: in words, and how."""
    state = node.running()
    yield "wakes before its time", partial(cluster.deliver, node, TimerFired())
    if state.servers:
        asked = TransferDue(conn=rng.choice(list(state.servers)))
        yield "is asked for a transfer", partial(cluster.deliver, node, asked)
    if cluster.master is not None and state.known_epoch >= cluster.epoch:
        yield "hears again who is elected", partial(cluster.tell_master, node)
    if state.role is Role.SLAVE:
        put = MessagePut(message=message_of_epoch(state.known_epoch, 0), put=NO_PUT)
        yield "gets a message, as if it were a master", partial(cluster.deliver, node, put)
    said = [end for end in state.servers.values() if end.slave_ack == NOT_YET]
    for end in said[:1]:
        if end.introduced is not None:
            again = PacketReceived(conn=end.id, packet=end.introduced)
            yield f"hears over {end.id} again who is there", partial(cluster.repeat, node, again)
