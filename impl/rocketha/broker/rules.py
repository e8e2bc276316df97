"""The rules of a broker of a group: each is an operator of ReplicaGroup or SyncStateSet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from rocketha.epoch.cache import EpochCache
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import Incarnation
from rocketha.ha.state import BrokerState, LogView
from rocketha.types import BrokerId, Epoch, Offset, SyncStateSetEpoch

__all__ = ["BROKER_RULES", "BrokerRules", "Members"]

Members: TypeAlias = frozenset[BrokerId]

S = TypeVar("S")

_Acks: TypeAlias = Mapping[BrokerId, Offset]
"""Up to where replicas have the log."""

# ---- the SyncStateSet of a master ----


def ack_set(known: Members, proposed: Members | None) -> Members:
    """Return who must have a message before a producer is told that it is safe.

    Spec: ReplicaGroup!AckSet, SyncStateSet!AckSet
    """
    return known if proposed is None else known | proposed


def may_propose(proposed: Members | None) -> bool:
    """Tell whether a proposal may be made: there is none that is not decided.

    Spec: ReplicaGroup!MayPropose, SyncStateSet!MayPropose
    """
    return proposed is None


def has_confirmed(ack: Offset, confirm: Offset) -> bool:
    """Tell whether who joins has all that was promised.

    Spec: ReplicaGroup!HasConfirmed
    """
    return ack >= confirm


def has_epoch_start(ack: Offset, start: Offset) -> bool:
    """Tell whether who joins has the beginning of the master epoch.

    Spec: ReplicaGroup!HasEpochStart, SyncStateSet!HasEpochStart
    """
    return ack >= start


def joining(slave: BrokerId, handshake: Incarnation) -> Mapping[BrokerId, Incarnation]:
    """Return which incarnation of who joins a proposal names: the one that has reported.

    Spec: ReplicaGroup!IncarnationOf
    """
    return MappingProxyType({slave: handshake})


def removable(late: Members, known: Members, ha: BrokerState) -> Members:
    """Return which members may be removed: who is late, connected or not, but never the master.

    Spec: ReplicaGroup!MayShrink, SyncStateSet!Removable
    """
    return late - {ha.broker_id}


def is_news(found: SyncStateSetEpoch, known: SyncStateSetEpoch) -> bool:
    """Tell whether a set is newer than the one that is known.

    Spec: ReplicaGroup!NewSet, SyncStateSet!IsNews
    """
    return found > known


def adopted(found: SyncStateSet, proposed: Members) -> SyncStateSet:
    """Return the set that a master works with when its proposal is decided: the controller's.

    Spec: SyncStateSet!Adopted
    """
    return found


def ends(found: Members, proposed: Members) -> bool:
    """Tell whether a decided proposal is over: also one that was refused.

    Spec: ReplicaGroup!Ends, SyncStateSet!Ends
    """
    return True


def undecided(state: S, refused: bool) -> S:
    """Return a master whose proposal is refused, or not answered at all: it waits for the same.

    A copy may be on its way.

    Spec: ReplicaGroup!Ends, SyncStateSet!Ends
    """
    return state


# ---- confirmOffset ----


def gate(acks: _Acks, ha: BrokerState, log: LogView) -> Offset:
    """Return up to where everybody who counts has the log.

    Spec: SyncStateSet!Gate, SyncStateSet!Confirmed
    """
    return min(acks.values(), default=log.max_phy_offset)


def may_confirm(end: Offset, confirm: Offset, replicas: Members, ha: BrokerState) -> bool:
    """Tell whether confirmOffset moves to this end: within a master epoch it never falls.

    Spec: SyncStateSet!Confirmed
    """
    return end > confirm


def visible_end(
    confirm: Offset, known: Members, replicas: Members, ha: BrokerState, log: LogView
) -> Offset:
    """Return up to where consumers see the log: what is confirmed, not what is merely written.

    Spec: ReplicaGroup!VisibleEnd, SyncStateSet!Served
    """
    return confirm


# ---- roles ----


def is_fenced(registered: bool) -> bool:
    """Tell whether a broker serves nobody: the controller has not heard of its start.

    Spec: ReplicaGroup!RoleAfterRestart
    """
    return not registered


def role_after_restart(ha: BrokerState) -> tuple[BrokerState, Members]:
    """Return as what a broker comes up, and the set that it works with: as a slave.

    Spec: ReplicaGroup!RoleAfterRestart, SyncStateSet!RoleAfterRestart
    """
    return ha, frozenset()


def learns_at_registration(ha: BrokerState, master: BrokerId | None) -> bool:
    """Tell whether the answer to a registration shows the present masterEpoch.

    Spec: ReplicaGroup!KnownAfterRestart
    """
    return True


def new_master_epoch(
    ha: BrokerState, epoch: Epoch, master: BrokerId | None, registers: bool
) -> bool:
    """Tell whether a view changes a role: only if its masterEpoch is a new one.

    Spec: ReplicaGroup!NewMasterEpoch
    """
    return epoch > ha.known_epoch


def before_mastership(ha: BrokerState, epoch: Epoch) -> BrokerState:
    """Return as what a broker becomes master: as the one that it is.

    Spec: ReplicaGroup!NewMasterEpoch
    """
    return ha


def epochs_of_master(before: EpochCache, after: EpochCache, epoch: Epoch) -> EpochCache:
    """Return the cache of a new master: its master epoch begins now.

    Spec: ReplicaGroup!EpochsOfMaster
    """
    return after


def set_of_master(members: Members, master: BrokerId) -> Members:
    """Return the set that a new master works with: the controller's.

    Spec: ReplicaGroup!SetOfMaster
    """
    return members


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRules:
    """Who counts, who joins, who leaves, and who is master."""

    ack_set: Callable[[Members, Members | None], Members] = ack_set
    may_propose: Callable[[Members | None], bool] = may_propose
    has_confirmed: Callable[[Offset, Offset], bool] = has_confirmed
    has_epoch_start: Callable[[Offset, Offset], bool] = has_epoch_start
    joining: Callable[[BrokerId, Incarnation], Mapping[BrokerId, Incarnation]] = joining
    removable: Callable[[Members, Members, BrokerState], Members] = removable
    is_news: Callable[[SyncStateSetEpoch, SyncStateSetEpoch], bool] = is_news
    adopted: Callable[[SyncStateSet, Members], SyncStateSet] = adopted
    ends: Callable[[Members, Members], bool] = ends
    undecided: Callable[[Any, bool], Any] = undecided
    gate: Callable[[_Acks, BrokerState, LogView], Offset] = gate
    may_confirm: Callable[[Offset, Offset, Members, BrokerState], bool] = may_confirm
    visible_end: Callable[[Offset, Members, Members, BrokerState, LogView], Offset] = visible_end
    is_fenced: Callable[[bool], bool] = is_fenced
    role_after_restart: Callable[[BrokerState], tuple[BrokerState, Members]] = role_after_restart
    learns_at_registration: Callable[[BrokerState, BrokerId | None], bool] = learns_at_registration
    new_master_epoch: Callable[[BrokerState, Epoch, BrokerId | None, bool], bool] = new_master_epoch
    before_mastership: Callable[[BrokerState, Epoch], BrokerState] = before_mastership
    epochs_of_master: Callable[[EpochCache, EpochCache, Epoch], EpochCache] = epochs_of_master
    set_of_master: Callable[[Members, BrokerId], Members] = set_of_master


BROKER_RULES: Final = BrokerRules()
"""The rules as the specifications have them."""
