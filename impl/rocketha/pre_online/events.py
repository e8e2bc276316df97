"""What a broker hears that may come back, what it does besides what all do, and its actions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rocketha.formats.offset_tables import TableKind
from rocketha.ha.events import PacketReceived
from rocketha.pre_online.due import Due
from rocketha.pre_online.state import PreOnlineState
from rocketha.runtime.effects import (
    After,
    CloseConnection,
    Connect,
    Effect,
    Respond,
    SendOneWay,
    SendPacket,
    SendRequest,
    Then,
)
from rocketha.runtime.events import (
    ConnectionLost,
    PacketRefused,
    PeerAccepted,
    PeerConnected,
    RequestEvent,
)

__all__ = [
    "Decide",
    "ForgetMaster",
    "MessageDue",
    "NameServerLost",
    "PreOnlineAction",
    "PreOnlineActionName",
    "PreOnlineDoes",
    "PreOnlineDone",
    "PreOnlineEvent",
    "PreOnlineHears",
    "StoreTable",
]


# ---- what happens ----


@dataclass(frozen=True, slots=True)
class Decide:
    """A master in isolation knows who is there, and is to do what comes next."""


@dataclass(frozen=True, slots=True)
class ForgetMaster:
    """A slave has heard that its master is gone."""


@dataclass(frozen=True, slots=True)
class MessageDue:
    """A delayed message is due, of a level."""

    level: int


@dataclass(frozen=True, slots=True)
class NameServerLost:
    """The connection with the name server is gone."""


PreOnlineHears: TypeAlias = (
    Due
    | Decide
    | ForgetMaster
    | MessageDue
    | NameServerLost
    | PacketReceived
    | PeerAccepted
    | PeerConnected
    | PacketRefused
    | ConnectionLost
)
"""What a broker hears, besides requests and answers."""
PreOnlineEvent: TypeAlias = PreOnlineHears | RequestEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTable(Effect):
    """Replace the file of a table, durably. Source: ConfigManager.persist"""

    kind: TableKind
    data: bytes


PreOnlineDoes: TypeAlias = (
    SendRequest
    | SendOneWay
    | Respond
    | StoreTable
    | Connect
    | SendPacket
    | CloseConnection
    | After[PreOnlineHears]
    | Then[PreOnlineHears]
)


class PreOnlineActionName(StrEnum):
    """The actions of PreOnline that a broker takes by itself."""

    COMMIT = "Commit"
    PERSIST = "Persist"
    REGISTER = "Register"
    LEARN_HA_ADDRESS = "LearnHaAddress"
    HEAR = "Hear"
    SYNCHRONIZE = "Synchronize"
    ASK_GROUP = "AskGroup"
    SEND_HA_INFO = "SendHaInfo"
    HANDSHAKE = "Handshake"
    DISCONNECT = "Disconnect"
    FORGET = "Forget"
    TAKE_TABLE = "TakeTable"
    GO_ONLINE = "GoOnline"


@dataclass(frozen=True, slots=True)
class PreOnlineAction:
    """The action of the specification that a step took, as its broker sees it."""

    name: PreOnlineActionName


@dataclass(frozen=True, slots=True)
class PreOnlineDone:
    """The result of one step."""

    state: PreOnlineState
    effects: tuple[PreOnlineDoes, ...] = ()
    action: PreOnlineAction | None = None
