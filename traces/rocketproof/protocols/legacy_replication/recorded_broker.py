"""What a broker has, as its records say it: what it stores, and what it believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from rocketha.recording.record import NodeRecord
from rocketproof.record_projection import read_shown, sequence_after
from rocketproof.recorded_log import LogItem

__all__ = ["MasterEnd", "RecordedBroker", "SlaveEnd", "Waiting"]


class Waiting(msgspec.Struct, frozen=True):
    put: int
    offset: int
    need: int


class MasterEnd(msgspec.Struct, frozen=True):
    slave_ack: int
    next_offset: int | None
    """None: it is not said."""


class SlaveEnd(msgspec.Struct, frozen=True):
    id: int
    reported: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedBroker:
    """The parts of a broker's state, as it has written them last."""

    begin: int = 0
    log: tuple[LogItem, ...] = ()
    """Of each record the master's life that its body names, from 1; or a real broker's record."""
    flushed: int | None = None
    """None: it is said at a flush only."""
    flushed_offset: int | None = None
    """Of a real broker: what its last flush has reached."""
    waiting: tuple[Waiting, ...] = ()
    ends: Mapping[int, MasterEnd] = field(default_factory=dict)
    client: SlaveEnd | None = None

    @property
    def link(self) -> int | None:
        """Return the connection that it holds."""
        return None if self.client is None else self.client.id

    def after(self, written: NodeRecord) -> RecordedBroker:
        """Return what it has after a step. Raises: RecordError"""
        changed = read_shown(written.state, _KINDS)
        if "ends" in changed:
            changed["ends"] = dict(changed["ends"])
        if "log" in written.state:
            changed["log"] = sequence_after(self.log, written.state["log"], LogItem, "log")
        return replace(self, **changed) if changed else self


_KINDS: Final[dict[str, object]] = {
    "begin": int,
    "flushed": int,
    "flushed_offset": int,
    "waiting": tuple[Waiting, ...],
    "ends": tuple[tuple[int, MasterEnd], ...],
    "client": SlaveEnd | None,
}
