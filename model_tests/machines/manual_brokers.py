"""A cluster of real cores that a test drives: an adapter for EpochTruncation.

Nothing happens by itself: no time passes, packets lie on a `ManualNetwork` until a step moves them.
A core sends a heartbeat, or reports its log end, whenever it is asked.

A step is taken by doing to the cores what makes them take it: they get an event, and what they do
is up to them. Then the state is projected as it is for traces.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, cast

from model_tests.machines.manual_disk import cut_power
from model_tests.machines.manual_network import ManualNetwork, Wire
from rocketha.formats.ha_packets import Ack, Expecting, pull_slave_packet
from rocketha.ha.events import MasterAddressLearnt, MasterLearnt, MessagePut
from rocketha.ha.state import BrokerState, HaOptions, Phase
from rocketha.known_bugs import Bugs
from rocketha.known_bugs.epoch_truncation import ha_rules
from rocketha.runtime.events import TimerFired, TransferDue
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.network import Network
from rocketha.sim.engine.node import Node, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.records import RECORD_SIZE, message_of_epoch, record_count, record_offset
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.epoch_truncation.cluster import Cluster
from rocketha.sim.epoch_truncation.plan import draw_run
from rocketha.types import BrokerId, HaAddress, SizeBytes
from rocketproof.protocols.epoch_truncation.projection import EpochProjection
from rocketproof.protocols.epoch_truncation.values import NONE
from tlatrace.testing.calls import Call, call_of
from tlatrace.testing.moves import Moves
from tlatrace.values import Fcn, State, Value

__all__ = ["ManualBrokers"]

_BROKERS: Final = 2
_FOREVER_MS: Final = 10**9


class ManualBrokers:
    """Two brokers that take the steps of the small model."""

    def __init__(self, moves: Moves, bugs: Bugs) -> None:
        """Begin in the initial state; `moves` tells what else the model allows at each step."""
        self._moves = moves
        self._network = ManualNetwork()
        self._projection = EpochProjection()
        plan = draw_run(PerPurposeStreams(0), SimOptions(brokers=_BROKERS, bugs=bugs))
        self._options = HaOptions(
            heartbeat_ms=0, reconnect_ms=0, housekeeping_ms=_FOREVER_MS, rules=ha_rules(bugs)
        )
        self._cluster = Cluster(
            brokers=_BROKERS,
            plan=replace(plan, ha=self._options),
            scheduler=Scheduler(),  # never run
            # A cluster calls no other methods than those that this one has, too.
            network=cast(Network, self._network),
            random_source=PerPurposeStreams(0),
            counts=FaultCounts(),
            observer=self._projection,
        )
        self._messages = 0

    # ---- what an adapter has ----

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the cores take one action, and no other."""
        before = len(self._projection.events)
        self._make(call_of(action, params))
        self._network.settle()
        events = self._projection.events[before:]
        assert len(events) == 1, f"the cores took {len(events)} actions, not one"
        took = call_of(events[0].action or "nothing", events[0].params)
        assert took == call_of(action, params), f"the cores took {took}"

    def observe(self) -> State:
        """Return the state of the cores after the last action."""
        state = self._projection.events[-1].state
        assert state is not None
        return state

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether somebody can make the cores take an action now.

        The model lets any acknowledgement arrive that the slave may have sent; here it is the next
        one that it has sent. A slave keeps a connection only if it knows whose it is.
        """
        match action, params:
            case "ReceiveAck", (_, str() as slave, int() as ack):
                wire = self._wire(slave)
                return bool(wire.up) and ack == _ack_in(wire.up[0])
            case "LearnEpoch", (str() as slave,):
                return self._knows_master(self._node(slave).running())
            case "Healed", ():  # said of a run, and nothing that the cores do
                return False
            case _:
                return True

    def stuttering_calls(self) -> Sequence[str]:
        """List attempts to connect to a broker that is not a master: nothing may come of them."""
        return list(self._strangers())

    def make_idle_call(self, name: str) -> None:
        """Let a slave shake hands with a broker that is not a master."""
        before = len(self._projection.events)
        self._shake_hands(*self._strangers()[name])
        self._network.settle()
        events = self._projection.events[before:]
        assert not events, f"the cores took {events[0].action}"

    def _strangers(self) -> dict[str, tuple[str, str]]:
        slaves = [name for name in self._names() if self._of_broker("role", name) == "Slave"]
        return {
            f"{slave} connects to {other} in vain": (other, slave)
            for slave in slaves
            if _field(self._of_broker("link", slave), "peer") == NONE
            for other in slaves
            if other != slave
        }

    # ---- what the cores are ----

    def _names(self) -> list[str]:
        roles = self.observe()["role"]
        assert isinstance(roles, Fcn)
        return sorted(roles.fields())

    def _of_broker(self, variable: str, broker: str) -> Value:
        return _field(self.observe()[variable], broker)

    def _allowed(self) -> Collection[Call]:
        """Return what the model allows in the state of the cores."""
        observed = self.observe()
        state = [self._moves.adopt(name, observed[name]) for name in self._moves.model.variables]
        return self._moves.of(tuple(state)).keys()

    def _wire(self, slave: str) -> Wire:
        client = self._node(slave).running().client
        assert client is not None, f"{slave} has no connection"
        wire = self._network.find(client.id)
        assert wire is not None
        return wire

    def _node(self, broker: str) -> Node[BrokerState]:
        return self._cluster.nodes[BrokerId(int(broker.removeprefix("b")))]

    # ---- the steps ----

    def _make(self, step: Call) -> None:
        cluster = self._cluster
        match step.action, step.params:
            case "ElectMaster", (str() as broker,):
                cluster.elect(self._node(broker).id)
            case "ElectNobody", ():
                cluster.elect(None)
            case "BecomeMaster" | "BecomeSlave" | "LearnEpoch", (str() as broker,):
                self._hear_of_master(self._node(broker), keeps=step.action == "LearnEpoch")
            case "Flush", (str() as broker,):
                cluster.flush(self._node(broker))
            case "Crash", (str() as broker, int() as kept):
                cut_power(self._node(broker), kept)
                cluster.crash(self._node(broker))
            case "LoseLog", (str() as broker, int() as kept):
                cluster.lose_log(self._node(broker), record_offset(kept))
            case "LoseStore", (str() as broker,):
                cluster.lose_store(self._node(broker))
            case "Restart", (str() as broker,):
                cluster.restart(self._node(broker))
            case "PutMessage", (str() as master,):
                self._messages += 1
                epoch = self._node(master).running().known_epoch
                message = message_of_epoch(epoch, self._messages)
                cluster.deliver(self._node(master), MessagePut(message=message))
            case "Handshake", (str() as master, str() as slave):
                self._shake_hands(master, slave)
            case "ReceiveAck", (_, str() as slave, _):
                self._network.to_server(self._wire(slave).id)
            case "Report", (str() as slave, _):
                cluster.deliver(self._node(slave), TimerFired())
            case "CloseConnection", (str() as slave, _):
                node = self._node(slave)
                cluster.forge(self._wire(slave).id, node.id, 0)
            case "Heartbeat", (str() as master, str() as slave, _):
                self._transfer(master, slave, 0)
            case "Transfer", (str() as master, str() as slave, int() as count):
                self._transfer(master, slave, count)
            case "ReceiveHandshake" | "RefuseHandshake" | "ReceiveTransfer", (str() as slave,):
                self._network.to_client(self._wire(slave).id)
            case "Disconnect", (str() as slave,):
                self._network.sever(self._wire(slave).id)
            case _:
                raise AssertionError(f"nobody knows how to make {step}")

    def _knows_master(self, state: BrokerState) -> bool:
        """Tell whether a slave can know by now that its master is one that was elected."""
        client = state.client
        if client is None or client.phase is not Phase.TRANSFER:
            return False
        return client.is_to_elected or client.answered_epoch == state.known_epoch

    def _hear_of_master(self, node: Node[BrokerState], *, keeps: bool) -> None:
        """Say who is elected.

        A slave that is to keep its connection hears first of the election before, which it knows
        from its master; one that is to give it up hears no address.
        """
        cluster, state = self._cluster, node.running()
        assert cluster.master is not None
        address: HaAddress | None = broker_address(cluster.master)
        learnt = MasterLearnt(epoch=cluster.epoch, master=cluster.master, address=address)
        client = state.client
        if client is not None and client.peer == address:
            if keeps and not client.is_to_elected:
                cluster.deliver(node, replace(learnt, epoch=client.answered_epoch))
            if not keeps:
                learnt = replace(learnt, address=None)
        cluster.deliver(node, learnt)

    def _shake_hands(self, master: str, slave: str) -> None:
        node = self._node(slave)
        address = broker_address(self._node(master).id)
        self._cluster.deliver(node, MasterAddressLearnt(address=address))
        self._cluster.deliver(node, TimerFired())
        conn = node.asked
        assert conn is not None, f"{slave} does not connect"
        self._network.establish(conn)
        self._network.to_server(conn)

    def _transfer(self, master: str, slave: str, count: int) -> None:
        """Let the master send; how much is a matter of the size of its batches."""
        node, conn = self._node(master), self._wire(slave).id
        if call_of("Transfer", (master, slave, count + 1)) in self._allowed():
            limited = replace(self._options, transfer_batch_bytes=SizeBytes(count * RECORD_SIZE))
            node.state = replace(node.running(), options=limited)
        self._cluster.deliver(node, TransferDue(conn=conn))
        node.state = replace(node.running(), options=self._options)


def _field(value: Value, name: str) -> Value:
    """Return a field of a record, or what a function has for a broker."""
    assert isinstance(value, Fcn), value
    return value[name]


def _ack_in(data: bytes) -> int:
    pulled = pull_slave_packet(data, Expecting.TRANSFER)
    assert pulled is not None
    packet, _ = pulled
    assert isinstance(packet, Ack)
    return record_count(packet.max_phy_offset)
