"""Runs of `rocketha.nameserver` and `rocketha.acting` as behaviours of Route.

Which action a step is, what arrived, what was sent and what has changed say; what its core says of
it is not asked. After every action the whole state is read from the real one:

| specification        | implementation                                                          |
|----------------------|-------------------------------------------------------------------------|
| elected              | what the controller has decided                                         |
| role, minId          | what a broker has in its memory                                         |
| serves               | whether its services run                                                |
| channel              | how often it has started or lost a connection                           |
| table, perm, seen    | a name server's group; of a name server that is down, nothing           |
| regs, unregs, notes  | frames that were sent and have not arrived, and removals that wait;     |
|                      | what is lost stays for ever                                             |
| past                 | the last master that was seen in the table                              |

On the wire a registration has its DataVersion; which connection of its broker that is, the broker's
own steps have shown. A broker's request to end is under way from when it stops; what a name server
decides by itself when it does so. A name server starts again, for the specification, when it stops.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from rocketha.acting.core import NameServerLost
from rocketha.acting.state import ActingState
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import (
    pull_name_server_reply,
    pull_name_server_request,
    pull_notification,
)
from rocketha.formats.name_server_codes import RELEASE_5_3_3, NameServerCode
from rocketha.formats.name_server_requests import DataVersion, RegisterBroker
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.histories.routes import RouteAnswer
from rocketha.nameserver.core import RemovalDue
from rocketha.nameserver.table import Group, Registration, Removal
from rocketha.recording.record import RESPONSE
from rocketha.sim.engine.frames import Frame
from rocketha.sim.engine.node import broker_address
from rocketha.sim.route.cluster import RouteCluster
from rocketha.sim.route.plan import BROKER_NAME
from rocketha.sim.route.steps import (
    BrokerStarted,
    BrokerStepped,
    BrokerStopped,
    Elected,
    NameServerStepped,
    NameServerStopped,
    RouteStep,
)
from rocketha.types import MASTER, BrokerId
from tlatrace.trace import Event
from tlatrace.values import State, Value, record, tla_set

__all__ = ["ROUTE_SPEC", "RouteProjection"]

ROUTE_SPEC: Final = "Route"
_NO_ROLE: Final = record({"id": 0, "ver": 0})


@dataclass(frozen=True, slots=True, order=True)
class _Entry:
    """A registration: as what, of whom, of which epoch, on which of its connections."""

    id: int
    b: int
    ver: int
    ch: int

    @property
    def value(self) -> Value:
        return record({"id": self.id, "b": self.b, "ver": self.ver, "ch": self.ch})


_Note: TypeAlias = tuple[str, int, int]
"""Name server, broker, the smallest brokerId."""
_OnTheWay: TypeAlias = tuple[str, _Entry]
"""Name server, registration."""


class RouteProjection:
    """An observer of a simulated run that records the events of a trace."""

    def __init__(self) -> None:
        """Begin an empty trace."""
        self.events: list[Event] = []
        self._cluster: RouteCluster | None = None
        self._channel: dict[int, int] = {}
        self._states: dict[int, ActingState | None] = {}
        """Of each broker: what it had after its last step."""
        self._channels: dict[tuple[int, int, int], int] = {}
        """Broker, and what orders its registrations -> its connection."""
        self._regs: dict[str, _OnTheWay] = {}
        """Of each frame of a registration that has not arrived."""
        self._unregs: set[_OnTheWay] = set()
        self._notes: dict[str, _Note] = {}
        """Of each frame of a notification, or an answer to a poll, that has not arrived."""
        self._polls: dict[str, int] = {}
        """A question who is there -> who has asked it."""
        self._removals: dict[str, tuple[Removal, ...]] = {}
        self._groups: dict[str, Group | None] = {}
        self._past: dict[str, int] = {}

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as the run has them."""
        assert self._cluster is not None
        plan = self._cluster.plan
        return {
            "Broker": tla_set(int(number) for number in self._cluster.brokers),
            "NameServer": tla_set(self._past),
            "Acting": plan.name_server.support_acting_master,
            "Notifies": plan.name_server.notify_min_broker_id_changed,
        }

    # ---- the observer ----

    def started(self, cluster: RouteCluster) -> None:
        """Record the initial state."""
        self._cluster = cluster
        names = [str(broker_address(number)) for number in cluster.name_servers]
        self._past = dict.fromkeys(names, 0)
        self._removals = dict.fromkeys(names, ())
        self._groups = dict.fromkeys(names)
        for number, node in cluster.brokers.items():
            self._channel[number] = 1
            self._notice(number, node.running())
        self._record("none", "Init")

    def stepped(self, cluster: RouteCluster, step: RouteStep) -> None:
        """Record the actions of a step, and the state after each."""
        match step:
            case Elected(broker=broker):
                self._record("none", "Elect", broker)
            case BrokerStepped():
                self._broker_stepped(cluster, step)
            case BrokerStopped(broker=broker, says=says):
                self._stopped(broker, says=says)
            case BrokerStarted(broker=broker):
                self._channel[broker] += 1
                self._notice(broker, cluster.brokers[broker].running())
                self._record(broker_address(broker), "Start", broker)
            case NameServerStepped():
                self._name_server_stepped(cluster, step)
            case NameServerStopped(name_server=name_server):
                self._restarted(broker_address(name_server))
            case _ as unreachable:
                assert_never(unreachable)

    # ---- brokers ----

    def _notice(self, broker: int, state: ActingState) -> None:
        """Note what a broker has, and which connection is the present one."""
        self._states[broker] = state
        version = state.version
        order = (broker, int(version.timestamp_ms), version.counter)
        self._channels.setdefault(order, self._channel[broker])

    def _broker_stepped(self, cluster: RouteCluster, step: BrokerStepped) -> None:
        broker, name = step.broker, broker_address(step.broker)
        before, state = self._states[broker], cluster.brokers[broker].running()
        assert before is not None
        if isinstance(step.event, NameServerLost):
            self._channel[broker] += 1
            self._notice(broker, state)
            self._record(name, "Reconnect", broker)
        self._notice(broker, state)
        if state.role != before.role:
            self._record(name, "LearnRole", broker)
        for message in step.received:
            note = self._notes.pop(message, None)
            if note is not None:
                again = note in self._notes.values()
                self._record(name, "ReceiveNote", broker, note[0], again)
        for frame in step.sent:
            self._sent_by_broker(broker, frame)

    def _sent_by_broker(self, broker: BrokerId, frame: Frame) -> None:
        if frame.to is None:
            return
        if frame.code == NameServerCode.GET_BROKER_MEMBER_GROUP:
            self._polls[frame.id] = broker
        if frame.code == NameServerCode.REGISTER_BROKER:
            request = pull_name_server_request(_command(frame))
            assert isinstance(request, RegisterBroker)
            entry = self._entry(request.broker_id, request.broker_address, request.data_version)
            self._regs[frame.id] = (frame.to, entry)
            self._record(broker_address(broker), "Register", broker, frame.to)

    def _stopped(self, broker: BrokerId, *, says: bool) -> None:
        state, self._states[broker] = self._states[broker], None
        if says:
            assert state is not None
            assert state.role is not None
            role = state.role
            entry = _Entry(role.broker_id, broker, role.epoch, self._channel[broker])
            self._unregs |= {(name, entry) for name in self._past}
        self._record(broker_address(broker), "Stop", broker, says)

    # ---- name servers ----

    def _name_server_stepped(self, cluster: RouteCluster, step: NameServerStepped) -> None:
        name = broker_address(step.name_server)
        state = cluster.name_servers[step.name_server].running()
        for frame in step.sent:
            if frame.code == NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE:
                notice = pull_notification(_command(frame))
                assert frame.to is not None
                assert notice.min_broker_id is not None
                told = int(cluster.number_of(frame.to))
                self._notes[frame.id] = (name, told, int(notice.min_broker_id))
        before, self._removals[name] = self._removals[name], state.removals
        self._groups[name] = state.groups.get(BROKER_NAME)
        self._remember(name)
        for message in step.received:
            arrived = self._regs.pop(message, None)
            if arrived is not None:
                self._record(name, "ReceiveRegistration", name, arrived[1].b)
        if isinstance(step.event, RemovalDue) and before:
            done = (name, self._entry_of(before[0].meant))
            if done in self._unregs:
                self._unregs.discard(done)
                self._record(name, "Remove", name, done[1].b)
        self._decided(name, before, state.removals)
        self._answered_polls(name, step)
        if step.answered is not None:
            self._record(name, "AnswerClient", name, *_found(step.answered, cluster))

    def _decided(self, name: str, before: tuple[Removal, ...], after: tuple[Removal, ...]) -> None:
        """Record what is to end that was not to end before, and is not what a broker has said."""
        for removal in after:
            if removal in before:
                continue
            ends = (name, self._entry_of(removal.meant))
            if ends not in self._unregs:
                self._unregs.add(ends)
                self._record(name, "Decide", name, ends[1].b)

    def _answered_polls(self, name: str, step: NameServerStepped) -> None:
        for frame in step.sent:
            broker = self._polls.pop(frame.id.removesuffix(RESPONSE), None)
            if broker is None:
                continue
            reply = pull_name_server_reply(_command(frame), NameServerCode.GET_BROKER_MEMBER_GROUP)
            members = reply.answer
            if isinstance(members, BrokerMemberGroup) and members.addresses:
                self._notes[frame.id] = (name, broker, int(min(members.addresses)))
                self._record(name, "Poll", broker, name)

    def _restarted(self, name: str) -> None:
        self._groups[name] = None
        self._removals[name] = ()
        self._past[name] = 0
        self._record(name, "Restart", name)

    def _remember(self, name: str) -> None:
        group = self._groups[name]
        master = None if group is None else group.brokers.get(MASTER)
        if master is not None:
            self._past[name] = max(self._past[name], master.epoch)

    # ---- the state ----

    def _entry(self, broker_id: BrokerId, address: str, version: DataVersion) -> _Entry:
        assert self._cluster is not None
        broker = self._cluster.number_of(address)
        channel = self._channels[broker, int(version.timestamp_ms), version.counter]
        return _Entry(broker_id, broker, version.state_version, channel)

    def _entry_of(self, registration: Registration) -> _Entry:
        one = registration
        return self._entry(one.broker_id, one.address, one.version)

    def _record(self, node: str, action: str, *params: Value) -> None:
        assert self._cluster is not None
        self.events.append(
            Event(
                step=len(self.events),
                action=action,
                params=params,
                node=node,
                state=self._state(self._cluster),
                clock=self._cluster.scheduler.now_ms,
            )
        )

    def _state(self, cluster: RouteCluster) -> State:
        states = self._states.values()
        return {
            "elected": tuple(int(cluster.number_of(one.address)) for one in cluster.elections),
            "up": tuple(state is not None for state in states),
            "channel": tuple(self._channel.values()),
            "role": tuple(map(_role_value, states)),
            "minId": tuple(0 if state is None else int(state.min_broker_id) for state in states),
            "serves": tuple(cluster.serves(BrokerId(broker)) for broker in self._states),
            "table": record({name: self._table(group) for name, group in self._groups.items()}),
            "perm": record({name: _perm(group) for name, group in self._groups.items()}),
            "seen": record(
                {name: 0 if g is None else g.newest_epoch for name, g in self._groups.items()}
            ),
            "regs": tla_set(map(_on_the_way, set(self._regs.values()))),
            "unregs": tla_set(map(_on_the_way, self._unregs)),
            "notes": tla_set(
                record({"n": name, "b": broker, "id": smallest})
                for name, broker, smallest in set(self._notes.values())
            ),
            "past": record({**self._past}),
        }

    def _table(self, group: Group | None) -> Value:
        brokers: Iterable[Registration] = () if group is None else group.brokers.values()
        return tla_set(self._entry_of(one).value for one in brokers)


def _command(frame: Frame) -> RemotingCommand:
    return RemotingCommand(
        code=frame.code, opaque=0, version=RELEASE_5_3_3, ext_fields=frame.fields, body=frame.body
    )


def _found(answer: RouteAnswer, cluster: RouteCluster) -> tuple[Value, Value]:
    """Return whom a client finds, and what it may do with them."""
    found = tla_set(
        record({"id": int(broker_id), "b": int(cluster.number_of(address))})
        for broker_id, address in answer.brokers
    )
    may = "none" if not answer.brokers else "rw" if answer.writable else "r"
    return found, may


def _role_value(state: ActingState | None) -> Value:
    if state is None or state.role is None:
        return _NO_ROLE
    return record({"id": int(state.role.broker_id), "ver": state.role.epoch})


def _perm(group: Group | None) -> str:
    if group is None or not group.topics:
        return "none"
    return "r" if group.masked else "rw"


def _on_the_way(one: _OnTheWay) -> Value:
    name, entry = one
    return record({"n": name, "e": entry.value})
