"""What an action of Register changed, in words.

ms  node  action            what changed
12  b1    Elect(b1, 1)      b1 leads in term 1; b1's log ends at 1
15  b1    Write(b1, c1)     b1's log ends at 2; c1: write of 1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rocketproof.timeline_text import fields_of, plain
from tlatrace.values import State, Value

__all__ = ["register_changes"]

_WORDS: Final = {
    "term": "leads in term {}",
    "commit": "has committed {}",
    "applied": "has applied {}",
}


def register_changes(before: State, after: State) -> str:
    """Say what changed, member by member, and then client by client."""
    return "; ".join((*_of_members(before, after), *_of_clients(before, after)))


def _of_members(before: State, after: State) -> Iterator[str]:
    for variable, words in _WORDS.items():
        was = fields_of(before[variable])
        for name, value in fields_of(after[variable]).items():
            if value == was[name]:
                continue
            if variable == "term" and value == 0:
                yield f"{name} leads no more"
            else:
                yield f"{name} {words.format(plain(value))}"
    was = fields_of(before["log"])
    for name, log in fields_of(after["log"]).items():
        if log != was[name]:
            assert isinstance(log, tuple)
            yield f"{name}'s log ends at {len(log)}"


def _of_clients(before: State, after: State) -> Iterator[str]:
    was = fields_of(before["calls"])
    for name, call in fields_of(after["calls"]).items():
        if call != was[name]:
            yield f"{name} {_call_words(call)}"


def _call_words(call: Value) -> str:
    fields = fields_of(call)
    kind = plain(fields["kind"])
    if kind == "none":
        return "waits no more"
    if fields["answered"] is True:
        return f"hears {plain(fields['value'])}: {kind}"
    if fields["confirmed"] is True:
        return f"waits at {plain(fields['at'])}, who led when it was asked"
    asked = f"{kind} of {plain(fields['value'])}" if kind == "write" else kind
    return f"waits at {plain(fields['at'])}: {asked}, index {plain(fields['index'])}"
