"""Records of brokers and their name server as behaviours of PreOnline.

| a record                        | what the follower takes of it                             |
|---------------------------------|-----------------------------------------------------------|
| NodeStarted, NodeStopped        | a broker that starts, or stops with what its disk has     |
|                                 | (`left`); a name server that forgets all                  |
| the state of a broker           | what it has in its memory                                 |
| what it has `stored`            | the files of its tables                                   |
| `groups` of a name server       | who is registered                                         |
| messages, by their codes        | what is asked, and answered; each is held against         |
|                                 | PreOnlineMessages (`said`)                                |
| all of them, and the settings   | what is missed in time (`missed`)                         |

All nodes are recorded, so the states are whole. Of what comes behind an answer that may still be
taken nothing is said: the last events of records that end there are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec

from rocketha.formats.offset_tables import TableKind
from rocketha.recording.merge import MergedRecord
from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketha.sim.pre_online.plan import BROKER_NAME
from rocketproof.protocols.pre_online.follower import PreOnlineFollower
from rocketproof.protocols.pre_online.missed import MissedOfTables
from rocketproof.protocols.pre_online.projection import constants_of, queues_of
from rocketproof.protocols.pre_online.said import SaidOfTable
from rocketproof.protocols.pre_online.seen import BrokerSeen, SavedSeen, queue_name, saved_seen
from rocketproof.record_projection import RecordProjection, alike, read_field
from rocketproof.recorded_tables import written_tables
from tlatrace.values import State, Value

__all__ = ["PreOnlineRecords"]

_KINDS: Final = tuple(TableKind)
_Pairs: TypeAlias = tuple[tuple[str, int], ...]


class _BrokerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="broker"):
    broker_id: int
    steps: _Pairs


class _ServerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="name server"):
    pass


_Settings: TypeAlias = _BrokerSettings | _ServerSettings


class _Steps(msgspec.Struct, frozen=True):
    steps: _Pairs


class _Version(msgspec.Struct, frozen=True):
    counter: int


class _Table(msgspec.Struct, frozen=True):
    offsets: tuple[tuple[tuple[str, int], int], ...]
    version: _Version

    @property
    def seen(self) -> SavedSeen:
        offsets = {queue_name(*queue): offset for queue, offset in self.offsets if offset}
        return SavedSeen(offsets, self.version.counter)


class _BrokerParts(msgspec.Struct, frozen=True):
    tables: tuple[tuple[str, _Table], ...]
    moves: _Pairs
    serves: bool
    master_address: str | None
    ha_address: str | None
    ha_conn: int | None
    ha_standing: tuple[int, ...]
    isolated: bool
    members: tuple[int, ...]
    asked: bool
    done: tuple[int, ...]
    links: tuple[tuple[int, int], ...]

    def seen(self, saved: dict[TableKind, SavedSeen]) -> BrokerSeen:
        return BrokerSeen(
            tables={TableKind(kind): table.seen for kind, table in self.tables},
            moves={TableKind(kind): moves for kind, moves in self.moves},
            saved=dict(saved),
            serves=self.serves,
            has_master=self.master_address is not None,
            knows_where=self.ha_address is not None,
            conn=self.ha_conn if self.ha_conn in self.ha_standing else None,
            isolated=self.isolated,
            members=frozenset(self.members),
            asked=self.asked,
            done=frozenset(self.done),
            links={slave: conn for slave, conn in self.links if conn in self.ha_standing},
        )


class _Left(msgspec.Struct, frozen=True):
    left: tuple[tuple[str, _Table | None], ...]


class _Group(msgspec.Struct, frozen=True):
    brokers: tuple[tuple[int, Any], ...]


class _ServerParts(msgspec.Struct, frozen=True):
    groups: tuple[tuple[str, _Group], ...]


class PreOnlineRecords(RecordProjection):
    """Makes a trace for each table of the records of a group and its name server."""

    spec = "PreOnlineMessages"
    needs_stops = True

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how nodes are set up. Raises: RecordError"""
        super().__init__()
        self._settings: dict[str, _Settings] = {
            header.node: read_field(header.settings, _Settings, f"settings of {header.node}")
            for header in headers
        }
        brokers = {n: one for n, one in self._settings.items() if isinstance(one, _BrokerSettings)}
        numbers = {node: one.broker_id for node, one in sorted(brokers.items())}
        if sorted(numbers.values()) != list(range(len(numbers))) or len(numbers) < 2:
            raise RecordError("there must be records of a master, 0, and its slaves 1, 2, ...")
        if len(self._settings) != len(numbers) + 1:
            raise RecordError("there must be records of one name server")
        alike_steps = alike({node: _Steps(one.steps) for node, one in brokers.items()})
        self._steps = {TableKind(kind): step for kind, step in alike_steps.steps}
        self._slaves = sorted(number for number in numbers.values() if number)
        self._numbers = numbers
        self._headers = {header.node: header for header in headers}
        self._missed: MissedOfTables | None = None
        self._said = [SaidOfTable(kind, queues_of(kind), self._number) for kind in _KINDS]
        self._parts: dict[str, dict[str, Any]] = {}
        self._saved = {node: {kind: SavedSeen() for kind in _KINDS} for node in brokers}
        self._followers = [
            PreOnlineFollower(numbers, queues_of(kind), kind, partial(self._tell, at))
            for at, kind in enumerate(_KINDS)
        ]

    @property
    def constants(self) -> State:
        """Return the constants of the first trace."""
        return self.constants_of(0)

    def constants_of(self, trace: int) -> State:
        """Return the constants of the specification, as nodes are set up."""
        kind = _KINDS[trace]
        return constants_of(kind, self._slaves, self._steps[kind])

    def begin(self) -> None:
        """Begin a trace for each table; it has events when a broker does more than start."""
        for kind in _KINDS:
            self.begin_trace({"table": kind.value})

    def prepared(self, merged: Iterable[MergedRecord]) -> Iterable[MergedRecord]:
        """Look at all records for what is missed. Raises: RecordError"""
        whole = list(merged)
        self._missed = MissedOfTables(self._headers, [one.record for one in whole])
        return whole

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record."""
        assert self._missed is not None, "the records are not prepared"
        for late in self._missed.before(record):
            params = () if late.of is None else (self._number(late.of),)
            for kind, follower in zip(_KINDS, self._followers, strict=True):
                if late.kind in (None, kind):
                    follower.misses(late.node, late.action, params, now_ms=self.now_ms)
        if isinstance(self._settings[record.node], _ServerSettings):
            self._of_server(record)
        else:
            self._of_broker(record, received)

    def _of_broker(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        node, now_ms, saved = record.node, self.now_ms, self._saved[record.node]
        if record.event == STOPPED:
            left = read_field(record.state, _Left, "state").left
            saved |= {
                TableKind(kind): SavedSeen() if table is None else table.seen
                for kind, table in left
            }
            for follower in self._followers:
                follower.broker_stops(node, dict(saved), now_ms=now_ms)
            return
        parts: _BrokerParts = self._known(record, _BrokerParts)
        saved |= {kind: saved_seen(one) for kind, one in written_tables(record).items()}
        seen = parts.seen(saved)
        for follower, said in zip(self._followers, self._said, strict=True):
            if record.event == STARTED:
                follower.broker_starts(node, seen, now_ms=now_ms)
            else:
                follower.broker_steps(
                    node,
                    seen,
                    received=[message.id for message in received],
                    sent=record.sent,
                    now_ms=now_ms,
                    said=said.broker_says(self._number(node), received, record.sent),
                )

    def _of_server(self, record: NodeRecord) -> None:
        node, now_ms = record.node, self.now_ms
        if record.event == STOPPED:
            for follower in self._followers:
                follower.server_stops(node, now_ms=now_ms)
            return
        parts: _ServerParts = self._known(record, _ServerParts)
        if record.event == STARTED:
            return
        known = dict(parts.groups).get(BROKER_NAME)
        group = frozenset[int]() if known is None else frozenset(dict(known.brokers))
        for follower in self._followers:
            follower.server_steps(node, group, sent=record.sent, now_ms=now_ms)

    def _number(self, node: str) -> int:
        if node not in self._numbers:
            raise RecordError(f"{node!r} is no broker of the group")
        return self._numbers[node]

    def _known(self, record: NodeRecord, kind: type) -> Any:
        """Return what a node has, by this record and those before. Raises: RecordError"""
        if record.event == STARTED:
            self._parts[record.node] = {}
        parts = self._parts.setdefault(record.node, {})
        parts.update(record.state)
        return read_field(parts, kind, "state")

    def _tell(
        self,
        trace: int,
        node: str | None,
        action: str,
        params: Sequence[Value],
        at_ms: int,
        state: State,
    ) -> None:
        present, self.now_ms = self.now_ms, at_ms
        self.event(action, tuple(params), node=node, state=state, of=trace)
        self.now_ms = present
