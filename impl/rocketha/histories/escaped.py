"""What consumers and producers saw of what came due in the log of a slave that acts.

| promise     | broken by                                                                         |
|-------------|-----------------------------------------------------------------------------------|
| `in time`   | a delayed message is read before its time                                         |
| `committed` | a half message is read that its producer has not committed                        |
| `once`      | a message that a consumer was given by the slave it gives again; that it comes    |
|             | again from another master is no matter                                            |
| `done with` | what a consumer was told is acknowledged is delivered again                       |
| `delivered` | when all is well again, a delayed message or a committed one was never read, or   |
|             | what was popped did not come again, though no ACK of it is stored; unless the     |
|             | master that has it is gone                                                        |

A message may be read several times. Of a run that does not come back to life nothing is asked by
the last promise. All promises are looked at, also when one is broken.

Spec: EscapeProperties!HalfUnseen, EscapeProperties!AckedStays
Spec: EscapeProperties!EscapeLive, EscapeProperties!PopLive
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from rocketha.histories.verdicts import AllKept, AnyVerdict, Broken, Promise, Undecided
from rocketha.types import TimestampMs

__all__ = [
    "Acknowledged",
    "Again",
    "Ended",
    "EscapeEvent",
    "EscapedKept",
    "Given",
    "MessageRead",
    "Outcome",
    "Waits",
    "check_escaped",
]


@dataclass(frozen=True, slots=True)
class Waits:
    """A message in the slave's log that nobody has read."""

    key: str
    due_ms: TimestampMs | None
    """When it may be read; None: when its producer has committed it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A producer has committed a half message, or rolled it back."""

    at_ms: TimestampMs
    key: str
    is_commit: bool


@dataclass(frozen=True, slots=True)
class MessageRead:
    """A consumer has read a message."""

    at_ms: TimestampMs
    broker: str
    key: str


@dataclass(frozen=True, slots=True)
class Given:
    """A consumer was given what it popped."""

    at_ms: TimestampMs
    pop: str
    message: str
    """Topic, queue and place of what it was."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A consumer was told that its ACK is stored."""

    at_ms: TimestampMs
    pop: str


@dataclass(frozen=True, slots=True)
class Again:
    """What was popped is delivered again."""

    at_ms: TimestampMs
    broker: str
    pop: str


EscapeEvent: TypeAlias = Waits | Ended | MessageRead | Given | Acknowledged | Again


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended."""

    is_well: bool
    """It came back to life when its faults were over."""
    excused: frozenset[str] = frozenset()
    """Keys and pops of what need not come: it lies with a master that stays away, the slave has not
    passed it, or an ACK is stored of which the consumer was not told."""


@dataclass(frozen=True, slots=True)
class EscapedKept(AllKept):
    """All promises are kept."""

    read: int
    """Messages of which it was asked when they were read."""
    acknowledged: int
    again: int
    owed: int
    """Messages and pops that had to come, and did; 0: the run was not asked."""

    @property
    def counted(self) -> int:
        """Return how much was put to the test."""
        return self.read + self.acknowledged + self.again

    def in_words(self) -> str:
        """Say it in a line."""
        return (
            f"kept: {self.read} messages read, {self.acknowledged} pops acknowledged, "
            f"{self.again} delivered again, {self.owed} that had to come"
        )


@dataclass(slots=True)
class _Seen:
    waits: dict[str, TimestampMs | None] = field(default_factory=dict)
    committed: dict[str, bool] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    given: dict[str, str] = field(default_factory=dict)
    """Pop -> message."""
    acknowledged: set[str] = field(default_factory=set)
    again: set[str] = field(default_factory=set)


def check_escaped(events: Iterable[EscapeEvent], outcome: Outcome) -> AnyVerdict:
    """Hold what happened against what is promised."""
    seen, broken = _Seen(), list[Broken]()
    for event in events:
        found = _take(seen, event)
        if found is not None:
            broken.append(found)
    owed = 0
    if outcome.is_well:
        missing, owed = _owed(seen, outcome)
        if missing is not None:
            broken.append(missing)
    if broken:
        promises = list(dict.fromkeys(one.promise for one in broken))
        return replace(broken[0], also=tuple(promises[1:]))
    if not (seen.read or seen.acknowledged or seen.again):
        return Undecided(reason="nobody has read, acknowledged or got again anything")
    return EscapedKept(len(seen.read), len(seen.acknowledged), len(seen.again), owed)


def _take(seen: _Seen, event: EscapeEvent) -> Broken | None:
    match event:
        case Waits(key=key, due_ms=due_ms):
            seen.waits[key] = due_ms
        case Ended(key=key, is_commit=is_commit):
            seen.committed[key] = is_commit
        case MessageRead():
            return _read(seen, event)
        case Given(at_ms=at_ms, pop=pop, message=message):
            if message in seen.given.values():
                reason = f"{message} is given for {pop} at {at_ms} ms, and was before"
                return Broken(promise=Promise.ONCE, reason=reason)
            seen.given[pop] = message
        case Acknowledged(pop=pop):
            seen.acknowledged.add(pop)
        case Again(at_ms=at_ms, broker=broker, pop=pop):
            if pop in seen.acknowledged:
                reason = f"{broker} delivers {pop} again at {at_ms} ms, which is acknowledged"
                return Broken(promise=Promise.DONE_WITH, reason=reason)
            seen.again.add(pop)
    return None


def _read(seen: _Seen, event: MessageRead) -> Broken | None:
    key = event.key
    if key not in seen.waits:
        return None
    due_ms = seen.waits[key]
    if due_ms is None and not seen.committed.get(key, False):
        reason = f"{key} is read of {event.broker} at {event.at_ms} ms, and is not committed"
        return Broken(promise=Promise.COMMITTED, reason=reason)
    if due_ms is not None and event.at_ms < due_ms:
        reason = f"{key} is read of {event.broker} at {event.at_ms} ms, and due at {due_ms} ms"
        return Broken(promise=Promise.IN_TIME, reason=reason)
    seen.read.add(key)
    return None


def _owed(seen: _Seen, outcome: Outcome) -> tuple[Broken | None, int]:
    """Return what should have come and did not, and how much had to."""
    messages = [
        key
        for key, due_ms in seen.waits.items()
        if key not in outcome.excused and (due_ms is not None or seen.committed.get(key, False))
    ]
    pops = sorted(seen.given.keys() - seen.acknowledged - outcome.excused)
    unread = [key for key in messages if key not in seen.read]
    if unread:
        others = f", nor {len(unread) - 1} more" if unread[1:] else ""
        return Broken(promise=Promise.DELIVERED, reason=f"{unread[0]} was never read{others}"), 0
    for pop in pops:
        if pop not in seen.again:
            reason = f"{pop} was not acknowledged, and did not come again"
            return Broken(promise=Promise.DELIVERED, reason=reason), 0
    return None, len(messages) + len(pops)
