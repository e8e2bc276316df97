"""One thread that waits for sockets and timers, and calls whoever they belong to.

Nothing is called back from within a call: who opens, writes to or closes a link hears what becomes
of it later, from the loop. So a handler may do all of that in the middle of a step.

What a stranger sends cannot end the process: a handler that raises `PacketError` or `RequestError`
has its link closed, with a line that says why. Buffers are bounded. Anything else that is raised,
such as a `DiskError`, ends `run`.

Source: remoting/netty `NettyRemotingServer`, store/ha `AbstractHAReader`, `FlowMonitor`
"""

from __future__ import annotations

import errno
import heapq
import ipaddress
import os
import selectors
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from rocketha.errors import ListenError, PacketError, RequestError

__all__ = ["Alarm", "Call", "EventLoop", "Handler", "Link", "Listener", "Log", "split_address"]

Call: TypeAlias = Callable[[], None]
Log: TypeAlias = Callable[[str], None]
"""Takes one line for the operator."""

_RECEIVE_MAX: Final = 256 << 10
_BACKLOG_MAX: Final = 64 << 20
_LINKS_MAX: Final = 1024
_CONNECT_TIMEOUT_S: Final = 3.0
_ACCEPT_PAUSE_S: Final = 0.2
_IDLE_S: Final = 60.0


class Handler(Protocol):
    """Who a link belongs to."""

    def connected(self, link: Link) -> None:
        """Hear that a link stands that was asked for; not called for accepted ones."""
        ...

    def received(self, link: Link, data: bytes) -> None:
        """Take bytes. Raises: PacketError, RequestError, and the link is closed"""
        ...

    def lost(self, link: Link, reason: str) -> None:
        """Hear that a link is gone; not called when `Link.close` closed it."""
        ...


def split_address(address: str) -> tuple[str, int]:
    """Split `host:port`. Raises: ValueError"""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 0xFFFF:
        raise ValueError(f"{address!r} is no host:port")
    return host, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name: it would be looked up


@dataclass(slots=True, order=True)
class Alarm:
    """A call at a time; it can be called off."""

    at_s: float
    number: int
    call: Call | None = field(compare=False)

    def cancel(self) -> None:
        """Call it off, if it has not been made."""
        self.call = None


class Link:
    """One connection. It is made by `EventLoop.connect`, or handed to who listens."""

    def __init__(self, loop: EventLoop, sock: socket.socket, peer: str) -> None:
        self.peer = peer
        """Address of the other end, `host:port`."""
        self.is_open = False
        """It stands: it was accepted, or the peer has accepted."""
        self._loop = loop
        self._sock: socket.socket | None = sock
        self._backlog = bytearray()
        self._timeout: Alarm | None = None
        self.handler: Handler | None = None

    @property
    def backlog(self) -> int:
        """Return the number of bytes that the network has not taken yet."""
        return len(self._backlog)

    @property
    def is_closed(self) -> bool:
        """Tell whether it is over."""
        return self._sock is None

    def send(self, data: bytes) -> None:
        """Send bytes, now or when the network takes them; of a closed link they are lost.

        A peer that takes nothing while 64 MiB pile up is given up.
        """
        if self._sock is None:
            return
        self._backlog += data
        if len(self._backlog) > _BACKLOG_MAX:
            self._loop.lose(self, f"takes nothing, and {len(self._backlog)} bytes wait")
        elif self.is_open and len(self._backlog) == len(data):
            self._write()

    def close(self) -> None:
        """Close it, and drop what the network has not taken; its handler hears no more."""
        self.handler = None
        self.end()

    # ---- what the loop calls ----

    def end(self) -> None:
        """Close the socket."""
        if self._sock is None:
            return
        sock, self._sock = self._sock, None
        if self._timeout is not None:
            self._timeout.cancel()
        self._loop.forget(self, sock)
        self.is_open = False
        self._backlog.clear()
        sock.close()

    def ready(self, mask: int) -> None:
        """Hear from the selector."""
        if self._sock is not None and not self.is_open:
            self._opened(self._sock)
            return
        if mask & selectors.EVENT_WRITE:
            self._write()
        if mask & selectors.EVENT_READ:
            self._read()

    def begin(self, *, wait_s: float) -> None:
        """Wait until the peer accepts, but not for ever."""
        self._timeout = self._loop.after(wait_s, lambda: self._loop.lose(self, "does not answer"))

    def _opened(self, sock: socket.socket) -> None:
        failure = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if failure:
            self._loop.lose(self, os.strerror(failure))
            return
        if self._timeout is not None:
            self._timeout.cancel()
        self.is_open = True
        self._write()
        if self.handler is not None and self.is_open:
            self.handler.connected(self)

    def _write(self) -> None:
        if self._sock is None:
            return
        try:
            sent = self._sock.send(self._backlog) if self._backlog else 0
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self._loop.lose(self, _reason(error))
            return
        del self._backlog[:sent]
        self._loop.watch(self, self._sock, writing=bool(self._backlog))

    def _read(self) -> None:
        handler = self.handler
        if self._sock is None or handler is None:
            return
        try:
            data = self._sock.recv(_RECEIVE_MAX)
        except BlockingIOError:
            return
        except OSError as error:
            self._loop.lose(self, _reason(error))
            return
        if not data:
            self._loop.lose(self, "closed")
            return
        try:
            handler.received(self, data)
        except (PacketError, RequestError) as error:
            self._loop.log(f"{self.peer} is refused: {error}")
            self._loop.lose(self, str(error))


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


class Listener:
    """A listening socket."""

    def __init__(
        self,
        loop: EventLoop,
        sock: socket.socket,
        accept: Callable[[Link], Handler | None],
        links_max: int,
    ) -> None:
        self._loop = loop
        self._sock = sock
        self._accept = accept
        self._links_max = links_max
        self._links: set[Link] = set()

    @property
    def address(self) -> str:
        """Return where it listens, `host:port`."""
        host, port = self._sock.getsockname()[:2]
        return f"{host}:{port}"

    def close(self) -> None:
        """Listen no more; links that were accepted stay."""
        self._loop.end_listening(self, self._sock)
        self._sock.close()

    def forget(self, link: Link) -> None:
        """Count a link no more that is closed."""
        self._links.discard(link)

    def ready(self, mask: int) -> None:
        """Hear from the selector that somebody connects."""
        del mask
        try:
            sock, (host, port, *_) = self._sock.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                self._loop.log(f"{self.address} accepts nobody for now: {_reason(error)}")
                self._loop.rest(self, self._sock)
            return
        if len(self._links) >= self._links_max:
            self._loop.log(f"{host}:{port} is turned away: {len(self._links)} are connected")
            sock.close()
            return
        link = self._loop.adopt(sock, f"{host}:{port}")
        link.is_open = True
        link.handler = self._accept(link)
        if link.handler is None:
            link.close()
        else:
            self._links.add(link)


class EventLoop:
    """Sockets and timers of a process. All of it is used from the thread that runs it.

    Without `beyond_loopback` it neither listens nor connects outside this machine.
    """

    def __init__(self, *, log: Log, beyond_loopback: bool = False) -> None:
        """Make a loop that does nothing yet."""
        self.log = log
        self._beyond_loopback = beyond_loopback
        self._selector = selectors.DefaultSelector()
        self._hears_signals = False
        self._links: set[Link] = set()
        self._listeners: dict[Listener, socket.socket] = {}
        self._alarms: list[Alarm] = []
        self._alarm_number = 0
        self._later: deque[Call] = deque()
        self._from_threads: deque[Call] = deque()
        self._is_over = False
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._wake_write.setblocking(False)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._woken)

    # ---- sockets ----

    def listen(
        self,
        address: str,
        accept: Callable[[Link], Handler | None],
        *,
        links_max: int = _LINKS_MAX,
    ) -> Listener:
        """Listen at `host:port`; port 0 is any free one. `accept` gives who a link belongs to.

        A link for which it gives None is closed, and so are those over `links_max`.

        Raises: ListenError
        """
        try:
            host, port = self._allowed(address)
            sock = socket.create_server((host, port), backlog=128)
        except (OSError, ValueError) as error:
            raise ListenError(address, reason=str(error)) from error
        sock.setblocking(False)
        listener = Listener(self, sock, accept, links_max)
        self._listeners[listener] = sock
        self._selector.register(sock, selectors.EVENT_READ, listener.ready)
        return listener

    def connect(
        self, address: str, handler: Handler, *, timeout_s: float = _CONNECT_TIMEOUT_S
    ) -> Link:
        """Begin to connect with `host:port`; `connected` or `lost` follows. Nothing is raised."""
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        link = self.adopt(sock, address, connects=True)
        link.handler = handler
        try:
            host, port = self._allowed(address)
            failure = sock.connect_ex((host, port))
        except (OSError, ValueError) as error:
            self.lose(link, str(error))
            return link
        if failure not in (0, errno.EINPROGRESS):
            self.lose(link, os.strerror(failure))
            return link
        link.begin(wait_s=timeout_s)
        return link

    def _allowed(self, address: str) -> tuple[str, int]:
        host, port = split_address(address)
        if not (self._beyond_loopback or _is_loopback(host)):
            raise ValueError("it is not on loopback")
        return host, port

    # ---- time ----

    def after(self, wait_s: float, call: Call) -> Alarm:
        """Make a call in a while."""
        self._alarm_number += 1
        alarm = Alarm(time.monotonic() + max(0.0, wait_s), self._alarm_number, call)
        heapq.heappush(self._alarms, alarm)
        return alarm

    def soon(self, call: Call) -> None:
        """Make a call when the present one is over."""
        self._later.append(call)

    def from_thread(self, call: Call) -> None:
        """Make a call soon, at the wish of another thread; the only method for other threads."""
        self._from_threads.append(call)
        self._wake()

    # ---- its life ----

    def run(self) -> None:
        """Serve until `stop`, then close everything. Raises: what a handler or an alarm raises"""
        try:
            while not self._is_over:
                self._pass()
        finally:
            self._close()

    def stop(self) -> None:
        """Let `run` return after the present call."""
        self._is_over = True

    def stop_on_signals(self, *signals: signal.Signals) -> None:
        """Stop when the process gets one of these: from the main thread only."""
        assert threading.current_thread() is threading.main_thread()

        def stop(number: int, frame: object) -> None:
            del number, frame
            self.stop()

        self._hears_signals = True
        signal.set_wakeup_fd(self._wake_write.fileno(), warn_on_full_buffer=False)
        for one in signals:
            signal.signal(one, stop)

    def _pass(self) -> None:
        """Wait for the next thing to do, and do all that is due."""
        for key, mask in self._selector.select(self._wait_s()):
            if self._is_over:
                return
            key.data(mask)
        now_s = time.monotonic()
        while self._alarms and self._alarms[0].at_s <= now_s and not self._is_over:
            call = heapq.heappop(self._alarms).call
            if call is not None:
                call()
        for calls in (self._from_threads, self._later):
            for _ in range(len(calls)):
                if not self._is_over:
                    calls.popleft()()

    def _wait_s(self) -> float:
        if self._later or self._from_threads:
            return 0.0
        while self._alarms and self._alarms[0].call is None:
            heapq.heappop(self._alarms)
        if not self._alarms:
            return _IDLE_S
        return min(_IDLE_S, max(0.0, self._alarms[0].at_s - time.monotonic()))

    def _wake(self) -> None:
        try:
            self._wake_write.send(b"w")
        except OSError:
            return  # it is awake, or over

    def _woken(self, mask: int) -> None:
        del mask
        try:
            self._wake_read.recv(4096)
        except BlockingIOError:
            return

    def _close(self) -> None:
        for link in list(self._links):
            link.close()
        for listener in list(self._listeners):
            listener.close()
        if self._hears_signals:
            signal.set_wakeup_fd(-1)
        self._selector.close()
        self._wake_read.close()
        self._wake_write.close()

    # ---- what links and listeners call ----

    def adopt(self, sock: socket.socket, peer: str, *, connects: bool = False) -> Link:
        """Watch a socket."""
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link = Link(self, sock, peer)
        self._links.add(link)
        mask = selectors.EVENT_WRITE if connects else selectors.EVENT_READ
        self._selector.register(sock, mask, link.ready)
        return link

    def watch(self, link: Link, sock: socket.socket, *, writing: bool) -> None:
        """Hear when the network takes more, or no longer."""
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0)
        if self._selector.get_key(sock).events != mask:
            self._selector.modify(sock, mask, link.ready)

    def forget(self, link: Link, sock: socket.socket) -> None:
        """Watch a link no longer."""
        self._links.discard(link)
        for listener in self._listeners:
            listener.forget(link)
        self._selector.unregister(sock)

    def lose(self, link: Link, reason: str) -> None:
        """Close a link and have its handler told, when the present call is over."""
        handler = link.handler
        if link.is_closed or handler is None:
            return
        link.end()

        def tell() -> None:
            if link.handler is handler:
                handler.lost(link, reason)

        self.soon(tell)

    def rest(self, listener: Listener, sock: socket.socket) -> None:
        """Accept nobody for a moment: there are no more descriptors."""
        self._selector.unregister(sock)

        def again() -> None:
            if listener in self._listeners:
                self._selector.register(sock, selectors.EVENT_READ, listener.ready)

        self.after(_ACCEPT_PAUSE_S, again)

    def end_listening(self, listener: Listener, sock: socket.socket) -> None:
        """Forget a listener."""
        del self._listeners[listener]
        if sock.fileno() in self._selector.get_map():
            self._selector.unregister(sock)
