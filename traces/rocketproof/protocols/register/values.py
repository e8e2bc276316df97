"""The state of a register and its group as values of Register."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rocketproof.known_values import KnownValues, itself
from tlatrace.values import State, Value, record

__all__ = ["NO_CALL", "Call", "Entry", "Log", "Office", "RegisterParts", "RegisterValues"]


class Entry(NamedTuple):
    """An entry of a log."""

    kind: str
    """"write", "read" or "noop"."""
    value: int
    by: str
    term: int


Log = tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a client waits for, or has heard."""

    kind: str
    value: int
    since: int
    newest: int
    at: str
    term: int
    index: int
    confirmed: bool = False
    answered: bool = False


NO_CALL = None
"""It waits for nothing, and has heard nothing since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """What a member is for a service: all counts begin at 1, and 0 is none."""

    term: int = 0
    office: int = 0
    log: Log = ()
    commit: int = 0
    applied: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterParts:
    """What the values are made of."""

    agreed: Log
    led: Mapping[int, Log]
    members: Mapping[str, Office]
    calls: Mapping[str, Call | None]
    writes: int


class RegisterValues:
    """Makes states; what is as in the last one is the same value."""

    def __init__(self) -> None:
        """Begin before the first state."""
        self._known = KnownValues()
        self._entries: dict[Entry, Value] = {}

    def state(self, parts: RegisterParts) -> State:
        """Return the whole state."""
        names, of = tuple(parts.members), self._known.of_each
        members = list(parts.members.values())
        newest = max(parts.led, default=0)
        led = [parts.led.get(term, ()) for term in range(1, newest + 1)]
        return {
            "agreed": self._known.of("agreed", parts.agreed, self._log),
            "led": tuple(
                [self._known.of(("led", at), log, self._log) for at, log in enumerate(led)]
            ),
            "term": of("term", names, [one.term for one in members], itself),
            "office": of("office", names, [one.office for one in members], itself),
            "log": of("log", names, [one.log for one in members], self._log),
            "commit": of("commit", names, [one.commit for one in members], itself),
            "applied": of("applied", names, [one.applied for one in members], itself),
            "calls": of("calls", tuple(parts.calls), list(parts.calls.values()), _call),
            "writes": parts.writes,
        }

    def _log(self, log: Log) -> Value:
        return tuple([self._entry(entry) for entry in log])

    def _entry(self, entry: Entry) -> Value:
        value = self._entries.get(entry)
        if value is None:
            value = self._entries[entry] = record(entry._asdict())
        return value


def _call(call: Call | None) -> Value:
    if call is None:
        return record({"kind": "none"})
    return record(
        {
            "kind": call.kind,
            "value": call.value,
            "since": call.since,
            "newest": call.newest,
            "at": call.at,
            "term": call.term,
            "index": call.index,
            "confirmed": call.confirmed,
            "answered": call.answered,
        }
    )
