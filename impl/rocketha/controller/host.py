"""The host of a controller: its core on a node, with its log, its channels and its timer.

An entry is on the disk and applied before anybody hears of it. The effects are performed in their
order, the answer to who asked last; a port must not hand the next frame to the host from within.

Source: controller `ControllerManager`, `BrokerHousekeepingService`;
controller/processor `ControllerRequestProcessor`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Never, Protocol, TypeAlias, assert_never, get_args

from rocketha.controller.applied import ChannelExpired, ControllerEvent, NotifyBroker, ScanSoon
from rocketha.controller.core import (
    AnswerRequest,
    ChannelGone,
    ControllerCore,
    ControllerHears,
    EntryActed,
    FrameReceived,
    LeadingController,
    RefuseChannel,
    ScanDue,
)
from rocketha.controller.dispatch import ControllerOptions
from rocketha.controller.entry import Entry
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import ControllerState
from rocketha.formats.controller_request_codec import push_role_changed
from rocketha.formats.remoting_frame import push_command
from rocketha.recording.recorder import NOT_RECORDED, StepRecorder
from rocketha.replicated_log.replicated_log import LeadershipGained, ProposalPerformer
from rocketha.runtime.node_host import NodeHost, no_files
from rocketha.runtime.performer import Performer
from rocketha.runtime.ports import Clock
from rocketha.storage.disk import Disk
from rocketha.types import ConnectionId

__all__ = [
    "ChannelPerformer",
    "Channels",
    "ControllerHost",
    "ControllerPorts",
    "ControllerRecorder",
    "ScanTimer",
]

_Effect: TypeAlias = NotifyBroker | ChannelExpired | ScanSoon | AnswerRequest | RefuseChannel


class Channels(Protocol):
    """Connections with brokers."""

    def close(self, channel: ConnectionId, *, reason: str) -> None:
        """Close a channel; of one that the host closes it is not told `channel_closed`."""
        ...

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        """Send the answer to a request over its channel, if that is still open."""
        ...

    def notify(self, address: str, data: bytes) -> None:
        """Send a frame to the broker at an address, on whatever channel it has."""
        ...


class ScanTimer(Protocol):
    """What calls `ControllerHost.scan` besides the service that does it every few seconds."""

    def scan_soon(self) -> None:
        """Let a scan come as soon as possible."""
        ...


class ControllerRecorder(Protocol):
    """Whoever notes what a controller does. It changes nothing."""

    def applied(self, entry: Entry, events: tuple[ControllerEvent, ...]) -> None:
        """Hear that an entry was applied, and its effects performed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerPorts:
    """All that a controller needs."""

    clock: Clock
    channels: Channels
    timer: ScanTimer
    recorder: ControllerRecorder
    steps: StepRecorder = NOT_RECORDED
    """Writes down what each step was."""


class ChannelPerformer(Performer[Never, object]):
    """Speaks with brokers, and asks for scans."""

    effects = get_args(_Effect)

    def __init__(self, channels: Channels, timer: ScanTimer) -> None:
        """Take the ports."""
        self._channels = channels
        self._timer = timer

    def perform(self, effect: _Effect, action: object) -> None:
        """Send a frame, close a channel, or let a scan come."""
        del action
        match effect:
            case AnswerRequest(channel=channel, data=data):
                self._channels.answer(channel, data)
            case NotifyBroker(address=address, notice=notice):
                data = push_command(push_role_changed(notice, opaque=0))
                self._channels.notify(address, data)
            case ChannelExpired(channel=channel):
                self._channels.close(channel, reason="no heartbeat came in time")
            case RefuseChannel(channel=channel, error=error):
                self._channels.close(channel, reason=str(error))
            case ScanSoon():
                self._timer.scan_soon()
            case _ as unreachable:
                assert_never(unreachable)


class ControllerHost:
    """Runs one controller: a node for each time that it is up, on its disk, through its ports."""

    __slots__ = ("_core", "_disk", "_host", "_node", "_options", "_ports")

    def __init__(self, disk: Disk, options: ControllerOptions, ports: ControllerPorts) -> None:
        """Make a controller that is down."""
        self._node: ControllerNode | None = None
        self._host: NodeHost[LeadingController, ControllerHears, EntryActed] | None = None
        self._disk = disk
        self._options = options
        self._core = ControllerCore(options)
        self._ports = ports

    @property
    def node(self) -> ControllerNode:
        """Return the controller; while it is down, the one that it was."""
        assert self._node is not None, "the controller was never up"
        return self._node

    @property
    def is_up(self) -> bool:
        """Tell whether it hears brokers."""
        return self._host is not None and self._host.is_up

    @property
    def state(self) -> ControllerState:
        """Return the state after the last step; while the controller is down, the one it had."""
        host = self._host
        return self.node.state if host is None or host.state is None else host.state.state

    @property
    def waiting(self) -> int:
        """Return how many requests wait for their entries, in a controller that is up."""
        assert self._host is not None
        assert self._host.state is not None
        return len(self._host.state.waiting)

    # ---- what befalls it ----

    def start(self) -> None:
        """Come up with what the disk says, and begin to hear brokers.

        Raises: ControllerLogError, SnapshotGapError, DiskError
        """
        assert not self.is_up, "the controller is up"
        self._node, _ = ControllerNode.open(self._disk, self._options)
        ports = self._ports
        self._host = NodeHost(
            self._core,
            (ProposalPerformer(self._node.log), ChannelPerformer(ports.channels, ports.timer)),
            clock=ports.clock,
            recorder=self,
            see=no_files,
        )
        self._host.state = LeadingController(self._node.state)
        ports.steps.started()
        self._host.take(LeadershipGained())

    def stop(self) -> None:
        """Hear nothing more, and forget who asked; what was answered is on the disk."""
        if self._host is not None and self._host.is_up:
            self._ports.steps.stopped(dict)
            self._host.stop()

    def received(self, channel: ConnectionId, data: bytes) -> None:
        """Hear a frame; the answer goes to the channel, when there is one. Raises: DiskError"""
        self._take(FrameReceived(channel, data))

    def channel_closed(self, channel: ConnectionId) -> None:
        """Hear that a channel is gone. Raises: DiskError"""
        self._take(ChannelGone(channel))

    def scan(self) -> None:
        """Look for groups whose master is gone: every few seconds, and soon if an effect says so.

        Raises: DiskError
        """
        self._take(ScanDue())

    def _take(self, event: ControllerHears) -> None:
        if self._host is not None and self._host.is_up:
            self._host.take(event)

    # ---- the recorder of the node ----

    def stepped(self, event: object, action: EntryActed | None) -> None:
        """Have the step recorded, and tell who watches of an entry."""
        self._ports.steps.stepped(event, action)
        if action is not None:
            self._ports.recorder.applied(action.entry, action.events)
