"""Frames between brokers and the controller: whoever drives them has one delivered, late or twice.

All frames are kept. A channel ends when the controller is told, or ends it: then nothing that was
sent on it arrives any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rocketha.broker.roles import View
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import pull_request, pull_role_changed
from rocketha.formats.controller_requests import AlterSyncStateSet, ControllerRequest
from rocketha.formats.controller_responses import (
    Elected,
    Registered,
    ReplicaInfo,
    SyncStateSetAltered,
    pull_reply,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command
from rocketha.types import BrokerId, ConnectionId

__all__ = ["Frame", "ManualRpc", "Sent", "read_command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a broker has sent."""

    broker: BrokerId
    start: int
    """The start of the broker in which it was sent."""
    channel: ConnectionId
    data: bytes
    request: ControllerRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the controller said to a broker."""

    broker: BrokerId
    start: int | None
    """The start that asked; None: nobody asked."""
    command: RemotingCommand
    view: View | None
    """What it says of the group."""
    refuses: bool = False
    """It is a refusal of a proposal."""


class ManualRpc:
    """Nothing moves by itself."""

    def __init__(self) -> None:
        """Begin without frames."""
        self.sent: list[Sent] = []
        self.frames: list[Frame] = []
        self.channels: dict[ConnectionId, tuple[BrokerId, int]] = {}
        """Whose each channel was, and in which start."""
        self._open: dict[BrokerId, ConnectionId] = {}
        self._ended: set[ConnectionId] = set()
        self._served: Sent | None = None
        """What the controller is serving."""
        self._last = 0

    def of(self, broker: BrokerId) -> ConnectionId | None:
        """Return the channel that a broker uses."""
        return self._open.get(broker)

    def is_open(self, channel: ConnectionId) -> bool:
        """Tell whether what was sent on a channel may still arrive."""
        return channel not in self._ended

    def new_channel(self) -> ConnectionId:
        """Return a channel that nobody has used."""
        self._last += 1
        return ConnectionId(self._last)

    def ask(self, broker: BrokerId, start: int, data: bytes) -> None:
        """Take a broker's frame."""
        channel = self._open.get(broker)
        if channel is None:
            channel = self._open[broker] = self.new_channel()
            self.channels[channel] = broker, start
        request = pull_request(read_command(data))
        self.sent.append(
            Sent(broker=broker, start=start, channel=channel, data=data, request=request)
        )

    def serve(self, sent: Sent, serve: Callable[[ConnectionId, bytes], None]) -> None:
        """Hand a frame to the controller; its answer is kept when it comes."""
        assert self.is_open(sent.channel), f"{sent} was sent on a channel that is gone"
        self._served = sent
        serve(sent.channel, sent.data)
        self._served = None

    def answer(self, channel: ConnectionId, data: bytes) -> None:
        """Keep the controller's answer to a frame; those to operators are not."""
        if self._served is not None:
            assert self._served.channel == channel
            self.frames.append(_answer(self._served, read_command(data)))

    def notify(self, broker: BrokerId, data: bytes) -> None:
        """Keep a frame of the controller that nobody asked for."""
        command = read_command(data)
        view = View.of_notice(pull_role_changed(command))
        self.frames.append(Frame(broker=broker, start=None, command=command, view=view))

    def leave(self, broker: BrokerId) -> None:
        """Forget the channel of a broker that stops; the controller does not know it."""
        self._open.pop(broker, None)

    def end(self, channel: ConnectionId) -> None:
        """End a channel: a broker that uses it notices, and opens another one."""
        self._ended.add(channel)
        self._open = {b: c for b, c in self._open.items() if c != channel}


def read_command(data: bytes) -> RemotingCommand:
    """Read a frame that one of ours has written."""
    pulled = pull_command(data)
    assert pulled is not None
    return pulled[0]


def _answer(sent: Sent, command: RemotingCommand) -> Frame:
    request = sent.request
    reply = pull_reply(command, RequestCode(read_command(sent.data).code))
    content, view = reply.content, None
    match request, content:
        case _, Elected():
            view = View.of_election(content)
        case _, ReplicaInfo():
            view = View.of_info(content)
        case _, Registered():
            view = View.of_registration(content)
        case AlterSyncStateSet(), SyncStateSetAltered():
            view = View(
                epoch=request.master_epoch,
                master=sent.broker,
                address=None,
                sync_state_set=content.sync_state_set,
            )
        case _:
            pass
    refuses = isinstance(request, AlterSyncStateSet) and reply.code is not ResponseCode.SUCCESS
    return Frame(broker=sent.broker, start=sent.start, command=command, view=view, refuses=refuses)
