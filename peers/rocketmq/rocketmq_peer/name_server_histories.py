"""Histories that Route names by its mutants, played to a name server: which of them go wrong?

| history        | what comes late, or changes                            | it goes wrong if     |
|----------------|--------------------------------------------------------|----------------------|
| `B40`          | a master of an epoch before registers, beside a newer  | clients go to it     |
| `B40Forgotten` | the same, when the newer one is gone                   | clients go to it     |
| `B41`          | a master that has been replaced unregisters            | the newer one goes   |
| `B42`          | a channel ends while its broker registers on another   | the broker goes      |
| `Refused`      | a registration of a slave as the master that it was    | the slave goes       |
| `Demoted`      | the master registers as a slave                        | topics stay writable |
| `Smallest`     | the master goes, and the slave with the least brokerId | nobody acts          |

A history says nothing of a name server on which something else was seen on the way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rocketmq_peer.errors import PeerError
from rocketmq_peer.name_server_client import Channel, Route, ask_route

__all__ = ["HISTORIES", "History", "Outcome", "play_history"]

_WAIT_S: Final = 3.0
_SETTLE_S: Final = 0.3
"""A registration is done when it is answered, a removal by another thread, at once."""
_RACES: Final = 200
_FIRST, _SECOND, _THIRD = "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a history came to."""

    is_wrong: bool
    words: str


@dataclass(slots=True)
class _Server:
    """A name server, and the connections that brokers have to it."""

    port: int
    open: ExitStack

    def broker(self, address: str) -> Channel:
        channel = Channel(self.port, address)
        self.open.callback(channel.close)
        return channel

    def route(self) -> Route | None:
        return ask_route(self.port)

    def shows(self, holds: Callable[[Route | None], bool], what: str) -> Route | None:
        """Wait until a route is as it must be for the history. Raises: PeerError"""
        deadline = time.monotonic() + _WAIT_S
        while True:
            route = self.route()
            if holds(route):
                return route
            if time.monotonic() > deadline:
                raise PeerError(f"the history did not happen: {what}, but the route is {route}")
            time.sleep(0.02)

    def settled(self) -> Route | None:
        time.sleep(_SETTLE_S)
        return self.route()


def _said(route: Route | None) -> str:
    if route is None:
        return "there is no route"
    brokers = ", ".join(f"{number} is {at}" for number, at in sorted(route.brokers.items()))
    return f"{brokers}; {'writable' if route.may_write else 'read-only'}"


def _master(route: Route | None) -> str | None:
    return None if route is None else route.brokers.get(0)


def _addresses(route: Route | None) -> set[str]:
    return set() if route is None else set(route.brokers.values())


def _older_master(server: _Server) -> Outcome:
    server.broker(_SECOND).register(0, 2)
    server.shows(lambda route: _master(route) == _SECOND, "the second master registers")
    server.broker(_FIRST).register(0, 1)
    route = server.settled()
    return Outcome(_master(route) == _FIRST, _said(route))


def _forgotten_master(server: _Server) -> Outcome:
    second = server.broker(_SECOND)
    second.register(0, 2)
    server.shows(lambda route: _master(route) == _SECOND, "the second master registers")
    second.unregister(0)
    server.shows(lambda route: route is None, "the second master unregisters")
    server.broker(_FIRST).register(0, 1)
    route = server.settled()
    return Outcome(_master(route) == _FIRST, _said(route))


def _late_end(server: _Server) -> Outcome:
    first = server.broker(_FIRST)
    first.register(0, 1)
    server.shows(lambda route: _master(route) == _FIRST, "the first master registers")
    server.broker(_SECOND).register(0, 2)
    third = server.broker(_THIRD)
    third.register(1, 2)
    both = {0: _SECOND, 1: _THIRD}
    server.shows(lambda route: route is not None and route.brokers == both, "both register")
    first.unregister(0)
    third.unregister(1)  # removals are done in their order: then the late one was done
    route = server.shows(lambda route: _THIRD not in _addresses(route), "the slave unregisters")
    return Outcome(_master(route) != _SECOND, _said(route))


def _closed_channel(server: _Server) -> Outcome:
    channel = server.broker(_FIRST)
    channel.register(0, 1)
    for race in range(_RACES):
        server.shows(lambda route: _master(route) == _FIRST, "the master is registered")
        following = server.broker(_FIRST)
        channel.close()
        following.register(0, 1)
        channel = following
        time.sleep(0.02)
        if _master(server.route()) is None and _master(route := server.settled()) is None:
            return Outcome(True, f"{_said(route)}, at attempt {race + 1}")
    return Outcome(False, f"it stayed, {_RACES} times")


def _refused_slave(server: _Server) -> Outcome:
    first = server.broker(_FIRST)
    first.register(1, 2)
    server.broker(_SECOND).register(0, 2)
    registered = {0: _SECOND, 1: _FIRST}
    server.shows(lambda route: route is not None and route.brokers == registered, "both register")
    first.register(0, 1)
    route = server.settled()
    if _master(route) != _SECOND:
        raise PeerError(f"the history did not happen: it was not refused, {_said(route)}")
    return Outcome(_FIRST not in _addresses(route), _said(route))


def _demoted_master(server: _Server) -> Outcome:
    server.broker(_FIRST).register(1, 1)
    second = server.broker(_SECOND)
    second.register(0, 1)
    server.shows(lambda route: route is not None and route.may_write, "the master registers")
    second.register(2, 2)
    route = server.settled()
    if _master(route) == _SECOND or _addresses(route) != {_FIRST, _SECOND}:
        raise PeerError(f"the history did not happen: two slaves are left, but {_said(route)}")
    return Outcome(route is None or route.may_write, _said(route))


def _smaller_gone(server: _Server) -> Outcome:
    for address, number in ((_FIRST, 0), (_SECOND, 1), (_THIRD, 2)):
        server.broker(address).register(number, 1)
    server.shows(lambda route: route is not None and len(route.brokers) == 3, "all register")
    for address, number in ((_FIRST, 0), (_SECOND, 1)):
        server.broker(address).unregister(number)
    route = server.shows(lambda route: _addresses(route) == {_THIRD}, "two of three unregister")
    return Outcome(_master(route) != _THIRD, _said(route))


@dataclass(frozen=True, slots=True)
class History:
    """Something that brokers say to a name server."""

    name: str
    """A mutant of Route."""
    question: str
    play: Callable[[_Server], Outcome]


HISTORIES: Final[Mapping[str, History]] = MappingProxyType(
    {
        one.name: one
        for one in (
            History("B40", "the last registration wins, of whichever epoch", _older_master),
            History("B40Forgotten", "the predecessor of a master that is gone", _forgotten_master),
            History("B41", "a late end removes the new master", _late_end),
            History("B42", "the end of a channel removes a new registration", _closed_channel),
            History("Refused", "a refused registration removes a slave", _refused_slave),
            History("Demoted", "topics of a group without a master are writable", _demoted_master),
            History("Smallest", "nobody acts", _smaller_gone),
        )
    }
)


def play_history(history: History, port: int) -> Outcome:
    """Play a history to the name server at a port, as soon as it knows of nobody any more.

    Raises: PeerError: it did not happen, or the name server does not answer
    """
    with ExitStack() as connections:
        server = _Server(port, connections)
        server.shows(lambda route: route is None, "nobody has registered yet")
        return history.play(server)
