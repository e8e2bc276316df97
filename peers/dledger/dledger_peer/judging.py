"""What a run of a group has to keep: what its clients were told, and the logs of its nodes.

| promise  | what                                                                            |
|----------|---------------------------------------------------------------------------------|
| matching | at the end all logs are the same, entry by entry, with pos; terms never fall    |
| kept     | an acknowledged entry is in each log, at the index and of the term answered     |
| once     | no body is there twice; none that was refused, and none that nobody appended    |
| in order | who appends after an acknowledgement has an entry behind it                     |

Together: the appends are linearizable, for a log that all nodes have. A run without acknowledged
entries, or without logs, has shown nothing, and is no good run.

A file of a run is lines of JSON: what it was, then appends, then entries of each node.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["REFUSED", "Append", "LogEntry", "Run", "judge", "read_run", "write_run"]

REFUSED: Final = frozenset({401, 400, 404, 503, 506})
"""Codes that say that an entry was not written: wrong member or group, no leader, full, handing
over. All else, and no answer, leaves it open."""

_ACKNOWLEDGED: Final = 200
_SHOWN_MAX: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
    """A client's call, and its answer."""

    client: str
    node: str
    body: str
    begun_ns: int
    ended_ns: int
    """CLOCK_MONOTONIC, both."""
    code: int | None
    """None: there was no answer."""
    index: int = -1
    term: int = -1

    def __str__(self) -> str:
        return (
            f"{self.client}'s {self.body.rstrip('.')} at {self.node}, {self.index} of {self.term}"
        )

    @property
    def is_acknowledged(self) -> bool:
        """Tell whether it must be kept."""
        return self.code == _ACKNOWLEDGED


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """An entry in the files of a node."""

    index: int
    term: int
    pos: int
    body: str

    def __str__(self) -> str:
        return f"{self.body.rstrip('.')} at {self.index} of {self.term}, pos {self.pos}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What happened."""

    seed: int
    members: Mapping[str, str]
    """Node -> whose it is: "rocketha", or the release of DLedger."""
    faults: Sequence[str]
    appends: Sequence[Append]
    logs: Mapping[str, Sequence[LogEntry]]


def judge(run: Run) -> list[str]:
    """Say what was not kept; nothing: all was. At most twenty of each kind."""
    if not any(one.is_acknowledged for one in run.appends):
        return ["nothing was acknowledged"]
    if set(run.logs) != set(run.members) or not all(run.logs.values()):
        return ["a log is missing, or empty"]
    found: list[str] = []
    for kind in (_matching(run), _kept(run), _once(run), _in_order(run)):
        found += [line for line, _ in zip(kind, range(_SHOWN_MAX), strict=False)]
    return found


def _matching(run: Run) -> Iterator[str]:
    first, *others = run.logs
    log = run.logs[first]
    for at, entry in enumerate(log):
        if entry.index != at:
            yield f"{first} has entry {entry.index} at place {at}"
        if at and entry.term < log[at - 1].term:
            yield f"{first} has term {entry.term} at {at}, behind {log[at - 1].term}"
    for other in others:
        if len(run.logs[other]) != len(log):
            yield f"{first} has {len(log)} entries, {other} has {len(run.logs[other])}"
        for one, same in zip(log, run.logs[other], strict=False):
            if one != same:
                yield f"{first} has {one}, {other} has {same}"


def _kept(run: Run) -> Iterator[str]:
    for append in run.appends:
        if not append.is_acknowledged:
            continue
        for node, log in run.logs.items():
            found = log[append.index] if 0 <= append.index < len(log) else None
            if found is None or (found.term, found.body) != (append.term, append.body):
                yield f"{append} is lost: {node} has {found}"


def _once(run: Run) -> Iterator[str]:
    asked = {one.body: one for one in run.appends}
    for node, log in run.logs.items():
        seen: dict[str, int] = {}
        for entry in log:
            if entry.body in seen:
                yield f"{node} has {entry.body} at {seen[entry.body]} and at {entry.index}"
            seen[entry.body] = entry.index
            append = asked.get(entry.body)
            if append is None:
                yield f"{node} has {entry}, which nobody has appended"
            elif append.code in REFUSED:
                yield f"{node} has {entry}, which was refused with {append.code}"


def _in_order(run: Run) -> Iterator[str]:
    asked = {one.body: one for one in run.appends}
    log = next(iter(run.logs.values()))
    last: Append | None = None
    for entry in log:
        append = asked.get(entry.body)
        if append is None:
            continue
        if append.is_acknowledged and last is not None and append.ended_ns < last.begun_ns:
            yield f"{append} was acknowledged before {last} began, and is behind it"
        if last is None or append.begun_ns > last.begun_ns:
            last = append


# ---- files ----


def write_run(path: Path, run: Run) -> None:
    """Write a run as a file, packed. Raises: OSError"""
    lines: list[Any] = [
        {"seed": run.seed, "members": dict(run.members), "faults": list(run.faults)},
        *({"append": asdict(one)} for one in run.appends),
        *({"entry": asdict(one), "node": node} for node, log in run.logs.items() for one in log),
    ]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_run(path: Path) -> Run:
    """Read what `write_run` has written. Raises: OSError, ValueError, KeyError, TypeError"""
    head, *lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    logs: dict[str, list[LogEntry]] = {node: [] for node in head["members"]}
    for line in lines:
        if "entry" in line:
            logs[line["node"]].append(LogEntry(**line["entry"]))
    return Run(
        seed=head["seed"],
        members=head["members"],
        faults=head["faults"],
        appends=[Append(**line["append"]) for line in lines if "append" in line],
        logs=logs,
    )
