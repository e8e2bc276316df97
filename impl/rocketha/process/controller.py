"""A controller as a process: `python -m rocketha.process.controller -c CONFIGURATION`.

It serves brokers and tools of RocketMQ over remoting, and tells brokers at the addresses that they
registered who is master. Alone, its log is agreed on when it is on the disk; with several peers it
is a member of a DLedger group (`controller_group`). Killed and started again, it goes on from its
files.

The configuration is that of `controller_configuration`. It ends with 0 when it is told to
(SIGTERM, SIGINT), with 1 when its disk fails or is damaged, with 2 when it cannot begin.

Source: controller `ControllerStartup`, `ControllerManager`, `BrokerHousekeepingService`;
remoting/netty `NettyRemotingServer`
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rocketha.controller.applied import ControllerEvent
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.host import ControllerHost, ControllerPorts
from rocketha.process.clock import ProcessClock
from rocketha.process.command_line import Serving, serve
from rocketha.process.controller_configuration import ControllerConfiguration, read_configuration
from rocketha.process.controller_group import ControllerGroupProcess
from rocketha.process.controller_records import ControllerRecords
from rocketha.process.event_loop import EventLoop, Log
from rocketha.process.server_links import ServerLinks
from rocketha.recording.recorder import NOT_RECORDED
from rocketha.storage.disk import RealDisk
from rocketha.types import ConnectionId

__all__ = ["ControllerProcess", "controller_process", "main"]


class ControllerProcess:
    """A controller, and the ports that it has in a process."""

    def __init__(self, configuration: ControllerConfiguration, *, log: Log) -> None:
        """Listen, and begin nothing yet. Raises: ListenError, RecordError, OSError"""
        self._configuration = configuration
        self._log = log
        self._clock = ProcessClock()
        self.loop = EventLoop(log=log)
        self._links = ServerLinks(self.loop, self._clock, received=self._received, gone=self._gone)
        self._scans_soon = False
        self._listener = self.loop.listen(configuration.address, self._links.accept)
        self._records: ControllerRecords | None = None
        if configuration.records is not None:
            self._records = ControllerRecords(
                configuration.records,
                elect_unclean=configuration.elect_unclean,
                state=lambda: self.host.state,
                shows_ms=self._clock.now_ms,
            )
        ports = ControllerPorts(
            clock=self._clock,
            channels=self._links,
            timer=self,
            recorder=self,
            steps=self._records or NOT_RECORDED,
        )
        options = ControllerOptions(
            metadata=configuration.metadata,
            settings=configuration.said,
            elect_unclean=configuration.elect_unclean,
        )
        self.host = ControllerHost(RealDisk(configuration.store), options, ports)

    def run(self) -> None:
        """Serve until it is told to stop.

        Raises: ControllerLogError, SnapshotGapError, DiskError, OSError
        """
        self._step(self.host.start)
        self._log(f"serves {self._listener.address}, {len(self.host.state.groups)} groups")
        self._scan_later()
        try:
            self.loop.run()
        finally:
            self.host.stop()
            if self._records is not None:
                self._records.close()

    # ---- what the host asks (rocketha.controller.host) ----

    def scan_soon(self) -> None:
        """Scan right after what is done now."""
        if not self._scans_soon:
            self._scans_soon = True
            self.loop.soon(self._scan)

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        """Say what has happened."""
        del entry
        for event in events:
            self._log(str(event))

    # ---- channels ----

    def _received(self, channel: ConnectionId, frame: bytes) -> None:
        self._step(partial(self.host.received, channel, frame))

    def _gone(self, channel: ConnectionId) -> None:
        self._step(partial(self.host.channel_closed, channel))

    def _step(self, step: Callable[[], None]) -> None:
        """Let the host take a step; what leaves the process does so when it was recorded."""
        step()
        self._links.release()

    # ---- time ----

    def _scan_later(self) -> None:
        def scan() -> None:
            self._scan_later()
            self._links.close_silent()
            self._step(self.host.scan)

        self.loop.after(self._configuration.scan_ms / 1000, scan)

    def _scan(self) -> None:
        self._scans_soon = False
        self._step(self.host.scan)


def controller_process(configuration: ControllerConfiguration, log: Log) -> Serving:
    """Make a controller that is alone, or one of a group. Raises: RockethaError, OSError"""
    if configuration.node is None:
        return ControllerProcess(configuration, log=log)
    return ControllerGroupProcess(configuration, configuration.node, log=log)


def main(arguments: list[str]) -> int:
    """Run a controller, alone or of a group; return its exit code."""

    def make(path: Path, log: Log) -> Serving:
        return controller_process(read_configuration(path), log)

    return serve("controller", arguments, make)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
