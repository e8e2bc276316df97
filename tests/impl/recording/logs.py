"""Logs of nodes, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import STARTED, NodeHeader, NodeRecord, SentMessage

__all__ = ["HEADER", "header", "log", "record"]


def header(node: str = "b1", protocol: str = "lock_quorum") -> NodeHeader:
    """Return what stands before the records of a node."""
    return NodeHeader(protocol=protocol, node=node, settings={"life_ms": 3_000})


HEADER: Final = header()


def record(
    sequence: int,
    *,
    node: str = "b1",
    incarnation: int = 1,
    at_ns: int | None = None,
    event: str | None = None,
    sent: Sequence[str] = (),
    received: Sequence[str] = (),
) -> NodeRecord:
    """Return a step; the first one is the start, and a nanosecond passes with each."""
    return NodeRecord(
        node=node,
        incarnation=incarnation,
        sequence=sequence,
        at_ns=sequence if at_ns is None else at_ns,
        shows_ms=0,
        event=event or (STARTED if sequence == 0 else "Stepped"),
        sent=tuple([SentMessage(id=one) for one in sent]),
        received=tuple(received),
    )


def log(node: str, *records: NodeRecord) -> NodeLog:
    """Return the log of a node."""
    return NodeLog(header=header(node), records=records)
