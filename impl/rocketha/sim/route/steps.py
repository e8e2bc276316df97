"""What happens in a run of brokers and name servers, as whoever watches it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.acting.core import ActingAction, ActingHears
from rocketha.histories.routes import RouteAnswer
from rocketha.nameserver.core import NameServerAction, NameServerHears
from rocketha.runtime.events import RequestEvent
from rocketha.sim.engine.frames import Frame
from rocketha.types import BrokerId

__all__ = [
    "BrokerStarted",
    "BrokerStepped",
    "BrokerStopped",
    "Elected",
    "NameServerStepped",
    "NameServerStopped",
    "RouteStep",
]


@dataclass(frozen=True, slots=True)
class Elected:
    """The controller has made a broker master."""

    broker: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerStepped:
    """A broker took a step."""

    broker: BrokerId
    event: ActingHears | RequestEvent
    received: tuple[str, ...]
    """What the frames are called that made it take the step."""
    sent: tuple[Frame, ...]
    action: ActingAction | None
    """What its core says of the step."""


@dataclass(frozen=True, slots=True)
class BrokerStopped:
    """A broker runs no more."""

    broker: BrokerId
    says: bool
    """It has told name servers, in the step before."""


@dataclass(frozen=True, slots=True)
class BrokerStarted:
    """A broker is back, and has asked nobody yet."""

    broker: BrokerId


@dataclass(frozen=True, slots=True)
class NameServerStepped:
    """A name server took a step."""

    name_server: BrokerId
    event: NameServerHears | RequestEvent
    received: tuple[str, ...]
    """What the frames are called that made it take the step."""
    sent: tuple[Frame, ...]
    answered: RouteAnswer | None
    """What a client was told."""
    action: NameServerAction | None
    """What its core says of the step."""


@dataclass(frozen=True, slots=True)
class NameServerStopped:
    """A name server runs no more, and has forgotten all."""

    name_server: BrokerId


RouteStep: TypeAlias = (
    Elected | BrokerStepped | BrokerStopped | BrokerStarted | NameServerStepped | NameServerStopped
)
