"""The ports of a group: free ones of five digits, below those that the system gives out.

All have equally many digits so that addresses can be rewritten in frames (`frame_rewriting`).
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rocketmq_peer.configuration import ControllerPorts
from rocketmq_peer.errors import PeerError

__all__ = ["BrokerPorts", "GroupPorts", "any_ports", "choose_ports", "is_free"]

LOWEST: Final = 10_000
HIGHEST: Final = 32_000
"""Linux gives out ports from 32768 on, macOS from 49152 on."""

_TRIES: Final = 200
_OF_BROKER: Final = 5
_OF_PAIR: Final = 3
_OF_CONTROLLER: Final = 2
_OF_NAME_SERVER: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerPorts:
    """Where a broker listens, where others reach it, and where it reaches others.

    Brokers and controllers are numbers, from 1.
    """

    remoting: int
    ha: int
    from_controllers: int
    """Where controllers reach it."""
    remoting_from: Mapping[int, int]
    """Where each other broker reaches it with requests."""
    ha_from: Mapping[int, int]
    """Where each other broker reaches its port of replication."""
    fast_from: Mapping[int, int]
    """Two below `remoting_from`: where slaves ask their master for its topics, as
    `MixAll.brokerVIPChannel` has it (`BrokerOuterAPI.getAllTopicConfig`)."""
    to_name_server: int
    to_controller: Mapping[int, int]

    @property
    def fast(self) -> int:
        """Where it takes requests that must not wait behind those of producers."""
        return self.remoting - 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPorts:
    """The ports of a group from `first` on."""

    first: int
    brokers: int
    controllers: int

    @property
    def count(self) -> int:
        """How many there are."""
        controllers = self.controllers * _OF_CONTROLLER
        return _OF_NAME_SERVER + controllers + self.brokers * self._width

    @property
    def name_server(self) -> int:
        """Of the name server itself, which clients ask."""
        return self.first

    def controller(self, number: int) -> ControllerPorts:
        """Return those of a controller."""
        at = self.first + _OF_NAME_SERVER + (number - 1) * _OF_CONTROLLER
        return ControllerPorts(remoting=at, raft=at + 1)

    def broker(self, number: int) -> BrokerPorts:
        """Return those of a broker."""
        at = self.first + _OF_NAME_SERVER + self.controllers * _OF_CONTROLLER
        at += (number - 1) * self._width
        others = [other for other in range(1, self.brokers + 1) if other != number]
        links = iter(range(at + _OF_BROKER, at + _OF_BROKER + self.controllers))
        pairs = range(at + _OF_BROKER + self.controllers, at + self._width, _OF_PAIR)
        return BrokerPorts(
            remoting=at + 2,
            ha=at + 1,
            from_controllers=at + 3,
            to_name_server=at + 4,
            to_controller={of: next(links) for of in range(1, self.controllers + 1)},
            fast_from=dict(zip(others, pairs, strict=True)),
            ha_from={other: at + 1 for other, at in zip(others, pairs, strict=True)},
            remoting_from={other: at + 2 for other, at in zip(others, pairs, strict=True)},
        )

    @property
    def _width(self) -> int:
        return _OF_BROKER + self.controllers + _OF_PAIR * (self.brokers - 1)


def any_ports(_: GroupPorts) -> bool:
    """Take whatever ports there are."""
    return True


def is_free(port: int) -> bool:
    """Tell whether nobody of this machine has a port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        try:
            tried.bind(("", port))
        except OSError:
            return False
    return True


def choose_ports(
    brokers: int,
    controllers: int,
    *,
    free: Callable[[int], bool] = is_free,
    draw: Callable[[int, int], int] = random.randint,
    suit: Callable[[GroupPorts], bool] = any_ports,
) -> GroupPorts:
    """Choose ports that are all free now, and suit; `draw` gives a number between two.

    Raises: PeerError
    """
    count = GroupPorts(first=LOWEST, brokers=brokers, controllers=controllers).count
    for _ in range(_TRIES):
        first = draw(LOWEST, HIGHEST)
        ports = GroupPorts(first=first, brokers=brokers, controllers=controllers)
        if suit(ports) and all(free(first + at) for at in range(count)):
            return ports
    raise PeerError(f"no {count} free ports side by side were found")
