"""Run the models, witnesses and mutants of a ring, several at once, until all are done or time is.

Each has one worker of TLC, so that depths and lengths are compared, and several run beside each
other. What was not run, or was ended because the budget was spent, is undecided.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Final, Protocol

from tlatrace.tools.check import CheckRow, expected_of
from tlatrace.tools.manifest import Checkable, key_of, kind_of
from tlatrace.tools.measured import Key
from tlatrace.tools.measurements import Measurements
from tlatrace.tools.tlc import Stop

__all__ = ["NOT_RUN", "Check", "Progress", "expected_seconds", "in_order", "run_ring"]

NOT_RUN: Final = "not run: the budget is spent"
_GUESS_S: Final = 10.0
"""How long an entry takes of which nobody knows, and no other of its kind."""


class Check(Protocol):
    """Has TLC check an entry."""

    def __call__(self, entry: Checkable, *, timeout_s: float, stop: Stop) -> CheckRow: ...


@dataclass(slots=True)
class Progress:
    """How far a ring is, and how long the rest will take by what was recorded."""

    expected: dict[Key, float]
    """Seconds of each entry that is not done."""
    jobs: int
    total: int = field(init=False)
    done: int = 0
    _recorded_s: float = 0.0
    _taken_s: float = 0.0

    def __post_init__(self) -> None:
        self.total = len(self.expected)

    def take(self, row: CheckRow) -> None:
        """Count an entry that is done."""
        self.done += 1
        self._recorded_s += self.expected.pop(row.key)
        self._taken_s += row.seconds

    @property
    def left_s(self) -> float:
        """Seconds that are left, as fast or slow as the machine has been in this ring."""
        pace = self._taken_s / self._recorded_s if self._recorded_s else 1.0
        longest = max(self.expected.values(), default=0.0)
        return pace * max(sum(self.expected.values()) / self.jobs, longest)


def expected_seconds(entries: Sequence[Checkable], measurements: Measurements) -> dict[Key, float]:
    """Say how long each entry takes; where nothing is recorded, as long as others on average."""
    known = {key_of(entry): measurements.seconds(entry) for entry in entries}
    recorded = [seconds for seconds in known.values() if seconds is not None]
    guess = sum(recorded) / len(recorded) if recorded else _GUESS_S
    return {key: guess if seconds is None else seconds for key, seconds in known.items()}


def in_order(
    entries: Sequence[Checkable], seconds: dict[Key, float], fits: bool
) -> list[Checkable]:
    """Put the longest first, which ends soonest; where not all fits, the shortest: that is more."""
    return sorted(entries, key=lambda entry: seconds[key_of(entry)], reverse=fits)


def run_ring(
    entries: Sequence[Checkable],
    check: Check,
    measurements: Measurements,
    *,
    jobs: int,
    budget_s: float,
    timeout_s: float,
    on_done: Callable[[CheckRow, Progress], None],
    clock: Callable[[], float] = time.monotonic,
) -> list[CheckRow]:
    """Check all entries and return their rows, in the order of the entries.

    `on_done` is called in this thread, after each entry. An exception ends what runs.

    Raises: whatever `check` raises.
    """
    seconds = expected_seconds(entries, measurements)
    progress = Progress(dict(seconds), jobs)
    ends, stop = clock() + budget_s, Stop()

    def checked(entry: Checkable) -> CheckRow:
        left = ends - clock()
        if left <= 0:
            return _not_run(entry)
        return check(entry, timeout_s=min(timeout_s, left), stop=stop)

    rows: dict[Key, CheckRow] = {}
    pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="ring")
    try:
        ordered = in_order(entries, seconds, fits=progress.left_s <= budget_s)
        futures = {pool.submit(checked, entry): entry for entry in ordered}
        for future in as_completed(futures):
            row = rows[key_of(futures[future])] = future.result()
            progress.take(row)
            on_done(row, progress)
    finally:
        stop.now()
        pool.shutdown(cancel_futures=True)
    return [rows[key_of(entry)] for entry in entries]


def _not_run(entry: Checkable) -> CheckRow:
    kind = kind_of(entry)
    assert kind != "theorem"
    return CheckRow(
        kind=kind,
        protocol=entry.protocol,
        name=entry.name,
        status="undecided",
        expected=expected_of(entry),
        found=NOT_RUN,
        distinct=None,
        depth=None,
        length=None,
        seconds=0.0,
        message="",
        engine=None,
    )
