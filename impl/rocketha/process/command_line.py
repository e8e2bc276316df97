"""`python -m rocketha.process.NODE -c CONFIGURATION`: what is the same for nodes of such a kind."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from rocketha.errors import DamagedLogError, RockethaError
from rocketha.process.event_loop import EventLoop, Log

__all__ = ["Serving", "serve"]

_WORDS: Final = 2
_OF_DAMAGE: Final = "; with discardDamagedLog=true it goes, and the leader sends it again"


class Serving(Protocol):
    """A node that is ready."""

    @property
    def loop(self) -> EventLoop:
        """What moves it."""
        ...

    def run(self) -> None:
        """Serve until it is told to stop. Raises: RockethaError"""
        ...


def serve(name: str, arguments: list[str], make: Callable[[Path, Log], Serving]) -> int:
    """Make a node by its configuration and let it serve; return the exit code of its process.

    0: it was told to stop; 1: it could not go on; 2: it could not begin.
    """

    def say(line: str) -> None:
        print(f"{line}\n", end="", flush=True)  # in one piece: a node may have two threads

    if len(arguments) != _WORDS or arguments[0] != "-c":
        print(f"usage: python -m rocketha.process.{name} -c CONFIGURATION", file=sys.stderr)
        return 2
    try:
        node = make(Path(arguments[1]), say)
    except (RockethaError, OSError) as error:
        hint = _OF_DAMAGE if isinstance(error, DamagedLogError) else ""
        print(f"error: {error}{hint}", file=sys.stderr)
        return 2
    node.loop.stop_on_signals(signal.SIGTERM, signal.SIGINT)
    try:
        node.run()
    except (RockethaError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
