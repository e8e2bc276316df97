"""What a controller must know that starts again: what it knew when it stopped.

| on the occasion          | it must                                                              |
|--------------------------|----------------------------------------------------------------------|
| it starts again          | know what it knew when it stopped                                    |
| it starts                | replay fewer entries than lie between two snapshots: it has loaded   |
|                          | the newest, or there is none yet                                     |

Only records of a machine show it that write what a controller knew (`TablesLeft`), and what one has
read from its disk (`read`).

Source: RIP-59, "SnapshotManager"
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.record import STARTED, Json, NodeRecord

__all__ = ["CONTROLLER_RESTARTS"]

_CONTROLLER: Final = "controller"


def _dues(run: RecordedRun) -> Iterator[Due]:
    threshold = run.headers[_CONTROLLER].settings.get("snapshot_threshold")
    left: Json = None
    for record in run.by_node.get(_CONTROLLER, ()):
        for heard in record.heard:
            if heard["is"] == "TablesLeft":
                left = heard["state"]
        read = record.state.get("read")
        if record.event != STARTED or read is None:
            continue
        if left is not None:
            yield _due(record, "know what it knew when it stopped", read["state"] == left)
        if threshold is not None:
            is_short = read["replayed"] < threshold
            yield _due(record, f"replay fewer than {threshold} entries", is_short)


def _due(record: NodeRecord, what: str, is_done: bool) -> Due:
    at_ms = time_ms(record)
    done_ms = at_ms if is_done else None
    return Due(node=_CONTROLLER, since_ms=at_ms, by_ms=at_ms, what=what, done_ms=done_ms)


CONTROLLER_RESTARTS: Final = Obligation(name="restarts of the controller", dues=_dues)
