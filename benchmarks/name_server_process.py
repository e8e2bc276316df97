"""A name server's process with many brokers, each on a connection of its own that then ends.

`python -m benchmarks.name_server_process BROKERS TOPICS`: how long it takes until all have
registered, until all are gone whose connections end at once, and what the process keeps. The
baseline is the same with a tenth of both. Each broker takes a file of both processes.
"""

from __future__ import annotations

import resource
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.name_server import registration
from rocketha.formats.name_server_codec import push_name_server_request
from rocketha.formats.name_server_requests import GetRouteInfo
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from tests.impl.process.name_server_peers import NameServerRun

BROKERS: Final = 8_000
TOPICS: Final = 80_000
_SMALLER: Final = 10
_WINDOW: Final = 200
"""So many brokers wait for their answers at once."""
_ENDED_S: Final = 300.0
_OTHER_FILES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Seconds, and bytes of the process's memory."""

    registers_s: float
    leaves_s: float
    resident: int


def resident(pid: int) -> int:
    """Return the bytes of memory that a process has. Source: proc(5)"""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmRSS")


def answer(sock: socket.socket) -> RemotingCommand:
    """Wait for the next answer."""
    heard = b""
    while (pulled := pull_command(heard)) is None:
        data = sock.recv(1 << 16)
        assert data, "the connection is closed"
        heard += data
    return pulled[0]


def registered(server: NameServerRun, brokers: int, topics: int) -> Iterator[socket.socket]:
    """Connect all, some at once."""
    for begin in range(0, brokers, _WINDOW):
        opened = []
        for broker in range(begin, min(begin + _WINDOW, brokers)):
            sock = socket.create_connection(("127.0.0.1", server.port), 60)
            says = registration(broker, _topics(broker, brokers, topics))
            request = push_name_server_request(says, opaque=1)
            sock.sendall(push_command(request))
            opened.append(sock)
        for sock in opened:
            assert answer(sock).code == 0
            yield sock


def measure(brokers: int, topics: int, folder: Path) -> Measured:
    """Let all register, and end their connections."""
    with NameServerRun(folder, supportActingMaster="true") as server, ExitStack() as stack:
        server.start()
        begin = time.monotonic()
        connections = [*registered(server, brokers, topics)]
        registers_s = time.monotonic() - begin
        kept = resident(server.pid)
        asks = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 60))
        left = [_topics(broker, brokers, topics)[0] for broker in range(0, brokers, 2)]
        assert all(_found(asks, topic) for topic in left), "not all are there"
        begin = time.monotonic()
        for connection in connections:
            connection.close()
        while left:  # one of each group
            assert time.monotonic() - begin < _ENDED_S
            if _found(asks, left[-1]):
                time.sleep(0.01)
            else:
                left.pop()
        return Measured(registers_s=registers_s, leaves_s=time.monotonic() - begin, resident=kept)


def _topics(broker: int, brokers: int, topics: int) -> list[str]:
    """Return the topics of the group of a broker."""
    of_group = max(2, 2 * topics // brokers)
    first = broker // 2 * of_group
    return [f"topic-{number}" for number in range(first, first + of_group)]


def _found(sock: socket.socket, topic: str) -> bool:
    sock.sendall(push_command(push_name_server_request(GetRouteInfo(topic=topic), opaque=2)))
    return answer(sock).code == 0


def main(brokers: int = BROKERS, topics: int = TOPICS) -> None:
    """Print the figures, and what a broker costs against the baseline."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < brokers + _OTHER_FILES:
        print(f"no process may have {brokers + _OTHER_FILES:,} files here, but {hard:,}")
        return
    with tempfile.TemporaryDirectory() as folder:
        fewer = brokers // _SMALLER
        few = measure(fewer, topics // _SMALLER, Path(folder) / "few")
        many = measure(brokers, topics, Path(folder) / "many")
    megabytes = many.resident / 1e6
    print(f"process with {brokers:,} brokers and {topics:,} topics: {megabytes:.0f} MB resident")
    print(f"baseline with {fewer:,} and {topics // _SMALLER:,}: {few.resident / 1e6:.0f} MB")
    for name, most, least in (
        ("registers", many.registers_s, few.registers_s),
        ("leaves", many.leaves_s, few.leaves_s),
    ):
        one, base = 1e3 * most / brokers, 1e3 * least / fewer
        print(
            f"  {name:10} {most:6.1f} s, {one:.2f} ms a broker; baseline {base:.2f} ms:"
            f" ratio {one / base:.1f}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
