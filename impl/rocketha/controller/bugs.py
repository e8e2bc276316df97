"""Switches that put a known bug of RocketMQ's controller, or the lack of one guard, into the rules.

A value is the tag that the specification `ReplicaGroup` writes behind `CHECK`. They are apart from
`rocketha.bugs` as long as no simulated run has a controller in it: what finds them are the promises
in the tests of this package.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias

__all__ = ["NO_CONTROLLER_BUGS", "ControllerBug", "ControllerBugs"]


class ControllerBug(StrEnum):
    """What goes wrong, and where RocketMQ does it."""

    B10 = "B10"
    """A master that restarts is still master of its old epoch. `ReplicasInfoManager.electMaster`,
    which answers MASTER_STILL_EXIST."""
    B28 = "B28"
    """A heartbeat does not bind its channel: the late close of an old one evicts who is heard on
    another. #11045, `DefaultBrokerHeartbeatManager.onBrokerHeartbeat`."""
    B29 = "B29"
    """A group without master is not looked at by the scan. #5009, #6382,
    `ReplicasInfoManager.scanNeedReelectBrokerSets`."""
    B33 = "B33"
    """A proposal for a group without master is taken. #7293, where the handler crashed."""
    B36 = "B36"
    """A proposal is taken although its master, or the set that it changes, is no longer the present
    one: the outcome was worked out before it was logged. `DLedgerController`."""
    B37 = "B37"
    """The epochs of a group that was cleaned begin at 0 again.
    `ReplicasInfoManager.handleCleanBrokerDataEvent`."""
    B84 = "B84"
    """A master that restarts with a whole log is still master, and has forgotten its proposals."""
    B85 = "B85"
    """A replica joins although it restarted since the master saw it caught up."""
    HAS_MASTER = "HasMaster"
    """A set without the master is taken."""
    MASTER_EPOCH = "MasterEpoch"
    """A proposal from an older reign of the present master is taken."""
    NEW_EPOCH = "NewEpoch"
    """An election begins no new epoch."""
    SET_EPOCH = "SetEpoch"
    """A proposal that changes an older set is taken."""
    W3 = "W3"
    """A member that lost a part of its log is elected."""


ControllerBugs: TypeAlias = frozenset[ControllerBug]
"""The switches that are on."""

NO_CONTROLLER_BUGS: Final[ControllerBugs] = frozenset()
