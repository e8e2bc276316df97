"""Records of brokers, name servers and their controller as behaviours of Route.

| a record                                    | what the follower takes of it                   |
|---------------------------------------------|-------------------------------------------------|
| Elected of the controller, its `master`     | an election                                     |
| NodeStarted, NodeStopped                    | a broker, or a name server, that starts or      |
|                                             | stops; one that unregistered just before says   |
|                                             | that it does                                    |
| `role`, `version`, `min_broker_id`,         | what a broker has                               |
| `serves`                                    |                                                 |
| RoleLearned without a change of `role`      | KeepRole                                        |
| NameServerLost                              | a connection that is gone                       |
| `groups`, `removals`                        | what a name server has                          |
| RouteAnswer that it `answered`              | what a client was told                          |
| messages, by their codes                    | registrations, polls, notifications             |

All nodes are recorded, so the states are whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from rocketha.recording.merge import MergedRecord
from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketha.sim.route.plan import BROKER_NAME
from rocketproof.protocols.route.follower import Found, RouteFollower, says_that_it_ends
from rocketproof.protocols.route.missed import MissedOfRoutes
from rocketproof.protocols.route.seen import BrokerSeen, RegistrationSeen, ServerSeen, perm_of
from rocketproof.record_projection import RecordProjection, alike, read_field
from tlatrace.values import State, Value, tla_set

__all__ = ["RouteRecords"]

_ELECTED: Final = "Elected"
_LEARNED: Final = "RoleLearned"
_LOST: Final = "NameServerLost"
_REMOVES: Final = "RemovalDue"
_ROUTE: Final = "RouteAnswer"
"""What outsiders are answered is a matter of obligations."""


class _BrokerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="broker"):
    own_id: int


class _ServerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="name server"):
    support_acting_master: bool
    notify_min_broker_id_changed: bool


class _ControllerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="controller"):
    master: str


_Settings: TypeAlias = _BrokerSettings | _ServerSettings | _ControllerSettings


class _Role(msgspec.Struct, frozen=True):
    broker_id: int
    epoch: int


class _Version(msgspec.Struct, frozen=True):
    state_version: int
    counter: int
    timestamp_ms: int


class _Registration(msgspec.Struct, frozen=True):
    broker_id: int
    address: str
    version: _Version
    conn: int

    @property
    def seen(self) -> RegistrationSeen:
        return RegistrationSeen(
            broker_id=self.broker_id,
            address=self.address,
            epoch=self.version.state_version,
            order=(self.version.timestamp_ms, self.version.counter),
            conn=self.conn,
        )


class _Group(msgspec.Struct, frozen=True):
    brokers: tuple[tuple[int, _Registration], ...]
    newest_epoch: int
    topics: tuple[Any, ...]
    masked: bool


class _Removal(msgspec.Struct, frozen=True):
    broker_name: str
    meant: _Registration


class _Answer(msgspec.Struct, frozen=True, tag_field="is", tag=_ROUTE):
    brokers: tuple[tuple[int, str], ...]
    writable: bool


class _BrokerParts(msgspec.Struct, frozen=True):
    role: _Role | None
    version: _Version
    min_broker_id: int
    serves: bool

    @property
    def seen(self) -> BrokerSeen:
        role = self.role
        return BrokerSeen(
            role=None if role is None else (role.broker_id, role.epoch),
            order=(self.version.timestamp_ms, self.version.counter),
            min_broker_id=self.min_broker_id,
            serves=self.serves,
        )


class _ServerParts(msgspec.Struct, frozen=True):
    groups: tuple[tuple[str, _Group], ...]
    removals: tuple[_Removal, ...]

    @property
    def seen(self) -> ServerSeen:
        ours = [one for one in self.removals if one.broker_name == BROKER_NAME]
        removals = tuple([one.meant.seen for one in ours])
        removes_ours = self.removals[:1] == tuple(ours[:1])
        group = dict(self.groups).get(BROKER_NAME)
        if group is None:
            return ServerSeen(removals=removals, removes_ours=removes_ours)
        return ServerSeen(
            brokers=tuple([one.seen for _, one in group.brokers]),
            newest_epoch=group.newest_epoch,
            perm=perm_of(has_topics=bool(group.topics), masked=group.masked),
            removals=removals,
            removes_ours=removes_ours,
        )


class _ControllerParts(msgspec.Struct, frozen=True):
    master: str


class RouteRecords(RecordProjection):
    """Makes a trace of the records of a group, its name servers and its controller."""

    needs_stops = True

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how nodes are set up. Raises: RecordError"""
        super().__init__()
        settings: dict[str, _Settings] = {
            header.node: read_field(header.settings, _Settings, f"settings of {header.node}")
            for header in headers
        }
        self._settings = settings
        self._brokers = {
            node: one.own_id
            for node, one in sorted(settings.items())
            if isinstance(one, _BrokerSettings)
        }
        servers = {node: one for node, one in settings.items() if isinstance(one, _ServerSettings)}
        first = [one.master for one in settings.values() if isinstance(one, _ControllerSettings)]
        if not self._brokers or not servers or len(first) != 1:
            raise RecordError("there must be records of brokers, name servers and one controller")
        if first[0] not in self._brokers or sorted(self._brokers.values()) != list(
            range(1, len(self._brokers) + 1)
        ):
            raise RecordError("the brokers are not the whole group, or its master is none of them")
        self._servers = sorted(servers)
        self._server = alike(servers)
        self._headers = {header.node: header for header in headers}
        self._missed: MissedOfRoutes | None = None
        self._parts: dict[str, dict[str, Any]] = {}
        self._ends: set[str] = set()
        """Brokers that have unregistered with their last step."""
        self._follower = RouteFollower(self._brokers, self._servers, master=first[0], act=self._act)

    @property
    def constants(self) -> State:
        """Return the constants of the specification, as nodes are set up."""
        return {
            "Broker": tla_set(self._brokers.values()),
            "NameServer": tla_set(self._servers),
            "Acting": self._server.support_acting_master,
            "Notifies": self._server.notify_min_broker_id_changed,
        }

    def begin(self) -> None:
        """Begin with brokers that run and have asked nobody."""
        self.begin_trace()
        self._act(None, "Init")

    def prepared(self, merged: Iterable[MergedRecord]) -> Iterable[MergedRecord]:
        """Look at all records for what is missed. Raises: RecordError"""
        whole = list(merged)
        self._missed = MissedOfRoutes(self._headers, [one.record for one in whole])
        return whole

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record."""
        assert self._missed is not None, "the records are not prepared"
        for broker, action in self._missed.before(record):
            self._act(broker, action, self._brokers[broker])
        names = [message.id for message in received]
        match self._settings[record.node]:
            case _ControllerSettings():
                if record.event == _ELECTED:
                    told = read_field(record.state, _ControllerParts, "state")
                    if told.master not in self._brokers:
                        raise RecordError(f"{told.master} is no broker of the group")
                    self._follower.elected(told.master)
            case _BrokerSettings():
                self._of_broker(record, names)
            case _ServerSettings():
                self._of_server(record, names)

    def _of_broker(self, record: NodeRecord, received: Sequence[str]) -> None:
        node = record.node
        if record.event == STOPPED:
            self._follower.broker_stops(node, says=node in self._ends)
            self._ends.discard(node)
            return
        parts: _BrokerParts = self._known(record, _BrokerParts)
        if record.event == STARTED:
            self._follower.broker_starts(node, parts.seen)
            return
        self._ends.discard(node)
        if says_that_it_ends(record.sent):
            self._ends.add(node)
        self._follower.broker_steps(
            node,
            parts.seen,
            has_lost=record.event == _LOST,
            received=received,
            sent=record.sent,
        )
        if record.event == _LEARNED and "role" not in record.state:
            self._act(node, "KeepRole", self._brokers[node])

    def _of_server(self, record: NodeRecord, received: Sequence[str]) -> None:
        node = record.node
        if record.event == STOPPED:
            self._follower.server_stops(node)
            return
        parts: _ServerParts = self._known(record, _ServerParts)
        if record.event == STARTED:
            return
        routes = [one for one in record.answered if one["is"] == _ROUTE]
        answers: tuple[_Answer, ...] = read_field(routes, tuple[_Answer, ...], "answered")
        found: Found | None = None
        for answer in answers:
            found = answer.brokers, answer.writable
        self._follower.server_steps(
            node,
            parts.seen,
            removes=record.event == _REMOVES,
            received=received,
            sent=record.sent,
            found=found,
        )
        assert self._missed is not None
        taken = self._missed.taken(record)
        if taken is not None:
            self._act(node, "TakeForSilent", node, self._brokers[taken])
        if self._missed.is_answered_wrong(record):
            self._act(node, "LeaveUnanswered", node)
        silent = [self._brokers[one] for one in self._missed.silent(record)]
        if silent:
            self._act(node, "NoSign", node, tla_set(silent))

    def _known(self, record: NodeRecord, kind: type) -> Any:
        """Return what a node has, by this record and those before. Raises: RecordError"""
        if record.event == STARTED:
            self._parts[record.node] = {}
        parts = self._parts.setdefault(record.node, {})
        parts.update(record.state)
        return read_field(parts, kind, "state")

    def _act(self, node: str | None, action: str, *params: Value) -> None:
        self.event(action, params, node=node, state=self._follower.state())
