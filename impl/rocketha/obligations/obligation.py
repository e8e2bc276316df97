"""What a recorded run owes, and what of it was not done in time.

An obligation looks at the records of all nodes (`traces/RECORDS.md`), and at nothing else: what was
sent, received, stored and answered, and when. It yields each occasion on which something is due. An
occasion whose deadline lies behind the end of the run shows nothing and is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar

from rocketha.histories.verdicts import Broken
from rocketha.recording.record import STARTED, STOPPED, NodeHeader, NodeRecord, SentMessage
from rocketha.types import TimestampMs

__all__ = [
    "Due",
    "Missed",
    "Obligation",
    "ObligationFindings",
    "RecordedRun",
    "check_obligations",
    "due_in_step",
    "time_ms",
]

T = TypeVar("T")

_NS_PER_MS: Final = 1_000_000


def time_ms(record: NodeRecord) -> TimestampMs:
    """Return when a step was taken, by the recorder's clock."""
    return TimestampMs(record.at_ns // _NS_PER_MS)


@dataclass(frozen=True)
class RecordedRun:
    """What the nodes of one run wrote."""

    headers: Mapping[str, NodeHeader]
    """Node -> how it is set up."""
    records: Sequence[NodeRecord]
    """Of all nodes, nothing before what it follows from."""
    ended_ms: TimestampMs
    """When the run was over."""
    healed_ms: TimestampMs | None = None
    """When its faults ended; None: they did not."""

    @cached_property
    def by_node(self) -> Mapping[str, Sequence[NodeRecord]]:
        """Node -> its own records."""
        found: dict[str, list[NodeRecord]] = {}
        for record in self.records:
            found.setdefault(record.node, []).append(record)
        return found

    @cached_property
    def messages(self) -> Mapping[str, SentMessage]:
        """Id -> message, as its sender knows it."""
        return {message.id: message for record in self.records for message in record.sent}

    def nodes_of(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the nodes of a kind, by name, and how each is set up."""
        return {
            name: header.settings
            for name, header in self.headers.items()
            if header.settings["kind"] == kind
        }

    def once(self, make: Callable[[RecordedRun], T]) -> T:
        """Return what is made of this run; it is made once, for all who ask."""
        if make not in self._made:
            self._made[make] = make(self)
        made: T = self._made[make]
        return made

    @cached_property
    def _made(self) -> dict[object, Any]:
        return {}

    def runs_until_ms(self, node: str, at_ms: TimestampMs) -> TimestampMs:
        """Return when a node stops first, or starts anew, behind a time; the run's end if never."""
        ends = self._ends.get(node, ())
        return next((end_ms for end_ms in ends if end_ms >= at_ms), self.ended_ms)

    @cached_property
    def _ends(self) -> Mapping[str, Sequence[TimestampMs]]:
        found: dict[str, list[TimestampMs]] = {}
        for node, records in self.by_node.items():
            of_node = found.setdefault(node, [])
            for record in records:
                again = record.event == STARTED and record.incarnation > 1
                if record.event == STOPPED or again:
                    of_node.append(time_ms(record))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Something that a node must do, on one occasion."""

    node: str
    since_ms: TimestampMs
    by_ms: TimestampMs
    """The last moment; who knows a reason to give more time does so here."""
    what: str
    """What is to be done, a clause without a full stop."""
    done_ms: TimestampMs | None
    """When it was done; None: never."""
    step: NodeRecord | None = None
    """In which step it is due; None: there is a time for it."""
    of: str = ""
    """What it is about, as records name it, where they do: a message, a pop."""

    @property
    def is_missed(self) -> bool:
        """Tell whether it was not done in time."""
        return self.done_ms is None or self.done_ms > self.by_ms


def due_in_step(record: NodeRecord, what: str, *, is_done: bool, of: str = "") -> Due:
    """Return what a node must do in the step of a record itself."""
    at_ms = time_ms(record)
    done_ms = at_ms if is_done else None
    return Due(
        node=record.node,
        since_ms=at_ms,
        by_ms=at_ms,
        what=what,
        done_ms=done_ms,
        step=record,
        of=of,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Obligation:
    """What nodes of a protocol owe."""

    name: str
    """A few words: "answers to requests"."""
    dues: Callable[[RecordedRun], Iterable[Due]]
    """Every occasion of a run; not those in which a node that stopped could do nothing."""


@dataclass(frozen=True, slots=True)
class Missed:
    """An occasion on which a node did not do what it must."""

    obligation: str
    due: Due

    def in_words(self) -> str:
        """Say it in a clause."""
        due = self.due
        late = "never" if due.done_ms is None else f"at {due.done_ms} ms"
        return f"since {due.since_ms} ms {due.node} must {due.what} by {due.by_ms} ms: {late}"


@dataclass(frozen=True, slots=True)
class ObligationFindings:
    """What became of the obligations in a run."""

    counted: Mapping[str, int] = field(default_factory=dict)
    """Obligation -> occasions whose deadline came; 0 where it had none."""
    missed: tuple[Missed, ...] = ()
    """In the order of their deadlines."""

    @property
    def broken(self) -> Broken | None:
        """Return what is said of the first that was missed."""
        if not self.missed:
            return None
        first = self.missed[0]
        return Broken(promise=first.obligation, reason=first.in_words())


def check_obligations(obligations: Iterable[Obligation], run: RecordedRun) -> ObligationFindings:
    """Look for what was due in a run and not done in time."""
    counted: Counter[str] = Counter()
    missed = []
    for obligation in obligations:
        counted[obligation.name] += 0
        for due in obligation.dues(run):
            if due.by_ms >= run.ended_ms:
                continue
            counted[obligation.name] += 1
            if due.is_missed:
                missed.append(Missed(obligation.name, due))
    missed.sort(key=lambda one: one.due.by_ms)
    return ObligationFindings(dict(counted), tuple(missed))
