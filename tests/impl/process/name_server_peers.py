"""A name server process for tests."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

from rocketha.formats.name_server_codec import pull_name_server_reply, push_name_server_request
from rocketha.formats.name_server_codes import NameServerCode
from rocketha.formats.name_server_requests import (
    GetRouteInfo,
    NameServerReply,
    NameServerRequest,
    TopicRouteData,
)
from tests.free_ports import free_port
from tests.impl.process.controller_peers import Connection
from tests.impl.process.node_run import NodeRun

__all__ = ["NameServerRun"]

_TIMEOUT_S: Final = 60.0


class NameServerRun(NodeRun):
    """The process of a name server, in a folder that it makes; a context manager, which ends it."""

    def __init__(self, folder: Path, **settings: str) -> None:
        """Configure it; `settings` are those of its file."""
        folder.mkdir()
        self.port = free_port()
        values = {"listenPort": str(self.port), **settings}
        super().__init__("rocketha.process.name_server", folder, values)

    @property
    def address(self) -> str:
        """Return where it listens, `host:port`."""
        return f"127.0.0.1:{self.port}"

    def connect(self) -> Connection:
        """Connect as a broker or a client does."""
        return Connection(socket.create_connection(("127.0.0.1", self.port), _TIMEOUT_S))

    def ask(self, request: NameServerRequest) -> NameServerReply:
        """Ask it, on a connection of its own."""
        command = push_name_server_request(request, opaque=7)
        with self.connect() as connection:
            answer = connection.command(command)
        return pull_name_server_reply(answer, NameServerCode(command.code))

    def master(self, topic: str) -> str | None:
        """Return the address of the master of the only group that has a topic."""
        route = self.ask(GetRouteInfo(topic=topic)).answer
        if route is None:
            return None
        assert isinstance(route, TopicRouteData)
        (broker,) = route.broker_datas
        return {int(number): at for number, at in broker.addresses.items()}.get(0)
