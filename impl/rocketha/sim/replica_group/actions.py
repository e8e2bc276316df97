"""What an observer of a simulated group hears: all that its brokers and its controller do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from rocketha.broker.effects import GroupAction, GroupActionName
from rocketha.broker.events import GroupEvent, PullRequested, PutRequested
from rocketha.controller.applied import ControllerEvent
from rocketha.controller.entry import Entry
from rocketha.ha.effects import ActionName, SpecAction
from rocketha.runtime.effects import AnswerClient
from rocketha.runtime.events import HostEvent
from rocketha.sim.epoch_truncation.actions import Crashed
from rocketha.types import BrokerId, ConnectionId

__all__ = [
    "ChannelEnded",
    "ClientAnswered",
    "ClientAsked",
    "ControllerActed",
    "ControllerFrame",
    "EventTaken",
    "Exchanged",
    "GroupClusterAction",
    "is_likely_step",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerActed:
    """The controller applied an entry of its log, whatever came of it."""

    entry: Entry
    events: tuple[ControllerEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerFrame:
    """A frame between the controller and somebody, as it is on the wire."""

    channel: ConnectionId | None
    """The one that it goes over; None: a notice, on a connection of its own."""
    broker: BrokerId | None
    """Who is at the other end; None: an operator."""
    by_controller: bool
    """Whether the controller sends it. Else it is a broker's, or an operator's."""
    has_arrived: bool = False
    """Of a frame to the controller: whether it is there. Else it is sent."""
    data: bytes


@dataclass(frozen=True, slots=True)
class ChannelEnded:
    """The controller hears that a channel is gone."""

    channel: ConnectionId


@dataclass(frozen=True, slots=True)
class ClientAsked:
    """A call of a producer or a consumer has come to a broker that runs."""

    broker: BrokerId
    call: PutRequested | PullRequested


@dataclass(frozen=True, slots=True)
class ClientAnswered:
    """A broker answers a producer or a consumer."""

    broker: BrokerId
    answer: AnswerClient


@dataclass(frozen=True, slots=True)
class EventTaken:
    """A broker has taken an event: a frame of the controller, say, or a packet."""

    broker: BrokerId
    event: GroupEvent | HostEvent
    is_continued: bool
    """Something follows from it that is still to be taken."""


Exchanged: TypeAlias = ControllerFrame | ChannelEnded | ClientAsked | ClientAnswered | EventTaken
"""What goes between the nodes and whoever they speak with."""

GroupClusterAction: TypeAlias = SpecAction | GroupAction | Crashed | ControllerActed

_UNSEEN: Final = frozenset(
    {ActionName.TRANSFER, ActionName.HANDSHAKE, ActionName.FLUSH, ActionName.RESTART}
)
"""What the specification has no step for: the steps of a connection's other end count."""


def is_likely_step(action: GroupClusterAction) -> bool:
    """Tell whether an action is likely to be a step of the specification."""
    match action:
        case ControllerActed(events=events):
            return bool(events)
        case SpecAction(name=name, size=size):
            return name not in _UNSEEN and size != 0
        case GroupAction(name=name):
            return name is not GroupActionName.CONSUME
        case Crashed():
            return True
        case _ as unreachable:
            assert_never(unreachable)
