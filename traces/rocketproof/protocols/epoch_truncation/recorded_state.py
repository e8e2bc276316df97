"""What a broker has, as its records say it: what it stores, and what it believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from rocketha.recording.record import NodeRecord
from rocketha.types import Offset
from rocketproof.occasions import Waits
from rocketproof.record_projection import read_shown, sequence_after
from rocketproof.recorded_log import LogItem, RunLogs

__all__ = [
    "BrokerSettings",
    "ClientEnd",
    "ControllerSettings",
    "RecordedEntry",
    "RecordedState",
    "ServerEnd",
]


class BrokerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="broker"):
    """How a broker is set up."""

    brokers: tuple[str, ...]
    frames_are_shown: bool = False
    """Records say what is in each packet, and who closes a connection."""
    heartbeat_ms: int = 0
    housekeeping_ms: int = 0

    @property
    def waits(self) -> Waits:
        """Return how long it waits."""
        return Waits(heartbeat_ms=self.heartbeat_ms, housekeeping_ms=self.housekeeping_ms)


class ControllerSettings(msgspec.Struct, frozen=True, tag_field="kind", tag="controller"):
    """Who elects."""


class RecordedEntry(msgspec.Struct, frozen=True):
    epoch: int
    start_offset: Offset
    end_offset: Offset


class ClientEnd(msgspec.Struct, frozen=True):
    id: int
    phase: str
    reported: Offset | None


class ServerEnd(msgspec.Struct, frozen=True):
    slave_ack: Offset
    next_offset: Offset | None = None
    cur: RecordedEntry | msgspec.UnsetType | None = msgspec.UNSET


_KINDS: Final[dict[str, object]] = {
    "role": str,
    "known_epoch": int,
    "received_epoch": int,
    "epochs": tuple[RecordedEntry, ...],
    "epoch_file": tuple[RecordedEntry, ...],
    "flushed_offset": Offset,
    "client": ClientEnd | None,
    "servers": tuple[tuple[int, ServerEnd], ...],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedState:
    """What a broker has, as it has written it last; None: what it never writes."""

    role: str = "Slave"
    known_epoch: int | None = None
    received_epoch: int | None = None
    epochs: tuple[RecordedEntry, ...] = ()
    epoch_file: tuple[RecordedEntry, ...] = ()
    log: tuple[LogItem, ...] = ()
    on_disk: tuple[LogItem, ...] | None = None
    flushed_offset: Offset | None = None
    client: ClientEnd | None = None
    servers: Mapping[int, ServerEnd] = field(default_factory=dict)
    believed_client: ClientEnd | None = None
    """`client` and `servers` in its memory, whatever its packets say."""
    believed_servers: Mapping[int, ServerEnd] = field(default_factory=dict)

    def visible(self, logs: RunLogs) -> tuple[object, ...]:
        """Return what the specification can see of it by itself."""
        epochs = (self.known_epoch, self.received_epoch, self.epochs, self.epoch_file)
        return (self.role, *epochs, self.log, self.on_disk, self.flushed(logs))

    def flushed(self, logs: RunLogs) -> int | None:
        """Return how many of its records any power cut leaves."""
        offset = self.flushed_offset
        return None if offset is None else logs.count(self.log, offset)

    def after(self, written: NodeRecord) -> RecordedState:
        """Return what it has after a step. Raises: RecordError"""
        changed = read_shown(written.state, _KINDS)
        if "servers" in changed:
            changed["servers"] = changed["believed_servers"] = dict(changed["servers"])
        if "client" in changed:
            changed["believed_client"] = changed["client"]
        for name, before in (("log", self.log), ("on_disk", self.on_disk or ())):
            if name in written.state:
                changed[name] = sequence_after(before, written.state[name], LogItem, name)
        return replace(self, **changed) if changed else self
