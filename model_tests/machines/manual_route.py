"""Brokers and a name server that a test drives: an adapter for Route.

Nothing happens by itself: no timer fires, and what nodes say to each other lies here until a step
moves it. A step is taken by doing to the cores what makes them take it; then the state is projected
as it is for traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from model_tests.machines.route_model import route_constants
from rocketha.acting.core import (
    ActingCore,
    ActingDone,
    ActingHears,
    NameServerLost,
    PollDue,
    RegisterNow,
)
from rocketha.acting.state import ActingState
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.remoting_command import FLAG_ONEWAY, FLAG_RESPONSE, RemotingCommand
from rocketha.known_bugs import Bugs
from rocketha.nameserver.core import RemovalDue
from rocketha.nameserver.state import NameServerState
from rocketha.nameserver.table import Registration
from rocketha.runtime.effects import Then
from rocketha.runtime.events import ConnectionLost, RequestEvent
from rocketha.runtime.node_host import NodeHost
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.node import FIRST_NAME_SERVER, Node, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.remoting_calls import Arrived, Content, OnAnswer
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.route.cluster import RouteCluster
from rocketha.sim.route.plan import BROKER_NAME, draw_route_run
from rocketha.types import BrokerId, ConnectionId, TimestampMs
from rocketproof.protocols.route.projection import RouteProjection
from rocketproof.protocols.route.said import SAID
from tlatrace.testing.calls import call_of
from tlatrace.values import Fcn, State, TlaSet, Value

__all__ = ["ManualRoute"]

_SERVER: Final = BrokerId(FIRST_NAME_SERVER)
_ANSWER: Final = "Next"
"""How a walk calls AnswerClient, whose parameters are what Next says they are."""


class _PatientCore(ActingCore):
    """A broker that registers when a step says so, and not as soon as it has a role."""

    def step(
        self,
        state: ActingState,
        event: ActingHears | RequestEvent,
        *,
        now_ms: TimestampMs,
        log: object = None,
    ) -> ActingDone:
        done = super().step(state, event, now_ms=now_ms, log=log)
        effects = [one for one in done.effects if one != Then(event=RegisterNow())]
        return replace(done, effects=tuple(effects))


class _PatientCluster(RouteCluster):
    acting_core = _PatientCore()


@dataclass(slots=True)
class _Said:
    """A request under way, or an answer to it."""

    sender: BrokerId
    receiver: BrokerId
    arrived: Arrived
    on_answer: OnAnswer | None
    """None: nobody waits."""
    start: int
    """Of the sender, or of who is told."""


@dataclass(slots=True)
class _ManualCalls:
    """What nodes have said to each other."""

    cluster: RouteCluster
    requests: list[_Said] = field(default_factory=list)
    waiting: dict[int, _Said] = field(default_factory=dict)
    """Opaque -> a request that was heard and is not answered yet."""
    answers: list[tuple[_Said, RemotingCommand]] = field(default_factory=list)
    """Answers under way."""
    said: int = 0
    lines: dict[BrokerId, int] = field(default_factory=dict)
    """How many connections a broker has had before the present one."""

    def ask(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer
    ) -> str:
        return self._say(sender, receiver, content, on_answer)

    def tell(self, sender: BrokerId, receiver: BrokerId, content: Content) -> str:
        return self._say(sender, receiver, content, None)

    def _say(
        self, sender: BrokerId, receiver: BrokerId, content: Content, on_answer: OnAnswer | None
    ) -> str:
        self.said += 1
        broker = receiver if sender == _SERVER else sender
        flag = FLAG_ONEWAY if on_answer is None else 0
        arrived = Arrived(self.line_of(broker), content.command(self.said, flag=flag))
        start = self.cluster.nodes[broker].incarnation
        self.requests.append(_Said(sender, receiver, arrived, on_answer, start))
        return arrived.message

    def line_of(self, broker: BrokerId) -> ConnectionId:
        """Return the connection of a broker with the name server."""
        return ConnectionId(100 * self.lines.get(broker, 0) + broker)

    def breaks(self, broker: BrokerId) -> None:
        """Let a broker have another connection from now on; what was said still comes."""
        self.lines[broker] = self.lines.get(broker, 0) + 1

    def answer(self, peer: BrokerId, arrived: Arrived, content: Content) -> None:
        del peer
        said = self.waiting.pop(arrived.command.opaque)
        command = content.command(arrived.command.opaque, flag=FLAG_RESPONSE)
        self.answers.append((said, command))

    def refuse(self, peer: BrokerId, arrived: Arrived) -> None:
        raise AssertionError(f"{peer} does not understand {arrived}")

    def hang_up(self, sender: BrokerId, receiver: BrokerId) -> None:
        raise AssertionError(f"{sender} waits no more for {receiver}, and time stands still")

    def drop(self, peer: BrokerId, conn: ConnectionId) -> None:
        raise AssertionError(f"{peer} closes {conn}, and nobody is silent")

    def stop(self, peer: BrokerId, *, silent: bool) -> None:
        del silent
        self.breaks(peer)


class ManualRoute:
    """The brokers of a model and its name server, which take its steps."""

    def __init__(self, model: str, bugs: Bugs) -> None:
        """Begin in the initial state."""
        constants = route_constants(model)
        brokers, acting = constants["Broker"], constants["Acting"] is True
        assert isinstance(brokers, TlaSet)
        streams, options = PerPurposeStreams(0), SimOptions(brokers=len(brokers), bugs=bugs)
        plan = draw_route_run(streams, options)
        plan = replace(
            plan,
            name_servers=(_SERVER,),
            brokers=tuple(
                replace(one, name_servers=(_SERVER,), acting=acting) for one in plan.brokers
            ),
            name_server=replace(
                plan.name_server,
                support_acting_master=acting,
                notify_min_broker_id_changed=constants["Notifies"] is True,
            ),
        )
        self._scheduler = Scheduler()  # never run
        environment = Environment(
            options=options, scheduler=self._scheduler, streams=streams, counts=FaultCounts()
        )
        self._projection = RouteProjection()
        self._cluster = _PatientCluster(environment, plan, self._projection)
        self._calls = _ManualCalls(self._cluster)
        self._cluster.calls = self._calls  # type: ignore[assignment]

    # ---- what an adapter has ----

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the cores take one action, and no other."""
        before = len(self._projection.events)
        self._scheduler.now_ms += 1  # two starts of a broker are told apart by it
        self._make(action, params)
        events = self._projection.events[before:]
        took = [
            call_of(event.action or "nothing", event.params)
            for event in events
            if event.action not in SAID
        ]
        if action == _ANSWER:
            assert [one.action for one in took] == ["AnswerClient"], f"the cores took {took}"
        else:
            assert took == [call_of(action, params)], f"the cores took {took}"

    def observe(self) -> State:
        """Return the state of the cores after the last action."""
        state = self._projection.events[-1].state
        assert state is not None
        return state

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether somebody can make the cores take an action now.

        A broker waits for the answer to its last question. An answer does not come to who has
        started again, nor anything to who is down; what has come twice is no single step. Who has
        said that it stops is removed if it is still registered as then.
        """
        match action, params:
            case "Poll", (int() as broker, _):
                state = self._broker(broker).state
                return state is not None and state.polls is None
            case "ReceiveNote", (int() as broker, _, False):
                return self._note_to(BrokerId(broker)) is not None
            case "Register", (int() as broker, _):
                state = self._broker(broker).state
                return state is not None and not state.asked
            case "Remove", (_, int() as broker):
                return self._removes(BrokerId(broker))
            case _:
                return True

    def stuttering_calls(self) -> Sequence[str]:
        """List brokers that do not know what they are: they have nothing to register."""
        return [
            f"{number} registers without a role"
            for number, node in self._cluster.brokers.items()
            if node.state is not None and node.state.role is None
        ]

    def make_idle_call(self, name: str) -> None:
        """Let a broker register that does not know what it is."""
        before = len(self._projection.events)
        self._host(int(name.partition(" ")[0])).take(RegisterNow())
        took = [event.action for event in self._projection.events[before:]]
        assert not took, f"the cores took {took}"

    # ---- what the cores are ----

    def _broker(self, number: int) -> Node[ActingState]:
        return self._cluster.brokers[BrokerId(number)]

    @property
    def _server(self) -> Node[NameServerState]:
        return self._cluster.name_servers[_SERVER]

    def _registered(self, broker: BrokerId) -> Registration | None:
        """Return what the name server has of a broker."""
        group = self._server.running().groups.get(BROKER_NAME)
        return None if group is None else group.found(broker_address(broker))

    def _find(self, code: NameServerCode, sender: BrokerId) -> _Said | None:
        for said in self._calls.requests:
            if (said.sender, said.arrived.command.code) == (sender, code):
                return said
        return None

    def _note_to(self, broker: BrokerId) -> _Said | tuple[_Said, RemotingCommand] | None:
        """Return what tells a broker of the smallest brokerId, and is the only thing that does."""
        if self._broker(broker).state is None:
            return None
        start = self._broker(broker).incarnation
        notes: list[_Said | tuple[_Said, RemotingCommand]] = [
            *(one for one in self._calls.requests if (one.receiver, one.start) == (broker, start)),
            *(a for a in self._calls.answers if (a[0].sender, a[0].start) == (broker, start)),
        ]
        return notes[0] if len(notes) == 1 else None

    def _removes(self, broker: BrokerId) -> bool:
        if removals := self._server.running().removals:
            return removals[0].meant.address == broker_address(broker)
        said, known = self._find(NameServerCode.UNREGISTER_BROKER, broker), self._registered(broker)
        if said is None or known is None or known.conn != said.arrived.conn:
            return False
        return self._is_decided(broker)

    def _is_decided(self, broker: BrokerId) -> bool:
        """Tell whether what is registered is what the broker was when it said that it stops."""
        state = self.observe()
        tables, decided = state["table"], state["unregs"]
        assert isinstance(tables, Fcn)
        assert isinstance(decided, TlaSet)
        registered = tables[broker_address(_SERVER)]
        assert isinstance(registered, TlaSet)
        ends = [one["e"] for one in decided if isinstance(one, Fcn)]
        return any(
            entry["b"] == broker and entry in ends for entry in registered if isinstance(entry, Fcn)
        )

    # ---- the steps ----

    def _hear(self, said: _Said) -> None:
        """Let a request arrive."""
        self._calls.requests.remove(said)
        if said.on_answer is not None:
            self._calls.waiting[said.arrived.command.opaque] = said
        self._cluster.asked(said.receiver, said.arrived)

    def _make(self, action: str, params: tuple[Value, ...]) -> None:
        cluster = self._cluster
        match action, params:
            case "Elect", (int() as broker,):
                cluster.elect(BrokerId(broker))
            case "LearnRole", (int() as broker,):
                cluster.learn_role(BrokerId(broker))
            case "Start", (int() as broker,):
                cluster.restart(self._broker(broker))
            case "Stop", (int() as broker, bool() as says):
                if says:
                    cluster.shut_down(BrokerId(broker))
                else:
                    cluster.crash(self._broker(broker))
            case "Reconnect", (int() as broker,):
                self._calls.breaks(BrokerId(broker))
                self._host(broker).take(NameServerLost(_SERVER))
            case "Register", (int() as broker, str()):
                self._host(broker).take(RegisterNow())
            case "Poll", (int() as broker, str()):
                self._host(broker).take(PollDue())
                said = self._find(NameServerCode.GET_BROKER_MEMBER_GROUP, BrokerId(broker))
                assert said is not None, f"{broker} does not ask"
                self._hear(said)
            case "ReceiveNote", (int() as broker, str(), False):
                self._receive_note(BrokerId(broker))
            case _:
                self._serve(action, params)

    def _serve(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the name server take a step."""
        match action, params:
            case "ReceiveRegistration", (str(), int() as broker):
                self._receive_registration(BrokerId(broker))
            case "Decide", (str(), int() as broker):
                known = self._registered(BrokerId(broker))
                assert known is not None, f"{broker} is not registered"
                self._host(_SERVER).take(ConnectionLost(conn=known.conn))
            case "Remove", (str(), int() as broker):
                if not self._server.running().removals:
                    said = self._find(NameServerCode.UNREGISTER_BROKER, BrokerId(broker))
                    assert said is not None, f"{broker} has not said that it stops"
                    self._hear(said)
                self._host(_SERVER).take(RemovalDue())
            case _, () if action == _ANSWER:
                self._cluster.ask_route(_SERVER)
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    def _receive_registration(self, broker: BrokerId) -> None:
        said = self._find(NameServerCode.REGISTER_BROKER, broker)
        assert said is not None, f"{broker} has not registered"
        self._hear(said)
        for answer in [one for one in self._calls.answers if one[0] is said]:
            self._calls.answers.remove(answer)
            assert said.on_answer is not None
            said.on_answer(answer[1])

    def _receive_note(self, broker: BrokerId) -> None:
        note = self._note_to(broker)
        assert note is not None, f"nothing is under way to {broker}"
        if isinstance(note, _Said):
            self._hear(note)
            return
        self._calls.answers.remove(note)
        assert note[0].on_answer is not None
        note[0].on_answer(note[1])

    def _host(self, number: int) -> NodeHost[Any, Any, Any]:
        host: NodeHost[Any, Any, Any] | None = self._cluster.nodes[BrokerId(number)].host
        assert host is not None
        return host
