"""What happens in a run of a slave that acts, as whoever watches it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from rocketha.escape.events import EscapeAction, MasterEvent, ProducerEvent, SlaveEvent
from rocketha.sim.engine.frames import Frame
from rocketha.types import BrokerId

__all__ = [
    "ConsumerAsked",
    "ConsumerTold",
    "EscapeStep",
    "MasterStarted",
    "MasterStepped",
    "MasterStopped",
    "ProducerStepped",
    "SlaveStarted",
    "SlaveStepped",
    "SlaveStopped",
]


@dataclass(frozen=True, slots=True)
class ConsumerAsked:
    """A consumer pops, or acknowledges."""

    is_ack: bool


@dataclass(frozen=True, slots=True)
class ConsumerTold:
    """A consumer was answered."""

    pop: str
    """What its pop is called."""
    is_ack: bool
    """It has acknowledged; else it has popped."""
    code: int
    fields: Mapping[str, str] = field(default_factory=dict)
    """Of what it was given."""


@dataclass(frozen=True, slots=True)
class SlaveStepped:
    """The slave took a step."""

    event: SlaveEvent
    received: tuple[str, ...]
    """What the frames are called that made it take the step."""
    sent: tuple[Frame, ...]
    told: tuple[ConsumerTold, ...]
    action: EscapeAction | None
    """What its core says of the step."""


@dataclass(frozen=True, slots=True)
class SlaveStopped:
    """The slave runs no more."""


@dataclass(frozen=True, slots=True)
class SlaveStarted:
    """The slave is back, with what its disk has."""


@dataclass(frozen=True, slots=True)
class MasterStepped:
    """A master took a step."""

    master: BrokerId
    event: MasterEvent
    sent: tuple[Frame, ...]
    action: EscapeAction | None


@dataclass(frozen=True, slots=True)
class MasterStopped:
    """A master runs no more."""

    master: BrokerId


@dataclass(frozen=True, slots=True)
class MasterStarted:
    """A master is back, with its log."""

    master: BrokerId


@dataclass(frozen=True, slots=True)
class ProducerStepped:
    """The producer took a step."""

    event: ProducerEvent
    action: EscapeAction | None


EscapeStep: TypeAlias = (
    SlaveStepped
    | SlaveStopped
    | SlaveStarted
    | MasterStepped
    | MasterStopped
    | MasterStarted
    | ProducerStepped
)
