"""What a master without a controller owes its producers, and what both ends of connections owe.

| obligation        | on the occasion                              | by when                       |
|-------------------|----------------------------------------------|-------------------------------|
| answers to puts   | a producer's call                            | at once if it waits for no    |
|                   |                                              | slave; when its time is up    |
| patience          | FLUSH_SLAVE_TIMEOUT                          | not before its time is up     |
| acknowledged puts | enough slaves have reported a message's end, | GroupTransferService looks in |
|                   | each over its newest connection              | the next milliseconds         |

Source: GroupTransferService, CommitLog.handleHA
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rocketha.obligations.connections import CONNECTIONS, packet
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.record import STARTED, STOPPED
from rocketha.types import TimestampMs

__all__ = ["LEGACY_REPLICATION"]

_LOOK_MS: Final = 20
"""The service looks every few milliseconds, and a timer answers one producer after the other."""


@dataclass(slots=True)
class _Put:
    """A producer's call."""

    put: int
    need: int
    at_ms: TimestampMs
    until_ms: TimestampMs
    """When its master stops."""
    end: int | None = None
    """Of its record."""
    copied_ms: TimestampMs | None = None
    """When enough slaves have reported that."""
    answered_ms: TimestampMs | None = None
    status: str = ""

    def is_copied(self, reports: Iterable[int]) -> bool:
        """Tell whether enough slaves have reported its end, by the last report of each."""
        end = self.end
        return end is not None and sum(report >= end for report in reports) >= self.need

    def due(self, master: str, since_ms: TimestampMs, wait_ms: int, what: str) -> Iterator[Due]:
        """Yield that it is to be answered in a time, unless its master stops before."""
        by_ms = TimestampMs(since_ms + wait_ms)
        if by_ms < self.until_ms:
            yield Due(
                node=master,
                since_ms=since_ms,
                by_ms=by_ms,
                what=f"{what} call {self.put}",
                done_ms=self.answered_ms,
            )


def _master(run: RecordedRun) -> tuple[str, dict[str, Any]]:
    """Return the master and how it is set up."""
    return next(
        (name, head.settings)
        for name, head in run.headers.items()
        if head.settings["kind"] == "master"
    )


def _puts(run: RecordedRun) -> list[_Put]:
    """Follow every call, and what the master heard of its slaves."""
    master, _ = _master(run)
    senders = {message.id: record.node for record in run.records for message in record.sent}
    contents = {message.id: packet(message) for record in run.records for message in record.sent}
    calls: dict[int, _Put] = {}
    reports: dict[int, tuple[str, int]] = {}
    """Connection that the master has -> the slave, and its last report."""
    for record in run.by_node[master]:
        at_ms = time_ms(record)
        if record.event in (STARTED, STOPPED):
            reports.clear()
        for heard in record.heard:
            match heard["is"]:
                case "Asked":
                    until_ms = run.runs_until_ms(master, at_ms)
                    calls[heard["put"]] = _Put(heard["put"], heard["need"], at_ms, until_ms)
                case "MessageAppended":
                    calls[heard["put"]].end = heard["end"]
                case "ConnectionLost":
                    reports.pop(heard["conn"], None)
                case _:
                    pass
        for identity in record.received:
            if "report" in contents.get(identity, {}):
                conn = int(identity.partition(":")[0])
                reports[conn] = senders[identity], contents[identity]["report"]
        for message in record.sent:
            if message.id.endswith(":close"):
                reports.pop(int(message.id.partition(":")[0]), None)
        newest = {slave: report for _, (slave, report) in sorted(reports.items())}
        for one in calls.values():
            if one.answered_ms is None and not one.is_copied(newest.values()):
                one.copied_ms = None  # a connection is lost before the service looks
            elif one.answered_ms is None and one.copied_ms is None:
                one.copied_ms = at_ms
        for said in record.answered:
            one = calls[said["put"]]
            if one.answered_ms is None:
                one.answered_ms, one.status = at_ms, said["status"]
    return list(calls.values())


def _answers(run: RecordedRun) -> Iterator[Due]:
    master, settings = _master(run)
    for one in _puts(run):
        wait_ms = settings["slave_timeout_ms"] + _LOOK_MS if one.need else 0
        yield from one.due(master, one.at_ms, wait_ms, "answer")


def _patience(run: RecordedRun) -> Iterator[Due]:
    master, settings = _master(run)
    for one in _puts(run):
        if one.status == "FLUSH_SLAVE_TIMEOUT" and one.answered_ms is not None:
            is_over = one.answered_ms - one.at_ms >= settings["slave_timeout_ms"] and one.need > 0
            yield Due(
                node=master,
                since_ms=one.at_ms,
                by_ms=one.answered_ms,
                what=f"wait for slaves before it answers call {one.put}",
                done_ms=one.answered_ms if is_over else None,
            )


def _acknowledged(run: RecordedRun) -> Iterator[Due]:
    master, _ = _master(run)
    for one in _puts(run):
        if one.need and one.copied_ms is not None:
            yield from one.due(master, one.copied_ms, _LOOK_MS, "say PUT_OK to")


LEGACY_REPLICATION: Final = (
    Obligation(name="answers to puts", dues=_answers),
    Obligation(name="patience", dues=_patience),
    Obligation(name="acknowledged puts", dues=_acknowledged),
    *CONNECTIONS,
)
"""Of a master, its slaves, and their connections."""
