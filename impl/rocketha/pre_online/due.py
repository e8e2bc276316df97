"""What is due of a broker at times; what comes while it waits for an answer is put off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "CopyDue",
    "Due",
    "GoOn",
    "HeartbeatDue",
    "PersistDue",
    "PollDue",
    "ReconnectDue",
    "RegisterDue",
    "RegisterNow",
    "ReportOver",
    "TransferDue",
]


@dataclass(frozen=True, slots=True)
class RegisterDue:
    """It is time to register again."""


@dataclass(frozen=True, slots=True)
class RegisterNow:
    """A master is online: name servers are to know it before it is time."""


@dataclass(frozen=True, slots=True)
class HeartbeatDue:
    """It is time for a sign of life."""


@dataclass(frozen=True, slots=True)
class PollDue:
    """It is time for a slave to ask who is there."""


@dataclass(frozen=True, slots=True)
class CopyDue:
    """It is time for a slave to copy a table."""


@dataclass(frozen=True, slots=True)
class PersistDue:
    """It is time to write tables to the disk."""


@dataclass(frozen=True, slots=True)
class GoOn:
    """It is time for a master in isolation to go on."""


@dataclass(frozen=True, slots=True)
class ReconnectDue:
    """It is time for a slave to look after its connection."""


@dataclass(frozen=True, slots=True)
class TransferDue:
    """It is time for a master to send something over each connection."""


@dataclass(frozen=True, slots=True)
class ReportOver:
    """It is time that a slave has reported."""

    number: int
    """Of what the master waits for."""


Due: TypeAlias = (
    RegisterDue
    | RegisterNow
    | HeartbeatDue
    | PollDue
    | CopyDue
    | PersistDue
    | GoOn
    | ReconnectDue
    | ReportOver
    | TransferDue
)
