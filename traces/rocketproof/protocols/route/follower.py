"""From steps of brokers and name servers to actions of Route, and the state after each.

Which action a step is, what arrived, what was sent and what has changed say; what a core says of it
is not asked. After every action the whole state is made of what has been seen of nodes:

| specification        | what is seen                                                            |
|----------------------|-------------------------------------------------------------------------|
| elected              | what the controller has decided                                         |
| role, minId, serves  | what a broker has in its memory, and whether its services run           |
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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import pull_name_server_reply, pull_name_server_request
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import NameServerReply, RegisterBroker
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.recording.record import RESPONSE, RecordError
from rocketproof.protocols.route.said import SaidOfRoutes, notice_of, read_frame
from rocketproof.protocols.route.seen import (
    BrokerSeen,
    Message,
    Order,
    RegistrationSeen,
    ServerSeen,
)
from tlatrace.values import State, Value, record, tla_set

__all__ = ["Found", "RouteFollower", "says_that_it_ends"]

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
Found: TypeAlias = tuple[Sequence[tuple[int, str]], bool]
"""What a client was told: brokerIds with addresses, and whether it may write."""


class RouteFollower:
    """What is remembered of all steps so far."""

    def __init__(
        self,
        brokers: Mapping[str, int],
        name_servers: Sequence[str],
        *,
        master: str,
        act: Callable[..., None],
    ) -> None:
        """Take addresses and brokerIds, names, and the first master.

        `act` hears of each action, its node first, then its name and parameters.

        Raises here and in all steps: RecordError, if what is seen cannot be.
        """
        self._numbers = brokers
        self._act = act
        self._elected = [self._number(master)]
        self._channel = dict.fromkeys(brokers.values(), 1)
        self._brokers: dict[int, BrokerSeen | None] = dict.fromkeys(self._channel, BrokerSeen())
        """None: it is down."""
        self._channels: dict[tuple[int, Order], int] = {}
        """Broker, and what orders its registrations -> its connection."""
        self._servers = dict.fromkeys(name_servers, ServerSeen())
        self._regs: dict[str, _OnTheWay] = {}
        """Of each frame of a registration that has not arrived."""
        self._unregs: set[_OnTheWay] = set()
        self._notes: dict[str, _Note] = {}
        """Of each frame of a notification, or an answer to a poll, that has not arrived."""
        self._polls: dict[str, int] = {}
        """A question who is there -> who has asked it."""
        self._past = dict.fromkeys(name_servers, 0)
        self._said = SaidOfRoutes(self._number)

    # ---- the controller ----

    def elected(self, address: str) -> None:
        """Take an election."""
        self._elected.append(self._number(address))
        self._act(None, "Elect", self._number(address))

    # ---- brokers ----

    def broker_starts(self, address: str, seen: BrokerSeen) -> None:
        """Take the start of a broker; the first one is no action."""
        broker = self._number(address)
        again = self._brokers[broker] is None
        if again:
            self._channel[broker] += 1
        self._notice(broker, seen)
        if again:
            self._act(address, "Start", broker)

    def broker_steps(
        self,
        address: str,
        seen: BrokerSeen,
        *,
        has_lost: bool,
        received: Iterable[str],
        sent: Sequence[Message],
    ) -> None:
        """Take a step of a broker; `has_lost`: its connection with a name server is gone."""
        broker = self._number(address)
        before = self._brokers[broker]
        if before is None:
            raise RecordError(f"{address} takes a step, and is down")
        if has_lost:
            self._channel[broker] += 1
        self._notice(broker, seen)
        if has_lost:
            self._act(address, "Reconnect", broker)
        if seen.role != before.role:
            self._act(address, "LearnRole", broker)
        for message in received:
            note = self._notes.pop(message, None)
            if note is not None:
                self._act(address, "ReceiveNote", broker, note[0], note in self._notes.values())
        for message_sent in sent:
            self._broker_sends(address, broker, message_sent)
        for action, params in self._said.broker_says(broker, sent):
            self._act(address, action, *params)

    def broker_stops(self, address: str, *, says: bool) -> None:
        """Take the stop of a broker; `says`: it has told the name servers just before."""
        broker = self._number(address)
        seen, self._brokers[broker] = self._brokers[broker], None
        if says:
            if seen is None or seen.role is None:
                raise RecordError(f"{address} ends what it has not registered")
            entry = _Entry(seen.role[0], broker, seen.role[1], self._channel[broker])
            self._unregs |= {(name, entry) for name in self._servers}
        self._act(address, "Stop", broker, says)

    def _notice(self, broker: int, seen: BrokerSeen) -> None:
        """Note what a broker has, and which connection is the present one."""
        self._brokers[broker] = seen
        if seen.order is not None:
            self._channels.setdefault((broker, seen.order), self._channel[broker])

    def _broker_sends(self, address: str, broker: int, message: Message) -> None:
        if message.to is None:
            return
        if message.code == NameServerCode.GET_BROKER_MEMBER_GROUP:
            self._polls[message.id] = broker
        if message.code == NameServerCode.REGISTER_BROKER:
            request = read_frame(pull_name_server_request, message)
            assert isinstance(request, RegisterBroker)
            version = request.data_version
            channel = self._channel_of(broker, (int(version.timestamp_ms), version.counter))
            entry = _Entry(int(request.broker_id), broker, version.state_version, channel)
            self._regs[message.id] = (message.to, entry)
            self._act(address, "Register", broker, message.to)

    # ---- name servers ----

    def server_steps(
        self,
        name: str,
        seen: ServerSeen,
        *,
        removes: bool,
        received: Iterable[str],
        sent: Sequence[Message],
        found: Found | None,
    ) -> None:
        """Take a step of a name server; `removes`: it does what was decided first."""
        for message in sent:
            if message.code == NameServerCode.NOTIFY_MIN_BROKER_ID_CHANGE:
                notice = notice_of(message)
                told = self._number(message.to or "")
                self._notes[message.id] = (name, told, int(notice.min_broker_id or 0))
        before, self._servers[name] = self._servers[name], seen
        for one in seen.brokers:
            if one.broker_id == 0:
                self._past[name] = max(self._past[name], one.epoch)
        arrives = list(received)
        for arrived in [self._regs.pop(one) for one in arrives if one in self._regs]:
            self._act(name, "ReceiveRegistration", name, arrived[1].b)
        if removes and before.removals and before.removes_ours:
            done = (name, self._entry_of(before.removals[0]))
            if done in self._unregs:
                self._unregs.discard(done)
                self._act(name, "Remove", name, done[1].b)
        for removal in seen.removals:
            ends = (name, self._entry_of(removal))
            if removal not in before.removals and ends not in self._unregs:
                self._unregs.add(ends)
                self._act(name, "Decide", name, ends[1].b)
        self._answered_polls(name, sent)
        for action, params in self._said.server_says(name, arrives, sent):
            self._act(name, action, *params)
        if found is not None:
            self._act(name, "AnswerClient", name, *self._found(*found))

    def server_stops(self, name: str) -> None:
        """Take the stop of a name server, which forgets all."""
        self._servers[name] = ServerSeen()
        self._past[name] = 0
        self._act(name, "Restart", name)

    def _answered_polls(self, name: str, sent: Iterable[Message]) -> None:
        for message in sent:
            broker = self._polls.pop(message.id.removesuffix(RESPONSE), None)
            if broker is None:
                continue
            members = read_frame(_pull_members, message).answer
            if isinstance(members, BrokerMemberGroup) and members.addresses:
                self._notes[message.id] = (name, broker, int(min(members.addresses)))
                self._act(name, "Poll", broker, name)

    def _found(self, brokers: Sequence[tuple[int, str]], may_write: bool) -> tuple[Value, Value]:
        """Return whom a client finds, and what it may do with them."""
        found = tla_set(
            record({"id": int(broker_id), "b": self._number(address)})
            for broker_id, address in brokers
        )
        return found, "none" if not brokers else "rw" if may_write else "r"

    # ---- the state ----

    def state(self) -> State:
        """Return all variables of the specification."""
        brokers, servers = self._brokers.values(), self._servers.items()
        return {
            "elected": tuple(self._elected),
            "up": tuple(seen is not None for seen in brokers),
            "channel": tuple(self._channel.values()),
            "role": tuple(map(_role_value, brokers)),
            "minId": tuple(0 if seen is None else seen.min_broker_id for seen in brokers),
            "serves": tuple(seen is not None and seen.serves for seen in brokers),
            "table": record(
                {
                    name: tla_set(self._entry_of(one).value for one in seen.brokers)
                    for name, seen in servers
                }
            ),
            "perm": record({name: seen.perm for name, seen in servers}),
            "seen": record({name: seen.newest_epoch for name, seen in servers}),
            "regs": tla_set(map(_on_the_way, set(self._regs.values()))),
            "unregs": tla_set(map(_on_the_way, self._unregs)),
            "notes": tla_set(
                record({"n": name, "b": broker, "id": smallest})
                for name, broker, smallest in set(self._notes.values())
            ),
            "past": record({**self._past}),
        }

    def _entry_of(self, one: RegistrationSeen) -> _Entry:
        broker = self._number(one.address)
        return _Entry(one.broker_id, broker, one.epoch, self._channel_of(broker, one.order))

    def _number(self, address: str) -> int:
        if address not in self._numbers:
            raise RecordError(f"{address} is no broker of the group")
        return self._numbers[address]

    def _channel_of(self, broker: int, order: Order) -> int:
        if (broker, order) not in self._channels:
            raise RecordError(f"broker {broker} has never had the version {order}")
        return self._channels[broker, order]


def says_that_it_ends(sent: Iterable[Message]) -> bool:
    """Tell whether a broker unregisters with what it sends."""
    return any(one.code == NameServerCode.UNREGISTER_BROKER for one in sent)


def _pull_members(command: RemotingCommand) -> NameServerReply:
    return pull_name_server_reply(command, NameServerCode.GET_BROKER_MEMBER_GROUP)


def _role_value(seen: BrokerSeen | None) -> Value:
    if seen is None or seen.role is None:
        return _NO_ROLE
    return record({"id": seen.role[0], "ver": seen.role[1]})


def _on_the_way(one: _OnTheWay) -> Value:
    name, entry = one
    return record({"n": name, "e": entry.value})
