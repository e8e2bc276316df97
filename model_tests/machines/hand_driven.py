"""A cluster of real cores that takes the steps of a model, one by one, and is compared with it.

Nothing happens by itself: no time passes, packets lie on a `HandNetwork` until a step moves them.
A core sends a heartbeat, or reports its log end, whenever it is asked.

A step is taken by doing to the cores what makes them take it: they get an event, and what they do
is up to them. Then the state is projected as it is for traces, and it must be one of those that the
model allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Final, cast

from model_tests.machines.hand_network import HandNetwork, Wire
from model_tests.machines.invariants import broken
from model_tests.machines.small_model import NONE, SmallModel, Step, field, of_broker
from rocketha.bugs import Bugs
from rocketha.errors import RockethaError
from rocketha.formats.ha_packets import Ack, Expecting, pull_slave_packet
from rocketha.formats.segment import segment_start
from rocketha.ha.events import (
    MasterAddressLearnt,
    MasterLearnt,
    MessagePut,
    TimerFired,
    TransferDue,
)
from rocketha.ha.state import HaOptions
from rocketha.sim.cluster import Cluster
from rocketha.sim.faults import FaultCounts
from rocketha.sim.network import Network
from rocketha.sim.node import Node, broker_address
from rocketha.sim.options import SimOptions, draw_run
from rocketha.sim.records import RECORD_SIZE, ghost_message, record_count, record_offset
from rocketha.sim.scheduler import Scheduler
from rocketha.types import BrokerId, SizeBytes
from rocketproof.projection.epoch_truncation import EpochProjection
from tlatrace.values import State, canonical, canonical_state

__all__ = ["Divergence", "HandDriven"]

_BROKERS: Final = 2
_NAMES: Final = frozenset({"b1", "b2", NONE})
_FOREVER_MS: Final = 10**9
_ACKS_MAX: Final = 4
"""More acknowledgements are never in flight in the small model."""
_LOG_DIRECTORY: Final = "commitlog"


class Divergence(AssertionError):
    """The cores did what the specification does not allow."""

    def __init__(self, story: str, taken: tuple[Step, ...]) -> None:
        super().__init__(story)
        self.taken = taken
        """The steps up to that one."""


class HandDriven:
    """Two brokers in lockstep with the small model."""

    def __init__(self, model: SmallModel, bugs: Bugs) -> None:
        """Begin in the initial state."""
        self._model = model
        self._network = HandNetwork()
        self._projection = EpochProjection()
        plan = draw_run(Random(0), SimOptions(brokers=_BROKERS, bugs=bugs))
        self._options = HaOptions(
            heartbeat_ms=0, reconnect_ms=0, housekeeping_ms=_FOREVER_MS, bugs=bugs
        )
        self._cluster = Cluster(
            brokers=_BROKERS,
            plan=replace(plan, ha=self._options),
            scheduler=Scheduler(),  # never run
            # A cluster calls no other methods than those that this one has, too.
            network=cast(Network, self._network),
            rng=Random(0),
            counts=FaultCounts(),
            observer=self._projection,
        )
        self._messages = 0
        self._events = 0
        self.taken: list[Step] = []
        self.number = 0
        """The number of the present state in the model."""
        self.state = model.state(0)
        self._compare("Init", (), (0,))

    def feasible(self) -> list[Step]:
        """Return the steps of the model that somebody can make the cores take now.

        The model lets any acknowledgement arrive that the slave may have sent; here it is the next
        one that it has sent.
        """
        return [step for step in self._model.steps[self.number] if self._is_feasible(step)]

    def take(self, step: Step) -> None:
        """Let the cores take a step.

        Raises: Divergence
        """
        self.taken.append(step)
        try:
            self._make(step)
            self._network.settle()
        except RockethaError as error:
            raise self._divergence(f"it failed: {error}") from error
        self._compare(step.action, step.params, step.targets)

    def walk(self, steps: Sequence[Step]) -> None:
        """Take steps of a way through the model, those of them that can be taken.

        Raises: Divergence
        """
        for wanted in steps:
            if wanted.action == "ReceiveAck":
                self._take_acks_before(wanted)
            found = [step for step in self.feasible() if step[:2] == wanted[:2]]
            if found:
                self.take(found[0])

    def _take_acks_before(self, wanted: Step) -> None:
        """Let arrive what must arrive before the acknowledgement that is wanted."""
        for _ in range(_ACKS_MAX):
            earlier = [
                step
                for step in self.feasible()
                if step.action == "ReceiveAck" and step.params < wanted.params
            ]
            if not earlier:
                return
            self.take(earlier[0])

    def strangers(self) -> list[tuple[str, str]]:
        """Return pairs of a broker that is not a master, and one that may connect to it."""
        slaves = [name for name in sorted(_NAMES) if name != NONE and self._is_free_slave(name)]
        return [(other, name) for name in slaves for other in sorted(self._up_slaves() - {name})]

    def _up_slaves(self) -> set[str]:
        names = (name for name in _NAMES if name != NONE)
        return {name for name in names if of_broker(self.state, "role", name) == "Slave"}

    def _is_free_slave(self, name: str) -> bool:
        link = of_broker(self.state, "link", name)
        return name in self._up_slaves() and field(link, "peer") == NONE

    def connect_in_vain(self, stranger: str, slave: str) -> None:
        """Let a slave shake hands with a broker that is not a master: nothing may come of it.

        Raises: Divergence
        """
        self.taken.append(Step("(connect in vain)", (stranger, slave), (), ""))
        self._shake_hands(stranger, slave)
        self._network.settle()
        if len(self._projection.events) != self._events:
            event = self._projection.events[-1]
            raise self._divergence(f"the cores took {event.action}")

    # ---- what can be made to happen ----

    def _is_feasible(self, step: Step) -> bool:
        match step.action, step.params:
            case "ReceiveAck", (_, str() as slave, int() as ack):
                wire = self._wire(slave)
                reported = field(of_broker(self.state, "link", slave), "reported")
                return ack == (_ack_in(wire.up[0]) if wire.up else reported)
            case _:
                return True

    def _wire(self, slave: str) -> Wire:
        client = self._node(slave).running().client
        assert client is not None, f"{slave} has no connection"
        wire = self._network.find(client.id)
        assert wire is not None
        return wire

    def _node(self, broker: str) -> Node:
        return self._cluster.nodes[BrokerId(int(broker.removeprefix("b")))]

    # ---- the steps ----

    def _make(self, step: Step) -> None:
        cluster = self._cluster
        match step.action, step.params:
            case "ElectMaster", (str() as broker,):
                cluster.elect(self._node(broker).id)
            case "BecomeMaster" | "BecomeSlave", (str() as broker,):
                assert cluster.master is not None
                learnt = MasterLearnt(
                    epoch=cluster.epoch,
                    master=cluster.master,
                    address=broker_address(cluster.master),
                )
                cluster.deliver(self._node(broker), learnt)
            case "Flush", (str() as broker,):
                cluster.flush(self._node(broker))
            case "Crash", (str() as broker, int() as kept):
                _cut_power(self._node(broker), kept)
                cluster.crash(self._node(broker))
            case "Restart", (str() as broker,):
                cluster.restart(self._node(broker))
            case "PutMessage", (str() as master,):
                self._messages += 1
                epoch = self._node(master).running().known_epoch
                message = ghost_message(epoch, self._messages)
                cluster.deliver(self._node(master), MessagePut(message=message))
            case "Handshake", (str() as master, str() as slave):
                self._shake_hands(master, slave)
            case "ReceiveAck", (_, str() as slave, _):
                wire = self._wire(slave)
                if not wire.up:
                    cluster.deliver(self._node(slave), TimerFired())
                self._network.to_server(wire.id)
            case "Transfer", (str() as master, str() as slave, int() as count):
                self._transfer(master, slave, count)
            case "ReceiveHandshake" | "ReceiveTransfer", (str() as slave,):
                self._network.to_client(self._wire(slave).id)
            case "Disconnect", (str() as slave,):
                self._disconnect(slave)
            case _:
                raise AssertionError(f"nobody knows how to make {step}")

    def _shake_hands(self, master: str, slave: str) -> None:
        node = self._node(slave)
        address = broker_address(self._node(master).id)
        self._cluster.deliver(node, MasterAddressLearnt(address=address))
        self._cluster.deliver(node, TimerFired())
        assert node.attempt is not None, f"{slave} does not connect"
        conn = node.attempt[0]
        self._network.establish(conn)
        self._network.to_server(conn)

    def _transfer(self, master: str, slave: str, count: int) -> None:
        """Let the master send; how much is a matter of the size of its batches."""
        node, conn = self._node(master), self._wire(slave).id
        larger = ("Transfer", (master, slave, count + 1))
        if any(step[:2] == larger for step in self._model.steps[self.number]):
            limited = replace(self._options, transfer_batch_bytes=SizeBytes(count * RECORD_SIZE))
            node.state = replace(node.running(), options=limited)
        self._cluster.deliver(node, TransferDue(conn=conn))
        node.state = replace(node.running(), options=self._options)

    def _disconnect(self, slave: str) -> None:
        """Break a connection; a packet that the slave may not take must make it do that itself."""
        wire = self._wire(slave)
        takes = ("ReceiveHandshake", "ReceiveTransfer")
        allowed = any(
            step.action in takes and step.params == (slave,)
            for step in self._model.steps[self.number]
        )
        if wire.down and not allowed:
            self._network.to_client(wire.id)
        else:
            self._network.sever(wire.id)

    # ---- comparison ----

    def _compare(
        self, action: str, params: tuple[str | int, ...], targets: tuple[int, ...]
    ) -> None:
        events = self._projection.events[self._events :]
        self._events = len(self._projection.events)
        if len(events) != 1:
            raise self._divergence(f"the cores took {len(events)} actions, not one")
        event = events[0]
        assert event.state is not None
        observed = event.state
        number = self._model.number_of.get(canonical_state(observed))
        if number not in targets or event.action != action or event.params != params:
            did = f"the cores took {event.action}({', '.join(map(str, event.params))})"
            raise self._divergence(did, self._differences(observed, targets))
        assert number is not None
        self.number, self.state = number, observed

    def _differences(self, observed: State, targets: tuple[int, ...]) -> str:
        lines: list[str] = []
        expected = self._model.state(targets[0])
        for name in sorted(expected):
            for broker in sorted(_NAMES):
                lines += _difference(name, broker, expected, observed)
        invariants = broken(observed)
        if invariants:
            lines.append(f"violated: {', '.join(invariants)}")
        return "\n".join(lines)

    def _divergence(self, what: str, details: str = "") -> Divergence:
        steps = "\n".join(f"{n:3} {step}" for n, step in enumerate(self.taken, start=1))
        story = f"{len(self.taken)} steps, and then {what}\n{steps}\n{details}"
        return Divergence(story, tuple(self.taken))


def _difference(name: str, broker: str, expected: State, observed: State) -> list[str]:
    """Describe how a variable differs at one broker; what has no brokers counts for "none"."""
    of_brokers = name not in ("ctl", "ghostActed")
    if of_brokers == (broker == NONE):
        return []
    values = [of_broker(s, name, broker) if of_brokers else s[name] for s in (expected, observed)]
    texts = [canonical(value) for value in values]
    if texts[0] == texts[1]:
        return []
    label = f"{name}[{broker}]" if of_brokers else name
    return [f"{label}: the model has {texts[0]}", f"{label}: the cores have {texts[1]}"]


def _ack_in(data: bytes) -> int:
    pulled = pull_slave_packet(data, Expecting.TRANSFER)
    assert pulled is not None
    packet, _ = pulled
    assert isinstance(packet, Ack)
    return record_count(packet.max_phy_offset)


def _cut_power(node: Node, kept: int) -> None:
    """Lose what is not synced, except the first `kept` records of the log."""
    disk = node.disk
    names = disk.names(_LOG_DIRECTORY)
    before = {name: disk.read(f"{_LOG_DIRECTORY}/{name}") for name in names}
    disk.lose_unsynced()
    for name, data in before.items():
        start = segment_start(name)
        assert start is not None
        survivors = data[: max(0, record_offset(kept) - start)]
        path = f"{_LOG_DIRECTORY}/{name}"
        if survivors and (not disk.exists(path) or disk.read(path) != survivors):
            disk.write(path, 0, survivors)
            disk.truncate(path, len(survivors))
            disk.fsync(path)
    disk.fsync_dir(_LOG_DIRECTORY)
