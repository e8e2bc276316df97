"""From the records of all nodes to a trace: what every projection of records has and does.

A projection takes the merged records one by one. What it has of those before is what a reader of
them would remember: what each node had, and which messages are under way. It computes no step of
the specification, and it takes nothing back: the events of the first records are the first events.
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
from tlatrace.trace import Event, Part, Silent
from tlatrace.values import State, Value

__all__ = [
    "RecordProjection",
    "alike",
    "part",
    "project",
    "read_field",
    "record_of_event",
    "sequence_after",
]

S = TypeVar("S")

_NS_PER_MS: Final = 1_000_000


class RecordProjection(ABC):
    """Makes the events of a trace of records, in order."""

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
        self._events = 0
        self._made: list[Event] = []
        self.now_ms = 0
        """The time of the record that is looked at."""

    @property
    @abstractmethod
    def constants(self) -> State:
        """Return the constants of the specification, as nodes are set up."""

    @abstractmethod
    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record (`event`), with the messages that its node received."""

    def sender(self, message: SentMessage) -> str:
        """Return the node that sent a message."""
        return self._senders[message.id]

    def events(self, merged: Iterable[MergedRecord]) -> Iterator[Event]:
        """Make the events of a trace: those of a record before the next one is looked at.

        Raises:
            RecordError: a record lacks what its kind has.
        """
        self.event("Init", ())
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
            made, self._made = self._made, []
            yield from made

    def event(
        self,
        action: str | None,
        params: tuple[Value, ...],
        *,
        node: str | None = None,
        observed: State | None = None,
        parts: tuple[Part, ...] = (),
    ) -> None:
        """Make an event."""
        event = Event(
            step=self._events,
            action=action,
            params=params,
            node=node,
            observed=observed,
            parts=parts,
            clock=self.now_ms,
        )
        self._made.append(event)
        self._events += 1


def project(projection: RecordProjection, logs: Sequence[NodeLog]) -> ProjectedTrace:
    """Merge logs, and make a trace of them.

    Raises:
        RecordError: they do not belong together, a record lacks what its kind has, or there is
            none of a step of the specification.
    """
    events = tuple(projection.events(merge(logs)))
    if len(events) == 1:
        raise RecordError("no record is a step of the specification: there is nothing to judge")
    return ProjectedTrace(constants=projection.constants, events=events, silent=projection.silent)


def record_of_event(
    projection: RecordProjection, logs: Sequence[NodeLog], step: int
) -> NodeRecord | None:
    """Return the record that an event of the trace is made of; None: it is of no record.

    The projection is a new one; it makes the events up to this one again.

    Raises:
        RecordError: as `project`.
    """
    looked_at: NodeRecord | None = None

    def one_by_one() -> Iterator[MergedRecord]:
        nonlocal looked_at
        for one in merge(logs):
            looked_at = one.record
            yield one

    for event in projection.events(one_by_one()):
        if event.step == step:
            return None if step == 0 else looked_at
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


def sequence_after(
    before: tuple[S, ...], change: object, item: type[S], what: str
) -> tuple[S, ...]:
    """Return a sequence after a change of it, such as a log's. Raises: RecordError"""
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
