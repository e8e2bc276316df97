"""What a node does that copies a log: as a master it sends, as a slave it appends.

Pure: the host hands in what was heard, and does what the effects say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeAlias, assert_never

from rocketha.runtime.core import Core
from rocketha.runtime.effects import After, Effect
from rocketha.toy.rules import ToyRules
from rocketha.types import BrokerId, TimestampMs

__all__ = [
    "Acknowledged",
    "MessageArrived",
    "Packet",
    "SendDue",
    "SendPacketTo",
    "ToyAction",
    "ToyActionName",
    "ToyCore",
    "ToyEvent",
    "ToyState",
    "ToyStepped",
]

_RESEND_MS: Final = 10


# ---- what happens to a node ----


@dataclass(frozen=True, slots=True)
class SendDue:
    """It is time to send a slave what it lacks."""

    slave: BrokerId


@dataclass(frozen=True, slots=True)
class MessageArrived:
    """The master's message has come."""

    master: BrokerId
    message: int


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A slave says how long its log is."""

    slave: BrokerId
    length: int


Packet: TypeAlias = MessageArrived | Acknowledged
ToyEvent: TypeAlias = SendDue | Packet


# ---- what it does ----


@dataclass(frozen=True, slots=True)
class SendPacketTo(Effect):
    """Send a packet to another node; it may be lost."""

    receiver: BrokerId
    packet: Packet


class ToyActionName(StrEnum):
    """The actions of the specification."""

    SEND = "Send"
    RECEIVE = "Receive"
    ACKNOWLEDGE = "Acknowledge"


@dataclass(frozen=True, slots=True)
class ToyAction:
    """An action of the specification: of a slave and, of the master's log, a message."""

    name: ToyActionName
    slave: BrokerId
    message: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyState:
    """What a node knows."""

    id: BrokerId
    rules: ToyRules
    copy: tuple[int, ...] = ()
    """Its log, if it is a slave."""
    acked: Mapping[BrokerId, int]
    """If it is the master: so many messages each slave is known to have."""


@dataclass(frozen=True, slots=True)
class ToyStepped:
    """The result of one step."""

    state: ToyState
    effects: tuple[SendPacketTo | After[ToyEvent], ...]
    action: ToyAction | None


class ToyCore(Core[ToyState, ToyEvent, ToyAction, None]):
    """The protocol, for the host of a node."""

    effects = (SendPacketTo, After)

    def step(
        self, state: ToyState, event: ToyEvent, *, now_ms: TimestampMs, log: None
    ) -> ToyStepped:
        """Take one event."""
        del now_ms, log
        match event:
            case SendDue():
                return _send(state, event)
            case MessageArrived():
                return _receive(state, event)
            case Acknowledged():
                return _acknowledge(state, event)
            case _ as unreachable:
                assert_never(unreachable)


def _send(state: ToyState, event: SendDue) -> ToyStepped:
    """Send the message behind those that are acknowledged, and once more in a while.

    Spec: Toy!Send
    """
    message = state.acked[event.slave] + 1
    send = SendPacketTo(event.slave, MessageArrived(state.id, message))
    action = ToyAction(ToyActionName.SEND, event.slave, message)
    again: After[ToyEvent] = After(wait_ms=_RESEND_MS, event=event)
    return ToyStepped(state, (send, again), action)


def _receive(state: ToyState, event: MessageArrived) -> ToyStepped:
    """Append the next message, and say what is there in any case.

    Spec: Toy!Receive
    """
    if state.rules.continues(len(state.copy), event.message):
        state = replace(state, copy=(*state.copy, event.message))
    answer = SendPacketTo(event.master, Acknowledged(state.id, len(state.copy)))
    return ToyStepped(state, (answer,), ToyAction(ToyActionName.RECEIVE, state.id, event.message))


def _acknowledge(state: ToyState, event: Acknowledged) -> ToyStepped:
    """Remember how far a slave is; what was overtaken says nothing new.

    Spec: Toy!Acknowledge
    """
    length = max(event.length, state.acked[event.slave])
    state = replace(state, acked={**state.acked, event.slave: length})
    return ToyStepped(state, (), ToyAction(ToyActionName.ACKNOWLEDGE, event.slave, event.length))
