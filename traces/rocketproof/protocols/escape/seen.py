"""What is seen of nodes, whether by their memory and disks or by their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

__all__ = ["Layout", "LogItem", "Message", "SlaveSeen", "Told", "TraceKind"]


class TraceKind(StrEnum):
    """What a trace is of."""

    DELAYED = "delayed messages"
    HALVES = "half messages"
    POPS = "pops"


Saved: TypeAlias = Mapping[TraceKind, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Who there is, and how nodes are set up."""

    slave: str
    broker_name: str
    """The slave's."""
    masters: Sequence[str]
    local: Sequence[str]
    producer: str
    windows: Mapping[TraceKind, int]
    pops: int
    """At most so many are popped in a run."""
    round_to: int = 1
    """The number of records is rounded up to a multiple of it: those too many are never put."""
    remote_escape: bool
    """The slave puts to masters of other processes, too."""
    released: bool
    """It does as released programs do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaveSeen:
    """What the slave has in its memory, and on its disk."""

    log: Sequence[LogItem]
    progress: Mapping[TraceKind, int]
    saved: Mapping[TraceKind, int]
    acts: bool
    known: frozenset[str] = field(default_factory=frozenset)
    """Masters, by the names of their nodes."""
    waits: Mapping[TraceKind, frozenset[int]] = field(default_factory=dict)
    """Records for whose put it waits."""


class LogItem(Protocol):
    """A record of a log."""

    @property
    def kind(self) -> str:
        """What it is (`rocketha.sim.escape.logged.LoggedKind`)."""
        ...

    @property
    def of(self) -> str:
        """Of what: a message's UNIQ_KEY, the name of a pop, places of half messages."""
        ...


class Message(Protocol):
    """A frame that a node has sent."""

    @property
    def id(self) -> str:
        """What both ends call it."""
        ...

    @property
    def to(self) -> str | None:
        """The node at the other end; None: who sent the request that this answers."""
        ...

    @property
    def code(self) -> int | None:
        """What is asked, or how it went."""
        ...

    @property
    def fields(self) -> Mapping[str, str]:
        """Its `extFields`."""
        ...


class Told(Protocol):
    """A consumer was answered."""

    @property
    def pop(self) -> str:
        """What its pop is called."""
        ...

    @property
    def is_ack(self) -> bool:
        """It has acknowledged; else it has popped."""
        ...

    @property
    def code(self) -> int:
        """How it went."""
        ...
