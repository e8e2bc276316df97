"""What a broker of a group does, beside the effects of its replication (`rocketha.ha.effects`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from rocketha.broker.events import GroupEvent
from rocketha.broker.state import GroupBroker, PullId
from rocketha.ha.effects import Effect as HaEffect
from rocketha.ha.effects import SpecAction
from rocketha.runtime.effects import (
    AnswerClient,
    RequestFlush,
    SendToController,
    StoreIdentity,
    StoreRegistration,
    Then,
)
from rocketha.types import BrokerId, Offset, PutId

__all__ = [
    "AnswerPull",
    "AnswerPut",
    "GroupAction",
    "GroupActionName",
    "GroupEffect",
    "GroupStepped",
    "PutStatus",
]


class PutStatus(StrEnum):
    """What a producer hears. Source: store `PutMessageStatus`."""

    PUT_OK = "PUT_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"
    IN_SYNC_REPLICAS_NOT_ENOUGH = "IN_SYNC_REPLICAS_NOT_ENOUGH"
    SERVICE_NOT_AVAILABLE = "SERVICE_NOT_AVAILABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPut(AnswerClient):
    """Answer a producer; `offset` is that of the message, if it was appended."""

    put: PutId
    status: PutStatus
    offset: Offset | None = None
    end: Offset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPull(AnswerClient):
    """Answer a consumer: the log from its offset on as far as it may be seen.

    None: this broker is not a master.
    """

    pull: PullId
    offset: Offset
    data: bytes | None


GroupEffect: TypeAlias = (
    HaEffect
    | RequestFlush
    | SendToController
    | StoreIdentity
    | StoreRegistration
    | AnswerPut
    | AnswerPull
    | Then[GroupEvent]
)


class GroupActionName(StrEnum):
    """The actions of ReplicaGroup that a broker takes and its replication does not know."""

    BECOME_SLAVE = "BecomeSlave"
    """Only if the group has no master: else the replication says so."""
    ACKNOWLEDGE = "Acknowledge"
    CONSUME = "Consume"
    MAYBE_SHRINK = "MaybeShrink"
    MAYBE_EXPAND = "MaybeExpand"
    LEARN_SYNC_STATE_SET = "LearnSyncStateSet"
    CLOSE_CONNECTION = "CloseConnection"
    """Of a slave that shook hands anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAction:
    """The action of the specification that a step took."""

    name: GroupActionName
    slaves: frozenset[BrokerId] = frozenset()
    """MaybeShrink: who is removed; MaybeExpand: who joins; CloseConnection: whose it is."""
    offset: Offset | None = None
    """Acknowledge: confirmOffset; Consume: up to where the consumer sees the log."""


@dataclass(frozen=True, slots=True)
class GroupStepped:
    """The result of one step."""

    state: GroupBroker
    effects: tuple[GroupEffect, ...] = ()
    action: SpecAction | GroupAction | None = None
    """`None`: the step means nothing to the specification."""

    def then(self, after: GroupStepped) -> GroupStepped:
        """Join another part of the same step to this one; only one of both may be an action."""
        assert self.action is None or after.action is None, (self.action, after.action)
        return GroupStepped(
            after.state, (*self.effects, *after.effects), self.action or after.action
        )
