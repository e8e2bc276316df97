"""What a master of another group has in its memory, and how it is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from rocketha.acting.state import ActingOptions, ActingState
from rocketha.escape.rules import RULES, EscapeRules
from rocketha.formats.message import LOOPBACK, Host, Record
from rocketha.formats.pop_messages import PopCheckPoint, Popped
from rocketha.types import BrokerId, Offset, PutId, RequestId

__all__ = ["MasterOptions", "MasterState", "Stored"]

_BEGIN: Final = Offset(0)
_NOWHERE: Final = Offset(-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterOptions:
    """How a master is set up. Source: BrokerConfig"""

    acting: ActingOptions
    producers: Mapping[str, BrokerId]
    """Group -> what its host calls a producer of it."""
    host: Host = LOOPBACK
    check_ms: int = 30_000
    """`transactionCheckInterval`"""
    revive_ms: int = 1_000
    """`reviveInterval`"""
    rules: EscapeRules = field(default=RULES, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A message in the log whose sender is not answered yet."""

    request: RequestId
    queue_offset: int
    offset: Offset = _NOWHERE
    """Of its record; -1: it is not appended yet."""
    end: Offset = _NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterState:
    """What a master knows."""

    options: MasterOptions
    acting: ActingState
    dispatched: Offset = _BEGIN
    """Up to there it has looked at its log."""
    counts: Mapping[tuple[str, int], int] = field(default_factory=lambda: MappingProxyType({}))
    """Topic and queue -> how many messages are in it."""
    waiting: Mapping[PutId, Stored] = field(default_factory=lambda: MappingProxyType({}))
    halves: Mapping[int, Record] = field(default_factory=lambda: MappingProxyType({}))
    """Place in their queue -> half messages that have not ended."""
    ending: frozenset[int] = frozenset()
    """Half messages of which it has appended how they end."""
    passed_halves: int = 0
    """Those before this place in their queue a master has by now: it asks nobody of them."""
    check_points: Mapping[Popped, PopCheckPoint] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Those that were neither acknowledged nor revived."""
    acks: frozenset[Popped] = frozenset()
    revived: frozenset[Popped] = frozenset()
