"""Some rules of LegacyReplication in Python, over states as JSON: enough to see a bug at work.

The judge of runs is TLC; this is for tests that must not start a JVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tlatrace.trace import Trace
from tlatrace.values import state_to_json

__all__ = ["violations"]

MASTER = "b1"


def violations(trace: Trace) -> set[str]:
    """Return the names of the rules that some state or step of a run violates."""
    assert trace.header is not None
    files = trace.header.constants["FileRecords"]
    found: set[str] = set()
    before: Any = None
    for event in trace.events:
        assert event.state is not None
        after: Any = state_to_json(event.state)
        found.update(_of_state(after))
        if before is not None:
            found.update(_of_step(before, str(event.action), event.params, after, files))
        before = after
    return found


def _end(s: Any, broker: str) -> int:
    return int(s["begin"][broker] + len(s["log"][broker]))


def _ends(s: Any, slave: str) -> list[Any]:
    link = s["link"][slave]
    own = [link] if link["held"] and link["served"] else []
    return [*s["stale"][slave], *own]


def _ack_of(s: Any, slave: str) -> int:
    heard = [end["ack"] for end in _ends(s, slave) if end["ack"] != -1]
    return heard[-1] if heard else -1


def _of_state(s: Any) -> Iterator[str]:
    log = s["log"][MASTER]
    ahead = set(s["ahead"]["#set"])
    for slave, link in s["link"].items():
        if any(end["ack"] > len(log) for end in _ends(s, slave)):
            yield "AckLeMax"
        heard = link["held"] and link["served"] and link["ack"] != -1
        if heard and _ack_of(s, slave) > _end(s, slave):
            yield "AckSound"
        if link["held"] and link["reported"] != _end(s, slave):
            yield "ReportedIsEnd"
        begin, end = s["begin"][slave], _end(s, slave)
        if slave not in ahead and (end > len(log) or s["log"][slave] != log[begin:end]):
            yield "PrefixOfMaster"
    for put in s["acked"]["#set"]:
        had = [slave for slave in s["link"] if slave in ahead or _had(s, slave, put)]
        if len(had) < put["need"]:
            yield "AckedOnSlaves"


def _had(s: Any, slave: str, put: Any) -> bool:
    at = put["o"] - s["begin"][slave]
    log = s["log"][slave]
    lost = {"o": put["o"], "i": put["i"]} in s["lost"][slave]["#set"]
    return lost or (0 <= at < len(log) and log[at] == put["i"])


def _of_step(
    before: Any, action: str, params: tuple[Any, ...], after: Any, files: Any
) -> Iterator[str]:
    if action == "PutOk":
        acks = [_ack_of(before, slave) for slave in before["link"]]
        [need] = [w["need"] for w in before["waiting"]["#set"] if w["o"] == params[0]]
        if sum(ack > params[0] for ack in acks) < need:
            yield "PutOk"
    if action == "ReceiveReport" and params[1] == 0 and before["link"][params[0]]["ack"] == -1:
        log = before["log"][MASTER]
        offsets = [max(len(log) - 1, 0), *(w["o"] for w in before["waiting"]["#set"])]
        if after["link"][params[0]]["next"] != min(offsets) // files * files:
            yield "StartForEmpty"
