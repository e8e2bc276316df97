"""What an action of Escape changed, in words.

ms  node  action             what changed
12  b2    Put(3, b11)        3 is on its way to b11
15  b11   StorePut(3, b11)   b11 has 3; consumers can read 3
19  b2    HearPut(3, b11)    the slave has heard of 3
"""

from __future__ import annotations

from collections.abc import Iterator

from rocketproof.timeline_text import fields_of, plain
from tlatrace.values import Fcn, State, TlaSet, Value

__all__ = ["escape_changes"]

_SETS = {
    "known": ("the slave knows {}", "the slave does not know {} any more"),
    "heard": ("the slave has heard of {}", ""),
    "failed": ("a put of {} has failed", ""),
    "own": ("{} is in the slave's own log", ""),
    "op": ("the slave's log says that {} has ended", ""),
    "visible": ("consumers can read {}", ""),
    "accepted": ("a consumer is told that the ACK of {} is stored", ""),
    "revived": ("{} is delivered again", ""),
}


def escape_changes(before: State, after: State) -> str:
    """Say what changed."""
    return "; ".join(
        [
            *_flags(before, after),
            *_numbers(before, after),
            *_sent(before, after),
            *_sets(before, after),
            *_of_masters(before, after),
            *_of_pops(before, after),
            *_ended(before, after),
        ]
    )


def _flags(before: State, after: State) -> Iterator[str]:
    if before["up"] is not after["up"]:
        yield "the slave runs" if after["up"] is True else "the slave is down"
    if before["acts"] is not after["acts"]:
        yield "it acts" if after["acts"] is True else "it does not act any more"


def _numbers(before: State, after: State) -> Iterator[str]:
    if before["progress"] != after["progress"]:
        yield f"{plain(after['progress'])} records are passed"
    if before["saved"] != after["saved"]:
        yield f"on its disk {plain(after['saved'])} are"


def _sent(before: State, after: State) -> Iterator[str]:
    for put in _added(before["sent"], after["sent"]):
        fields = fields_of(put)
        yield f"{plain(fields['r'])} is on its way to {plain(fields['m'])}"
    for one in _added(before["popSent"], after["popSent"]):
        fields = fields_of(one)
        what = "the check point" if plain(fields["is"]) == "ck" else "the ACK"
        yield f"{what} of {plain(fields['p'])} is on its way to {plain(fields['m'])}"


def _sets(before: State, after: State) -> Iterator[str]:
    for name, (came, went) in _SETS.items():
        for one in _added(before[name], after[name]):
            yield came.format(plain(one))
        if went:
            for one in _added(after[name], before[name]):
                yield went.format(plain(one))


def _of_masters(before: State, after: State) -> Iterator[str]:
    was, now = fields_of(before["alive"]), fields_of(after["alive"])
    for master, runs in now.items():
        if runs is not was[master]:
            yield f"{master} runs" if runs is True else f"{master} is down"
    had = fields_of(before["log"])
    for master, log in fields_of(after["log"]).items():
        for one in _added(had[master], log):
            yield f"{master} has {plain(one)}"


def _of_pops(before: State, after: State) -> Iterator[str]:
    was = _pairs(before["ckAt"])
    for pop, master in _pairs(after["ckAt"]).items():
        if master != was[pop]:
            yield f"{plain(master)} has the check point of {pop}"
    had = _pairs(before["ackAt"])
    for pop, masters in _pairs(after["ackAt"]).items():
        for master in _added(had[pop], masters):
            yield f"{plain(master)} has the ACK of {pop}"


def _ended(before: State, after: State) -> Iterator[str]:
    was = _pairs(before["ended"])
    for half, how in _pairs(after["ended"]).items():
        if how != was[half]:
            yield f"its producer wants for {half}: {plain(how)}"


def _pairs(value: Value) -> dict[str, Value]:
    """Return a function by its arguments; of 1, 2, ... it is a sequence."""
    if isinstance(value, tuple):
        return {str(at): one for at, one in enumerate(value, start=1)}
    assert isinstance(value, Fcn), value
    return {plain(key): of for key, of in value.pairs}


def _added(before: Value, after: Value) -> list[Value]:
    assert isinstance(before, TlaSet), before
    assert isinstance(after, TlaSet), after
    return [one for one in after.elements if one not in before.elements]
