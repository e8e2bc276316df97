"""What happens in a run of a master that comes back, as whoever watches it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.pre_online.events import PreOnlineAction, PreOnlineEvent
from rocketha.sim.engine.frames import Frame
from rocketha.sim.route.steps import NameServerStepped, NameServerStopped
from rocketha.types import BrokerId

__all__ = ["BrokerStarted", "BrokerStepped", "BrokerStopped", "PreOnlineStep"]


@dataclass(frozen=True, slots=True)
class BrokerStepped:
    """A broker took a step."""

    broker: BrokerId
    event: PreOnlineEvent
    received: tuple[str, ...]
    """What the frames are called that made it take the step."""
    sent: tuple[Frame, ...]
    action: PreOnlineAction | None
    """What its core says of the step."""


@dataclass(frozen=True, slots=True)
class BrokerStopped:
    """A broker runs no more."""

    broker: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerStarted:
    """A broker is back, with what its disk has."""

    broker: BrokerId


PreOnlineStep: TypeAlias = (
    BrokerStepped | BrokerStopped | BrokerStarted | NameServerStepped | NameServerStopped
)
