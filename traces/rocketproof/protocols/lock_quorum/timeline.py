"""What an action of LockQuorum changed, in words.

  ms  node  action                  what changed
   7  c1    Lock(c1, {q1}, b1)      c1 begins attempt 1; b1 asked: q1
   9  b1    ReceiveAsk(c1, b1)      b1 is for c1: q1; b2, b3 asked: q1
3009  none  Tick(3000)              b1 is no longer for c1: q1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rocketproof.timeline_text import fields_of, plain
from tlatrace.values import State, TlaSet, Value, canonical

__all__ = ["LOCK_SPEC", "lock_changes"]

LOCK_SPEC: Final = "LockQuorum"


def lock_changes(before: State, after: State) -> str:
    """Say what changed; what is left of votes and leases only where it has come to an end."""
    return "; ".join(
        [
            *_votes(before["votes"], after["votes"]),
            *_waits(before["wait"], after["wait"]),
            *_attempts(before["attempt"], after["attempt"]),
            *_leases(before["lease"], after["lease"]),
            *_sent("asked", before["asks"], after["asks"]),
            *_sent("told to let go", before["frees"], after["frees"]),
            *_last(before["last"], after["last"]),
        ]
    )


def _votes(before: Value, after: Value) -> Iterator[str]:
    for broker, table in fields_of(after).items():
        gone: dict[str, list[str]] = {}
        new: dict[str, list[str]] = {}
        again: dict[str, list[str]] = {}
        for queue, vote in fields_of(table).items():
            was = fields_of(fields_of(fields_of(before)[broker])[queue])
            now = fields_of(vote)
            if was["c"] != now["c"]:
                if "left" in was:
                    gone.setdefault(plain(was["c"]), []).append(queue)
                if "left" in now:
                    new.setdefault(plain(now["c"]), []).append(queue)
            elif "left" in now and _number(now["left"]) > _number(was["left"]):
                again.setdefault(plain(now["c"]), []).append(queue)
        for client, queues in gone.items():
            yield f"{broker} is no longer for {client}: {_list(queues)}"
        for client, queues in new.items():
            yield f"{broker} is for {client}: {_list(queues)}"
        for client, queues in again.items():
            yield f"{broker} is for {client} again: {_list(queues)}"


def _waits(before: Value, after: Value) -> Iterator[str]:
    for broker, wait in fields_of(after).items():
        was, now = _number(fields_of(before)[broker]), _number(wait)
        if now > was:
            yield f"{broker} does not vote for {now} ms"
        elif was and not now:
            yield f"{broker} votes again"


def _attempts(before: Value, after: Value) -> Iterator[str]:
    for client, attempt in fields_of(after).items():
        was, now = fields_of(fields_of(before)[client]), fields_of(attempt)
        if "qs" in now and "qs" not in was:
            yield f"{client} begins attempt {plain(now['n'])}"
        elif "qs" in was and "qs" not in now:
            yield f"{client} ends attempt {plain(was['n'])}"
        elif "qs" in now and _number(was["left"]) and not _number(now["left"]):
            yield f"{client} has waited for long enough"


def _leases(before: Value, after: Value) -> Iterator[str]:
    for client, leases in fields_of(after).items():
        got: list[str] = []
        lost: list[str] = []
        for queue, lease in fields_of(leases).items():
            was, now = _number(fields_of(fields_of(before)[client])[queue]), _number(lease)
            if now > was:
                got.append(queue)
            elif was and not now:
                lost.append(queue)
        if got:
            yield f"{client} holds {_list(got)}"
        if lost:
            yield f"{client} does not hold {_list(lost)} any more"


def _sent(what: str, before: Value, after: Value) -> Iterator[str]:
    old = {canonical(message) for message in _elements(before)}
    new = [fields_of(message) for message in _elements(after) if canonical(message) not in old]
    if new:
        queues = _list(plain(queue) for queue in _elements(new[0]["qs"]))
        yield f"{_list(plain(message['r']) for message in new)} {what}: {queues}"


def _last(before: Value, after: Value) -> Iterator[str]:
    for queue, client in fields_of(after).items():
        if fields_of(before)[queue] != client:
            yield f"{queue} is processed by {plain(client)} now"


def _elements(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, TlaSet)
    return value.elements


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
