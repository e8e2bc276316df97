"""What brokers of an abstract controller must do in time.

| obligation          | on the occasion                                      | by when            |
|---------------------|------------------------------------------------------|--------------------|
| elections taken     | a broker hears of one that is newer than it knows    | in that step       |
| handshakes answered | a master takes a handshake, the first of its         | in that step       |
|                     | connection                                           |                    |
| puts appended       | a producer writes to a master                        | in that step       |

Source: ReplicasManager.changeBrokerRole, AutoSwitchHAConnection.HAServerReader, CommitLog
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rocketha.obligations.connections import CONNECTIONS, packet
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.record import STARTED, STOPPED, NodeRecord

__all__ = ["EPOCH_TRUNCATION"]

_ELECTION: Final = "election:"


def _steps(run: RecordedRun) -> Iterator[tuple[NodeRecord, dict[str, Any], dict[str, Any]]]:
    """Yield each step of a broker, with what it had before and after."""
    for node, header in run.headers.items():
        if header.settings["kind"] != "broker":
            continue
        known: dict[str, Any] = {}
        for record in run.by_node[node]:
            before = {} if record.event in (STARTED, STOPPED) else known
            known = {**before, **record.state}
            if record.event not in (STARTED, STOPPED):
                yield record, before, known


def _at_once(record: NodeRecord, what: str, *, is_done: bool) -> Due:
    at_ms = time_ms(record)
    return Due(
        node=record.node,
        since_ms=at_ms,
        by_ms=at_ms,
        what=what,
        done_ms=at_ms if is_done else None,
    )


def _elections(run: RecordedRun) -> Iterator[Due]:
    for record, before, after in _steps(run):
        for message in record.received:
            epoch = int(message.removeprefix(_ELECTION)) if message.startswith(_ELECTION) else 0
            if epoch > before["known_epoch"]:
                is_done = after["known_epoch"] == epoch and record.action is not None
                yield _at_once(record, f"take its role in epoch {epoch}", is_done=is_done)


def _handshakes(run: RecordedRun) -> Iterator[Due]:
    contents = {message.id: packet(message) for one in run.records for message in one.sent}
    for record, before, _ in _steps(run):
        for message in record.received:
            is_first = message.endswith(":client:1")
            if not is_first or contents.get(message, {}).get("is") != "Handshake":
                continue
            if before["role"] == "Master":
                replies = [packet(one).get("is") == "Reply" for one in record.sent]
                yield _at_once(record, f"answer {message}", is_done=any(replies))


def _puts(run: RecordedRun) -> Iterator[Due]:
    for record, before, _ in _steps(run):
        if record.event == "MessagePut" and before["role"] == "Master":
            added = record.state.get("log", {"added": []})["added"]
            yield _at_once(record, "append a message", is_done=len(added) == 1)


EPOCH_TRUNCATION: Final = (
    Obligation(name="elections taken", dues=_elections),
    Obligation(name="handshakes answered", dues=_handshakes),
    Obligation(name="puts appended", dues=_puts),
    *CONNECTIONS,
)
"""Of brokers and their connections."""
