"""What can happen to a broker of a group, beside what happens to its replication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rocketha.broker.state import PullId
from rocketha.formats.controller_requests import Incarnation
from rocketha.formats.message import Message
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.ha.events import Event as HaEvent
from rocketha.types import BrokerId, ConnectionId, EpochEntry, Identity, Offset, PutId

__all__ = [
    "CommandReceived",
    "ConfirmDue",
    "ExpandDue",
    "GroupEvent",
    "PullRequested",
    "PutRequested",
    "StaleConnection",
    "Started",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The broker came up, for the first time or again: recovery has scanned the log."""

    incarnation: Incarnation
    entries: tuple[EpochEntry, ...]
    """The content of the epoch file."""
    identity: Identity | None
    """From the identity file, else from the temporary one; None: from neither."""
    log_torn: bool
    """A part of the log may be lost: the machine stopped, not only the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReceived:
    """The controller answered a request, or told of a new master on its own."""

    command: RemotingCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRequested:
    """A producer wants a message to be appended; `MessageAppended` follows if it is."""

    put: PutId
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequested:
    """A consumer wants to read from an offset on."""

    pull: PullId
    offset: Offset


@dataclass(frozen=True, slots=True)
class ConfirmDue:
    """Look whether confirmOffset can move; an effect asked for it (`Then`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandDue:
    """A slave has reported: look whether it can join the SyncStateSet; an effect asked for it."""

    slave: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleConnection:
    """The slave of this connection has shaken hands on another; an effect asked for it."""

    conn: ConnectionId


GroupEvent: TypeAlias = (
    Started
    | CommandReceived
    | PutRequested
    | PullRequested
    | ConfirmDue
    | ExpandDue
    | StaleConnection
    | HaEvent
)
