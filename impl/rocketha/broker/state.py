"""What a broker of a group keeps in memory, beside the state of its replication."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NewType, Protocol

from rocketha.broker.options import GroupOptions
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import ControllerRequest, Incarnation
from rocketha.ha.state import BEGINNING, BrokerState, LogView, Role
from rocketha.types import (
    BrokerId,
    Epoch,
    HaAddress,
    Identity,
    Offset,
    PutId,
    SyncStateSetEpoch,
    TimestampMs,
)

__all__ = [
    "EMPTY_SET",
    "NOBODY",
    "Asked",
    "FlushedLogView",
    "GroupBroker",
    "LeaderSearch",
    "Proposal",
    "PullId",
    "Registration",
    "WaitingPut",
]

PullId = NewType("PullId", int)
"""A consumer's call, unique within a run of all brokers."""


class FlushedLogView(LogView, Protocol):
    """What the core may see of the CommitLog."""

    @property
    def flushed_offset(self) -> Offset:
        """Up to here the log is on the disk."""
        ...


class Registration(StrEnum):
    """How far a broker is with the controller. It is fenced until it is `REGISTERED`.

    Source: broker/controller `ReplicasManager.RegisterState`
    """

    INITIAL = "Initial"
    TEMP_METADATA_DONE = "CreateTempMetadataFileDone"
    METADATA_DONE = "CreateMetadataFileDone"
    REGISTERED = "Registered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A SyncStateSet that the master has asked for and of which it does not know what became.

    Spec: ReplicaGroupState!Proposal
    """

    members: frozenset[BrokerId]
    expected: SyncStateSetEpoch
    """The version that it changes."""
    joining: Mapping[BrokerId, Incarnation] = field(default_factory=lambda: MappingProxyType({}))
    master_epoch: Epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPut:
    """A producer that waits. Source: `CommitLog.GroupCommitRequest`."""

    put: PutId
    offset: Offset
    end: Offset
    flush_deadline_ms: TimestampMs | None
    """None: it does not wait for the disk, or no longer."""
    slave_deadline_ms: TimestampMs | None
    """None: it does not wait for slaves, or no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request to a controller that is not answered."""

    request: ControllerRequest
    at_ms: TimestampMs
    controller: int = 0
    """Whom it was sent to, by its place in `GroupOptions.controllers`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderSearch:
    """What a broker with several controllers knows of who leads them."""

    is_known: bool = False
    """The followed one was named, and since then neither refused a request nor was silent."""
    doubted: int | None = None
    """The one that refused or was silent the last time."""
    asked_at_ms: TimestampMs = BEGINNING
    ask_at_ms: TimestampMs = BEGINNING
    """When all were asked who leads, and when to ask again."""
    rounds: int = 0
    """How often they were asked since somebody was named."""


_BEGINNING: Final = Offset(0)

NOBODY: Final = BrokerId(0)
"""No replica has this id: the controller gives out ids from 1 on."""

EMPTY_SET: Final = SyncStateSet(frozenset(), SyncStateSetEpoch(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBroker:
    """A broker that runs. Role, known masterEpoch and connections are those of `ha`."""

    ha: BrokerState
    options: GroupOptions
    address: HaAddress
    incarnation: Incarnation
    registration: Registration = Registration.INITIAL
    identity: Identity | None = None
    log_torn: bool = False
    """It may have lost a part of its log before this start."""
    local: SyncStateSet = EMPTY_SET
    """The SyncStateSet that a master works with."""
    pending: Proposal | None = None
    confirm: Offset = _BEGINNING
    """confirmOffset of a master: consumers see its log up to here."""
    caught_up_ms: Mapping[BrokerId, TimestampMs] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """When each slave last had everything (`connectionCaughtUpTimeTable`)."""
    slave_incarnations: Mapping[BrokerId, Incarnation] = field(
        default_factory=lambda: MappingProxyType({})
    )
    """Of connected slaves, from their handshakes."""
    waiting: tuple[WaitingPut, ...] = ()
    """In the order of their offsets."""
    asked: Mapping[int, Asked] = field(default_factory=lambda: MappingProxyType({}))
    """By the opaque of the request."""
    next_opaque: int = 1
    controller: int = 0
    """Whom it takes for the controller that leads, by its place in `GroupOptions.controllers`."""
    search: LeaderSearch = LeaderSearch()
    register_at_ms: TimestampMs = BEGINNING
    """When to ask again for what the registration needs."""
    heartbeat_at_ms: TimestampMs = BEGINNING
    poll_at_ms: TimestampMs = BEGINNING
    check_at_ms: TimestampMs = BEGINNING
    """When a master looks at its SyncStateSet and at its proposal again."""

    @property
    def broker_id(self) -> BrokerId:
        """Return the id; it is `NOBODY` before one is known."""
        return self.ha.broker_id

    @property
    def is_master(self) -> bool:
        """Tell whether it believes to be master; a zombie does, too."""
        return self.ha.role is Role.MASTER

    @property
    def is_fenced(self) -> bool:
        """Tell whether it serves nobody, because the controller has not heard of its start.

        Source: ReplicasManager.setFenced, RunningFlags.makeFenced
        """
        return self.options.rules.is_fenced(self.registration is Registration.REGISTERED)
