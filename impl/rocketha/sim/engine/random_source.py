"""What a run draws, and what of it comes to pass.

A simulation draws everything from its seed, with a stream for each purpose: who leaves out one
fault leaves everything else as it is. So a run can be given a schedule that leaves something out,
and a failing one can be made small.

What may be left out is an injection point: a fault that strikes, a client that calls, a node that
starts later than others. It has a kind, the name of whoever it concerns, and its number there,
counted whether it comes to pass or not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from typing import Final, Protocol

from rocketha.sim.engine.crash_points import CrashPoint

__all__ = [
    "UNRESTRICTED",
    "InjectedEvent",
    "Injection",
    "InjectionPoint",
    "PerPurposeStreams",
    "RandomSource",
    "Schedule",
]


@dataclass(frozen=True, slots=True, order=True)
class InjectionPoint:
    """Something that may happen, or may be left out."""

    kind: str
    whose: str
    """A broker, a client, a direction between two brokers; "" where there is one only."""
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What a run does of all that its seed draws. All times are virtual."""

    only: frozenset[InjectionPoint] | None = None
    """What may happen; None: everything. In a run that is not stopped, clients are free again as
    soon as the faults have ended."""
    heal_ms: int | None = None
    """When the faults end; None: when enough has happened."""
    stop_ms: int | None = None
    """When the run is over; None: when all is well."""
    redrawn: int = 0
    """0: what the seed draws; each other number is another run of the same seed, with every fault
    that is allowed, for whoever looks for a smaller one."""
    crash_point: CrashPoint | None = None
    """Where a node ends in the middle of a step, besides what the seed draws."""


UNRESTRICTED: Final = Schedule()


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedEvent:
    """An injection point that came to pass."""

    at_ms: int
    point: InjectionPoint
    words: str
    """What happened, a clause."""


class RandomSource(Protocol):
    """Where a run draws from, and who says what comes to pass."""

    def of(self, *purpose: str | int) -> Random:
        """Return the stream for a purpose, always the same."""
        ...

    def once(self, point: InjectionPoint) -> Random:
        """Return a stream for one point only."""
        ...

    def allows(self, point: InjectionPoint) -> bool:
        """Tell whether it may come to pass."""
        ...

    def note(self, point: InjectionPoint, words: str) -> None:
        """Hear that it did."""
        ...


class Injection:
    """An injection point whose time has come; a handler draws from `rng`, and notes what it did."""

    __slots__ = ("_random_source", "_rng", "point")

    def __init__(self, random_source: RandomSource, point: InjectionPoint) -> None:
        self.point = point
        self._random_source = random_source
        self._rng: Random | None = None

    @property
    def rng(self) -> Random:
        """Return its stream."""
        if self._rng is None:
            self._rng = self._random_source.once(self.point)
        return self._rng

    def note(self, words: str) -> None:
        """Say that something happened."""
        self._random_source.note(self.point, words)

    def part(self, kind: str, words: str) -> bool:
        """Tell whether a part of it, an injection point by itself, comes to pass; note it."""
        name = f"{self.point.kind} {self.point.whose}".rstrip()
        point = InjectionPoint(kind, name, self.point.number)
        if not self._random_source.allows(point):
            return False
        self._random_source.note(point, words)
        return True


class PerPurposeStreams:
    """A stream for each purpose, made of the seed and the purpose's name."""

    def __init__(
        self,
        seed: int,
        schedule: Schedule = UNRESTRICTED,
        now_ms: Callable[[], int] = lambda: 0,
    ) -> None:
        """Begin all streams; `now_ms` is the virtual time, for what is noted."""
        self.injected: list[InjectedEvent] = []
        self.healed_ms: int | None = None
        """When the faults ended, once they have."""
        self.seed = seed
        self.redrawn = schedule.redrawn > 0
        self._of = f"{seed}.{schedule.redrawn}" if schedule.redrawn else str(seed)
        self._schedule = schedule
        self._now_ms = now_ms
        self._streams: dict[tuple[str | int, ...], Random] = {}

    def of(self, *purpose: str | int) -> Random:
        """Return the stream for a purpose, always the same."""
        stream = self._streams.get(purpose)
        if stream is None:
            stream = self._streams[purpose] = self._begin("/".join(map(str, purpose)))
        return stream

    def once(self, point: InjectionPoint) -> Random:
        """Return a stream for one point only."""
        return self._begin(f"{point.kind}/{point.whose}/{point.number}/once")

    def _begin(self, name: str) -> Random:
        digest = blake2b(f"{self._of}/{name}".encode(), digest_size=8).digest()
        return Random(int.from_bytes(digest, "big"))

    def allows(self, point: InjectionPoint) -> bool:
        """Tell whether the schedule has it, or says nothing of it."""
        schedule = self._schedule
        if schedule.only is None or point in schedule.only:
            return True
        return self.healed_ms is not None and schedule.stop_ms is None

    def note(self, point: InjectionPoint, words: str) -> None:
        """Remember that something happened."""
        self.injected.append(InjectedEvent(at_ms=self._now_ms(), point=point, words=words))
