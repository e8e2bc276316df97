"""What a controller must know that starts again: what it knew when it stopped.

| on the occasion          | it must                                                              |
|--------------------------|----------------------------------------------------------------------|
| it stops                 | know what each broker has said last                                  |
| it starts again          | know what it knew when it stopped                                    |
| it starts                | replay fewer entries than lie between two snapshots: it has loaded   |
|                          | the newest, or there is none yet                                     |

Only records of a machine show it that write what a controller knew (`TablesLeft`), and what one has
read from its disk (`read`).

Source: RIP-59, "SnapshotManager"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from rocketha.controller.state import HEARTBEAT_TIMEOUT_MS, NOTHING_SAID
from rocketha.formats.controller_requests import Heartbeat
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.dledger_members import is_member
from rocketha.recording.record import STARTED, Json, NodeRecord
from rocketha.types import INT32_MAX, NO_EPOCH

__all__ = ["CONTROLLER_RESTARTS", "has_controller_group", "kept_heartbeats"]

_CONTROLLER: Final = "controller"


def has_controller_group(run: RecordedRun) -> bool:
    """Tell whether the controllers are members of a group: each says so of itself."""
    return any(map(is_member, run.headers.values()))


def _dues(run: RecordedRun) -> Iterator[Due]:
    if has_controller_group(run):
        return  # its members are restarted as those of DLedger
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


def kept_heartbeats(
    record: NodeRecord, broker_name: str, said: Callable[[int], Heartbeat | None]
) -> Iterator[Due]:
    """Yield that a controller which stops knows what each broker of a group has said last."""
    left = (one["state"] for one in record.heard if one["is"] == "TablesLeft")
    for state in map(msgspec.json.decode, left):
        group = dict(state["groups"]).get(broker_name)
        for broker, replica in () if group is None else group["replicas"]:
            last = said(broker)
            if last is not None:
                what = f"know what b{broker} has said last"
                yield _due(record, what, _content(last).items() <= replica["heard"].items())


def _content(said: Heartbeat) -> dict[str, int]:
    """Return what a controller knows after a heartbeat, for what is missing what stands for it."""
    fields: tuple[tuple[str, int | None, int], ...] = (
        ("timeout_ms", said.timeout_ms, HEARTBEAT_TIMEOUT_MS),
        ("epoch", said.epoch, NO_EPOCH),
        ("max_offset", said.max_offset, NOTHING_SAID),
        ("confirm_offset", said.confirm_offset, NOTHING_SAID),
        ("election_priority", said.election_priority, INT32_MAX),
    )
    return {name: missing if value is None else value for name, value, missing in fields}


def _due(record: NodeRecord, what: str, is_done: bool) -> Due:
    at_ms = time_ms(record)
    done_ms = at_ms if is_done else None
    return Due(node=_CONTROLLER, since_ms=at_ms, by_ms=at_ms, what=what, done_ms=done_ms)


CONTROLLER_RESTARTS: Final = Obligation(name="restarts of the controller", dues=_dues)
