"""What comes of an entry: the next state, the answer, what happened, and what is to be done.

Effects are for the host of the controller that leads; a replay drops them. Events are for whoever
watches: traces and tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from rocketha.controller.state import ControllerState
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_requests import Incarnation, RoleChanged
from rocketha.formats.controller_responses import Reply
from rocketha.runtime.effects import Effect
from rocketha.types import BrokerId, ConnectionId, Epoch, SyncStateSetEpoch

__all__ = [
    "DONE",
    "Applied",
    "BrokerEvicted",
    "BrokerIdAssigned",
    "BrokerRegistered",
    "ChannelExpired",
    "ControllerEffect",
    "ControllerEvent",
    "DataCleaned",
    "MasterElected",
    "NotifyBroker",
    "ScanSoon",
    "SetAltered",
    "SetKept",
    "refuse",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterElected:
    """A group has a new master. `clean`: it had every acknowledged message, or was the first."""

    broker_name: str
    master: BrokerId
    epoch: Epoch
    clean: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAltered:
    """A master's proposal was taken."""

    broker_name: str
    members: frozenset[BrokerId]
    epoch: SyncStateSetEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class SetKept:
    """A master's proposal was refused: the set stays, as this version."""

    broker_name: str
    epoch: SyncStateSetEpoch


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerIdAssigned:
    """A replica got its identity."""

    broker_name: str
    broker_id: BrokerId


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRegistered:
    """A replica registered; `restarted` if in a new incarnation."""

    broker_name: str
    broker_id: BrokerId
    incarnation: Incarnation
    restarted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerEvicted:
    """A replica is not heard of any more."""

    broker_name: str
    broker_id: BrokerId
    incarnation: Incarnation


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCleaned:
    """An operator removed replicas; with the last one the group is unknown."""

    broker_name: str
    removed: frozenset[BrokerId]


ControllerEvent: TypeAlias = (
    MasterElected
    | SetAltered
    | SetKept
    | BrokerIdAssigned
    | BrokerRegistered
    | BrokerEvicted
    | DataCleaned
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyBroker(Effect):
    """Tell a live replica of its group's new master, one way."""

    address: str
    notice: RoleChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelExpired(Effect):
    """Close a channel on which a broker has been silent for too long."""

    channel: ConnectionId


@dataclass(frozen=True, slots=True)
class ScanSoon(Effect):
    """A master is gone: do not wait for the next scan."""


ControllerEffect: TypeAlias = NotifyBroker | ChannelExpired | ScanSoon


DONE: Final = Reply()
"""The answer that it is done, with nothing to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The outcome of one entry."""

    state: ControllerState
    reply: Reply = DONE
    events: tuple[ControllerEvent, ...] = ()
    effects: tuple[ControllerEffect, ...] = ()


def refuse(state: ControllerState, code: ResponseCode, remark: str) -> Applied:
    """Change nothing and say why."""
    assert code is not ResponseCode.SUCCESS
    return Applied(state=state, reply=Reply(code=code, remark=remark))
