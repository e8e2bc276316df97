"""What an action of PreOnline changed, in words.

ms  node  action                      what changed
12  b0    AskGroup                    the master waits for {1, 2}
20  b1    SendHaInfo(1)               1 knows where to connect to
31  b0    TakeTable(1)                the master has level:1 at 4, and has them of 1
"""

from __future__ import annotations

from collections.abc import Iterator

from rocketproof.timeline_text import fields_of, plain
from tlatrace.values import Fcn, State, TlaSet, Value, canonical

__all__ = ["pre_online_changes"]

_LINKS = {
    "none": "connects to nobody",
    "told": "knows where to connect to",
    "transfer": "is connected",
}


def pre_online_changes(before: State, after: State) -> str:
    """Say what changed."""
    return "; ".join(
        [
            *_flags("up", "runs", "is down", before, after),
            *_flags("serves", "serves", "does not serve any more", before, after),
            *_flags("masterAddr", "has a master", "has no master any more", before, after),
            *_tables(before["table"], after["table"]),
            *_saved(before["saved"], after["saved"]),
            *_links(before["link"], after["link"]),
            *_sets(before, after),
        ]
    )


def _pairs(value: Value) -> dict[int, Value]:
    """Return a function of brokers; of slaves 1, 2, ... it is a sequence."""
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    assert isinstance(value, Fcn), value
    return {int(plain(key)): of for key, of in value.pairs}


def _broker(number: int) -> str:
    return "the master" if number == 0 else f"slave {number}"


def _flags(name: str, yes: str, no: str, before: State, after: State) -> Iterator[str]:
    was = _pairs(before[name])
    for number, now in _pairs(after[name]).items():
        if now is not was[number]:
            yield f"{_broker(number)} {yes if now is True else no}"


def _tables(before: Value, after: Value) -> Iterator[str]:
    was = _pairs(before)
    for number, table in _pairs(after).items():
        for queue, offset in fields_of(table).items():
            if offset != fields_of(was[number])[queue]:
                yield f"{_broker(number)} has {queue} at {plain(offset)}"


def _saved(before: Value, after: Value) -> Iterator[str]:
    was = _pairs(before)
    for number, now in _pairs(after).items():
        if canonical(now) != canonical(was[number]):
            yield f"it is on the disk of {_broker(number)}"


def _links(before: Value, after: Value) -> Iterator[str]:
    was = _pairs(before)
    for number, now in _pairs(after).items():
        if now != was[number]:
            yield f"{_broker(number)} {_LINKS[plain(now)]}"


def _sets(before: State, after: State) -> Iterator[str]:
    if before["group"] != after["group"]:
        yield f"the name server has {_numbers(after['group'])}"
    if before["isolated"] is not after["isolated"]:
        yield "the master is isolated" if after["isolated"] is True else "the master is online"
    if before["members"] != after["members"] and after["isolated"] is True:
        yield f"the master waits for {_numbers(after['members'])}"
    if before["done"] != after["done"] and after["isolated"] is True:
        yield f"the master has the tables of {_numbers(after['done'])}"


def _numbers(value: Value) -> str:
    assert isinstance(value, TlaSet)
    return "{" + ", ".join(plain(one) for one in value.elements) + "}"
