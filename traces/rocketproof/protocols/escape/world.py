"""The variables of Escape, changed one by one as steps are seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from rocketproof.protocols.escape.seen import Layout, TraceKind
from tlatrace.values import State, Value, fcn, record, tla_set

__all__ = ["NONE", "ROUND_TO", "World", "constants_of", "pop_id"]

NONE: Final = "none"
ROUND_TO: Final = 24
"""In runs the number of records is rounded up to a multiple of it, so that many have the same
constants."""
_Put = tuple[int, str]


def pop_id(number: int) -> str:
    """Return what the specification calls a pop, by the order in which they were sent."""
    return f"p{number}"


def constants_of(kind: TraceKind, layout: Layout, records: int) -> State:
    """Return the constants of the specification, for a trace of so many records."""
    numbers = _numbers(records, layout)
    return {
        "Master": tla_set(layout.masters),
        "Local": tla_set(layout.local),
        "Delayed": tla_set(numbers if kind is TraceKind.DELAYED else ()),
        "Half": tla_set(numbers if kind is TraceKind.HALVES else ()),
        "Pop": tla_set(_pops(kind, layout)),
        "Window": layout.windows.get(kind, 1),
        "RemoteEscape": layout.remote_escape,
        "Released": layout.released,
        "Before": tla_set(combinations(sorted(layout.masters), 2)),
    }


def _numbers(records: int, layout: Layout) -> range:
    return range(1, -(-records // layout.round_to) * layout.round_to + 1)


def _pops(kind: TraceKind, layout: Layout) -> Sequence[str]:
    count = layout.pops if kind is TraceKind.POPS else 0
    return [pop_id(number) for number in range(1, count + 1)]


@dataclass(slots=True)
class World:
    """All variables."""

    kind: TraceKind
    layout: Layout
    records: int
    up: bool = True
    acts: bool = False
    known: set[str] = field(default_factory=set)
    progress: int = 0
    saved: int = 0
    under: set[_Put] = field(default_factory=set)
    sent: set[_Put] = field(default_factory=set)
    heard: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    own: set[int] = field(default_factory=set)
    alive: dict[str, bool] = field(default_factory=dict)
    log: dict[str, set[int]] = field(default_factory=dict)
    ended: dict[int, str] = field(default_factory=dict)
    op: set[int] = field(default_factory=set)
    visible: set[int] = field(default_factory=set)
    pop_sent: set[tuple[str, str, str]] = field(default_factory=set)
    ck_at: dict[str, str] = field(default_factory=dict)
    ack_at: dict[str, set[str]] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    revived: set[str] = field(default_factory=set)

    def state(self) -> State:
        """Return all variables of the specification."""
        masters = self.layout.masters
        halves = _numbers(self.records if self.kind is TraceKind.HALVES else 0, self.layout)
        pops = _pops(self.kind, self.layout)
        return {
            "up": self.up,
            "acts": self.acts,
            "known": tla_set(self.known),
            "progress": self.progress,
            "saved": self.saved,
            "under": _puts(self.under),
            "sent": _puts(self.sent),
            "heard": tla_set(self.heard),
            "failed": tla_set(self.failed),
            "own": tla_set(self.own),
            "alive": record({m: self.alive[m] for m in masters}),
            "log": record({m: tla_set(self.log.get(m, ())) for m in masters}),
            "ended": fcn((h, self.ended.get(h, "open")) for h in halves),
            "op": tla_set(self.op),
            "visible": tla_set(self.visible),
            "popSent": tla_set(
                record({"p": p, "m": m, "is": which}) for p, m, which in self.pop_sent
            ),
            "ckAt": fcn((p, self.ck_at.get(p, NONE)) for p in pops),
            "ackAt": fcn((p, tla_set(self.ack_at.get(p, ()))) for p in pops),
            "accepted": tla_set(self.accepted),
            "revived": tla_set(self.revived),
        }


def _puts(puts: set[_Put]) -> Value:
    return tla_set(record({"r": r, "m": m}) for r, m in puts)
