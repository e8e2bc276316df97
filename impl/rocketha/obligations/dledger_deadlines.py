"""What is due of a member of a DLedger group within some time of its own clock.

A clock may be slow or fast, and a process may stand still: what is due then may be done later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rocketha.obligations.dledger_turns import Turn
from rocketha.obligations.obligation import Due
from rocketha.types import TimestampMs

__all__ = ["Deadlines"]

_SLACK_MS: Final = 20
_COMPARED_MS: Final = 100
"""When a clock has shown so much more, it is known how fast it is."""


@dataclass(slots=True)
class _Open:
    name: str
    since_ms: TimestampMs
    wait_ms: int
    what: str


@dataclass(slots=True)
class Deadlines:
    """What one incarnation of a member is to do, and what it has done."""

    node: str
    settings: Mapping[str, Any]
    pauses: Sequence[tuple[int, int]]
    """When the member goes on, and how long it stood still."""
    open: dict[object, _Open] = field(default_factory=dict)
    found: list[tuple[str, Due]] = field(default_factory=list)
    too_soon: list[str] = field(default_factory=list)
    """What it has done without waiting, as traces call it (`DLedgerMessages`)."""
    began: tuple[int, int] | None = None
    """When it was looked at first, and what its clock showed then."""
    passed: tuple[int, int] = (0, 0)
    """What has passed since, and by its clock."""

    def begin(self, key: object, name: str, turn: Turn, wait_ms: int, what: str) -> None:
        """Something is due from now on, unless it is already."""
        if key not in self.open:
            self.open[key] = _Open(name, turn.at_ms, wait_ms, what)

    def end(self, key: object, at_ms: TimestampMs | None) -> None:
        """It is done; None: it is never, and it was to be."""
        one = self.open.pop(key, None)
        if one is None:
            return
        by_ms = self._by_ms(one)
        due = Due(node=self.node, since_ms=one.since_ms, by_ms=by_ms, what=one.what, done_ms=at_ms)
        self.found.append((one.name, due))

    def _by_ms(self, one: _Open) -> TimestampMs:
        (passed, shown), wait_ms = self.passed, one.wait_ms
        lasts_ms = wait_ms * passed // shown if shown >= _COMPARED_MS else 0
        by_ms = one.since_ms + max(wait_ms * 9 // 8, lasts_ms) + _SLACK_MS
        for at, ms in self.pauses:
            if one.since_ms <= at <= by_ms + ms + _SLACK_MS:
                by_ms += ms
        return TimestampMs(by_ms)

    def sees(self, at_ms: TimestampMs, shows_ms: int) -> None:
        """Note what its clock shows at some time."""
        if self.began is None:
            self.began = at_ms, shows_ms
        self.passed = at_ms - self.began[0], shows_ms - self.began[1]

    def overdue(self, at_ms: TimestampMs) -> list[tuple[str, object]]:
        """Return what is due still and was to be done before: its name, and what it is about."""
        late = [(one.name, key) for key, one in self.open.items() if self._by_ms(one) < at_ms]
        return [(name, key[1] if isinstance(key, tuple) else None) for name, key in late]

    def forget(self, *keys: object) -> None:
        """It is not due any more."""
        for key in keys:
            self.open.pop(key, None)

    def at_once(
        self, name: str, turn: Turn, what: str, *, done: bool, too_soon: str | None = None
    ) -> None:
        """It was due in this turn."""
        if too_soon is not None and not done:
            self.too_soon.append(too_soon)
        at_ms, done_ms = turn.at_ms, turn.at_ms if done else None
        due = Due(node=self.node, since_ms=at_ms, by_ms=at_ms, what=what, done_ms=done_ms)
        self.found.append((name, due))
