"""What a slave that acts has in its memory, and how it is set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeVar

from rocketha.acting.state import ActingOptions, ActingState
from rocketha.escape.rules import RULES, EscapeRules
from rocketha.formats.message import Message
from rocketha.formats.name_server_requests import DataVersion
from rocketha.formats.offset_tables import QueueKey, TableKind
from rocketha.formats.pop_messages import PopCheckPoint
from rocketha.types import BrokerId, RequestId, TimestampMs

__all__ = [
    "HALF_KEY",
    "Due",
    "PopUnderWay",
    "Queue",
    "Service",
    "SlaveOptions",
    "SlaveState",
    "delay_key",
    "frozen",
    "pop_key",
]

K = TypeVar("K")
V = TypeVar("V")

HALF_KEY: Final[QueueKey] = ("RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS", 0)
"""Under it consumerOffset.json has how far half messages are passed."""


def delay_key(level: int) -> QueueKey:
    """Return under what delayOffset.json has how far a level is delivered."""
    return ("", level)


def frozen(items: Mapping[K, V]) -> Mapping[K, V]:
    """Return a mapping that nobody changes."""
    return MappingProxyType(dict(items))


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaveOptions:
    """How a slave is set up. Source: BrokerConfig, MessageStoreConfig"""

    acting: ActingOptions
    masters: Mapping[str, BrokerId]
    """brokerName of another group -> what its host calls its master."""
    local: frozenset[str] = frozenset()
    """Those of them that may be in the same process."""
    enable_remote_escape: bool = False
    """`enableRemoteEscape`: it puts over the network, too."""
    released: bool = False
    """It does as released programs do: it passes half messages that it could not put, sends check
    points and ACKs to the first master of the moment, says that an ACK is stored whatever became of
    it, and writes how far consumers are now and then. Spec: Escape, `Released`"""
    half_tries: int = 11
    """`MAX_RETRY_TIMES_FOR_ESCAPE` and one: so often released programs put a half message."""
    topic: str
    """Whose route says which masters there are, and what consumers pop."""
    consumers: str
    """The group of those."""
    level: int = 3
    """Of delayed messages: the only level that is served."""
    level_ms: int = 10_000
    """`messageDelayLevel`: for how long messages of that level wait."""
    delayed_window: int = 1
    """`scheduleAsyncDeliverMaxPendingLimit`: so many delayed messages are under way at a time."""
    half_window: int = 1
    route_ms: int = 30_000
    """`loadBalancePollNameServerInterval`"""
    serve_ms: int = 100
    """`DELAY_FOR_A_WHILE`: time between two looks for delayed messages that are due."""
    half_ms: int = 30_000
    """`transactionCheckInterval`: time between two looks for half messages."""
    retry_ms: int = 100
    """How long it waits until it puts again what has failed."""
    persist_ms: int = 10_000
    """`flushDelayOffsetInterval`"""
    request_timeout_ms: int = 3_000
    """`SEND_TIMEOUT`: after it the connection is closed."""
    rules: EscapeRules = field(default=RULES, repr=False)


def pop_key(options: SlaveOptions) -> QueueKey:
    """Return under what consumerOffset.json has how far consumers have popped."""
    return (f"{options.topic}@{options.consumers}", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A record of the slave's log: what is put of it, and when."""

    message: Message
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a service has to put, and how far it is. Records count from 1."""

    kind: TableKind
    key: QueueKey
    """Where its table has how far it is."""
    records: tuple[Due, ...]
    window: int
    is_half: bool
    ended: frozenset[int] = frozenset()
    """Half messages of which the slave's own log says that they have ended."""
    progress: int = 0
    saved: int = 0
    under: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    """Record -> the number of the put for whose answer it waits."""
    heard: frozenset[int] = frozenset()
    failed: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    """Record -> when its last put failed."""
    failures: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    """Record that is not passed -> how often it could not be put."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopUnderWay:
    """A check point, or an ACK, that was sent; a consumer waits."""

    request: RequestId
    check_point: PopCheckPoint
    holder: str
    is_ack: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """What consumers pop: the messages of a queue."""

    messages: tuple[Message, ...]
    at: int
    """So many were given to a consumer."""
    saved: int
    """The same, on the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaveState:
    """What a slave knows."""

    options: SlaveOptions
    acting: ActingState
    services: tuple[Service, ...]
    queue: Queue
    version: DataVersion
    acts: bool = False
    known: frozenset[str] = frozenset()
    """Masters of which it knows that they run."""
    asked: int | None = None
    """The number of its question which masters there are."""
    numbers: int = 0
    """Requests so far."""
    popped_ms: TimestampMs | None = None
    """The time that is in the name of the last pop."""
    pops: Mapping[int, PopUnderWay] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def targets(self) -> frozenset[str]:
        """Return to whom it may put.

        Spec: Escape!Targets
        """
        options = self.options
        known = self.known if options.enable_remote_escape else self.known & options.local
        return options.rules.targets(known, options.local)

    @property
    def holders(self) -> frozenset[str]:
        """Return to whom check points may go; in released programs to one for each `targets`.

        Spec: Escape!MayHold
        Source: BrokerContainer.peekMasterBroker
        """
        targets = self.targets
        return frozenset(sorted(targets)[:1]) if self.options.released else targets

    def with_service(self, at: int, service: Service) -> SlaveState:
        """Return a state with another service."""
        services = (*self.services[:at], service, *self.services[at + 1 :])
        return replace(self, services=services)
