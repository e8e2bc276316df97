"""From the records of all nodes to a trace: what every projection of records has and does.

A projection takes the merged records one by one. What it has of those before is what a reader of
them would remember: what each node had, and which messages are under way. It computes no step of
the specification, and it takes nothing back: the events of the first records are the first events.

A run is one trace, or several where the specification speaks of a part of a run only, such as the
epoch of one master. They are numbered from 0, in the order of their beginnings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar, cast

import msgspec

from rocketha.recording.merge import MergedRecord, merge
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import STARTED, STOPPED, NodeRecord, RecordError, SentMessage
from rocketproof.projected_trace import ProjectedTrace
from tlatrace.errors import ValueFormatError
from tlatrace.trace import INIT, Event, Part, Silent
from tlatrace.values import Json, State, Value

__all__ = [
    "RecordProjection",
    "alike",
    "part",
    "project",
    "read_field",
    "read_shown",
    "record_of_event",
    "sequence_after",
]

S = TypeVar("S")

_NS_PER_MS: Final = 1_000_000


class RecordProjection(ABC):
    """Makes the events of the traces of records, in order."""

    spec: str | None = None
    """The module that the traces are held against; None: that of the protocol."""
    silent: Silent | None = None
    """Actions that nodes take without knowing it."""
    needs_stops = True
    """What a stop has left is an event: a node that starts again has a record of its stop."""

    def __init__(self) -> None:
        """Begin without a record."""
        self._sent: dict[str, SentMessage] = {}
        self._senders: dict[str, str] = {}
        self._last: dict[str, str] = {}
        """Node -> the event of its last record."""
        self.metas: list[Mapping[str, Json]] = []
        """Of each trace that has begun, what is said of it beside what is said of its run."""
        self._lengths: list[int] = []
        self._made: list[tuple[int, Event]] = []
        self.now_ms = 0
        """The time of the record that is looked at."""

    @property
    @abstractmethod
    def constants(self) -> State:
        """Return the constants of the specification, as nodes are set up."""

    def constants_of(self, trace: int) -> State:
        """Return those of a trace, where each has its own."""
        del trace
        return self.constants

    @abstractmethod
    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record (`event`), with the messages that its node received."""

    def begin(self) -> None:
        """Begin with what there is before the first record: the trace of a run that is one."""
        self.begin_trace()
        self.event(INIT, ())

    def begin_trace(self, meta: Mapping[str, Json] | None = None) -> int:
        """Begin another trace, of which `meta` is said; return its number."""
        self.metas.append(meta or {})
        self._lengths.append(0)
        return len(self._lengths) - 1

    def sender(self, message: SentMessage) -> str:
        """Return the node that sent a message."""
        return self._senders[message.id]

    def events(self, merged: Iterable[MergedRecord]) -> Iterator[Event]:
        """Make the events of all traces, in the order in which they are made.

        Raises:
            RecordError: a record lacks what its kind has.
        """
        return (event for _, event in self.numbered_events(self.prepared(merged)))

    def prepared(self, merged: Iterable[MergedRecord]) -> Iterable[MergedRecord]:
        """Return the records of which events are to be made; who must know all looks at them here.

        Raises:
            RecordError: a record lacks what its kind has.
        """
        return merged

    def numbered_events(self, merged: Iterable[MergedRecord]) -> Iterator[tuple[int, Event]]:
        """Make events of `prepared` records: those of one before the next one is looked at.

        Each has its trace.

        Raises:
            RecordError: a record lacks what its kind has.
        """
        self.begin()
        yield from self._take_made()
        for one in merged:
            self.now_ms = one.time_ns // _NS_PER_MS
            record = one.record
            received = [self._sent[message] for message in record.received]
            last = self._last.get(record.node, STOPPED)
            self._last[record.node] = record.event
            if self.needs_stops and record.event == STARTED and last != STOPPED:
                raise RecordError("it starts again, and nothing says what its stop left", record)
            try:
                self.take(record, received)
            except (RecordError, ValueFormatError) as error:
                raise RecordError(error.reason, record) from error
            for message in record.sent:
                self._sent[message.id] = message
                self._senders[message.id] = record.node
            yield from self._take_made()

    def _take_made(self) -> list[tuple[int, Event]]:
        made, self._made = self._made, []
        return made

    def event(
        self,
        action: str | None,
        params: tuple[Value, ...] | None,
        *,
        node: str | None = None,
        state: State | None = None,
        observed: State | None = None,
        parts: tuple[Part, ...] = (),
        of: int = 0,
    ) -> None:
        """Make an event of the trace with the number `of`; `params` None: no node says them.

        With a `state` all of it is known, and there is nothing else.
        """
        event = Event(
            step=self._lengths[of],
            action=action,
            params=params or (),
            known_params=() if params is None else None,
            node=node,
            state=state,
            observed=observed,
            parts=parts,
            clock=self.now_ms,
        )
        self._made.append((of, event))
        self._lengths[of] += 1


def project(projection: RecordProjection, logs: Sequence[NodeLog]) -> tuple[ProjectedTrace, ...]:
    """Merge logs, and make the traces of them, in the order of their beginnings.

    Raises:
        RecordError: they do not belong together, or a record lacks what its kind has.
    """
    events: dict[int, list[Event]] = {}
    for number, event in projection.numbered_events(projection.prepared(merge(logs))):
        events.setdefault(number, []).append(event)
    return tuple(
        ProjectedTrace(
            constants=projection.constants_of(number),
            events=tuple(told),
            meta=projection.metas[number],
            silent=projection.silent,
            spec=projection.spec,
        )
        for number, told in events.items()
    )


def record_of_event(
    projection: RecordProjection, logs: Sequence[NodeLog], step: int, *, of: int = 0
) -> NodeRecord | None:
    """Return the record that an event of the trace `of` is made of; None: it is of no record.

    The projection is a new one; it makes the events up to this one again.

    Raises:
        RecordError: as `project`.
    """
    looked_at: NodeRecord | None = None

    def one_by_one() -> Iterator[MergedRecord]:
        nonlocal looked_at
        for one in projection.prepared(merge(logs)):
            looked_at = one.record
            yield one

    for number, event in projection.numbered_events(one_by_one()):
        if (number, event.step) == (of, step):
            return looked_at
    return None


def alike(settings: Mapping[str, S]) -> S:
    """Return how all nodes of a kind are set up. Raises: RecordError"""
    (first, found), *others = settings.items()
    for node, other in others:
        if other != found:
            raise RecordError(f"{first} and {node} are set up differently")
    return found


class _SequenceChange(msgspec.Struct, frozen=True):
    kept: Annotated[int, msgspec.Meta(ge=0)]
    added: list[Any]


def sequence_after(before: tuple[S, ...], change: object, item: object, what: str) -> tuple[S, ...]:
    """Return a sequence of `item` after a change, such as a log's. Raises: RecordError"""
    read: _SequenceChange = read_field(change, _SequenceChange, what)
    if read.kept > len(before):
        raise RecordError(f"{what}: keeps {read.kept} of {len(before)} records")
    added: list[S] = read_field(read.added, list[item], what)  # type: ignore[valid-type]
    return (*before[: read.kept], *added)


def part(variable: str, *at: Value, value: Value) -> Part:
    """Return a part of a variable."""
    return Part(variable=variable, at=at, value=value)


def read_field(fields: object, kind: object, what: str) -> Any:
    """Read JSON as a type of `msgspec`; `what` is said in the error. Raises: RecordError"""
    try:
        return msgspec.convert(fields, cast(type[Any], kind))
    except msgspec.ValidationError as error:
        raise RecordError(f"{what}: {error}") from None


def read_shown(state: Mapping[str, Json], kinds: Mapping[str, object]) -> dict[str, Any]:
    """Read the parts of a node that a step shows, by the kind of each. Raises: RecordError"""
    return {
        name: read_field(state[name], kind, name) for name, kind in kinds.items() if name in state
    }
