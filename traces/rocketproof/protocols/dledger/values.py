"""The state of a group as values of DLedger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocketproof.known_values import KnownValues, itself
from rocketproof.protocols.dledger.seen import Answers, Ask, Entry, Seen
from tlatrace.values import State, Value, record, tla_set

__all__ = ["GroupParts", "GroupValues", "Leadership"]


class Leadership(NamedTuple):
    """What a leader may have sent of its term."""

    log: tuple[Entry, ...]
    commit: int
    snap: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupParts:
    """What the values are made of."""

    seen: Mapping[str, Seen]
    rounds: Mapping[str, Answers]
    asks: frozenset[Ask]
    sent: tuple[tuple[tuple[str, int, int], Leadership], ...]
    truncates: frozenset[tuple[str, str, int, int, int]]
    acks: tuple[tuple[tuple[str, int], int], ...]
    transfers: frozenset[tuple[str, str, int, int]]
    agreed: tuple[Entry, ...]


OF_MEMBER: Final[dict[str, Callable[[Seen], Value]]] = {
    "term": lambda one: one.term,
    "vote": lambda one: one.vote,
    "refill": lambda one: one.refill,
    "synced": lambda one: one.synced,
    "base": lambda one: one.base,
    "baseTerm": lambda one: one.base_term,
    "snap": lambda one: one.snap,
    "role": lambda one: one.role,
    "leader": lambda one: one.leader,
    "known": lambda one: one.known,
    "raise": lambda one: one.raises,
    "next": lambda one: one.to_next,
    "taking": lambda one: one.taking,
    "transferee": lambda one: one.transferee,
    "same": lambda one: one.same,
    "commit": lambda one: one.commit,
    "applied": lambda one: one.applied,
    "inc": lambda one: one.inc,
}


class GroupValues:
    """Makes states; what is as in the last one is the same value."""

    def __init__(self) -> None:
        """Begin before the first state."""
        self._known = KnownValues()
        self._entries: dict[Entry, Value] = {}

    def state(self, parts: GroupParts) -> State:
        """Return the whole state."""
        names, of = tuple(parts.seen), self._known.of
        found: dict[str, Value] = {}
        for variable, take in OF_MEMBER.items():
            raws = [take(one) for one in parts.seen.values()]
            found[variable] = self._known.of_each(variable, names, raws, itself)
        logs = [one.log for one in parts.seen.values()]
        found["log"] = self._known.of_each("log", names, logs, self._log)
        members = frozenset(names)

        def round_value(answers: Answers) -> Value:
            given = dict(answers)
            return record({one: _answer(given.get(one)) for one in sorted(members)})

        rounds = [parts.rounds[name] for name in names]
        found["round"] = self._known.of_each("round", names, rounds, round_value)
        found["asks"] = of("asks", parts.asks, _asks)
        found["sent"] = of("sent", parts.sent, self._sent)
        found["truncates"] = of("truncates", parts.truncates, _truncates)
        found["acks"] = of("acks", parts.acks, _acks)
        found["transfers"] = of("transfers", parts.transfers, _transfers)
        found["agreed"] = of("agreed", parts.agreed, self._log)
        return found

    def _log(self, log: tuple[Entry, ...]) -> Value:
        return tuple([self._entry(entry) for entry in log])

    def _entry(self, entry: Entry) -> Value:
        value = self._entries.get(entry)
        if value is None:
            term, by, inc = entry
            value = self._entries[entry] = record({"term": term, "by": by, "inc": inc})
        return value

    def _sent(self, sent: tuple[tuple[tuple[str, int, int], Leadership], ...]) -> Value:
        return tla_set(
            [
                record(
                    {
                        "by": by,
                        "inc": inc,
                        "term": term,
                        "log": self._known.of(("sent log", by, inc, term), led.log, self._log),
                        "commit": led.commit,
                        "snap": led.snap,
                    }
                )
                for (by, inc, term), led in sent
            ]
        )


def _answer(answer: tuple[str, int] | None) -> Value:
    result, term = ("NONE", 0) if answer is None else answer
    return record({"result": result, "term": term})


def _asks(asks: frozenset[Ask]) -> Value:
    return tla_set(
        [
            record({"from": of, "term": term, "endIndex": index, "endTerm": end})
            for of, term, index, end in asks
        ]
    )


def _truncates(requests: frozenset[tuple[str, str, int, int, int]]) -> Value:
    return tla_set(
        [
            record({"from": of, "to": to, "term": term, "index": index, "entryTerm": entry})
            for of, to, term, index, entry in requests
        ]
    )


def _acks(acks: tuple[tuple[tuple[str, int], int], ...]) -> Value:
    return tla_set(
        [record({"from": of, "term": term, "index": index}) for (of, term), index in acks]
    )


def _transfers(requests: frozenset[tuple[str, str, int, int]]) -> Value:
    return tla_set(
        [
            record({"from": of, "to": to, "term": term, "index": index})
            for of, to, term, index in requests
        ]
    )
