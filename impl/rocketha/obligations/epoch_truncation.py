"""What brokers of an abstract controller must do in time.

| obligation          | on the occasion                                      | by when            |
|---------------------|------------------------------------------------------|--------------------|
| elections taken     | a broker hears of one that is newer than it knows    | in that step       |
| handshakes answered | a master takes a handshake, the first of its         | in that step       |
|                     | connection                                           |                    |
| puts appended       | a producer writes to a master                        | in that step       |
| connections used    | a connection stands that a broker asked for          | in that step       |
| handshakes true     | a slave introduces itself                            | in that step       |
| quiet senders       | a heartbeat is sent                                  | not before its     |
|                     |                                                      | time               |
| quiet timers        | a timer fires                                        | not often at once  |

Source: ReplicasManager.changeBrokerRole, AutoSwitchHAConnection.HAServerReader, CommitLog
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rocketha.obligations.connections import CONNECTIONS, packet
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.record import STARTED, STOPPED, NodeRecord
from rocketha.types import TimestampMs

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


def _connections(run: RecordedRun) -> Iterator[Due]:
    """A broker introduces itself over a connection that it asked for, or closes it."""
    for record, _, _ in _steps(run):
        for heard in record.heard:
            if heard["is"] == "PeerConnected":
                conn = heard["conn"]
                said = [one for one in record.sent if one.id.startswith(f"{conn}:client:")]
                yield _at_once(record, f"use connection {conn} or close it", is_done=bool(said))


def _introductions(run: RecordedRun) -> Iterator[Due]:
    for record, _, _ in _steps(run):
        settings = run.headers[record.node].settings
        for message in record.sent:
            said = packet(message)
            if said.get("is") == "Handshake":
                starts = record.incarnation - 1 if settings["tells_incarnation"] else 0
                is_true = said == {
                    "is": "Handshake",
                    "slave": settings["slave"],
                    "learner": settings["learner"],
                    "last_file": False,
                    "incarnation": starts,
                }
                yield _at_once(record, "say who it is", is_done=is_true)


def _heartbeats(run: RecordedRun) -> Iterator[Due]:
    said_ms: dict[tuple[str, str], TimestampMs] = {}
    for record, _, _ in _steps(run):
        heartbeat_ms = run.headers[record.node].settings["heartbeat_ms"]
        for message in record.sent:
            end = (record.node, message.id.partition(":")[0])
            content = packet(message)
            beat = record.event == "TimerFired" if "ack" in content else content.get("size") == 0
            if beat and end in said_ms:
                silent_ms = time_ms(record) - said_ms[end]
                what = f"say nothing over connection {end[1]} for {heartbeat_ms} ms"
                yield _at_once(record, what, is_done=silent_ms >= heartbeat_ms)
            said_ms[end] = time_ms(record)


_TIMERS_AT_ONCE: Final = 4
_AT_ONCE_MS: Final = 10


def _timers(run: RecordedRun) -> Iterator[Due]:
    """A timer is set for when there is something to do: one that fires all the time is not."""
    fired: dict[str, list[TimestampMs]] = {}
    for record, _, _ in _steps(run):
        if record.event == "TimerFired":
            times = fired.setdefault(record.node, [])
            times.append(time_ms(record))
            is_busy = times[-1] - times[-_TIMERS_AT_ONCE:][0] < _AT_ONCE_MS
            is_done = len(times) < _TIMERS_AT_ONCE or not is_busy
            yield _at_once(record, "sleep until its timer is due", is_done=is_done)


EPOCH_TRUNCATION: Final = (
    Obligation(name="elections taken", dues=_elections),
    Obligation(name="handshakes answered", dues=_handshakes),
    Obligation(name="puts appended", dues=_puts),
    Obligation(name="connections used", dues=_connections),
    Obligation(name="handshakes true", dues=_introductions),
    Obligation(name="quiet senders", dues=_heartbeats),
    Obligation(name="quiet timers", dues=_timers),
    *CONNECTIONS,
)
"""Of brokers and their connections."""
