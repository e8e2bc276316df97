"""Some invariants of EpochTruncation in Python, over states as JSON: enough to see a bug at work.

The judge of runs is TLC; this is for tests that must not start a JVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tlatrace.trace import Trace
from tlatrace.values import state_to_json

__all__ = ["violations"]

_NO_LINK: Final = {"peer": "none"}


def violations(trace: Trace) -> set[str]:
    """Return the names of the invariants that some state or step of a run violates."""
    found: set[str] = set()
    before: Any = None
    for event in trace.events:
        assert event.state is not None
        after: Any = state_to_json(event.state)
        found.update(_of_state(after))
        if before is not None:
            found.update(_of_step(before, str(event.action), event.params, after))
        before = after
    return found


def _epoch_at(entries: Any, offset: int) -> int:
    fits = [x["e"] for x in entries if x["s"] <= offset and (x["end"] == -1 or offset < x["end"])]
    return fits[-1] if fits else 0


def _of_state(s: Any) -> Iterator[str]:
    if s["acted"] > 1:
        yield "EpochPerIncarnation"
    starts: dict[int, int] = {}
    for b, entries in s["epochs"].items():
        log = s["log"][b]
        ends = [*(x["s"] for x in entries[1:]), -1] if entries else []
        if [x["end"] for x in entries] != ends:
            yield "EpochWellFormed"
        if s["role"][b] != "Down" and entries and entries[-1]["s"] > len(log):
            yield "EpochLeLog"
        if s["role"][b] != "Down" and entries and entries[-1]["e"] > s["known"][b]:
            yield "KnownCoversEpochs"
        if s["role"][b] == "Master" and (entries or [{"e": 0}])[-1]["e"] != s["known"][b]:
            yield "RoleAtomic"
        if s["epochsDisk"][b] != [{"e": x["e"], "s": x["s"]} for x in entries]:
            yield "EpochDurable"
        if s["disk"][b] != log[: len(s["disk"][b])]:
            yield "TruncationDurable"
        if any(_epoch_at(entries, at) != epoch for at, epoch in enumerate(log)):
            yield "EpochFaithful"
        for x in entries:
            if starts.setdefault(x["e"], x["s"]) != x["s"]:
                yield "EpochStartUnique"
    yield from _of_links(s)


def _of_links(s: Any) -> Iterator[str]:
    for slave, link in s["link"].items():
        if link == _NO_LINK or not link["open"]:
            continue
        log, masters = s["log"][slave], s["log"][link["peer"]]
        if link["phase"] == "Transfer" and masters[: len(log)] != log:
            yield "PrefixAfterHandshake"
        for packet in link["down"]:
            if packet["type"] == "Transfer" and set(packet["recs"]) - {packet["epoch"]}:
                yield "BatchOneEpoch"


def _of_step(before: Any, action: str, params: Any, after: Any) -> Iterator[str]:
    match action:
        case "ReceiveHandshake":
            [slave] = params
            if before["link"][slave]["down"][0]["epoch"] < before["known"][slave]:
                yield "FollowFencing"
        case "LearnEpoch":
            [slave] = params
            if before["link"][slave]["peer"] not in (before["ctl"]["master"], "none"):
                yield "MayKeepLink"
        case "BecomeMaster":
            [master] = params
            if after["flushed"][master] != len(after["log"][master]):
                yield "FlushedAtBecomeMaster"
        case "Handshake":
            if before["role"][params[0]] != "Master":
                yield "MayAnswer"
        case _:
            pass
