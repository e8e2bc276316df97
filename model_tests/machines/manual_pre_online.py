"""A master that comes back, its slaves and a name server, which a test drives: an adapter.

Nothing happens by itself: no timer fires, and no connection stands or breaks before a step says so.
A step is taken by doing to the cores what makes them take it: what they ask each other on the way
arrives and is answered, unless a call before has said that the answer is lost. Then the state is
projected as it is for traces. Where cores take several actions at once (a slave that registers is
told of its master, and where it is), the model takes them one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import ClassVar, Final

from model_tests.machines.manual_calls import ManualCalls
from model_tests.machines.manual_network import ManualNetwork
from model_tests.machines.pre_online_model import pre_online_constants
from model_tests.machines.taken_actions import TakenActions
from rocketha.formats.offset_tables import QueueKey, TableKind
from rocketha.known_bugs import Bugs
from rocketha.nameserver.core import RemovalDue
from rocketha.pre_online.core import PreOnlineCore
from rocketha.pre_online.due import CopyDue, GoOn, PersistDue, PollDue, ReconnectDue, RegisterNow
from rocketha.pre_online.events import (
    Decide,
    ForgetMaster,
    NameServerLost,
    PreOnlineDone,
    PreOnlineEvent,
    PreOnlineHears,
)
from rocketha.pre_online.rules import RULES
from rocketha.pre_online.state import PreOnlineState
from rocketha.runtime.effects import Then
from rocketha.runtime.events import ConnectionLost
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.network import End
from rocketha.sim.engine.node import FIRST_NAME_SERVER, Node, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.pre_online.cluster import PreOnlineCluster
from rocketha.sim.pre_online.plan import (
    BROKER_NAME,
    QUEUES,
    PreOnlinePlan,
    draw_pre_online_run,
    ha_address,
)
from rocketha.sim.pre_online.shared_network import ReplicationSockets
from rocketha.types import MASTER, BrokerId, ConnectionId, TimestampMs
from rocketproof.protocols.pre_online.projection import PreOnlineProjection
from rocketproof.protocols.pre_online.seen import queue_name
from tlatrace.testing.calls import Call, call_of
from tlatrace.trace import Event
from tlatrace.values import State, TlaSet, Value, tla_set

__all__ = ["ManualBrokers"]

_PUT_OFF: Final = [Then(event=one) for one in (Decide(), ForgetMaster(), GoOn(), RegisterNow())]
_TURNS: Final = 5
"""So often for each slave a master does what comes next before it is online for the first time."""
_MAY_CHANGE_NOTHING: Final = frozenset({"Register", "Synchronize"})
"""An answer that is lost, and a table that the slave has already."""


class _PatientCore(PreOnlineCore):
    """A broker that goes on when a step says so, and not at once."""

    def step(
        self,
        state: PreOnlineState,
        event: PreOnlineEvent,
        *,
        now_ms: TimestampMs,
        log: object = None,
    ) -> PreOnlineDone:
        done = super().step(state, event, now_ms=now_ms, log=log)
        effects = [one for one in done.effects if one not in _PUT_OFF]
        return replace(done, effects=tuple(effects))


class _PatientCluster(PreOnlineCluster):
    core: ClassVar[PreOnlineCore] = _PatientCore()


class _Replication(ManualNetwork):
    """Connections between brokers, of which an end may stand when the other one is gone."""

    def __init__(self) -> None:
        super().__init__(half_open=True)

    def connect_to_replicate(self, client: BrokerId, server: BrokerId) -> ConnectionId:
        """Begin to connect."""
        return self.connect(client, server)

    def lose_sent(self, broker: BrokerId) -> None:
        """Lose what a broker has sent: all that was sent before a step has arrived."""
        for wire in self._wires.values():
            assert not (broker == wire.client and wire.up) or not wire.server_open

    def stands(self, conn: ConnectionId) -> bool:
        """Tell whether both ends of a connection are open."""
        return self.holds(conn, End.CLIENT) and self.holds(conn, End.SERVER)

    def carry(self) -> bool:
        """Have all packets arrive; tell whether there were any."""
        are_any = False
        for conn in list(self._wires):
            wire = self._wires[conn]
            while self.stands(conn) and (wire.up or wire.down):
                are_any = True
                if wire.up:
                    self.to_server(conn)
                else:
                    self.to_client(conn)
        return are_any


class ManualBrokers(TakenActions):
    """The brokers of a model and their name server, which take its steps."""

    def __init__(self, model: str, kind: TableKind, bugs: Bugs) -> None:
        """Begin in the initial state, in which all are there."""
        super().__init__()
        self._kind = kind
        self._scheduler = Scheduler()  # never run
        streams, options = PerPurposeStreams(0), SimOptions(bugs=bugs)
        environment = Environment(
            options=options, scheduler=self._scheduler, streams=streams, counts=FaultCounts()
        )
        plan = _plan(draw_pre_online_run(streams, options), pre_online_constants(model, kind))
        self._projection = PreOnlineProjection()
        self._cluster = cluster = _PatientCluster(environment, plan, self._projection)
        self._lines = _Replication()
        self._calls = ManualCalls(cluster.is_up, cluster.asked, self._lines.drop_broker)
        cluster.network = self._lines  # type: ignore[assignment]
        cluster.calls = self._calls  # type: ignore[assignment]
        self._lines.attach(
            ReplicationSockets(
                self._lines,  # type: ignore[arg-type]
                lambda broker: cluster.hosted[broker].connections,
            )
        )
        self._decides = False
        """The master has an answer of the name server, and has not done what comes next."""
        self._forgets: set[BrokerId] = set()
        """Slaves that have heard that their master is gone, and still know where it was."""
        self._loses: set[BrokerId] = set()
        """Slaves that will not have the answer to their next registration."""
        self._busy: set[BrokerId] = set()
        """Brokers that will wait for an answer when it is time to write."""
        self._master_first = False
        """The master is the first to hear of the next connection that breaks."""
        self._has_returned = False
        """The master has started since all are there."""
        self._begin()

    def _begin(self) -> None:
        """Have all there for the first time."""
        cluster = self._cluster
        cluster.start_name_server()
        for slave in cluster.slaves:
            cluster.start_broker(slave)
            self._tell(slave, RegisterNow())
        cluster.start_broker(MASTER)
        for _ in range(_TURNS * len(cluster.slaves)):
            self._tell(MASTER, GoOn())
            if not self._running(MASTER).isolated:
                break
            self._tell(MASTER, Decide())
            for slave in cluster.slaves:
                if cluster.hosted[slave].connections.asked is not None:
                    self._handshake(slave)
        for broker in (MASTER, *cluster.slaves):
            self._tell(broker, RegisterNow())
        cluster.begin()
        begun = self._events()
        assert begun[0].action == "Init"
        assert self.observe() == begun[0].state, "all are there"

    # ---- what an adapter has ----

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the cores take one action, and what comes of it at once."""
        call = call_of(action, params)
        self._has_returned |= call == call_of("Start", (MASTER,))
        took = self._made(lambda: self._make(action, params))
        if not took and action in _MAY_CHANGE_NOTHING:
            return
        self._took(call, took)

    def observe(self) -> State:
        """Return the state of the cores after the last action.

        How the master came to be there for the first time, Init does not say.
        """
        state = super().observe()
        return state if self._has_returned else {**state, "there": tla_set(()), "met": tla_set(())}

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether somebody can make the cores take an action now.

        A slave forgets its master when it has heard that it is gone. It learns where it is with the
        answer to a registration, which is another action. A master asks who is there as long as it
        may not go online; and before it does something else, unless it knows.
        """
        match action, params:
            case "Forget", (int() as slave,):
                return slave in self._forgets
            case "LearnHaAddress", (int(),):
                return False
            case "AskGroup", ():
                return not self._is_complete()
            case (("SendHaInfo" | "TakeTable"), (int() as slave,)):
                return self._knows_who_is_there() or (self._decides and self._turn() == slave)
            case _:
                return True

    # ---- what the cores are ----

    def _node(self, broker: int) -> Node[PreOnlineState]:
        return self._cluster.brokers[BrokerId(broker)]

    def _running(self, broker: int) -> PreOnlineState:
        return self._node(broker).running()

    def _events(self) -> list[Event]:
        """Return the events of the trace of the model's table."""
        for trace in self._projection.traces:
            if trace.meta["table"] == self._kind.value:
                return list(trace.events)
        return []

    def _is_complete(self) -> bool:
        """Tell whether the master may go online."""
        master = self._running(MASTER)
        return RULES.is_complete(master.asked, master.members, master.done)

    def _knows_who_is_there(self) -> bool:
        """Tell whether the master would hear from a name server what it has heard last."""
        master = self._running(MASTER)
        return master.asked and master.members == self._cluster.group() - {MASTER}

    def _turn(self) -> BrokerId:
        """Return for which slave the master does something next."""
        master = self._running(MASTER)
        wanted = sorted(master.wanted)
        return wanted[master.turn % len(wanted)]

    # ---- what happens ----

    def _made(self, make: Callable[[], None]) -> list[Call]:
        """Let something happen, and return which actions it was."""
        before = len(self._events())
        self._scheduler.now_ms += 1  # two starts of a broker are told apart by it
        make()
        return self._since(before)

    def _take(self, broker: int, event: PreOnlineHears) -> None:
        """Let a broker hear something."""
        self._cluster.hosted[BrokerId(broker)].host.take(event)

    def _tell(self, broker: int, event: PreOnlineHears) -> None:
        """Let a broker hear something, and do all that it asks for."""
        self._take(broker, event)
        self._carry()

    def _carry(self, lost_to: Collection[BrokerId] = ()) -> None:
        while self._calls.carry(lost_to) or self._lines.carry():
            pass

    def _ask_in_vain(self, broker: int) -> None:
        """Let a broker ask what nobody hears: it waits for no answer of before any more."""
        self._take(broker, GoOn() if broker == MASTER else PollDue())
        self._calls.lose()

    # ---- the steps ----

    def _make(self, action: str, params: tuple[Value, ...]) -> None:
        match action, params:
            case "Commit", (int() as broker, str() as queue):
                [key] = [one for one in QUEUES[self._kind] if queue_name(*one) == queue]
                self._commit(BrokerId(broker), key)
            case "Persist", (int() as broker,):
                self._persist(BrokerId(broker))
            case "Stop", (int() as broker,):
                self._stop(BrokerId(broker))
            case "Start", (int() as broker,):
                self._cluster.restart(self._node(broker))
            case "Register", (int() as broker,):
                self._register(BrokerId(broker))
            case "Remove", (int() as broker,):
                self._remove(BrokerId(broker))
            case "AskGroup", ():
                self._tell(MASTER, GoOn())
                self._decides = True
            case "GoOnline", ():
                self._tell(MASTER, Decide() if self._decides else GoOn())
                self._decides = False
            case _, (int() as slave,):
                self._make_of_slave(action, BrokerId(slave))
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    def _make_of_slave(self, action: str, slave: BrokerId) -> None:
        match action:
            case "Hear":
                had_master = self._running(slave).master_address is not None
                self._tell(slave, PollDue())
                if had_master and self._running(slave).master_address is None:
                    self._forgets.add(slave)
            case "Forget":
                self._forgets.remove(slave)
                self._take(slave, ForgetMaster())
            case "Synchronize":
                self._synchronize(slave)
            case "SendHaInfo" | "TakeTable":
                self._hear_of_lost_lines(MASTER)
                self._decide(slave)
            case "Handshake":
                self._handshake(slave)
            case "Disconnect":
                self._disconnect(slave)
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    def _commit(self, broker: BrokerId, queue: QueueKey) -> None:
        hosted = self._cluster.hosted[broker]
        if self._kind is TableKind.CONSUMER:
            hosted.commit(queue)
        else:
            hosted.deliver(queue[1])

    def _persist(self, broker: BrokerId) -> None:
        """Let a broker write its tables, at once or when it has lost the answer it waits for."""
        isolated = self._running(broker).isolated
        if broker not in self._busy or (isolated and self._is_complete()):
            self._take(broker, PersistDue())
            return
        self._busy.remove(broker)
        self._take(broker, GoOn() if isolated else RegisterNow())
        self._take(broker, PersistDue())
        self._calls.lose()

    def _stop(self, broker: BrokerId) -> None:
        self._cluster.crash(self._node(broker))
        self._forgets.discard(broker)
        self._decides = self._decides and broker != MASTER

    def _register(self, broker: BrokerId) -> None:
        self._take(broker, RegisterNow())
        self._carry(self._loses & {broker})
        if broker in self._loses:
            self._loses.remove(broker)
            self._ask_in_vain(broker)

    def _remove(self, broker: BrokerId) -> None:
        """Let the name server lose the connection of who has registered over it."""
        server = self._cluster.name_server
        known = server.running().groups[BROKER_NAME].brokers[broker]
        self._calls.breaks(broker, FIRST_NAME_SERVER)
        assert server.host is not None
        server.host.take(ConnectionLost(conn=known.conn))
        server.host.take(RemovalDue())
        if self._cluster.is_up(broker):
            self._take(broker, NameServerLost())

    def _synchronize(self, slave: BrokerId) -> None:
        """Let a slave copy the model's table; if the other one is its turn, that one before."""
        kinds = tuple(TableKind)
        if kinds[self._running(slave).turn % len(kinds)] is not self._kind:
            self._tell(slave, CopyDue())
        self._tell(slave, CopyDue())

    def _decide(self, slave: BrokerId) -> None:
        """Let the master do what comes next for a slave.

        What it does for others before is lost.
        """
        for _ in self._running(MASTER).wanted:
            if not self._decides:
                self._tell(MASTER, GoOn())
            self._decides = False
            is_its_turn = self._turn() == slave
            self._take(MASTER, Decide())
            if is_its_turn:
                break
            self._calls.lose()
        self._carry()

    def _handshake(self, slave: BrokerId) -> None:
        """Let a slave connect to its master, and say who it is."""
        self._hear_of_lost_lines(slave)
        connections = self._cluster.hosted[slave].connections
        if connections.asked is None:
            self._take(slave, ReconnectDue())
        assert connections.asked is not None, f"{slave} does not connect"
        self._lines.establish(connections.asked)
        self._carry()

    def _disconnect(self, slave: BrokerId) -> None:
        """Let one end of a connection hear that it is gone."""
        conn = self._running(slave).ha.conn
        assert conn is not None
        if self._master_first:
            self._master_first = False
            self._lines.tell_server(conn)
        else:
            self._lines.sever(conn)

    def _lost_lines(self, broker: BrokerId) -> list[ConnectionId]:
        """Return the connections of a broker of which the other end is gone."""
        state, asked = self._running(broker), self._cluster.hosted[broker].connections.asked
        held = {*state.links.values(), state.ha.conn, asked} - {None}
        return sorted(conn for conn in held if conn is not None and not self._lines.stands(conn))

    def _hear_of_lost_lines(self, broker: BrokerId) -> None:
        """Let a broker hear of them."""
        for conn in self._lost_lines(broker):
            if broker == MASTER:
                self._lines.tell_server(conn)
            else:
                self._lines.sever(conn)


def _plan(plan: PreOnlinePlan, constants: Mapping[str, Value]) -> PreOnlinePlan:
    """Return a plan with the slaves and the steps of a model."""
    slaves, step = constants["Slave"], constants["Step"]
    assert isinstance(slaves, TlaSet)
    assert isinstance(step, int)
    numbers = [MASTER, *(BrokerId(one) for one in slaves if isinstance(one, int))]
    first = plan.brokers[MASTER]
    brokers = [
        replace(
            first,
            broker_id=number,
            address=broker_address(number),
            ha_address=ha_address(number),
            steps=dict.fromkeys(TableKind, step),
        )
        for number in numbers
    ]
    return replace(plan, brokers=tuple(brokers))
