"""A history: the calls of clients, the elections, and the logs that masters began with.

Times are true ones, of whoever watches; nobody in the group has them. A message is known by its
body, which no two messages share.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rocketha.types import BrokerId, Epoch, Offset

__all__ = [
    "BecameMaster",
    "ElectionHeld",
    "FinalLog",
    "History",
    "HistoryEvent",
    "LoggedMessage",
    "Outcome",
    "Promises",
    "Put",
    "Seen",
]


class Outcome(StrEnum):
    """What a producer knows of its message."""

    OK = "OK"
    """It is safe."""
    FAIL = "FAIL"
    """It was refused, and is nowhere."""
    UNKNOWN = "UNKNOWN"
    """It may be there or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedMessage:
    """A message as it lies in a log."""

    offset: Offset
    body: str
    digest: str
    """Of all bytes of its record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A producer's call. A producer has one at a time."""

    producer: int
    body: str | None
    """None: the message never came to a broker."""
    epoch: Epoch | None
    """The masterEpoch of the broker that it came to."""
    invoked_ms: int
    answered_ms: int | None
    """None: no answer in time."""
    outcome: Outcome
    status: str
    """What the broker said, or why the producer gave up."""
    offset: Offset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A consumer was shown a message by a master of this epoch."""

    consumer: int
    at_ms: int
    broker: BrokerId
    epoch: Epoch
    message: LoggedMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionHeld:
    """The controller elected a master; `clean`: out of the SyncStateSet, with a whole log."""

    at_ms: int
    broker: BrokerId
    epoch: Epoch
    clean: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BecameMaster:
    """A broker became master, and this is its log."""

    at_ms: int
    broker: BrokerId
    epoch: Epoch
    log: tuple[LoggedMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalLog:
    """The log of the present master at the end."""

    at_ms: int
    broker: BrokerId
    epoch: Epoch
    log: tuple[LoggedMessage, ...]


HistoryEvent: TypeAlias = Put | Seen | ElectionHeld | BecameMaster | FinalLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """How the group was configured."""

    all_ack_in_sync_state_set: bool
    in_sync_replicas: int
    min_in_sync_replicas: int
    sync_flush: bool
    elect_unclean: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was seen of one run; events in the order in which they ended."""

    seed: int | None
    promises: Promises
    events: tuple[HistoryEvent, ...]
