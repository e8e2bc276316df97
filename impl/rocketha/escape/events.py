"""What a slave that acts and a master of another group hear, and what they do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

from rocketha.acting.core import ActingHears
from rocketha.pre_online.events import StoreTable
from rocketha.runtime.effects import (
    After,
    AppendMessage,
    FlushLog,
    RequestFlush,
    Respond,
    SendOneWay,
    SendRequest,
    Then,
)
from rocketha.runtime.events import HostEvent, LogFlushed, MessageAppended, RequestEvent

__all__ = [
    "CheckDue",
    "Decided",
    "Done",
    "EscapeAction",
    "EscapeActionName",
    "HeartbeatDue",
    "LocalChanged",
    "MasterDoes",
    "MasterEvent",
    "MasterHears",
    "PersistDue",
    "PoppedHere",
    "ProducerDoes",
    "ProducerEvent",
    "ReviveDue",
    "RouteDue",
    "ServeDue",
    "SlaveDoes",
    "SlaveEvent",
    "SlaveHears",
]

S = TypeVar("S")
D = TypeVar("D")


# ---- what a slave hears ----


@dataclass(frozen=True, slots=True)
class RouteDue:
    """It is time to ask which masters there are."""


@dataclass(frozen=True, slots=True)
class ServeDue:
    """It is time for a service to look what is due."""

    service: int


@dataclass(frozen=True, slots=True)
class PersistDue:
    """It is time to write progress to the disk."""


@dataclass(frozen=True, slots=True)
class LocalChanged:
    """A master in the same process begins or ceases to run. Source: BrokerContainer"""

    broker_name: str
    runs: bool


SlaveHears: TypeAlias = ActingHears | RouteDue | ServeDue | PersistDue | LocalChanged | HostEvent
"""What a slave hears, besides requests and answers."""
SlaveEvent: TypeAlias = SlaveHears | RequestEvent


SlaveDoes: TypeAlias = (
    SendRequest
    | SendOneWay
    | Respond
    | StoreTable
    | AppendMessage
    | FlushLog
    | After[SlaveEvent]
    | Then[SlaveEvent]
)


# ---- what a master hears ----


@dataclass(frozen=True, slots=True)
class CheckDue:
    """It is time to ask the producers of half messages."""


@dataclass(frozen=True, slots=True)
class ReviveDue:
    """It is time to look for pops whose time is up."""


@dataclass(frozen=True, slots=True)
class PoppedHere:
    """A consumer has popped a message of this broker itself, and has done with it at once."""

    group: str
    topic: str
    offset: int


MasterHears: TypeAlias = (
    ActingHears | CheckDue | ReviveDue | PoppedHere | MessageAppended | LogFlushed | HostEvent
)
"""What a master hears, besides requests and answers."""
MasterEvent: TypeAlias = MasterHears | RequestEvent
MasterDoes: TypeAlias = (
    SendRequest
    | SendOneWay
    | Respond
    | AppendMessage
    | RequestFlush
    | After[MasterEvent]
    | Then[MasterEvent]
)


# ---- what a producer hears ----


@dataclass(frozen=True, slots=True)
class Decided:
    """It has decided what becomes of a transaction."""

    key: str
    how: int


@dataclass(frozen=True, slots=True)
class HeartbeatDue:
    """It is time to give brokers a sign of life."""


ProducerEvent: TypeAlias = Decided | HeartbeatDue | RequestEvent
ProducerDoes: TypeAlias = (
    SendRequest | SendOneWay | Respond | After[Decided | HeartbeatDue | RequestEvent]
)


# ---- what all do ----


class EscapeActionName(StrEnum):
    """The actions of Escape that a node takes by itself."""

    ACT = "Act"
    LEARN_ROUTE = "LearnRoute"
    PUT = "Put"
    PUT_HERE = "PutHere"
    HEAR_PUT = "HearPut"
    FAIL_PUT = "FailPut"
    SAVE = "Save"
    STORE = "Store"
    """StorePut, StoreCheckPoint, StoreAck, Check or Revive: something is in a master's log."""
    END = "End"
    CHECK_POINT = "CheckPoint"
    ACKNOWLEDGE = "Acknowledge"
    ACCEPT = "Accept"


@dataclass(frozen=True, slots=True)
class EscapeAction:
    """The action of the specification that a step took, as its node sees it."""

    name: EscapeActionName


@dataclass(frozen=True, slots=True)
class Done(Generic[S, D]):
    """The result of one step."""

    state: S
    effects: tuple[D, ...] = ()
    action: EscapeAction | None = None
