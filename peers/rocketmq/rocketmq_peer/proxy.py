"""TCP proxies between the processes of a group, in one event loop on a thread of its own.

A link listens at a port and connects to another one. Each way of a link can be held (nothing gets
through, neither bytes nor an end; what arrives waits), delayed, or linger (the end of a connection
is not passed on: whoever is there does not learn that the other one is gone). A link can be cut
(its connections end at once, in both ways, and what waits is lost) and refuse (so end those that
come).

Both ends of a connection know it by one port number: towards the server a proxy takes the port
that the client has, at 127.0.0.2. So a client's port can serve only once in a run, on all links
together; a connection from a port that was used before is refused, and the client tries again from
another.

With a capture each chunk is a line of JSON: `at_ns` (CLOCK_MONOTONIC), `link`, `port` (that of the
client), `way` ("to_server", "to_client"), `hex` as it came, before it is rewritten; "open", "close"
and "refused" are lines, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeVar

from rocketha.errors import PacketError
from rocketmq_peer.errors import PeerError
from rocketmq_peer.frame_rewriting import FrameRewriter, Rewrite

__all__ = ["OUTBOUND_HOST", "LinkOptions", "Proxies", "Way"]

OUTBOUND_HOST: Final = "127.0.0.2"
"""Where the proxies' own connections come from. Linux has all of 127/8; macOS needs an alias."""

_HOST: Final = "127.0.0.1"
_CHUNK: Final = 65536
_WAITING_MAX: Final = 1024
"""Chunks of one way of a connection; then the sender is no longer read."""
_TIMEOUT_S: Final = 20.0
_RESET: Final = struct.pack("ii", 1, 0)

T = TypeVar("T")


class Way(Enum):
    """A way of a connection."""

    TO_SERVER = "to_server"
    TO_CLIENT = "to_client"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """What a link does to bytes; rewriting works on streams of remoting frames only."""

    to_server: Sequence[Rewrite] = ()
    to_client: Sequence[Rewrite] = ()

    def of(self, way: Way) -> Sequence[Rewrite]:
        """Return what is rewritten on a way."""
        return self.to_server if way is Way.TO_SERVER else self.to_client


@dataclass(slots=True)
class _Gate:
    """What befalls one way of a link."""

    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    delay_s: float = 0.0
    lingers: bool = False


@dataclass(slots=True, eq=False)
class _Connection:
    port: int
    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    ways: list[asyncio.Task[None]] = field(default_factory=list)

    def reset(self) -> None:
        for way in self.ways:
            way.cancel()
        for writer in (self.client, self.server):
            _reset(writer)


class _Link:
    """One listener; all of it runs in the loop."""

    def __init__(
        self,
        name: str,
        target: int,
        options: LinkOptions,
        used: set[int],
        capture: Callable[[str, int, str, bytes], None],
    ) -> None:
        self.name = name
        self.gates = {way: _Gate() for way in Way}
        for gate in self.gates.values():
            gate.is_open.set()
        self.refuses = False
        self.connections: set[_Connection] = set()
        self._cuts = 0
        self._target = target
        self._options = options
        self._used = used
        self._capture = capture
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[Any]] = set()

    async def listen(self, port: int) -> None:
        self._server = await asyncio.start_server(self._accepted, _HOST, port)

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    def cut(self) -> None:
        self._cuts += 1
        for connection in list(self.connections):
            connection.reset()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = asyncio.current_task()
        assert handler is not None
        self._handlers.add(handler)
        try:
            await self._serve(reader, writer)
        finally:
            self._handlers.discard(handler)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port: int = writer.get_extra_info("peername")[1]
        if self.refuses or port in self._used:
            self._refuse(port, writer)
            return
        self._used.add(port)
        cuts = self._cuts
        try:
            answers, server = await self._connect(port)
        except OSError:
            self._refuse(port, writer)
            return
        connection = _Connection(port, writer, server)
        if cuts != self._cuts:  # meanwhile
            connection.reset()
            return
        self.connections.add(connection)
        self._capture(self.name, port, "open", b"")
        ways = (
            self._pass_on(connection, Way.TO_SERVER, reader, server),
            self._pass_on(connection, Way.TO_CLIENT, answers, writer),
        )
        connection.ways = [asyncio.create_task(way) for way in ways]
        await asyncio.gather(*connection.ways, return_exceptions=True)
        self.connections.discard(connection)
        connection.reset()
        self._capture(self.name, port, "close", b"")

    def _refuse(self, port: int, writer: asyncio.StreamWriter) -> None:
        self._capture(self.name, port, "refused", b"")
        _reset(writer)

    async def _connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the server from the client's port. Raises: OSError"""
        outbound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            outbound.setblocking(False)
            outbound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            outbound.bind((OUTBOUND_HOST, port))
            loop = asyncio.get_running_loop()
            await loop.sock_connect(outbound, (_HOST, self._target))
            return await asyncio.open_connection(sock=outbound)
        except BaseException:
            outbound.close()
            raise

    async def _pass_on(
        self,
        connection: _Connection,
        way: Way,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Carry one way of a connection until it ends."""
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_WAITING_MAX)
        read = asyncio.create_task(self._read(connection, way, reader, waiting))
        gate = self.gates[way]
        loop = asyncio.get_running_loop()
        try:
            while True:
                due, data = await waiting.get()
                if due > loop.time():
                    await asyncio.sleep(due - loop.time())
                await gate.is_open.wait()
                if not data:
                    break
                if not writer.is_closing():  # whoever is gone while the other lingers
                    with contextlib.suppress(OSError):
                        writer.write(data)
                        await writer.drain()
            if not gate.lingers:
                writer.close()
        finally:
            read.cancel()

    async def _read(
        self,
        connection: _Connection,
        way: Way,
        reader: asyncio.StreamReader,
        waiting: asyncio.Queue[tuple[float, bytes]],
    ) -> None:
        """Read one way; an empty chunk is its end."""
        gate, loop = self.gates[way], asyncio.get_running_loop()
        rewrites = self._options.of(way)
        rewriter = FrameRewriter(rewrites) if rewrites else None
        while True:
            try:
                data = await reader.read(_CHUNK)
            except OSError:
                data = b""
            if not data:
                await waiting.put((loop.time() + gate.delay_s, b""))
                return
            self._capture(self.name, connection.port, way.value, data)
            if rewriter is not None:
                try:
                    data = rewriter.take(data)
                except PacketError:
                    connection.reset()
                    return
            if data:
                await waiting.put((loop.time() + gate.delay_s, data))


class Proxies:
    """All links of a run; methods may be called from any thread but the proxies' own.

    A name is that of a link, or what those of several begin with, up to a dot: "ha.b1" is
    "ha.b1.b2" and "ha.b1.b3".
    """

    def __init__(self, capture: Path | None = None) -> None:
        """Start the thread; `capture` gets what goes through. Raises: OSError"""
        self._links: dict[str, _Link] = {}
        self._used: set[int] = set()
        self._file = None if capture is None else capture.open("a", encoding="utf-8")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxies", daemon=True)
        self._thread.start()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all links, as they were added."""
        return tuple(self._links)

    def add(
        self, name: str, *, listen: int, target: int, options: LinkOptions | None = None
    ) -> None:
        """Add a link from a port to a port. Raises: PeerError if it cannot listen there"""
        if name in self._links:
            raise PeerError(f"two links are called {name}")
        link = _Link(name, target, options or LinkOptions(), self._used, self._captured)
        try:
            self._run(link.listen(listen))
        except OSError as error:
            raise PeerError(
                f"the link {name} cannot listen at {listen}: {error.strerror}"
            ) from error
        self._links[name] = link

    def hold(self, name: str, way: Way) -> None:
        """Let nothing through on a way; it waits, in order."""
        self._each(name, lambda link: link.gates[way].is_open.clear())

    def release(self, name: str, way: Way) -> None:
        """Let through what waits, and what comes."""
        self._each(name, lambda link: link.gates[way].is_open.set())

    def delay(self, name: str, way: Way, seconds: float) -> None:
        """Let each chunk that comes from now on wait so long; order stays."""
        self._each(name, lambda link: setattr(link.gates[way], "delay_s", seconds))

    def linger(self, name: str, way: Way, on: bool = True) -> None:
        """Do not pass on ends of connections on a way, or do it again for those to come."""
        self._each(name, lambda link: setattr(link.gates[way], "lingers", on))

    def cut(self, name: str) -> int:
        """End all connections of a link at once; return how many there were."""

        def cut(link: _Link) -> int:
            count = len(link.connections)
            link.cut()
            return count

        return sum(self._each(name, cut))

    def refuse(self, name: str, on: bool = True) -> None:
        """Refuse connections from now on, or accept them again; those that are there stay."""
        self._each(name, lambda link: setattr(link, "refuses", on))

    def connections(self, name: str) -> tuple[int, ...]:
        """Return the clients' ports of the connections of a link, in order."""
        found = self._each(name, lambda link: [one.port for one in link.connections])
        return tuple(sorted(port for ports in found for port in ports))

    def close(self) -> None:
        """End all links and the thread."""
        if self._loop.is_closed():
            return
        for link in self._links.values():
            self._run(link.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_TIMEOUT_S)
        self._loop.close()
        if self._file is not None:
            self._file.close()

    # ---- the thread ----

    def _each(self, name: str, work: Callable[[_Link], T]) -> list[T]:
        """Do something to the links of a name, at one moment. Raises: PeerError"""
        found = [
            link for own, link in self._links.items() if own == name or own.startswith(f"{name}.")
        ]
        if not found:
            raise PeerError(f"no link is called {name}: there are {', '.join(self._links)}")

        async def done() -> list[T]:
            return [work(link) for link in found]

        return self._run(done())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_TIMEOUT_S)

    def _captured(self, link: str, port: int, what: str, data: bytes) -> None:
        if self._file is None:
            return
        line: dict[str, object] = {"at_ns": time.monotonic_ns(), "link": link, "port": port}
        line["way"] = what
        if data:
            line["hex"] = data.hex()
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection so that the other side hears of it as an error, whatever is under way."""
    if writer.transport.is_closing():
        writer.transport.abort()
        return
    raw = writer.get_extra_info("socket")
    if raw is not None:
        with contextlib.suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()
