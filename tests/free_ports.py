"""Ports for servers that a test starts in a while.

They are none of those that the system gives to who connects: such a port is free when a test looks,
and somebody's connection has it when the server starts. Each worker of pytest has a block of its
own.
"""

from __future__ import annotations

import itertools
import os
import socket
from contextlib import ExitStack
from typing import Final

__all__ = ["free_port", "free_ports"]

_FIRST: Final = 15_000
_BLOCK: Final = 2_000
_BLOCKS: Final = 8
"""The last port is 30,999: Linux gives those from 32,768 to who connects, others later ones."""

_block: Final = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % _BLOCKS
_next: Final = itertools.count(os.getpid() * 50)


def free_port() -> int:
    """Return a port that nobody has."""
    return free_ports(1)[0]


def free_ports(count: int) -> tuple[int, ...]:
    """Return so many ports, one after the other, that nobody has; they are given once."""
    for _ in range(_BLOCK):
        at = next(_next) % (_BLOCK // count) * count
        ports = tuple(_FIRST + _block * _BLOCK + at + number for number in range(count))
        if _are_free(ports):
            return ports
    raise AssertionError(f"of {_BLOCK} ports there are no {count} free ones in a row")


def _are_free(ports: tuple[int, ...]) -> bool:
    with ExitStack() as stack:
        try:
            for port in ports:
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
        except OSError:
            return False
    return True
