"""When a controller looks for groups whose master is gone, and which channels it closes then.

| on the occasion                                     | it must                                   |
|-----------------------------------------------------|-------------------------------------------|
| the channel of its master closes, and it hears it   | scan soon                                 |
| its master registers in another incarnation         | scan soon                                 |
| it scans                                            | do so every `scan_ms`, or for that        |
| it scans, and a channel was silent for too long     | close that channel, and no other          |

Source: DefaultBrokerHeartbeatManager (`scanNotActiveBroker`, `onBrokerChannelClose`)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rocketha.obligations.obligation import Due, time_ms
from rocketha.recording.record import NodeRecord
from rocketha.types import TimestampMs

__all__ = ["ControllerScans", "refused_channels"]

_CONTROLLER: Final = "controller"
_SOON_MS: Final = 10


def refused_channels(record: NodeRecord) -> set[int]:
    """Return the channels that a controller closes in a step."""
    return {one["channel"] for one in record.answered if one.get("is") == "ChannelRefused"}


class ControllerScans:
    """Follows the scans of a controller, and says which are due."""

    def __init__(self, scan_ms: int | None) -> None:
        """Begin without scans; without a period nobody knows which are needless."""
        self._scan_ms = scan_ms
        self._phase: int | None = None
        self._lost_ms: TimestampMs | None = None
        """When the master was lost that no scan has looked for yet."""
        self._last_lost_ms: TimestampMs | None = None

    def lost_master(self, record: NodeRecord) -> None:
        """Note that a master is gone."""
        self._last_lost_ms = time_ms(record)
        if self._lost_ms is None:
            self._lost_ms = self._last_lost_ms

    def stopped(self) -> None:
        """Forget what is due: the controller is down."""
        self._lost_ms = None

    def scanned(self, record: NodeRecord) -> Iterator[Due]:
        """Yield what was due when it begins to scan: that it does, and that there is a reason."""
        at_ms, lost_ms = time_ms(record), self._lost_ms
        self._lost_ms = None
        if lost_ms is not None:
            yield self._soon(lost_ms, at_ms)
        if self._scan_ms is None:
            return
        is_soon = self._last_lost_ms is not None and at_ms <= self._last_lost_ms + _SOON_MS
        if not is_soon:
            phase = at_ms % self._scan_ms
            if self._phase is None:
                self._phase = phase
            yield _due(at_ms, f"scan every {self._scan_ms} ms", phase == self._phase)

    def ended(self) -> Iterator[Due]:
        """Yield what is due when the records end."""
        if self._lost_ms is not None:
            yield self._soon(self._lost_ms, None)

    def closes(self, record: NodeRecord, silent: set[int]) -> Iterator[Due]:
        """Yield that a scan closes the channels that are silent, and no others."""
        at_ms, closed = time_ms(record), refused_channels(record)
        for channel in sorted(silent):
            yield _due(at_ms, f"close channel {channel}, which is silent", channel in closed)
        for channel in sorted(closed - silent):
            yield _due(at_ms, f"keep channel {channel}, which is not silent", is_done=False)

    @staticmethod
    def _soon(lost_ms: TimestampMs, scanned_ms: TimestampMs | None) -> Due:
        return Due(
            node=_CONTROLLER,
            since_ms=lost_ms,
            by_ms=TimestampMs(lost_ms + _SOON_MS),
            what="scan for a master in the place of one that is gone",
            done_ms=scanned_ms,
        )


def _due(at_ms: TimestampMs, what: str, is_done: bool) -> Due:
    done_ms = at_ms if is_done else None
    return Due(node=_CONTROLLER, since_ms=at_ms, by_ms=at_ms, what=what, done_ms=done_ms)
