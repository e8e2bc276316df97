"""Histories of Route go wrong with a name server that has the error, and only with that one."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import pytest
from click.testing import CliRunner

from rocketha.formats.name_server_codec import pull_name_server_request, push_name_server_reply
from rocketha.formats.name_server_codes import NameServerResponse
from rocketha.formats.name_server_requests import (
    BrokerData,
    GetRouteInfo,
    NameServerReply,
    QueueData,
    RegisterBroker,
    RegisterBrokerResult,
    TopicRouteData,
    UnregisterBroker,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import MASTER, BrokerId
from rocketmq_peer.errors import PeerError
from rocketmq_peer.name_server_client import Route, ask_route, ask_routes
from rocketmq_peer.name_server_histories import HISTORIES, Outcome, play_history
from rocketproof.cli import main

ERRORS: Final = tuple(HISTORIES)


@dataclass(frozen=True, slots=True)
class Entry:
    number: int
    address: str
    version: int
    channel: int


@dataclass(slots=True)
class NameServer:
    """A name server that keeps the rules of Route, but for one."""

    error: str
    entries: set[Entry] = field(default_factory=set)
    perm: int = 0
    seen: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def register(self, entry: Entry) -> None:
        if self.error == "deaf" and any(x.address == entry.address for x in self.entries):
            return
        if entry.number == 0 and entry.version < self._newest():
            if self.error == "Refused":
                self.entries = {
                    x for x in self.entries if x.address != entry.address or x.number == 0
                }
            return
        others = {
            x for x in self.entries if x.address != entry.address and x.number != entry.number
        }
        self.entries = {*others, entry}
        if entry.number == 0:
            self.perm, self.seen = 6, max(self.seen, entry.version)
        elif self.error != "Demoted" or entry.number == min(x.number for x in self.entries):
            self._mask()

    def _newest(self) -> int:
        if self.error == "B40":
            return 0
        present = [x.version for x in self.entries if x.number == 0]
        return max(present, default=0) if self.error == "B40Forgotten" else self.seen

    def end(self, meant: Entry) -> None:
        match self.error:
            case "B41":
                gone = {x for x in self.entries if x.number == meant.number}
            case "slow":
                gone = set[Entry]()
            case "B42":
                gone = {x for x in self.entries if x.address == meant.address}
            case _:
                gone = {
                    x
                    for x in self.entries
                    if x.address == meant.address and x.channel <= meant.channel
                }
        self.entries -= gone
        self._mask()

    def _mask(self) -> None:
        if not any(x.number == 0 for x in self.entries):
            self.perm &= ~2

    def route(self) -> TopicRouteData | None:
        if not self.entries:
            return None
        brokers = {BrokerId(x.number): x.address for x in self.entries}
        if MASTER not in brokers and not self.perm & 2:
            smallest = min(brokers)
            if self.error != "Smallest" or smallest == 1:
                brokers[MASTER] = brokers.pop(smallest)
        queues = QueueData(
            broker_name="g", read_queue_nums=1, write_queue_nums=1, perm=self.perm, topic_sys_flag=0
        )
        broker = BrokerData(cluster="c", broker_name="g", addresses=brokers)
        return TopicRouteData(queue_datas=(queues,), broker_datas=(broker,))


def answer(server: NameServer, command: RemotingCommand, channel: int) -> NameServerReply:
    match pull_name_server_request(command):
        case GetRouteInfo():
            route = server.route()
            if route is None:
                return NameServerReply(code=NameServerResponse.TOPIC_NOT_EXIST)
            return NameServerReply(answer=route)
        case RegisterBroker() as said:
            version = said.data_version.state_version
            server.register(Entry(said.broker_id, said.broker_address, version, channel))
            return NameServerReply(answer=RegisterBrokerResult())
        case UnregisterBroker() as said:
            server.end(Entry(said.broker_id, said.broker_address, 0, channel))
            return NameServerReply()
        case other:
            raise AssertionError(other)


@contextmanager
def listening(server: NameServer) -> Iterator[int]:
    channels = iter(range(1, 10_000))

    class Handler(socketserver.BaseRequestHandler):
        """A connection of a broker, or of a client."""

        def handle(self) -> None:
            with server.lock:
                channel = next(channels)
            heard, addresses = bytearray(), set[str]()
            while data := self.request.recv(65536):
                heard += data
                while (found := pull_command(heard)) is not None:
                    command, size = found
                    del heard[:size]
                    addresses.update(filter(None, [command.ext_fields.get("brokerAddr")]))
                    with server.lock:
                        reply = answer(server, command, channel)
                    self.request.sendall(push_command(push_name_server_reply(reply, command)))
            with server.lock:
                for address in addresses:
                    server.end(Entry(0, address, 0, channel))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as listener:
        thread = threading.Thread(target=listener.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield int(listener.server_address[1])
        finally:
            listener.shutdown()
            thread.join()


def played(name: str, error: str) -> Outcome:
    with listening(NameServer(error)) as port:
        return play_history(HISTORIES[name], port)


@pytest.mark.parametrize("name", ERRORS)
def test_a_history_goes_wrong_where_the_error_is(name: str) -> None:
    assert played(name, name).is_wrong


@pytest.mark.parametrize("name", ERRORS)
def test_a_history_goes_right_where_no_error_is(name: str) -> None:
    assert not played(name, "none").is_wrong


def test_a_route_of_nobody_has_no_groups() -> None:
    with listening(NameServer("none")) as port:
        assert ask_routes(port, "t") == {}
        assert ask_route(port) is None
    with listening(NameServer("none", entries={Entry(0, "127.0.0.1:9", 1, 1)}, perm=6)) as port:
        assert ask_routes(port, "t") == {"g": Route(brokers={0: "127.0.0.1:9"}, may_write=True)}


def test_a_name_server_that_is_not_there_is_an_error() -> None:
    with pytest.raises(PeerError, match="the name server does not answer request 105"):
        play_history(HISTORIES["B40"], 1)


def test_a_history_that_does_not_happen_is_an_error() -> None:
    not_so = pytest.raises(PeerError, match="the history did not happen: the second master")
    with listening(NameServer("none", seen=9)) as port, not_so:  # it takes no master of before
        play_history(HISTORIES["B40"], port)


@pytest.mark.parametrize(
    ("name", "error"),
    [("Demoted", "deaf"), ("B41", "slow"), ("Smallest", "slow"), ("B40Forgotten", "slow")],
)
def test_where_nothing_comes_of_what_is_said_there_is_no_outcome(name: str, error: str) -> None:
    with pytest.raises(PeerError, match="the history did not happen"):
        played(name, error)


def test_a_name_server_that_knows_of_somebody_is_not_asked() -> None:
    left = Entry(0, "127.0.0.1:9", 1, 1)
    not_so = pytest.raises(PeerError, match="nobody has registered yet")
    with listening(NameServer("none", entries={left})) as port, not_so:
        play_history(HISTORIES["B40"], port)


def test_a_history_that_nobody_knows_is_refused_with_those_that_there_are() -> None:
    result = CliRunner().invoke(main, ["peer", "rocketmq", "name-server", "--only", "B99"])

    assert result.exit_code == 2
    assert "there is no history B99: there are B40, " in " ".join(result.stderr.split())
