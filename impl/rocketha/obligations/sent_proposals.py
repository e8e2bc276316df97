"""How often a master sends its proposal to the controller, by what it sent and heard.

| on the occasion                                         | it must                                |
|---------------------------------------------------------|----------------------------------------|
| nobody has answered a copy in time, nothing is decided  | send another one, at once              |
| it sends its proposal again                             | not have sent it three times just now  |

A copy is sent when the proposal is made, when one was not answered, and at each check of the set:
three at most come within the shorter one of both times.

Clocks run at 800 to 1,250 permille of the true time: a duration may be so much longer or shorter.

Source: ReplicasManager (`checkSyncStateSetAndDoReport`, `doReportSyncStateSetChanged`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocketha.formats.controller_codes import RequestCode
from rocketha.obligations.obligation import Due, Obligation, RecordedRun, time_ms
from rocketha.recording.record import STARTED, STOPPED, NodeRecord
from rocketha.types import TimestampMs

__all__ = ["SENT_PROPOSALS"]

_SLOWEST: Final = 1.25
_FASTEST: Final = 0.75
_SLACK_MS: Final = 20
_AT_ONCE: Final = 3
_MASTER: Final = "Master"


class _Master:
    """Reads the records of one broker in their order."""

    def __init__(self, name: str, settings: Mapping[str, Any]) -> None:
        self._name = name
        waits_ms, check_ms = settings["request_timeout_ms"], settings["check_sync_state_set_ms"]
        self._waits_ms = int(waits_ms * _SLOWEST) + _SLACK_MS
        self._apart_ms = int(min(waits_ms, check_ms) * _FASTEST)
        self._role: str | None = None
        self._pending: object = None
        self._unanswered: str | None = None
        """The id of the answer to the last copy."""
        self._sent: list[TimestampMs] = []
        """When copies of the proposal were sent."""

    def take(self, record: NodeRecord) -> Iterator[Due]:
        """Yield what comes due in a step, or is done in it."""
        at_ms = time_ms(record)
        if record.event in (STARTED, STOPPED):
            self._role, self._pending = None, None
            self._forget()
        copies = [m.id for m in record.sent if m.code == RequestCode.ALTER_SYNC_STATE_SET]
        if self._unanswered is not None:
            by_ms = TimestampMs(self._sent[-1] + self._waits_ms)
            if at_ms > by_ms and self._role == _MASTER:
                yield self._due(by_ms, "send a proposal again that was not answered", None)
                self._unanswered = None
        self._role = record.state.get("role", self._role)
        pending = record.state.get("pending", self._pending)
        if pending != self._pending or self._role != _MASTER:
            self._pending = pending
            self._forget()
        if self._unanswered in record.received:
            self._unanswered = None
        for copy in copies if self._pending is not None and self._role == _MASTER else ():
            if self._unanswered is not None:
                by_ms = TimestampMs(self._sent[-1] + self._waits_ms)
                yield self._due(by_ms, "send a proposal again that was not answered", at_ms)
            self._sent.append(at_ms)
            self._unanswered = copy.replace(":request", ":response")
            recent = [one for one in self._sent if one > at_ms - self._apart_ms]
            is_rare = len(recent) <= _AT_ONCE
            yield self._due(
                at_ms, "wait before it sends a proposal again", at_ms if is_rare else None
            )

    def _forget(self) -> None:
        self._unanswered = None
        self._sent.clear()

    def _due(self, by_ms: TimestampMs, what: str, done_ms: TimestampMs | None) -> Due:
        since_ms = self._sent[-1] if self._sent else by_ms
        return Due(node=self._name, since_ms=since_ms, by_ms=by_ms, what=what, done_ms=done_ms)


def _dues(run: RecordedRun) -> Iterator[Due]:
    masters = {
        name: _Master(name, header.settings)
        for name, header in run.headers.items()
        if header.settings.get("kind") == "broker"
    }
    for record in run.records:
        if record.node in masters:
            yield from masters[record.node].take(record)


SENT_PROPOSALS: Final = Obligation(name="sent proposals", dues=_dues)
"""That a master sends its proposal until it is decided, and not all the time."""
