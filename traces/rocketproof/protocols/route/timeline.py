"""What an action of Route changed, in words.

 ms  node  action                      what changed
 12  b1    LearnRole(1)                broker 1 is master of epoch 1
 14  n1    ReceiveRegistration(n1, 1)  n1: 0 is broker 1; topics of n1: rw
612  n1    Remove(n1, 1)               n1: broker 1 is gone; topics of n1: r
"""

from __future__ import annotations

from collections.abc import Iterator

from rocketproof.timeline_text import fields_of, items, plain
from tlatrace.values import State, TlaSet, Value, canonical

__all__ = ["route_changes"]


def route_changes(before: State, after: State) -> str:
    """Say what changed; of what is on its way only what is new."""
    return "; ".join(
        [
            *_brokers(before, after),
            *_tables(before["table"], after["table"]),
            *_topics(before["perm"], after["perm"]),
            *_sent("under way", before["regs"], after["regs"]),
            *_sent("to end", before["unregs"], after["unregs"]),
            *_told(before["notes"], after["notes"]),
        ]
    )


def _brokers(before: State, after: State) -> Iterator[str]:
    for at, now in enumerate(items(after["up"])):
        if now != items(before["up"])[at]:
            yield f"broker {at + 1} {'runs' if now is True else 'is down'}"
    for at, now in enumerate(items(after["role"])):
        role = fields_of(now)
        if now != items(before["role"])[at] and role["ver"] != 0:
            what = "master" if role["id"] == 0 else "slave"
            yield f"broker {at + 1} is {what} of epoch {plain(role['ver'])}"
    for at, now in enumerate(items(after["minId"])):
        if now != items(before["minId"])[at]:
            yield f"broker {at + 1} knows of {plain(now)} as the smallest"
    for at, now in enumerate(items(after["serves"])):
        if now != items(before["serves"])[at]:
            yield f"broker {at + 1} {'serves' if now is True else 'does not serve any more'}"


def _tables(before: Value, after: Value) -> Iterator[str]:
    for name, table in fields_of(after).items():
        was, now = _by_broker(fields_of(before)[name]), _by_broker(table)
        for broker, broker_id in now.items():
            if was.get(broker) != broker_id:
                yield f"{name}: {broker_id} is broker {broker}"
        for broker in was:
            if broker not in now:
                yield f"{name}: broker {broker} is gone"


def _by_broker(table: Value) -> dict[str, str]:
    entries = map(fields_of, _elements(table))
    return {plain(entry["b"]): plain(entry["id"]) for entry in entries}


def _topics(before: Value, after: Value) -> Iterator[str]:
    for name, perm in fields_of(after).items():
        if perm != fields_of(before)[name]:
            yield f"topics of {name}: {plain(perm)}"


def _sent(what: str, before: Value, after: Value) -> Iterator[str]:
    for one in _new(before, after):
        entry = fields_of(one["e"])
        yield f"{what} at {plain(one['n'])}: broker {plain(entry['b'])} as {plain(entry['id'])}"


def _told(before: Value, after: Value) -> Iterator[str]:
    for one in _new(before, after):
        yield f"{plain(one['n'])} tells broker {plain(one['b'])}: {plain(one['id'])}"


def _new(before: Value, after: Value) -> Iterator[dict[str, Value]]:
    old = {canonical(one) for one in _elements(before)}
    for one in _elements(after):
        if canonical(one) not in old:
            yield fields_of(one)


def _elements(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, TlaSet)
    return value.elements
