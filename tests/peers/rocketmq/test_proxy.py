"""What proxies do to connections between toy clients and toy servers."""

from __future__ import annotations

import json
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rocketmq_peer.errors import PeerError
from rocketmq_peer.frame_rewriting import Rewrite
from rocketmq_peer.proxy import OUTBOUND_HOST, LinkOptions, Proxies, Way
from tests.free_ports import free_port

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="takes 127.0.0.2, as Linux has it")

_TIMEOUT_S = 20.0


class Server:
    """Keeps its connections for the test to talk with."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._accepted: queue.Queue[tuple[socket.socket, tuple[str, int]]] = queue.Queue()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                accepted = self._listener.accept()
            except OSError:
                return
            accepted[0].settimeout(_TIMEOUT_S)
            self._accepted.put(accepted)

    def connection(self) -> tuple[socket.socket, tuple[str, int]]:
        return self._accepted.get(timeout=_TIMEOUT_S)

    def is_quiet(self) -> bool:
        return self._accepted.empty()

    def close(self) -> None:
        self._listener.close()


class Ground:
    """A server, a link to it, and clients."""

    def __init__(self, proxies: Proxies, options: LinkOptions | None = None) -> None:
        self.proxies = proxies
        self.server = Server()
        self.port = free_port()
        proxies.add("a", listen=self.port, target=self.server.port, options=options)

    def connect(self, source: int = 0, listen: int | None = None) -> socket.socket:
        client = socket.socket()
        client.settimeout(_TIMEOUT_S)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        client.bind(("127.0.0.1", source))
        client.connect(("127.0.0.1", self.port if listen is None else listen))
        return client

    def refuses(self, source: int = 0, listen: int | None = None) -> bool:
        try:
            client = self.connect(source, listen)
        except ConnectionResetError:  # as fast as the proxy may be
            return True
        with client:
            return is_over(client)

    def pair(self) -> tuple[socket.socket, socket.socket]:
        client = self.connect()
        return client, self.server.connection()[0]


@contextmanager
def ground(options: LinkOptions | None = None, capture: Path | None = None) -> Iterator[Ground]:
    proxies = Proxies(capture)
    made = Ground(proxies, options)
    try:
        yield made
    finally:
        proxies.close()
        made.server.close()


def hears_nothing(end: socket.socket, seconds: float = 0.2) -> bool:
    end.settimeout(seconds)
    try:
        end.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return True
    finally:
        end.settimeout(_TIMEOUT_S)
    return False


def is_over(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_bytes_go_both_ways_and_so_does_an_end() -> None:
    with ground() as at:
        client, server = at.pair()
        client.sendall(b"ping")
        assert server.recv(9) == b"ping"
        server.sendall(b"pong")
        assert client.recv(9) == b"pong"
        client.close()
        assert server.recv(9) == b""
        eventually(lambda: at.proxies.connections("a") == ())


def test_both_ends_know_a_connection_by_one_port() -> None:
    with ground() as at:
        client = at.connect()
        _, (host, port) = at.server.connection()
        assert (host, port) == (OUTBOUND_HOST, client.getsockname()[1])
        eventually(lambda: at.proxies.connections("a") == (port,))


def test_a_port_serves_once_in_a_run_on_all_links() -> None:
    with ground() as at:
        first, served = at.pair()
        port = first.getsockname()[1]
        other = free_port()
        at.proxies.add("b", listen=other, target=at.server.port)
        at.proxies.cut("a")
        assert is_over(first)
        served.close()
        for listen in (at.port, other):
            assert at.refuses(port, listen)
        assert at.server.is_quiet()
        at.pair()


def test_a_port_that_the_proxy_cannot_take_is_over() -> None:
    with ground() as at, socket.create_server((OUTBOUND_HOST, 0)) as taken:
        assert at.refuses(taken.getsockname()[1])
        assert at.server.is_quiet()


def test_what_is_held_comes_later_and_in_order() -> None:
    with ground() as at:
        client, server = at.pair()
        at.proxies.hold("a", Way.TO_CLIENT)
        server.sendall(b"1")
        client.sendall(b"up")
        assert server.recv(9) == b"up"
        server.sendall(b"2")
        assert hears_nothing(client)
        at.proxies.release("a", Way.TO_CLIENT)
        assert client.recv(1) + client.recv(1) == b"12"


def test_an_end_is_held_like_bytes() -> None:
    with ground() as at:
        client, server = at.pair()
        at.proxies.hold("a", Way.TO_CLIENT)
        server.sendall(b"last")
        server.close()
        assert hears_nothing(client)
        at.proxies.release("a", Way.TO_CLIENT)
        assert (client.recv(9), client.recv(9)) == (b"last", b"")


def test_a_cut_ends_both_sides_and_loses_what_waits() -> None:
    with ground() as at:
        client, server = at.pair()
        at.proxies.hold("a", Way.TO_CLIENT)
        server.sendall(b"lost")
        assert hears_nothing(client)
        eventually(lambda: len(at.proxies.connections("a")) == 1)
        assert at.proxies.cut("a") == 1
        at.proxies.release("a", Way.TO_CLIENT)
        assert is_over(client)
        assert is_over(server)
        at.pair()  # the link itself is there


def test_a_link_that_refuses_keeps_what_it_has() -> None:
    with ground() as at:
        client, server = at.pair()
        at.proxies.refuse("a")
        assert at.refuses()
        assert at.server.is_quiet()
        client.sendall(b"still")
        assert server.recv(9) == b"still"
        at.proxies.refuse("a", False)
        at.pair()


def test_a_delay_is_of_each_chunk_and_of_one_way() -> None:
    with ground() as at:
        client, server = at.pair()
        at.proxies.delay("a", Way.TO_SERVER, 0.3)
        began = time.monotonic()
        client.sendall(b"slow")
        server.sendall(b"fast")
        assert client.recv(9) == b"fast"
        assert server.recv(9) == b"slow"
        assert time.monotonic() - began >= 0.3


def test_who_lingers_does_not_learn_that_the_other_is_gone() -> None:
    with ground() as at:
        client, server = at.pair()
        at.proxies.linger("a", Way.TO_SERVER)
        client.sendall(b"bye")
        client.close()
        assert server.recv(9) == b"bye"
        server.sendall(b"are you there?")
        assert hears_nothing(server)
        server.sendall(b"hello?")
        assert hears_nothing(server)
        at.proxies.cut("a")
        assert is_over(server)
        at.proxies.linger("a", Way.TO_SERVER, False)
        client, server = at.pair()
        client.close()
        assert server.recv(9) == b""


def framed(text: bytes) -> bytes:
    body = bytes(4) + text
    return len(body).to_bytes(4) + body


def test_addresses_are_rewritten_in_complete_frames() -> None:
    options = LinkOptions(
        to_server=(Rewrite.of_ports(20011, 20111),), to_client=(Rewrite.of_ports(20012, 20112),)
    )
    with ground(options) as at:
        client, server = at.pair()
        whole = framed(b'{"a":"127.0.0.1:20011;127.0.0.1:20012"}')
        client.sendall(whole[:20])
        assert hears_nothing(server)
        client.sendall(whole[20:] + whole[:7])
        assert server.recv(999) == whole.replace(b"20011", b"20111")
        server.sendall(whole)
        assert client.recv(999) == whole.replace(b"20012", b"20112")


def test_what_is_no_frame_ends_the_connection() -> None:
    options = LinkOptions(to_server=(Rewrite.of_ports(20011, 20111),))
    with ground(options) as at:
        client, server = at.pair()
        client.sendall(b"\xff\xff\xff\xff")
        assert is_over(client)
        assert is_over(server)


def test_a_capture_has_bytes_as_they_came(tmp_path: Path) -> None:
    options = LinkOptions(to_server=(Rewrite.of_ports(20011, 20111),))
    with ground(options, tmp_path / "wire.ndjson") as at:
        client, server = at.pair()
        port = client.getsockname()[1]
        frame = framed(b"127.0.0.1:20011")
        client.sendall(frame)
        assert b"20111" in server.recv(99)
        client.close()
        assert server.recv(9) == b""
        eventually(lambda: at.proxies.connections("a") == ())
        at.proxies.refuse("a")
        assert at.refuses()
    lines = [json.loads(line) for line in (tmp_path / "wire.ndjson").read_text().splitlines()]
    assert lines.pop()["way"] == "refused"
    assert [(line["link"], line["port"], line["way"]) for line in lines] == [
        ("a", port, way) for way in ("open", "to_server", "close")
    ]
    assert bytes.fromhex(lines[1]["hex"]) == frame
    assert lines[0]["at_ns"] < lines[2]["at_ns"] < time.monotonic_ns()


def test_links_that_cannot_be() -> None:
    with ground() as at:
        with pytest.raises(PeerError, match="cannot listen at"):
            at.proxies.add("b", listen=at.server.port, target=1)
        with pytest.raises(PeerError, match="two links are called a"):
            at.proxies.add("a", listen=free_port(), target=1)
        with pytest.raises(PeerError, match="no link is called b: there are a"):
            at.proxies.cut("b")
        assert at.proxies.names == ("a",)


def test_a_name_may_be_of_several_links() -> None:
    with ground() as at:
        links = {name: free_port() for name in ("ha.b1.b2", "ha.b1.b3", "ha.b10.b2")}
        for name, port in links.items():
            at.proxies.add(name, listen=port, target=at.server.port)
        at.proxies.refuse("ha.b1")
        assert [at.refuses(listen=port) for port in list(links.values())[:2]] == [True, True]
        client = at.connect(listen=links["ha.b10.b2"])
        port = client.getsockname()[1]
        eventually(lambda: at.proxies.connections("ha") == (port,))
        assert at.proxies.cut("ha.b1") == 0
        assert at.proxies.cut("ha") == 1
        assert is_over(client)


def test_a_server_that_is_not_there_is_a_refusal() -> None:
    with ground() as at:
        port = free_port()
        at.proxies.add("b", listen=port, target=free_port())
        assert at.refuses(listen=port)


@pytest.mark.parametrize("options", [(b"a", b"bb"), (b"", b"")])
def test_texts_that_are_not_equally_long_are_refused(options: tuple[bytes, bytes]) -> None:
    with pytest.raises(ValueError, match="not equally long"):
        Rewrite(*options)
