"""Records of a slave, masters of other groups and a producer as behaviours of Escape.

| a record                     | what the follower takes of it                                    |
|------------------------------|------------------------------------------------------------------|
| NodeStarted, NodeStopped     | who begins to run, and with what; the slave with its tables      |
| the state of the slave       | `acts`, `known`, `progress`, for what it `waits`, and its `log`  |
| what it has `stored`         | the tables on its disk                                           |
| the `log` of a master        | what is on its disk                                              |
| `decided` of the producer    | what it has decided                                              |
| messages, by codes and fields| what is put, and how it is answered                              |
| what is `answered`           | what a consumer was told                                         |
| all of them, and settings    | what is missed in time (`missed`)                                |

All nodes are recorded, so the states are whole. Name servers, and slaves that only register, are
passed over: what the slave hears of them is in its state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec

from rocketha.escape.state import HALF_KEY, delay_key
from rocketha.formats.offset_tables import QueueKey, TableKind
from rocketha.recording.merge import MergedRecord
from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketproof.protocols.escape.follower import EscapeFollower
from rocketproof.protocols.escape.missed import Late, MissedOfEscape
from rocketproof.protocols.escape.seen import Layout, SlaveSeen, TraceKind
from rocketproof.protocols.escape.world import ROUND_TO
from rocketproof.record_projection import RecordProjection, read_field, sequence_after
from rocketproof.recorded_tables import written_tables
from tlatrace.values import State, Value

__all__ = ["EscapeRecords"]

_KINDS: Final = tuple(TraceKind)
_REQUEST: Final = "RequestArrived"


class _SlaveSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="slave"):
    broker_name: str
    masters: tuple[str, ...]
    groups: tuple[tuple[str, str], ...]
    local: tuple[str, ...]
    windows: tuple[int, int]
    level: int
    pops: int
    remote_escape: bool
    released: bool


class _MasterSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="master"):
    broker_name: str


class _ProducerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="producer"):
    pass


class _ServerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="name server"):
    pass


class _RegisteringSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="broker"):
    pass


_Settings: TypeAlias = (
    _SlaveSettings | _MasterSettings | _ProducerSettings | _ServerSettings | _RegisteringSettings
)


class _Logged(msgspec.Struct, frozen=True):
    kind: str
    of: str


class _SlaveParts(msgspec.Struct, frozen=True):
    progress: tuple[int, int]
    acts: bool
    known: tuple[str, ...]
    waits: tuple[frozenset[int], frozenset[int]]


class _Table(msgspec.Struct, frozen=True):
    offsets: tuple[tuple[tuple[str, int], int], ...]


class _Left(msgspec.Struct, frozen=True):
    left: tuple[tuple[str, _Table | None], ...]


class _Decided(msgspec.Struct, frozen=True):
    decided: tuple[tuple[str, int], ...]


class _Told(msgspec.Struct, frozen=True):
    pop: str
    is_ack: bool
    code: int


class EscapeRecords(RecordProjection):
    """Makes a trace of each kind of the records of a run."""

    needs_stops = True

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how nodes are set up. Raises: RecordError"""
        super().__init__()
        self._settings: dict[str, _Settings] = {
            header.node: read_field(header.settings, _Settings, f"settings of {header.node}")
            for header in headers
        }
        slaves = {n: one for n, one in self._settings.items() if isinstance(one, _SlaveSettings)}
        producers = [n for n, one in self._settings.items() if isinstance(one, _ProducerSettings)]
        masters = [n for n, one in self._settings.items() if isinstance(one, _MasterSettings)]
        if len(slaves) != 1 or len(producers) != 1:
            raise RecordError("there must be records of one slave and one producer")
        ((slave, settings),) = slaves.items()
        if sorted(masters) != sorted(settings.masters):
            raise RecordError("there must be records of the masters that the slave may know")
        self._groups = dict(settings.groups)
        self._level: QueueKey = delay_key(settings.level)
        delayed, halves = settings.windows
        layout = Layout(
            slave=slave,
            broker_name=settings.broker_name,
            masters=sorted(masters),
            local=settings.local,
            producer=producers[0],
            windows={TraceKind.DELAYED: delayed, TraceKind.HALVES: halves},
            pops=settings.pops,
            round_to=ROUND_TO,
            remote_escape=settings.remote_escape,
            released=settings.released,
        )
        self._headers = {header.node: header for header in headers}
        self._missed: MissedOfEscape | None = None
        self._saved = {TraceKind.DELAYED: 0, TraceKind.HALVES: 0}
        self._parts: dict[str, dict[str, Any]] = {}
        self._logs: dict[str, tuple[_Logged, ...]] = {}
        self._followers = [
            EscapeFollower(kind, layout, partial(self._tell, at)) for at, kind in enumerate(_KINDS)
        ]

    @property
    def constants(self) -> State:
        """Return the constants of the first trace."""
        return self.constants_of(0)

    def constants_of(self, trace: int) -> State:
        """Return the constants of the specification, as nodes are set up."""
        return self._followers[trace].constants

    def begin(self) -> None:
        """Begin a trace of each kind, of which the first event comes when all are there."""
        for kind in _KINDS:
            self.begin_trace({"of": kind.value})

    def prepared(self, merged: Iterable[MergedRecord]) -> Iterable[MergedRecord]:
        """Look at all records for what is missed. Raises: RecordError"""
        whole = list(merged)
        self._missed = MissedOfEscape(self._headers, [one.record for one in whole])
        return whole

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record, and around them of what is missed by then."""
        assert self._missed is not None, "the records are not prepared"
        self._misses(self._missed.before(record))
        self._take(record, received)
        self._misses(self._missed.behind(record))

    def _misses(self, late: Iterable[Late]) -> None:
        for one in late:
            for follower in self._followers:
                follower.misses(one.node, one.action, one.of)

    def _take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        match self._settings[record.node]:
            case _SlaveSettings():
                self._of_slave(record, [message.id for message in received])
            case _MasterSettings():
                self._of_master(record)
            case _ProducerSettings():
                self._of_producer(record)
            case _:
                pass

    def _of_slave(self, record: NodeRecord, received: Sequence[str]) -> None:
        if record.event == STOPPED:
            for kind, table in read_field(record.state, _Left, "state").left:
                self._saved |= self._passed(TableKind(kind), _offsets(table))
            for follower in self._followers:
                follower.slave_stops(dict(self._saved))
            return
        parts: _SlaveParts = read_field(self._known(record), _SlaveParts, "state")
        for kind, table in written_tables(record).items():
            self._saved |= self._passed(kind, table.offsets)
        unknown = [name for name in parts.known if name not in self._groups]
        if unknown:
            raise RecordError(f"the slave knows {unknown[0]}, which is no group")
        delayed, halves = parts.progress
        seen = SlaveSeen(
            log=self._log(record),
            progress={TraceKind.DELAYED: delayed, TraceKind.HALVES: halves},
            saved=dict(self._saved),
            acts=parts.acts,
            known=frozenset(self._groups[name] for name in parts.known),
            waits=dict(zip((TraceKind.DELAYED, TraceKind.HALVES), parts.waits, strict=True)),
        )
        told = [read_field(one, _Told, "answered") for one in record.answered if _is_told(one)]
        for follower in self._followers:
            if record.event == STARTED:
                follower.slave_starts(seen)
            else:
                follower.slave_steps(
                    seen,
                    received=received,
                    sent=record.sent,
                    told=told,
                    is_asked=record.event == _REQUEST,
                )

    def _of_master(self, record: NodeRecord) -> None:
        node = record.node
        for follower in self._followers:
            if record.event == STOPPED:
                follower.master_stops(node)
        if record.event == STOPPED:
            return
        log = self._log(record)
        for follower in self._followers:
            if record.event == STARTED:
                follower.master_starts(node, log)
            else:
                follower.master_steps(node, log, sent=record.sent)

    def _of_producer(self, record: NodeRecord) -> None:
        if "decided" in record.state and record.event != STARTED:
            decided: _Decided = read_field(record.state, _Decided, "state")
            for follower in self._followers:
                follower.producer_steps(dict(decided.decided))

    def _known(self, record: NodeRecord) -> dict[str, Any]:
        """Return what a node has, by this record and those before."""
        if record.event == STARTED:
            self._parts[record.node] = {}
        parts = self._parts.setdefault(record.node, {})
        parts.update(record.state)
        return parts

    def _log(self, record: NodeRecord) -> tuple[_Logged, ...]:
        """Return what is in the log of a node, on its disk. Raises: RecordError"""
        before = () if record.event == STARTED else self._logs.get(record.node, ())
        if "log" in record.state:
            before = sequence_after(before, record.state["log"], _Logged, "log")
        self._logs[record.node] = before
        return before

    def _passed(self, kind: TableKind, offsets: Any) -> dict[TraceKind, int]:
        """Return how far a service is by a table."""
        if kind is TableKind.DELAY:
            return {TraceKind.DELAYED: offsets.get(self._level, 0)}
        return {TraceKind.HALVES: offsets.get(HALF_KEY, 0)}

    def _tell(
        self,
        trace: int,
        node: str | None,
        action: str,
        params: Sequence[Value],
        state: State,
    ) -> None:
        self.event(action, tuple(params), node=node, state=state, of=trace)


def _offsets(table: _Table | None) -> dict[QueueKey, int]:
    return {} if table is None else {(name, at): offset for (name, at), offset in table.offsets}


def _is_told(answered: object) -> bool:
    return isinstance(answered, dict) and answered.get("is") == "ConsumerTold"
