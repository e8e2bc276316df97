"""What a broker of several parts hears, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.acting_master.state import BrokerState
from rocketha.escape.events import EscapeAction, MasterDoes, MasterHears, SlaveDoes, SlaveHears
from rocketha.pre_online.events import PreOnlineAction, PreOnlineDoes, PreOnlineHears
from rocketha.runtime.effects import After, AppendLog, FlushLog, Respond, SendRequest, Then
from rocketha.runtime.events import RequestEvent

__all__ = [
    "BrokerAction",
    "BrokerDoes",
    "BrokerDone",
    "BrokerEvent",
    "BrokerHears",
    "CopyLogDue",
]


@dataclass(frozen=True, slots=True)
class CopyLogDue:
    """It is time for a slave to ask for the rest of the log."""


BrokerHears: TypeAlias = SlaveHears | MasterHears | PreOnlineHears | CopyLogDue
"""What a broker hears, besides requests and answers."""
BrokerEvent: TypeAlias = BrokerHears | RequestEvent
BrokerDoes: TypeAlias = (
    SlaveDoes
    | MasterDoes
    | PreOnlineDoes
    | AppendLog
    | FlushLog
    | SendRequest
    | Respond
    | After[BrokerHears]
    | Then[BrokerHears]
)
BrokerAction: TypeAlias = EscapeAction | PreOnlineAction
"""The action of the specification of the part that took the step."""


@dataclass(frozen=True, slots=True)
class BrokerDone:
    """The result of one step."""

    state: BrokerState
    effects: tuple[BrokerDoes, ...] = ()
    action: BrokerAction | None = None
