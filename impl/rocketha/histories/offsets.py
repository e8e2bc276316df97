"""What consumers were told of their offsets, by a master that comes back and by slaves.

| promise        | broken by                                                                       |
|----------------|---------------------------------------------------------------------------------|
| `forward`      | a master that runs answers a smaller offset than it had answered                |
| `carried over` | a master answers a smaller offset than a slave had acknowledged while no master |
|                | ran, though the slave has run since, and has been registered since the master   |
|                | started                                                                         |

What a slave acknowledges later may be lost: it may have given its tables before. Where versions
decide whose table is taken, an offset may be smaller by less than the step of versions.

Spec: PreOnlineProperties!MasterKept, PreOnlineProperties!MetaMonotone
Spec: PreOnlineProperties!StepBound
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from rocketha.histories.verdicts import AllKept, AnyVerdict, Broken, Promise, Undecided
from rocketha.types import MASTER, BrokerId, TimestampMs

__all__ = [
    "BrokerGone",
    "MasterStarted",
    "OffsetEvent",
    "OffsetTold",
    "OffsetsKept",
    "check_offsets",
]


@dataclass(frozen=True, slots=True)
class OffsetTold:
    """A broker has answered a consumer: it has committed, or asked."""

    at_ms: TimestampMs
    broker: BrokerId
    """0: the master."""
    queue: str
    offset: int
    committed: bool


@dataclass(frozen=True, slots=True)
class MasterStarted:
    """The master runs again."""

    registered: frozenset[BrokerId]
    """Slaves that the name server believes to be there."""


@dataclass(frozen=True, slots=True)
class BrokerGone:
    """A broker has stopped, or a name server takes it for gone."""

    broker: BrokerId
    stopped: bool


OffsetEvent: TypeAlias = OffsetTold | MasterStarted | BrokerGone
"""What happens to consumers and to brokers, in order."""


@dataclass(frozen=True, slots=True)
class OffsetsKept(AllKept):
    """Nothing went back."""

    told: int
    carried: int
    """So often a master had to have what a slave had acknowledged."""
    within: int = 0
    """So often it had less, by less than a step."""

    @property
    def counted(self) -> int:
        """Return the number of answers."""
        return self.told

    def in_words(self) -> str:
        """Say it in a line."""
        return f"kept: {self.told} offsets told, {self.carried} of them a slave's, by its master"


@dataclass(slots=True)
class _Seen:
    """What is remembered of what happened."""

    runs: bool = True
    """The master does."""
    acknowledged: dict[tuple[BrokerId, str], int] = field(default_factory=dict)
    """Slave and queue -> what it has acknowledged since the master was gone."""
    owed: dict[tuple[BrokerId, str], int] = field(default_factory=dict)
    """The same, of slaves that have been registered since the master started."""
    told: dict[str, int] = field(default_factory=dict)
    """Queue -> what the master has said since it started."""
    carried: int = 0
    within: int = 0


def check_offsets(events: Iterable[OffsetEvent], *, step: int = 1) -> AnyVerdict:
    """Hold what happened against what is promised; `step` is that of versions, if they decide."""
    seen, told = _Seen(), 0
    for event in events:
        match event:
            case OffsetTold(broker=broker) if broker == MASTER:
                told += 1
                broken = _master_told(seen, event, step)
                if broken is not None:
                    return broken
            case OffsetTold(broker=broker, queue=queue, offset=offset):
                told += 1
                if event.committed and not seen.runs:
                    seen.acknowledged[broker, queue] = offset
            case MasterStarted(registered=registered):
                seen.runs = True
                owed = {key: o for key, o in seen.acknowledged.items() if key[0] in registered}
                seen.owed, seen.told = owed, {}
            case BrokerGone(broker=broker, stopped=stopped):
                _gone(seen, broker, stopped=stopped)
    if not told:
        return Undecided(reason="no consumer was told an offset")
    return OffsetsKept(told, seen.carried, seen.within)


def _gone(seen: _Seen, broker: BrokerId, *, stopped: bool) -> None:
    if broker == MASTER:
        if stopped:
            seen.runs = False
            seen.acknowledged, seen.owed, seen.told = {}, {}, {}
        return
    seen.owed = {key: offset for key, offset in seen.owed.items() if key[0] != broker}
    if stopped:
        left = {key: offset for key, offset in seen.acknowledged.items() if key[0] != broker}
        seen.acknowledged = left


def _master_told(seen: _Seen, event: OffsetTold, step: int) -> Broken | None:
    queue, offset = event.queue, event.offset
    before = seen.told.get(queue, 0)
    if offset < before:
        reason = f"the master says {offset} of {queue} at {event.at_ms} ms, after {before}"
        return Broken(promise=Promise.FORWARD, reason=reason)
    seen.told[queue] = offset
    for key in [key for key in seen.owed if key[1] == queue]:
        acknowledged = seen.owed.pop(key)
        if offset <= acknowledged - step:
            reason = (
                f"the master says {offset} of {queue} at {event.at_ms} ms, and slave {key[0]} "
                f"had acknowledged {acknowledged} before the master came back"
            )
            return Broken(promise=Promise.CARRIED, reason=reason)
        seen.carried += 1
        seen.within += offset < acknowledged
    return None
