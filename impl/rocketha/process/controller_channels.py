"""A broker's connections with several controllers, one with each: the core says whom it asks.

A connection is opened when there is a frame to send, also again when it was lost. Frames for a
connection that does not come to stand are lost, as on a network: who sent them asks again.

Source: broker/out `BrokerOuterAPI`, remoting/netty `NettyRemotingClient` (`channelTables`)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import command_stream
from rocketha.process.event_loop import Alarm, EventLoop, Link
from rocketha.process.packets import PacketHandler

__all__ = ["ControllerChannels"]

_Received = Callable[[RemotingCommand], None]


class ControllerChannels:
    """Connections with all controllers."""

    def __init__(
        self,
        loop: EventLoop,
        controllers: Sequence[str],
        received: _Received,
        *,
        patience_s: float,
    ) -> None:
        """Take where controllers are, `host:port`, and who hears what they say.

        One that says nothing for so long is connected with anew, if it was sent something.
        """
        self._channels = [_Channel(loop, one, received, patience_s) for one in controllers]

    def start(self) -> None:
        """Do nothing: the first frame opens a connection."""

    def ask(self, data: bytes, *, controller: int) -> None:
        """Send a frame to a controller, by its place in the list."""
        self._channels[controller].send(data)


class _Channel:
    """A connection with one controller, when there is one."""

    def __init__(
        self, loop: EventLoop, address: str, received: _Received, patience_s: float
    ) -> None:
        self._loop = loop
        self._address = address
        self._received = received
        self._patience_s = patience_s
        self._link: Link | None = None
        self._alarm: Alarm | None = None

    def send(self, data: bytes) -> None:
        if self._link is None:
            handler = PacketHandler(
                command_stream(),
                received=self._heard,
                lost=self._lost,
                connected=lambda _: self._loop.log(f"with the controller at {self._address}"),
            )
            self._link = self._loop.connect(self._address, handler)
        if self._alarm is None:
            self._alarm = self._loop.after(self._patience_s, self._give_up)
        self._link.send(data)

    def _heard(self, link: Link, command: RemotingCommand) -> None:
        if link is self._link:
            self._calm()
            self._received(command)

    def _lost(self, link: Link, reason: str) -> None:
        del reason
        if link is self._link:
            self._hang_up()

    def _give_up(self) -> None:
        self._loop.log(f"no longer with the controller at {self._address}: it does not answer")
        self._hang_up()

    def _hang_up(self) -> None:
        self._calm()
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def _calm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
