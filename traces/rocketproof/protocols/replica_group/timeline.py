"""What a step of a whole broker group changed, as text.

A connection is told by the master's end: `b2 reported 3, ack 2` of `b1` is what its slave b2 has
reported over it, and what b1 has heard of that.
"""

from __future__ import annotations

from typing import Final

from rocketproof.timeline_text import epochs, fields_of, items, numbers, plain
from tlatrace.values import Fcn, State, TlaSet, Value, canonical

__all__ = ["GROUP_SPEC", "group_changes"]

GROUP_SPEC: Final = "ReplicaGroup"

_SAME_WORDS: Final = {"views", "alters"}
"""What the controller and proposals ever were: their last ones show elsewhere."""
_OF_CONTROLLER: Final = {"ctl", "alive"}


def group_changes(before: State, after: State) -> str:
    """Say what changed, broker by broker."""
    texts: dict[str, list[str]] = {}
    for name, new in after.items():
        old = before[name]
        if new is old or name in _SAME_WORDS or canonical(new) == canonical(old):
            continue
        if name in _OF_CONTROLLER:
            texts.setdefault("controller", []).append(_of_controller(name, old, new))
        elif isinstance(new, Fcn):
            for broker, value in fields_of(new).items():
                was = fields_of(old)[broker]
                if canonical(value) != canonical(was):
                    texts.setdefault(broker, []).append(_of_broker(name, was, value))
        elif isinstance(new, TlaSet):
            texts.setdefault(name, []).append(_names(new))
        else:
            texts.setdefault(name, []).append(f"[{numbers(new)}]")
    return "; ".join(f"{who}: {', '.join(parts)}" for who, parts in texts.items())


def _of_controller(name: str, was: Value, now: Value) -> str:
    if name == "alive":
        return f"alive {_names(now)}"
    old, new = fields_of(was), fields_of(now)
    parts: list[str] = []
    if canonical(old["epoch"]) != canonical(new["epoch"]) or old["master"] != new["master"]:
        parts.append(f"master {plain(new['master'])} of epoch {plain(new['epoch'])}")
    if canonical(old["sssEpoch"]) != canonical(new["sssEpoch"]):
        parts.append(f"set {_names(new['sss'])} v{plain(new['sssEpoch'])}")
    if canonical(old["unfit"]) != canonical(new["unfit"]):
        parts.append(f"unfit {_names(new['unfit'])}")
    if canonical(old["inc"]) != canonical(new["inc"]):
        incarnations = fields_of(new["inc"]).items()
        parts.append("inc " + " ".join(f"{broker}:{plain(n)}" for broker, n in incarnations))
    return ", ".join(parts)


def _of_broker(name: str, was: Value, now: Value) -> str:
    match name:
        case "role":
            return f"{plain(was)} -> {plain(now)}"
        case "log":
            return f"log [{numbers(now)}]"
        case "epochs":
            return f"epochs [{epochs(now)}]"
        case "local":
            fields = fields_of(now)
            return f"local {_names(fields['set'])} v{plain(fields['epoch'])}"
        case "pend":
            fields = fields_of(now)
            return f"proposes {_names(fields['set'])}" if "exp" in fields else "no proposal"
        case "conn":
            return ", ".join(
                _connection(slave, end)
                for slave, end in fields_of(now).items()
                if canonical(end) != canonical(fields_of(was)[slave])
            )
        case _:
            return f"{name} {plain(was)} -> {plain(now)}"


def _connection(slave: str, end: Value) -> str:
    fields = fields_of(end)
    if fields["reported"] == -1:
        return f"{slave} closed"
    return f"{slave} reported {plain(fields['reported'])}, ack {plain(fields['ack'])}"


def _names(value: Value) -> str:
    elements = value if isinstance(value, TlaSet) else items(value)
    return "{" + " ".join(plain(one) for one in elements) + "}"
