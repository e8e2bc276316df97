"""A name server as a process: `python -m rocketha.process.name_server -c CONFIGURATION`.

It serves brokers and clients of RocketMQ over remoting, and tells brokers at the addresses that
they registered. It has no files: killed and started again, it hears from brokers what there is.

The configuration is that of `name_server_configuration`; with `enableControllerInNamesrv` there is
a controller in the process (`embedded_controller`). It says on its standard output whose
registration has ended. It ends with 0 when it is told to (SIGTERM, SIGINT), with 2 when it cannot
begin.

Source: namesrv `NamesrvStartup`, `NamesrvController`; remoting/netty `NettyRemotingServer`
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Final

from rocketha.formats.name_server_codes import RELEASE_5_3_3, NameServerResponse
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_answer, push_command
from rocketha.nameserver.core import (
    NameServerAction,
    NameServerActionName,
    NameServerCore,
    NameServerHears,
    started,
)
from rocketha.nameserver.performers import ChannelPerformer
from rocketha.nameserver.state import NameServerState
from rocketha.process.clock import ProcessClock
from rocketha.process.command_line import Serving, serve
from rocketha.process.controller import controller_process
from rocketha.process.embedded_controller import NameServerWithController
from rocketha.process.event_loop import EventLoop, Log
from rocketha.process.name_server_configuration import NameServerConfiguration
from rocketha.process.server_links import ServerLinks
from rocketha.runtime.effects import Respond, SendOneWay, SendRequest
from rocketha.runtime.events import ConnectionLost, RequestArrived, RequestEvent
from rocketha.runtime.node_host import NodeHost, no_files
from rocketha.runtime.performers import RequestPerformer
from rocketha.types import ConnectionId, RequestId, RequestReference

__all__ = ["NameServerProcess", "main"]

_LINKS_MAX: Final = 65_536
"""Connections that are accepted, as far as the machine allows so many files."""
_NOTIFIED_MAX: Final = 16_384
_CLOSE_SILENT_S: Final = 5.0
_ENDS: Final = frozenset({NameServerActionName.DECIDE, NameServerActionName.REMOVE})
_Event = NameServerHears | RequestEvent


class NameServerProcess:
    """A name server, and the ports that it has in a process."""

    def __init__(self, configuration: NameServerConfiguration, *, log: Log) -> None:
        """Listen, and begin nothing yet. Raises: ListenError"""
        self._log = log
        self._clock = ProcessClock()
        self.loop = EventLoop(log=log)
        self._links = ServerLinks(
            self.loop,
            self._clock,
            received=self._received,
            gone=self._gone,
            notified_max=_NOTIFIED_MAX,
        )
        self._options = configuration.options
        self._arrived: dict[RequestId, tuple[ConnectionId, RemotingCommand]] = {}
        self._last_request = 0
        self.host: NodeHost[NameServerState, _Event, NameServerAction] = NodeHost(
            NameServerCore(),
            (RequestPerformer(self), ChannelPerformer(self)),
            clock=self._clock,
            recorder=self,
            see=no_files,
            alarms=self,
        )
        self._listener = self.loop.listen(
            configuration.address, self._links.accept, links_max=_LINKS_MAX
        )

    def run(self) -> None:
        """Serve until it is told to stop."""
        _allow_files()
        self.host.state = NameServerState(options=self._options)
        for due in started(self.host.state):
            self.host.perform(due, None)
        self._log(f"serves {self._listener.address}")
        self._close_silent_later()
        try:
            self.loop.run()
        finally:
            self.host.stop()

    def _take(self, event: _Event) -> None:
        if self.host.is_up:
            self.host.take(event)

    # ---- the recorder, and alarms ----

    def stepped(self, event: _Event, action: NameServerAction | None) -> None:
        """Say whose registration ends, and let go what the step sends."""
        del event
        if action is not None and action.name in _ENDS:
            self._log(f"{action.broker}: {action.name}")
        self._links.release()

    def after(self, wait_ms: int, event: _Event) -> None:
        """Let it hear an event in a while."""
        self.loop.after(wait_ms / 1000, lambda: self._take(event))

    def _close_silent_later(self) -> None:
        def close() -> None:
            self._close_silent_later()
            self._links.close_silent()

        self.loop.after(_CLOSE_SILENT_S, close)

    # ---- whoever connects ----

    def _received(self, channel: ConnectionId, frame: bytes) -> None:
        """Take a frame. Raises: PacketError, and the connection is closed"""
        pulled = pull_command(frame)
        assert pulled is not None, "the stream cuts whole frames"
        command, _ = pulled
        if command.is_response:
            return  # brokers are told one way
        self._last_request += 1
        request = RequestId(self._last_request)
        if not command.is_oneway:
            self._arrived[request] = channel, command
        try:
            self._take(RequestArrived(request=request, command=command, conn=channel))
        finally:
            self._arrived.pop(request, None)

    def _gone(self, channel: ConnectionId) -> None:
        self._take(ConnectionLost(conn=channel))

    # ---- answers (rocketha.runtime.ports.Remoting) ----

    def respond(self, answer: Respond) -> None:
        """Answer a request; of a one-way one nobody wants to hear."""
        arrived = self._arrived.pop(answer.request, None)
        if arrived is None:
            return
        channel, request = arrived
        command = RemotingCommand(
            code=answer.code,
            opaque=request.opaque,
            flag=FLAG_RESPONSE,
            version=RELEASE_5_3_3,
            remark=answer.remark,
            ext_fields=answer.ext_fields,
            empty_fields=answer.empty_fields,
            body=answer.body,
            serialization=request.serialization,
        )
        self._links.answer(channel, push_answer(command, refusal=NameServerResponse.SYSTEM_ERROR))

    def request(self, request: SendRequest) -> None:
        """Ask nobody."""
        raise AssertionError(f"a name server asks nobody: {request}")

    def one_way(self, request: SendOneWay) -> None:
        """Tell brokers by their addresses only (`tell`)."""
        raise AssertionError(f"a name server knows no numbers of brokers: {request}")

    def refuse(self, request: RequestId) -> None:
        """Refuse with an answer only."""
        raise AssertionError(f"a name server answers everybody: {request}")

    def hang_up(self, reference: RequestReference) -> None:
        """Wait for nobody."""
        raise AssertionError(f"a name server waits for nobody: {reference}")

    # ---- brokers (rocketha.nameserver.performers.BrokerChannels) ----

    def tell(self, address: str, command: RemotingCommand) -> None:
        """Send a command to a broker."""
        self._links.notify(address, push_command(command))

    def close(self, conn: ConnectionId) -> None:
        """Close a connection of a broker that is silent."""
        self._links.close(conn, reason="its broker gives no sign of life")


def _allow_files() -> None:
    """Allow this process as many open files as the machine lets it have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main(arguments: list[str]) -> int:
    """Run a name server, perhaps with a controller; return its exit code."""

    def make(path: Path, log: Log) -> Serving:
        configuration = NameServerConfiguration.read(path)
        if configuration.controller is None:
            return NameServerProcess(configuration, log=log)
        controller = controller_process(configuration.controller, log)
        name_server = NameServerProcess(configuration, log=log)
        return NameServerWithController(name_server, controller, log=log)

    return serve("name_server", arguments, make)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
