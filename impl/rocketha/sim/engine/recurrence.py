"""What happens again and again in a run: with a period for ever, or by chance until it heals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from rocketha.sim.engine.random_source import Injection, InjectionPoint, RandomSource
from rocketha.sim.engine.scheduler import Scheduler

__all__ = ["Recurrence"]


class Recurrence:
    """Lets things happen on a scheduler, at times that a random source draws."""

    def __init__(self, scheduler: Scheduler, random_source: RandomSource) -> None:
        """Prepare it; nothing happens yet."""
        self._scheduler = scheduler
        self._random_source = random_source
        self.healed = False
        """Nothing happens by chance any more."""

    def every(self, period_ms: int, act: Callable[[], None], *purpose: str | int) -> None:
        """Act again and again, for ever, the first time within a period."""

        def fire() -> None:
            act()
            self._scheduler.after(period_ms, fire)

        rng = self._random_source.of("phase", *purpose)
        self._scheduler.after(1 + rng.randrange(period_ms), fire)

    def sometimes(
        self, mean_gap_ms: int, act: Callable[[Injection], None], kind: str, whose: str = ""
    ) -> None:
        """Act again and again until the cluster heals, with gaps of 0 to twice the mean."""
        rng, numbers = self._random_source.of("gap", kind, whose), count(1)

        def fire() -> None:
            if not self.healed:
                point = InjectionPoint(kind, whose, next(numbers))
                if self._random_source.allows(point):
                    act(Injection(self._random_source, point))
                go_on()

        def go_on() -> None:
            self._scheduler.after(1 + rng.randrange(2 * mean_gap_ms), fire)

        go_on()
