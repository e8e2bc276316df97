"""The rules of a controller: each is an operator of ReplicaGroup."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rocketha.controller.state import UNHEARD, ControllerState, Group, Heard
from rocketha.formats.controller_requests import AlterSyncStateSet, Incarnation, RegisterBroker
from rocketha.types import BrokerId, ConnectionId, Epoch, TimestampMs

__all__ = ["CONTROLLER_RULES", "ControllerRules"]

# ---- elections ----


def needs_election(group: Group, now_ms: TimestampMs) -> bool:
    """Tell whether a group has no master that lives; one that never had a master waits to be asked.

    RocketMQ's scan passes a group without master by: if the first election fails, only the brokers
    can ask for another (B29).

    Spec: ReplicaGroup!NeedsElection
    Source: ReplicasInfoManager.scanNeedReelectBrokerSets
    """
    return not group.is_new and group.live_master(now_ms) is None


def whole(group: Group) -> frozenset[BrokerId]:
    """Return the members of the SyncStateSet that may be elected: no log of theirs is torn.

    Spec: ReplicaGroup!Whole, SyncStateSet!MayElect
    """
    return group.members - group.unfit


def next_epoch(epoch: Epoch) -> Epoch:
    """Return the epoch that an election begins.

    Spec: ReplicaGroup!NextEpoch
    """
    return Epoch(epoch + 1)


# ---- proposals ----


def from_master(group: Group, request: AlterSyncStateSet) -> bool:
    """Tell whether the master proposes; without one nobody may (B33).

    Spec: ReplicaGroup!FromMaster
    """
    return group.master is not None and group.master == request.master_broker_id


def of_epoch(group: Group, request: AlterSyncStateSet) -> bool:
    """Tell whether it proposes in its present epoch.

    Spec: ReplicaGroup!OfEpoch
    """
    return request.master_epoch == group.master_epoch


def of_set(group: Group, request: AlterSyncStateSet) -> bool:
    """Tell whether the present set is to be changed.

    Spec: ReplicaGroup!OfSet
    """
    return request.sync_state_set.epoch == group.sync_state_set.epoch


def same_incarnation(named: Incarnation, present: Incarnation) -> bool:
    """Tell whether who joins is the one whom the master saw caught up: another may have less (B85).

    Spec: ReplicaGroup!SameIncarnation
    """
    return named == present


def has_master(group: Group, request: AlterSyncStateSet) -> bool:
    """Tell whether a master stays in its set. Without one nothing may be proposed.

    Spec: ReplicaGroup!HasMaster
    """
    return group.master is not None and group.master in request.sync_state_set.members


def spends_version(group: Group, request: AlterSyncStateSet) -> bool:
    """Tell whether a refusal spends the version of the set: if it is the present one, and fresh.

    Spec: ReplicaGroup!RefuseAlter, ReplicaGroup!EpochAfterRefusal
    """
    return (request.master_broker_id, request.master_epoch, request.sync_state_set.epoch) == (
        group.master,
        group.master_epoch,
        group.sync_state_set.epoch,
    )


# ---- signs of life ----


def heard_after_restart(before: Heard) -> Heard:
    """Return what was heard of a replica that started again: nothing.

    Spec: ReplicaGroup!OwnsEntry
    """
    return UNHEARD


def master_after_restart(group: Group, request: RegisterBroker) -> BrokerId | None:
    """Return the master when a replica has started again: not this one.

    Spec: ReplicaGroup!MasterAfterRestart
    """
    return None if group.master == request.broker_id else group.master


# ---- what is kept ----


def epoch_after_clean(epoch: Epoch) -> Epoch:
    """Return the masterEpoch of a group that is removed: brokers remember it (B37).

    Spec: ReplicaGroup!EpochAfterClean
    """
    return epoch


def loaded(before: ControllerState, found: ControllerState) -> ControllerState:
    """Return the groups when a snapshot is loaded: its own and no others.

    Spec: SnapshotLoading!Loaded
    """
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRules:
    """Who is elected, which proposals are taken, and what is known of who is back."""

    needs_election: Callable[[Group, TimestampMs], bool] = needs_election
    whole: Callable[[Group], frozenset[BrokerId]] = whole
    next_epoch: Callable[[Epoch], Epoch] = next_epoch
    from_master: Callable[[Group, AlterSyncStateSet], bool] = from_master
    of_epoch: Callable[[Group, AlterSyncStateSet], bool] = of_epoch
    of_set: Callable[[Group, AlterSyncStateSet], bool] = of_set
    same_incarnation: Callable[[Incarnation, Incarnation], bool] = same_incarnation
    has_master: Callable[[Group, AlterSyncStateSet], bool] = has_master
    spends_version: Callable[[Group, AlterSyncStateSet], bool] = spends_version
    on_channel: Callable[[Heard, ConnectionId, TimestampMs], Heard] = Heard.on_channel
    heard_after_restart: Callable[[Heard], Heard] = heard_after_restart
    master_after_restart: Callable[[Group, RegisterBroker], BrokerId | None] = master_after_restart
    epoch_after_clean: Callable[[Epoch], Epoch] = epoch_after_clean
    loaded: Callable[[ControllerState, ControllerState], ControllerState] = loaded


CONTROLLER_RULES: Final = ControllerRules()
"""The rules as the specification has them."""
