"""What a step of SyncStateSet changed, as text: `s1.0` is a member with its incarnation."""

from __future__ import annotations

from typing import Final

from rocketproof.timeline_text import fields_of, items, plain
from tlatrace.values import Fcn, State, TlaSet, Value, canonical

__all__ = ["SET_SPEC", "master_epoch_changes"]

SET_SPEC: Final = "SyncStateSet"

_SAME_WORDS: Final = {"views", "alters"}
"""What the controller and proposals ever were: their last ones show elsewhere."""


def master_epoch_changes(before: State, after: State) -> str:
    """Say what changed, the controller's first."""
    texts: list[str] = []
    for name, new in after.items():
        old = before[name]
        if name in _SAME_WORDS or canonical(new) == canonical(old):
            continue
        match name:
            case "ctl":
                texts.append("controller: " + _control(fields_of(new)))
            case "local":
                texts.append(f"local {_members(new)}")
            case "pend" | "queue":
                sets = [_members(fields_of(one)["set"]) for one in _elements(new)]
                texts.append(f"{name} {' '.join(sets) or 'nothing'}")
            case _ if isinstance(new, Fcn):
                texts += [
                    _of_broker(name, broker, fields_of(old)[broker], value)
                    for broker, value in fields_of(new).items()
                    if canonical(value) != canonical(fields_of(old)[broker])
                ]
            case _:
                texts.append(f"{name} {plain(old)} -> {plain(new)}")
    return "; ".join(texts)


def _control(fields: dict[str, Value]) -> str:
    return f"master {plain(fields['master'])}, {_members(fields['sss'])} v{plain(fields['sssE'])}"


def _of_broker(name: str, broker: str, was: Value, now: Value) -> str:
    if name != "conn":
        return f"{broker}: {name} {plain(was)} -> {plain(now)}"
    fields = fields_of(now)
    if "reported" not in fields:
        return f"{broker}: closed"
    return f"{broker}: reported {plain(fields['reported'])}, ack {plain(fields['ack'])}"


def _members(value: Value) -> str:
    return "{" + " ".join(".".join(map(plain, items(one))) for one in _elements(value)) + "}"


def _elements(value: Value) -> list[Value]:
    assert isinstance(value, TlaSet), value
    return list(value)
