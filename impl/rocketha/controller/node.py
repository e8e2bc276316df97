"""A controller with its log on a disk: what is between frames and the state machine.

An entry is on the disk before it is applied, and applied before it is answered. If the log fails,
nothing was answered and the outcome is unknown: the node must be opened again, and then it applies
what the disk has.

Source: controller `ControllerManager`, controller/impl `JRaftController`
"""

from __future__ import annotations

from typing import assert_never

from rocketha.controller.applied import Applied
from rocketha.controller.dispatch import (
    Answered,
    Arrival,
    Close,
    ControllerOptions,
    Ignored,
    Proposed,
    Served,
    admit,
    answer,
    read_frame,
)
from rocketha.controller.entry import (
    ChannelClosed,
    Entry,
    InactiveScanned,
    Started,
    decode_entry,
    encode_entry,
)
from rocketha.controller.log import ControllerLog, DurableLog, LogOpened
from rocketha.controller.machine import apply, replay
from rocketha.controller.state import NO_CHANNEL, ChannelId, ControllerState
from rocketha.storage.disk import Disk
from rocketha.types import TimestampMs

__all__ = ["ControllerNode"]


class ControllerNode:
    """One controller. Make it with `ControllerNode.open`."""

    __slots__ = ("_log", "_options", "_state")

    def __init__(
        self, log: ControllerLog, options: ControllerOptions, state: ControllerState
    ) -> None:
        """Take a log and the state that its entries make."""
        self._log = log
        self._options = options
        self._state = state

    @classmethod
    def open(
        cls, disk: Disk, options: ControllerOptions, *, path: str = "controllerLog"
    ) -> tuple[ControllerNode, LogOpened]:
        """Replay the log. Brokers are heard of again after `start`.

        Raises: ControllerLogError, DiskError
        """
        log, opened = DurableLog.open(disk, path)
        state = replay((decode_entry(entry) for entry in opened.entries), options.bugs)
        return cls(log, options, state), opened

    @property
    def state(self) -> ControllerState:
        """Return the state after the last entry."""
        return self._state

    def start(self, now_ms: TimestampMs) -> Applied:
        """Begin to hear brokers. Raises: DiskError"""
        return self.commit(Entry(at_ms=now_ms, change=Started()))

    def serve(self, data: bytes, arrival: Arrival) -> Served:
        """Take one frame.

        Raises: DiskError; then nobody was answered, and the node must be opened again.
        """
        command = read_frame(data)
        if isinstance(command, Close):
            return Served(state=self._state, close=command.error)
        admitted = admit(self._state, command, arrival=arrival, options=self._options)
        match admitted:
            case Close(error=error):
                return Served(state=self._state, close=error)
            case Ignored():
                return Served(state=self._state)
            case Answered(reply=reply):
                return Served(state=self._state, out=answer(command, reply))
            case Proposed(entry=entry):
                applied = self.commit(entry)
                return Served(
                    state=applied.state,
                    out=answer(command, applied.reply),
                    entry=entry,
                    events=applied.events,
                    effects=applied.effects,
                )
            case _ as unreachable:
                assert_never(unreachable)

    def close_channel(self, channel: ChannelId, now_ms: TimestampMs) -> Applied:
        """Note that a connection is closed. Raises: DiskError"""
        return self.commit(Entry(at_ms=now_ms, change=ChannelClosed(), channel=channel))

    def scan(self, now_ms: TimestampMs) -> Applied:
        """Look for groups whose master is gone; every few seconds, and soon if an effect says so.

        Raises: DiskError
        """
        unclean = self._options.elect_unclean
        return self.commit(
            Entry(at_ms=now_ms, change=InactiveScanned(), channel=NO_CHANNEL, elect_unclean=unclean)
        )

    def commit(self, entry: Entry) -> Applied:
        """Log an entry and apply it. Raises: DiskError, EncodingError"""
        self._log.append(encode_entry(entry))
        applied = apply(self._state, entry, self._options.bugs)
        self._state = applied.state
        return applied
