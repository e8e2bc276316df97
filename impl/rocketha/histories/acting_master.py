"""What clients saw of groups whose slaves act for their masters, all of it together.

They know nothing of that: they ask name servers who has a topic, and then brokerId 0.

| promise        | broken by                                                                      |
|----------------|--------------------------------------------------------------------------------|
| `in turn`      | a consumer passes by a place of a queue that it has never processed            |
| `agreement`    | a place of a queue has one message at a broker, and another one at another     |
| `order`        | a message is processed, and one is not yet that its producer was told is       |
|                | stored in that queue before it sent this one                                   |
| `in time`      | a delayed message is read before its time                                      |
| `committed`    | a half message is read that its producer has not committed                     |
| `done with`    | what a consumer was told is acknowledged is delivered again                    |
| `delivered`    | when all is well again, a message that its producer was told is stored was     |
|                | never read, if it was to be, or a pop did not come again of which no ACK is    |
|                | stored                                                                         |
| `forward`      | a master that runs answers a smaller offset than it had answered               |
| `carried over` | a master that comes back answers a smaller offset than a slave had             |
|                | acknowledged, though it must have had the slave's table; where versions decide |
|                | whose table is taken: smaller by a step of them, or more                       |

From `in time` to `delivered` it is `rocketha.histories.escaped` that looks, of all groups at once,
and at the last two, of each group, `rocketha.histories.offsets`. A message may be read several
times, and be given several times to who pops.

Spec: EscapeProperties!EscapeLive, PreOnlineProperties!MetaMonotone
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from rocketha.histories.escaped import EscapedKept, EscapeEvent, Given, Outcome, check_escaped
from rocketha.histories.offsets import OffsetEvent, OffsetsKept, check_offsets
from rocketha.histories.verdicts import AllKept, AnyVerdict, Broken, Promise, Undecided
from rocketha.types import TimestampMs

__all__ = [
    "ActingMasterHistory",
    "ActingMasterKept",
    "Consumed",
    "MessageKind",
    "QueueEvent",
    "Sent",
    "Stored",
    "check_acting_master",
]


class MessageKind(StrEnum):
    """What a producer sends."""

    ORDERED = "ordered"
    DELAYED = "delayed"
    HALF = "half"
    POPPED = "popped"
    """It is for those who pop."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A producer sends a message to a group."""

    at_ms: TimestampMs
    key: str
    kind: MessageKind
    group: str


@dataclass(frozen=True, slots=True)
class Stored:
    """Its producer was told that it is stored."""

    at_ms: TimestampMs
    key: str


@dataclass(frozen=True, slots=True)
class Consumed:
    """A consumer has processed a message, which it has read of a broker."""

    at_ms: TimestampMs
    group: str
    topic: str
    place: int
    """In its queue, from 0."""
    key: str
    broker: str


QueueEvent: TypeAlias = Sent | Stored | Consumed
"""What happens to queues, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingMasterHistory:
    """All that clients saw of one run."""

    queues: tuple[QueueEvent, ...]
    escaped: tuple[EscapeEvent, ...]
    offsets: Mapping[str, tuple[OffsetEvent, ...]]
    """Of each group."""
    outcome: Outcome
    step: int = 1
    """Of versions of consumers' offsets, if these decide whose table is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingMasterKept(AllKept):
    """All promises are kept."""

    escaped: EscapedKept
    told: int
    """Offsets that consumers were told."""
    carried: int
    """So often a master had to have what a slave had acknowledged."""
    within: int
    """So often it had less, by less than a step."""
    consumed: Mapping[str, int]
    """Kind -> messages that were processed, each counted once."""
    elsewhere: int
    """Messages that were processed of another group than they were sent to."""
    again: int
    """Times that a message was processed that had been already."""

    @property
    def counted(self) -> int:
        """Return how much was put to the test."""
        return self.escaped.counted + self.told

    @property
    def parts(self) -> Mapping[str, int]:
        """Return it by kinds."""
        return {
            **{f"{kind} messages": self.consumed.get(kind, 0) for kind in MessageKind},
            "of another group": self.elsewhere,
            "processed again": self.again,
            "pops acknowledged": self.escaped.acknowledged,
            "pops that came again": self.escaped.again,
            "messages and pops that had to come": self.escaped.owed,
            "offsets told": self.told,
            "a slave's offsets told by its master": self.carried,
            "of them smaller by less than a step": self.within,
        }

    def in_words(self) -> str:
        """Say it in a line."""
        return "kept: " + ", ".join(f"{count} {name}" for name, count in self.parts.items())


def check_acting_master(history: ActingMasterHistory) -> AnyVerdict:
    """Hold what happened against what is promised."""
    queues = _Queues()
    for event in history.queues:
        broken = queues.take(event)
        if broken is not None:
            return broken
    escaped = check_escaped(history.escaped, history.outcome)
    if isinstance(escaped, Broken):
        return escaped
    told = carried = within = 0
    for group, events in history.offsets.items():
        verdict = check_offsets(events, step=history.step)
        if isinstance(verdict, Broken):
            return Broken(promise=verdict.promise, reason=f"of {group}, {verdict.reason}")
        if isinstance(verdict, OffsetsKept):
            told += verdict.told
            carried += verdict.carried
            within += verdict.within
    if not isinstance(escaped, EscapedKept):
        return Undecided(reason="nobody has read, acknowledged or got again anything")
    return ActingMasterKept(
        escaped=escaped,
        told=told,
        carried=carried,
        within=within,
        consumed=dict(queues.counted(history.escaped)),
        elsewhere=queues.elsewhere,
        again=queues.again,
    )


@dataclass(slots=True)
class _Queues:
    """What is remembered of queues."""

    sent: dict[str, Sent] = field(default_factory=dict)
    stored: dict[str, list[str]] = field(default_factory=dict)
    """Group -> ordered messages whose producer was told that they are stored."""
    before: dict[str, frozenset[str]] = field(default_factory=dict)
    """Ordered message -> those that were stored in its queue when it was sent."""
    places: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Group and topic -> what was processed, by its place."""
    processed: set[str] = field(default_factory=set)
    elsewhere: int = 0
    again: int = 0

    def take(self, event: QueueEvent) -> Broken | None:
        match event:
            case Sent(key=key, kind=kind, group=group):
                self.sent[key] = event
                if kind is MessageKind.ORDERED:
                    self.before[key] = frozenset(self.stored.get(group, ()))
            case Stored(key=key):
                one = self.sent[key]
                if one.kind is MessageKind.ORDERED:
                    self.stored.setdefault(one.group, []).append(key)
            case Consumed():
                return self._consumed(event)
        return None

    def _consumed(self, event: Consumed) -> Broken | None:
        of, key, place = f"{event.topic} of {event.group}", event.key, event.place
        places = self.places.setdefault((event.group, event.topic), [])
        if place > len(places):
            reason = (
                f"place {place} of {of} is processed at {event.at_ms} ms, read of {event.broker}, "
                f"and place {len(places)} never was"
            )
            return Broken(promise=Promise.IN_TURN, reason=reason)
        if place < len(places):
            self.again += 1
            if places[place] != key:
                reason = f"{event.broker} has {key} at place {place} of {of}, not {places[place]}"
                return Broken(promise=Promise.AGREEMENT, reason=reason)
            return None
        places.append(key)
        missing = self.before.get(key, frozenset()) - self.processed
        if missing:
            reason = f"{key} of {of} is processed at {event.at_ms} ms, before {min(missing)}"
            return Broken(promise=Promise.ORDER, reason=reason)
        self._count(key, event.group)
        return None

    def _count(self, key: str, group: str) -> None:
        if key in self.processed:
            self.again += 1
        elif key in self.sent and self.sent[key].group != group:
            self.elsewhere += 1
        self.processed.add(key)

    def counted(self, escaped: Iterable[EscapeEvent]) -> Counter[str]:
        """Count by kinds what was processed, and what was given to who pops."""
        found = Counter(str(self.sent[key].kind) for key in self.processed if key in self.sent)
        found[MessageKind.POPPED] = sum(isinstance(event, Given) for event in escaped)
        return found
