"""The loop of a process: real sockets on loopback, what comes and goes over them, and time."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from rocketha.errors import DiskError, ListenError, PacketError, RequestError
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import command_stream, push_command
from rocketha.process.event_loop import EventLoop, Link, split_address
from rocketha.process.packets import PacketHandler


@dataclass
class Heard:
    """A handler that notes everything, and stops the loop when it has heard enough."""

    loop: EventLoop
    enough: Callable[[Heard], bool] = lambda _: False
    said: list[str] = field(default_factory=list)
    data: bytes = b""

    def connected(self, link: Link) -> None:
        self.said.append(f"connected {link.is_open}")
        self._look()

    def received(self, link: Link, data: bytes) -> None:
        assert not link.is_closed
        self.data += data
        self._look()

    def lost(self, link: Link, reason: str) -> None:
        assert link.is_closed
        self.said.append(f"lost: {reason}")
        self._look()

    def _look(self) -> None:
        if self.enough(self):
            self.loop.stop()


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def loop(lines: list[str]) -> EventLoop:
    made = EventLoop(log=lines.append)
    made.after(10, lambda: pytest.fail("the loop was not stopped"))
    return made


def echo(link: Link) -> PacketHandler[RemotingCommand]:
    """Send each command back."""

    def answer(to: Link, command: RemotingCommand) -> None:
        to.send(push_command(command))

    del link
    return PacketHandler(command_stream(), received=answer, lost=lambda *_: None)


def test_what_is_sent_comes_back_however_large_it_is(loop: EventLoop) -> None:
    body = bytes(range(256)) * (1 << 14)
    frame = push_command(RemotingCommand(code=1, opaque=7, body=body))
    client = Heard(loop, lambda heard: len(heard.data) == len(frame))
    link = loop.connect(loop.listen("127.0.0.1:0", echo).address, client)
    link.send(frame)
    assert link.backlog == len(frame)
    loop.run()
    assert client.data == frame
    assert client.said == ["connected True"]
    assert link.is_closed


def test_bad_bytes_close_their_link_only(loop: EventLoop, lines: list[str]) -> None:
    server = loop.listen("127.0.0.1:0", echo)
    frame = push_command(RemotingCommand(code=1, opaque=7))
    good, bad = Heard(loop), Heard(loop)

    def say_more(heard: Heard) -> bool:
        if heard.said[-1] == "lost: closed":
            good_link.send(frame)
        return False

    bad.enough, good.enough = say_more, lambda heard: heard.data == frame
    good_link = loop.connect(server.address, good)
    loop.connect(server.address, bad).send(b"\xff" * 64)
    loop.run()
    assert good.data == frame
    assert bad.said == ["connected True", "lost: closed"]
    (line,) = lines
    assert "is refused: frame length at byte 0" in line


def failing(loop: EventLoop, error: Exception) -> tuple[Link, list[str]]:
    """Send a command to somebody who raises an error for it; what he hears then comes with it."""
    told: list[str] = []

    def fail(*_: object) -> None:
        raise error

    def lost(_: Link, reason: str) -> None:
        told.append(reason)
        loop.stop()

    def accept(_: Link) -> PacketHandler[RemotingCommand]:
        return PacketHandler(command_stream(), received=fail, lost=lost)

    link = loop.connect(loop.listen("127.0.0.1:0", accept).address, Heard(loop))
    link.send(push_command(RemotingCommand(code=1, opaque=7)))
    return link, told


def test_a_failure_that_is_not_of_the_peer_ends_the_loop(loop: EventLoop) -> None:
    link, told = failing(loop, DiskError("commitlog", reason="is full"))
    with pytest.raises(DiskError, match="is full"):
        loop.run()
    assert link.is_closed
    assert told == []


@pytest.mark.parametrize(
    "error", [PacketError("command", offset=3, reason="is no"), RequestError("id", reason="is no")]
)
def test_an_error_of_the_peer_closes_the_link(
    loop: EventLoop, lines: list[str], error: Exception
) -> None:
    _, told = failing(loop, error)
    loop.run()
    assert told == [str(error)]
    (line,) = lines
    assert line.endswith(f"is refused: {error}")


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:99999", "10.0.0.1:80", "example.org:80"])
def test_who_cannot_be_reached_is_lost_later(loop: EventLoop, address: str) -> None:
    client = Heard(loop, lambda _: True)
    loop.connect(address, client)
    assert client.said == []
    loop.run()
    (said,) = client.said
    assert said.startswith("lost: ")


def test_nobody_listens_there(loop: EventLoop) -> None:
    server = loop.listen("127.0.0.1:0", echo)
    address = server.address
    server.close()
    client = Heard(loop, lambda _: True)
    loop.connect(address, client)
    loop.run()
    assert client.said == ["lost: Connection refused"]


def test_who_closes_hears_no_more(loop: EventLoop) -> None:
    server = loop.listen("127.0.0.1:0", lambda _: None)
    client = Heard(loop)
    link = loop.connect(server.address, client)
    loop.lose(link, "as if the network had")
    link.close()
    loop.after(0.1, loop.stop)
    loop.run()
    assert client.said == []


def test_where_it_may_not_listen(loop: EventLoop) -> None:
    server = loop.listen("127.0.0.1:0", echo)
    for address in (server.address, "0.0.0.0:0", "here"):
        with pytest.raises(ListenError, match=address):
            loop.listen(address, echo)
    loop.stop()
    loop.run()


def test_a_peer_that_takes_nothing_is_given_up(loop: EventLoop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        client = Heard(loop, lambda heard: "lost" in heard.said[-1])
        link = loop.connect(f"127.0.0.1:{deaf.getsockname()[1]}", client)
        link.send(bytes(1 << 20))
        for _ in range(70):
            loop.after(0.05, lambda: link.send(bytes(1 << 20)))
        loop.run()
    assert "takes nothing" in client.said[-1]
    assert link.backlog == 0


def test_alarms_ring_in_their_order_and_can_be_called_off(loop: EventLoop) -> None:
    rung: list[str] = []
    loop.after(0.03, lambda: rung.append("third"))
    loop.after(0.01, lambda: rung.append("first")).cancel()
    loop.after(0.02, lambda: rung.append("second"))
    loop.after(0.04, loop.stop)
    loop.run()
    assert rung == ["second", "third"]


def test_another_thread_can_stop_it(loop: EventLoop) -> None:
    threading.Timer(0.05, lambda: loop.from_thread(loop.stop)).start()
    began = time.monotonic()
    loop.run()
    assert time.monotonic() - began < 5


def test_a_signal_ends_it_and_its_sockets(loop: EventLoop) -> None:
    address = loop.listen("127.0.0.1:0", echo).address
    before = signal.getsignal(signal.SIGUSR1)
    loop.stop_on_signals(signal.SIGUSR1)
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
    try:
        loop.run()
    finally:
        signal.signal(signal.SIGUSR1, before)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(split_address(address), 1)


def test_addresses() -> None:
    assert split_address("127.0.0.1:80") == ("127.0.0.1", 80)
    for bad in ("", ":", "host", "host:", ":80", "host:-1", "host:65536", "host:٣"):
        with pytest.raises(ValueError, match="no host:port"):
            split_address(bad)


def test_who_is_one_too_many_is_turned_away_until_another_one_leaves(
    loop: EventLoop, lines: list[str]
) -> None:
    listener = loop.listen("127.0.0.1:0", lambda _: Heard(loop), links_max=1)
    host, port = split_address(listener.address)
    first = socket.create_connection((host, port), 5)
    others: list[socket.socket] = []

    def come() -> None:
        others.append(socket.create_connection((host, port), 5))

    def leave() -> None:
        first.close()
        loop.after(0.1, come)

    loop.after(0.1, come)
    loop.after(0.3, leave)
    loop.after(0.6, loop.stop)
    loop.run()

    assert [line for line in lines if "is turned away: 1 are connected" in line] == lines
    assert len(lines) == 1
    assert others[0].recv(1) == b""
    for one in others:
        one.close()
