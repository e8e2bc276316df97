"""What the two ends of a connection of replication owe each other.

| obligation                | on the occasion                       | by when                    |
|---------------------------|---------------------------------------|----------------------------|
| silent connections closed | an end hears a packet, or is opened   | its housekeeping time      |
|                           |                                       | later, if it heard no more |
| live connections kept     | a timer closes an end                 | not before that            |
| signs of life             | an end says something                 | it says more a heartbeat   |
|                           |                                       | later                      |
| records sent              | a master appends while a slave copies | soon                       |

So either both ends learn that a connection is gone, or one does by the other's silence. A broker
writes `heartbeat_ms` and `housekeeping_ms` into its settings, and of its connections what it
accepted (`PeerAccepted`), lost (`ConnectionLost`), closed, sent and received.

Source: DefaultHAConnection, DefaultHAClient, AutoSwitchHAConnection, AutoSwitchHAClient
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

import msgspec

from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.record import STARTED, STOPPED, NodeRecord, SentMessage
from rocketha.types import TimestampMs

__all__ = ["CONNECTIONS", "End", "ends_of", "packet"]

_UNSENT: Final = ("Forged", "Repeated")
"""Packets that came, and that no peer has sent then."""
_TIMER_MS: Final = 20
"""A timer closes one connection after the other."""
_HEARTBEAT_MS: Final = 60
"""A sender looks every 20 ms at most."""
_BATCHES_MS: Final = 600
"""A log of some records, cut into batches of some bytes."""


def packet(message: SentMessage) -> dict[str, Any]:
    """Return what is in a packet."""
    found: dict[str, Any] = msgspec.json.decode(message.body or "{}")
    return found


@dataclass(slots=True)
class End:
    """One end of a connection, as its broker's records show it."""

    node: str
    conn: int
    is_server: bool
    opened_ms: TimestampMs
    heard_ms: list[TimestampMs]
    """When it was opened, and when it took a packet."""
    said: list[tuple[TimestampMs, dict[str, Any]]] = field(default_factory=list)
    closed_ms: TimestampMs | None = None
    closed_by: str = ""
    """The event in which its broker closed it itself."""


def _conn(identity: str) -> int | None:
    """Return the connection of a packet, of which the id begins with it."""
    number = identity.partition(":")[0]
    return int(number) if number.isdecimal() else None


def ends_of(run: RecordedRun, node: str) -> list[End]:
    """Return all ends of connections that a broker has had, in their order."""
    present: dict[int, End] = {}
    found: list[End] = []

    def opened(conn: int, at_ms: TimestampMs, *, is_server: bool) -> None:
        present[conn] = end = End(node, conn, is_server, at_ms, [at_ms])
        found.append(end)

    for record in run.by_node[node]:
        at_ms = time_ms(record)
        if record.event in (STARTED, STOPPED):
            for end in present.values():
                end.closed_ms = at_ms
            present.clear()
            continue
        for heard in record.heard:
            if heard["is"] == "PeerAccepted":
                opened(heard["conn"], at_ms, is_server=True)
            elif heard["is"] in _UNSENT and heard["conn"] in present:
                present[heard["conn"]].heard_ms.append(at_ms)
        _packets(record, at_ms, present, opened)
        for heard in record.heard:
            if heard["is"] == "ConnectionLost" and heard["conn"] in present:
                present.pop(heard["conn"]).closed_ms = at_ms
    return found


def _packets(record: NodeRecord, at_ms: TimestampMs, present: dict[int, End], opened: Any) -> None:
    """Note what a step took, said and closed."""
    for identity in record.received:
        conn = _conn(identity)
        if conn is not None and conn in present:
            present[conn].heard_ms.append(at_ms)
    for message in record.sent:
        conn = _conn(message.id)
        if conn is None:
            continue
        if message.id.endswith(":close"):
            if conn in present:
                end = present.pop(conn)
                end.closed_ms, end.closed_by = at_ms, record.event
            continue
        if conn not in present:
            opened(conn, at_ms, is_server=False)
        present[conn].said.append((at_ms, packet(message)))


def _all_ends(run: RecordedRun) -> Iterator[tuple[End, int, int]]:
    """Yield each end with the heartbeat and the housekeeping time of its broker."""
    for node, header in run.headers.items():
        if "housekeeping_ms" in header.settings:
            settings = header.settings
            for end in ends_of(run, node):
                yield end, settings["heartbeat_ms"], settings["housekeeping_ms"]


def _silent(run: RecordedRun) -> Iterator[Due]:
    for end, _, housekeeping_ms in _all_ends(run):
        for heard_ms, next_ms in zip_longest(end.heard_ms, end.heard_ms[1:]):
            by_ms = TimestampMs(heard_ms + housekeeping_ms + _TIMER_MS)
            if next_ms is None or next_ms > by_ms:
                yield Due(
                    node=end.node,
                    since_ms=heard_ms,
                    by_ms=by_ms,
                    what=f"close connection {end.conn}, which is silent",
                    done_ms=end.closed_ms,
                )


def _kept(run: RecordedRun) -> Iterator[Due]:
    for end, _, housekeeping_ms in _all_ends(run):
        if end.closed_by == "TimerFired" and end.closed_ms is not None:
            is_silent = end.closed_ms - end.heard_ms[-1] >= housekeeping_ms
            yield Due(
                node=end.node,
                since_ms=end.heard_ms[-1],
                by_ms=end.closed_ms,
                what=f"keep connection {end.conn} for {housekeeping_ms} ms of silence",
                done_ms=end.closed_ms if is_silent else None,
            )


def _signs(run: RecordedRun) -> Iterator[Due]:
    for end, heartbeat_ms, _ in _all_ends(run):
        said = [at_ms for at_ms, content in end.said if content.get("is") not in _BEFORE_TRANSFER]
        until_ms = run.ended_ms if end.closed_ms is None else end.closed_ms
        for said_ms, next_ms in zip_longest(said, said[1:]):
            by_ms = TimestampMs(said_ms + heartbeat_ms + _HEARTBEAT_MS)
            if by_ms < until_ms:
                yield Due(
                    node=end.node,
                    since_ms=said_ms,
                    by_ms=by_ms,
                    what=f"say something over connection {end.conn}",
                    done_ms=next_ms,
                )


_BEFORE_TRANSFER: Final = ("Handshake", "Reply")


def _sent(run: RecordedRun) -> Iterator[Due]:
    for node in run.headers:
        grown = list(_log_ends(run.by_node.get(node, ())))
        for end in ends_of(run, node) if grown else ():
            batches = [(at_ms, one) for at_ms, one in end.said if "size" in one]
            if not batches:
                continue
            until_ms = run.ended_ms if end.closed_ms is None else end.closed_ms
            for at_ms, log_end in grown:
                since_ms = max(at_ms, batches[0][0])
                by_ms = TimestampMs(since_ms + _BATCHES_MS)
                if at_ms >= end.opened_ms and by_ms < until_ms:
                    ends = ((sent_ms, one["offset"] + one["size"]) for sent_ms, one in batches)
                    done = (sent_ms for sent_ms, sent_end in ends if sent_end >= log_end)
                    yield Due(
                        node=node,
                        since_ms=since_ms,
                        by_ms=by_ms,
                        what=f"send its log up to {log_end} over connection {end.conn}",
                        done_ms=next(done, None),
                    )


def _log_ends(records: Iterable[NodeRecord]) -> Iterator[tuple[TimestampMs, int]]:
    """Yield when a broker has appended a message, and where its log ended then."""
    for record in records:
        for heard in record.heard:
            if heard["is"] == "MessageAppended":
                yield time_ms(record), heard["end"]


CONNECTIONS: Final = (
    Obligation(name="silent connections closed", dues=_silent),
    Obligation(name="live connections kept", dues=_kept),
    Obligation(name="signs of life", dues=_signs),
    Obligation(name="records sent", dues=_sent),
)
"""Of every broker that replicates and whose records show its packets."""
