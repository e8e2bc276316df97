"""Invariants of EpochTruncation in Python, by their names, for states that a test has in hand.

TLC checks the real ones. These say of a state that the model does not have what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise, permutations
from typing import Final

from tlatrace.values import Fcn, State, Value

__all__ = ["INVARIANTS", "broken", "reign_history"]

Ints = tuple[int, ...]
Starts = tuple[tuple[int, int], ...]


def broken(state: State) -> list[str]:
    """Return the names of the invariants that do not hold."""
    return [name for name, holds in INVARIANTS.items() if not holds(state)]


def _brokers(state: State) -> list[str]:
    return list(_function(state["role"]).fields())


def _up(state: State) -> list[str]:
    return [b for b in _brokers(state) if _function(state["role"])[b] != "Down"]


def _function(value: Value) -> Fcn:
    assert isinstance(value, Fcn), value
    return value


def _int(value: Value) -> int:
    assert isinstance(value, int), value
    return value


def _sequence(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, tuple), value
    return value


def _records(state: State, variable: str, broker: str) -> Ints:
    return tuple(_int(e) for e in _sequence(_function(state[variable])[broker]))


def _starts(state: State, variable: str, broker: str) -> Starts:
    entries = [_function(e) for e in _sequence(_function(state[variable])[broker])]
    return tuple((_int(entry["e"]), _int(entry["s"])) for entry in entries)


def _ends(state: State, broker: str) -> Ints:
    entries = _sequence(_function(state["epochs"])[broker])
    return tuple(_int(_function(entry)["end"]) for entry in entries)


def _prefix(a: Ints, b: Ints) -> int:
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def _described(starts: Starts, log_end: int) -> Ints:
    """Return the log that a cache describes; 0 where no entry does."""
    log = [0] * log_end
    for epoch, start in starts:
        log[start:] = [epoch] * (log_end - start)
    return tuple(log[:log_end])


def _epoch_well_formed(state: State) -> bool:
    return all(
        all(e < f and s < t for (e, s), (f, t) in pairwise(starts))
        and _ends(state, b) == (*(s for _, s in starts[1:]), *([-1] if starts else []))
        for b in _brokers(state)
        for starts in [_starts(state, "epochs", b)]
    )


def _epoch_le_log(state: State) -> bool:
    return all(
        start <= len(_records(state, "log", b))
        for b in _up(state)
        for _, start in _starts(state, "epochs", b)
    )


def _epoch_durable(state: State) -> bool:
    return all(
        _starts(state, "epochsDisk", b) == _starts(state, "epochs", b) for b in _brokers(state)
    )


def _epoch_faithful(state: State) -> bool:
    return all(
        _described(_starts(state, "epochs", b), len(log)) == log
        for b in _brokers(state)
        for log in [_records(state, "log", b)]
    )


def _epoch_start_unique(state: State) -> bool:
    return all(
        start == dict(_starts(state, "epochs", b)).get(epoch, start)
        for a, b in permutations(_brokers(state), 2)
        for epoch, start in _starts(state, "epochs", a)
    )


def _truncation_durable(state: State) -> bool:
    return all(
        log[: len(disk)] == disk
        for b in _brokers(state)
        for log, disk in [(_records(state, "log", b), _records(state, "disk", b))]
    )


def _log_matching(state: State) -> bool:
    return all(
        a[o] != b[o] or a[: o + 1] == b[: o + 1]
        for x, y in permutations(_brokers(state), 2)
        for a, b in [(_records(state, "log", x), _records(state, "log", y))]
        for o in range(min(len(a), len(b)))
    )


def _prefix_after_handshake(state: State) -> bool:
    for slave in _brokers(state):
        link = _function(_function(state["link"])[slave])
        if len(link) > 1 and link["open"] is True and link["phase"] == "Transfer":
            master = link["peer"]
            assert isinstance(master, str)
            log = _records(state, "log", slave)
            if _records(state, "log", master)[: len(log)] != log:
                return False
    return True


def reign_history(state: State) -> bool:
    """Tell whether brokers that know an epoch have the same records before it.

    An assumption of the theorem ConsistentPoint.
    """
    return all(
        _prefix(_records(state, "log", a), _records(state, "log", b)) >= start
        for a, b in permutations(_up(state), 2)
        for epoch, start in _starts(state, "epochs", a)
        if epoch in dict(_starts(state, "epochs", b))
    )


INVARIANTS: Final[Mapping[str, Callable[[State], bool]]] = {
    "EpochWellFormed": _epoch_well_formed,
    "EpochLeLog": _epoch_le_log,
    "EpochDurable": _epoch_durable,
    "EpochFaithful": _epoch_faithful,
    "EpochStartUnique": _epoch_start_unique,
    "TruncationDurable": _truncation_durable,
    "LogMatching": _log_matching,
    "PrefixAfterHandshake": _prefix_after_handshake,
}
