"""A slave that acts, masters of other groups, a name server and a producer, which a test drives.

Nothing happens by itself: no timer fires but where a master writes to its disk, and what is put, or
popped, lies here until a step moves it: it comes, or is answered, or the slave waits no longer,
and it may still come. What name servers are asked and answer comes at once. Then the state is
projected as it is for traces. Where nodes take several actions at once (a master in the slave's
process stops with it), the model takes them one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from model_tests.machines.escape_model import escape_constants
from model_tests.machines.escape_plan import StandingClock, escape_plan, image, members
from model_tests.machines.manual_calls import ManualCalls, Said
from model_tests.machines.taken_actions import TakenActions
from rocketha.acting.core import NameServerLost, PollDue, RegisterNow
from rocketha.escape.events import (
    CheckDue,
    Decided,
    PersistDue,
    PoppedHere,
    ReviveDue,
    RouteDue,
    ServeDue,
)
from rocketha.escape.rules import RULES
from rocketha.escape.services import due
from rocketha.escape.slave import DELAYED, HALVES
from rocketha.escape.state import SlaveState
from rocketha.formats.broker_requests import BrokerResponse, QueueName
from rocketha.formats.due_messages import (
    COMMITTED,
    ROLLED_BACK,
    key_of,
)
from rocketha.formats.put_requests import AckMessage, PopMessage, pull_check, pull_put
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.known_bugs import Bugs
from rocketha.nameserver.core import RemovalDue
from rocketha.runtime.events import ConnectionLost
from rocketha.runtime.node_host import NodeHost
from rocketha.sim.engine.faults import FaultCounts
from rocketha.sim.engine.node import FIRST_NAME_SERVER, FIRST_PRODUCER, broker_address
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.simulation import Environment
from rocketha.sim.escape.cluster import EscapeCluster
from rocketha.sim.escape.nodes import given
from rocketha.sim.escape.plan import (
    CONSUMERS,
    GROUP,
    NEIGHBOUR,
    SLAVE,
    TOPIC,
    draw_escape_run,
    group_of,
)
from rocketha.types import MASTER, BrokerId
from rocketproof.protocols.escape.projection import EscapeProjection
from rocketproof.protocols.escape.seen import TraceKind
from tlatrace.testing.calls import Call, call_of
from tlatrace.trace import Event
from tlatrace.values import Value

__all__ = ["ManualEscape"]

_INVISIBLE_MS: Final = 1_000
_HOW: Final = {"commit": COMMITTED, "rollback": ROLLED_BACK}
_RECORDS: Final = {TraceKind.DELAYED: ("d", DELAYED), TraceKind.HALVES: ("h", HALVES)}
"""How keys of records begin, and which service puts them."""
_QUEUE: Final = QueueName(topic=TOPIC, queue_id=0)


@dataclass(slots=True)
class Popped:
    """A pop, as its consumer sees it."""

    key: str
    """What its check point and its ACK are called."""
    offset: int
    at_ms: int
    extra_info: str | None = None
    """What it was given."""


class ManualEscape(TakenActions):
    """The nodes of a model, which take its steps."""

    def __init__(self, model: str, kind: TraceKind, bugs: Bugs) -> None:
        """Begin in the initial state, in which the slave knows all masters."""
        super().__init__()
        self._kind = kind
        self._constants = escape_constants(model, kind)
        self._bugs = bugs
        self._said: list[tuple[int, str]] = []
        """Half messages that have ended in the slave's log, and how."""
        self._build()

    def _build(self) -> None:
        """Have all there for the first time."""
        self._clock = StandingClock()
        streams, options = PerPurposeStreams(0), SimOptions(brokers=2, bugs=self._bugs)
        environment = Environment(
            options=options, scheduler=self._clock, streams=streams, counts=FaultCounts()
        )
        plan = escape_plan(draw_escape_run(streams, options), self._constants, self._said)
        self._projection = EscapeProjection(round_to=1)
        self._cluster = cluster = EscapeCluster(environment, plan, self._projection)
        self._calls = ManualCalls(cluster.is_up, cluster.asked, lambda _: None)
        cluster.calls = self._calls  # type: ignore[assignment]
        self._puts: list[Said] = []
        """All that the slave has put, the newest last."""
        self._pops: dict[str, Popped] = {}
        """What a projection calls a pop -> what its consumer knows."""
        self._stored: list[str] = []
        """Pops whose check point was stored, in that order."""
        self._steps = 0
        self._behind = []
        cluster.start_name_server()
        cluster.start_producer()
        cluster.start_registering(NEIGHBOUR)
        for master in cluster.masters:
            cluster.start_master(master)
        cluster.start_slave()
        self._ask_name_server()
        self._tell(SLAVE, RouteDue())
        cluster.begin()
        actions = [event.action for event in self._events()]
        ended = ["Init"] + ["End"] * len(self._said)
        learned = set(actions[len(ended) :])
        assert (actions[: len(ended)], learned) == (ended, {"LearnRoute"}), actions

    # ---- what an adapter has ----

    def perform(self, action: str, params: tuple[Value, ...]) -> None:
        """Let the nodes take one action, and what comes of it at once."""
        call = call_of(action, params)
        match action, params:
            case "End", (int() as half, str() as how, True):
                self._said.append((half, how))
                self._build()
                end = self._events()[len(self._said)]
                took = [call_of(end.action or "nothing", end.params)]
            case _:
                took = self._made(lambda: self._make(action, params))
                self._steps += 1
        self._took(call, took)

    def feasible(self, action: str, params: tuple[Value, ...]) -> bool:
        """Tell whether somebody can make the nodes take an action now.

        All that is due is put at once, before a record is passed that was heard of. An answer must
        be under way. Who does not run is not named by a name server that has not kept it. A
        consumer acknowledges what it was given, and only one pops at a time. Check points are
        revived in the order of their times.
        """
        match action, params:
            case "Put", (int() as record, _):
                return record == next(iter(self._due(_RECORDS[self._kind][1])), record)
            case "Pass", ():
                return not (self._targets() and self._due(_RECORDS[self._kind][1]))
            case "HearPut", (int() as record, str() as master):
                put = self._last_put(record)
                return put.is_answered and broker_address(put.receiver) == master
            case "End", (_, _, True):
                return not self._steps
            case "LearnRoute", (str() as master, bool() as runs):
                return self._may_name(self._known(master, runs=runs))
            case "CheckPoint", _:
                return not self._running().pops
            case "Acknowledge", (str() as pop, _):
                if self._is_given(pop):
                    return True
                return self._waits(pop, is_ack=False) and self._last_of_pop(pop, "ck").is_answered
            case "Accept", (str() as pop,):
                return self._waits(pop, is_ack=True) and self._last_of_pop(pop, "ack").is_answered
            case "Revive", (str() as pop, str() as master):
                return self._to_revive(master)[0] == pop
            case _:
                return True

    # ---- what the nodes are ----

    def _running(self) -> SlaveState:
        return self._cluster.slave.running()

    def _host(self, number: BrokerId) -> NodeHost[Any, Any, Any]:
        cluster = self._cluster
        if number == SLAVE:
            return cluster.hosted_slave.host
        return cluster.hosted_masters[number].host

    def _master(self, name: str) -> BrokerId:
        return self._cluster.number_of(name)

    def _events(self) -> list[Event]:
        """Return the events of the trace of what the model has."""
        for trace in self._projection.traces:
            if trace.meta["of"] == self._kind.value:
                return list(trace.events)
        return []

    def _runs(self, number: BrokerId) -> bool:
        return self._cluster.is_up(number)

    def _targets(self) -> list[str]:
        """Return the groups to whose masters the slave may put."""
        state = self._running()
        return sorted(RULES.targets(state.known, state.options.local))

    def _due(self, service: int) -> list[int]:
        """Return what a service may put."""
        return due(self._running().services[service], 0, now_ms=self._cluster.now_ms())

    # ---- what is under way ----

    def _key(self, record: int) -> str:
        return f"{_RECORDS[self._kind][0]}{record}"

    def _keyed(self, key: str) -> list[Said]:
        return [put for put in self._puts if key_of(pull_put(put.command)) == key]

    def _last_put(self, record: int) -> Said:
        return self._keyed(self._key(record))[-1]

    def _last_of_pop(self, pop: str, tail: str) -> Said:
        return self._keyed(f"{self._pops[pop].key}@{tail}")[-1]

    def _coming(self, key: str, master: str) -> Said:
        """Return the oldest put of a key that has not come to a master yet."""
        to = self._master(master)
        coming = [one for one in self._keyed(key) if one in self._calls.requests]
        return next(one for one in coming if one.receiver == to)

    def _is_given(self, pop: str) -> bool:
        return self._pops[pop].extra_info is not None

    def _waits(self, pop: str, *, is_ack: bool) -> bool:
        """Tell whether a consumer waits for what becomes of a check point, or of an ACK."""
        state, key = self._cluster.slave.state, self._pops[pop].key
        under_way = () if state is None else state.pops.values()
        return any((one.check_point.popped.name, one.is_ack) == (key, is_ack) for one in under_way)

    def _to_revive(self, master: str) -> list[str]:
        """Return the pops that a master is to deliver again, in the order in which it looks."""
        state = self.observe()
        waiting = [
            pop
            for pop in self._stored
            if image(state["ckAt"], pop) == master
            and master not in members(image(state["ackAt"], pop))
            and pop not in members(state["revived"])
        ]
        return sorted(waiting, key=lambda pop: max(self._over_ms(pop), self._clock.now_ms))

    def _over_ms(self, pop: str) -> int:
        """Return when the time of a pop is up."""
        return self._pops[pop].at_ms + _INVISIBLE_MS * int(pop.removeprefix("p"))

    # ---- what happens ----

    def _made(self, make: Callable[[], None]) -> list[Call]:
        """Let something happen, and return which actions it was."""
        before = len(self._events())
        self._clock.now_ms += 1
        make()
        self._ask_name_server()
        self._clock.run()
        return self._since(before)

    def _ask_name_server(self) -> None:
        """Let what name servers are asked come and be answered; note what the slave puts."""
        self._calls.carry(of=FIRST_NAME_SERVER)
        self._puts += [
            one for one in self._calls.requests if one.sender == SLAVE and one not in self._puts
        ]

    def _tell(self, number: BrokerId, event: object) -> None:
        """Let a node hear something, and what it asks name servers."""
        self._host(number).take(event)
        self._ask_name_server()

    def _count_to(self, wanted: str, of: Sequence[str], next_number: int) -> None:
        """Let the slave count on until the next of several masters is the one that is wanted.

        It counts what it asks; which masters there are it asks in vain.
        """
        for _ in of:
            if of[(self._running().numbers + next_number) % len(of)] == wanted:
                return
            self._ask_in_vain()

    def _ask_in_vain(self) -> None:
        self._host(SLAVE).take(RouteDue())
        self._calls.lose(of=FIRST_NAME_SERVER)

    # ---- the steps ----

    def _make(self, action: str, params: tuple[Value, ...]) -> None:
        cluster = self._cluster
        match action, params:
            case "Act", (bool() as acts,):
                self._act(acts=acts)
            case "LearnRoute", (str() as master, bool() as runs):
                self._learn_route(self._known(master, runs=runs))
            case "Pass", ():
                self._host(SLAVE).take(ServeDue(_RECORDS[self._kind][1]))
            case "Save", ():
                self._host(SLAVE).take(PersistDue())
            case "Stop", ():
                cluster.crash(cluster.slave)
            case "Start", ():
                cluster.start_slave()
            case "Die", (str() as master,):
                cluster.crash(cluster.nodes[self._master(master)])
            case "Return", (str() as master,):
                cluster.start_master(self._master(master))
            case "End", (int() as half, str() as how, False):
                cluster.hosted_producer.host.take(Decided(self._key(half), _HOW[how]))
            case "Check", (int() as half, str() as master):
                self._check(self._master(master), {self._key(half)})
            case _, (int() as record, str() as master):
                self._make_of_record(action, record, master)
            case _, (str() as pop, *masters):
                self._make_of_pop(action, pop, *map(str, masters))
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    def _make_of_record(self, action: str, record: int, master: str) -> None:
        match action:
            case "Put":
                self._count_to(group_of(self._master(master)), self._targets(), 1)
                self._host(SLAVE).take(ServeDue(_RECORDS[self._kind][1]))
            case "StorePut":
                self._calls.hear(self._coming(self._key(record), master))
            case "HearPut":
                self._last_put(record).give()
            case "FailPut":
                self._last_put(record).fail()
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    def _make_of_pop(self, action: str, pop: str, master: str = "") -> None:
        match action:
            case "CheckPoint":
                self._pop(pop, master)
            case "StoreCheckPoint":
                self._stored.append(pop)
                self._calls.hear(self._coming(f"{self._pops[pop].key}@ck", master))
            case "Acknowledge":
                self._acknowledge(pop)
            case "StoreAck":
                self._calls.hear(self._coming(f"{self._pops[pop].key}@ack", master))
            case "Accept":
                self._last_of_pop(pop, "ack").give()
            case "Revive":
                self._clock.now_ms = max(self._clock.now_ms, self._over_ms(pop))
                self._host(self._master(master)).take(ReviveDue())
            case _:
                raise AssertionError(f"nobody knows how to make {action}")

    # ---- name servers ----

    def _act(self, *, acts: bool) -> None:
        """Let the slave hear that another one of its group is there, or is not."""
        cluster = self._cluster
        if acts:
            if self._runs(NEIGHBOUR):
                cluster.crash(cluster.neighbour)
            if NEIGHBOUR in cluster.registered(GROUP):
                self._remove(GROUP, NEIGHBOUR, NEIGHBOUR)
        elif not self._runs(NEIGHBOUR):
            cluster.start_registering(NEIGHBOUR)
            self._ask_name_server()
        self._tell(SLAVE, PollDue())

    def _known(self, master: str, *, runs: bool) -> set[BrokerId]:
        """Return the masters outside of its process that the slave is to know."""
        state = self._running()
        others = state.known - state.options.local - {group_of(self._master(master))}
        known = {state.options.masters[name] for name in others}
        return known | {self._master(master)} if runs else known

    def _may_name(self, masters: Iterable[BrokerId]) -> bool:
        """Tell whether a name server has these masters, or may have them."""
        return all(self._runs(one) or self._cluster.registered(group_of(one)) for one in masters)

    def _learn_route(self, masters: Collection[BrokerId]) -> None:
        """Let the slave hear that these masters are there, and no other outside of its process."""
        cluster = self._cluster
        for number in cluster.masters.keys() - cluster.local:
            is_there = bool(cluster.registered(group_of(number)))
            if is_there and number not in masters:
                self._remove(group_of(number), MASTER, number)
            elif number in masters and not is_there:
                self._tell(number, RegisterNow())
        self._tell(SLAVE, RouteDue())

    def _remove(self, group: str, broker_id: BrokerId, number: BrokerId) -> None:
        """Let the name server lose the connection of who has registered over it."""
        server = self._cluster.name_server
        known = server.running().groups[group].brokers[broker_id]
        self._calls.breaks(number, FIRST_NAME_SERVER)
        assert server.host is not None
        server.host.take(ConnectionLost(conn=known.conn))
        server.host.take(RemovalDue())
        if number != NEIGHBOUR and self._runs(number):
            self._tell(number, NameServerLost(FIRST_NAME_SERVER))

    # ---- half messages and pops ----

    def _check(self, master: BrokerId, keys: Collection[str] | None = None) -> None:
        """Let a master ask its producers; what it asks of other half messages is lost."""
        self._host(master).take(CheckDue())
        for asks in self._between(master, FIRST_PRODUCER):
            if keys is None or pull_check(asks.command).key in keys:
                self._calls.hear(asks)
            else:
                self._calls.requests.remove(asks)
        for says in self._between(FIRST_PRODUCER, master):
            self._calls.hear(says)

    def _between(self, sender: BrokerId, receiver: BrokerId) -> list[Said]:
        requests = self._calls.requests
        return [one for one in requests if (one.sender, one.receiver) == (sender, receiver)]

    def _pop(self, pop: str, master: str) -> None:
        """Let a consumer pop from the slave, and others the same place from each master."""
        cluster, offset = self._cluster, self._running().queue.at
        self._count_to(group_of(self._master(master)), self._targets(), 0)
        number = int(pop.removeprefix("p"))
        asks = PopMessage(
            group=CONSUMERS,
            queue=_QUEUE,
            invisible_ms=_INVISIBLE_MS * number,
            born_ms=cluster.now_ms(),
        )
        before = len(self._puts)
        cluster.hosted_slave.pop(asks, self._told)
        self._ask_name_server()
        key = key_of(pull_put(self._puts[before].command)) or ""
        self._pops[pop] = Popped(key.rpartition("@")[0], offset, self._clock.now_ms)
        for hosted in cluster.hosted_masters.values():
            if hosted.host.is_up:
                hosted.host.take(PoppedHere(CONSUMERS, TOPIC, offset))

    def _told(self, answer: RemotingCommand) -> None:
        """Take what a consumer is given."""
        found = given(answer) if answer.code == BrokerResponse.SUCCESS else None
        if found is not None:
            (pop,) = [one for one in self._pops.values() if one.key == found[1].name]
            pop.extra_info = found[0]

    def _acknowledge(self, pop: str) -> None:
        """Let a consumer acknowledge what it was given, now or before."""
        if not self._is_given(pop):
            self._last_of_pop(pop, "ck").give()
            self._clock.run()
        known = self._pops[pop]
        assert known.extra_info is not None
        asks = AckMessage(
            group=CONSUMERS, queue=_QUEUE, offset=known.offset, extra_info=known.extra_info
        )
        self._cluster.hosted_slave.acknowledge(asks, lambda _: None)
