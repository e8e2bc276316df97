"""What an action of DLedger changed, in words.

ms  node  action            what changed
12  b1    ParseVotes(b1)    b1 is Leader, follows b1
15  b1    AppendAsLeader(b1)  b1's log ends at 1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rocketproof.timeline_text import fields_of, plain
from tlatrace.values import State, Value

__all__ = ["dledger_changes"]

_WORDS: Final = {
    "term": "is in term {}",
    "vote": "votes for {}",
    "refill": "votes with an entry of term {} at least",
    "synced": "has synchronized {}",
    "base": "has cut {}",
    "snap": "has a snapshot of {}",
    "role": "is {}",
    "leader": "follows {}",
    "known": "has heard of term {}",
    "taking": "shall lead in term {}",
    "transferee": "hands over to {}",
    "same": "knows that {} are its leader's",
    "commit": "has committed {}",
    "applied": "has applied {}",
    "inc": "has started {} times again",
}


def dledger_changes(before: State, after: State) -> str:
    """Say what changed, member by member."""
    return "; ".join(_changes(before, after))


def _changes(before: State, after: State) -> Iterator[str]:
    for variable, words in _WORDS.items():
        was = fields_of(before[variable])
        for name, value in fields_of(after[variable]).items():
            if value != was[name]:
                yield f"{name} {words.format(plain(value))}"
    was = fields_of(before["log"])
    for name, log in fields_of(after["log"]).items():
        if log != was[name]:
            yield f"{name}'s log ends at {_length(log)}"
    for variable, words in (("asks", "asked for votes"), ("acks", "acknowledged")):
        if before[variable] != after[variable]:
            yield words


def _length(log: Value) -> int:
    assert isinstance(log, tuple)
    return len(log)
