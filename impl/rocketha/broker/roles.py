"""Roles: what a broker does with what the controller says of the group, be it late or not.

Only a view with a newer masterEpoch than the broker knows changes its role.

Source: ReplicasManager (`changeBrokerRole`, `changeToMaster`, `changeToSlave`,
`schedulingSyncBrokerMetadata`)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from rocketha.broker.controller_calls import ask, is_asking
from rocketha.broker.effects import GroupAction, GroupActionName, GroupStepped
from rocketha.broker.events import ConfirmDue
from rocketha.broker.puts import fail_pending_puts
from rocketha.broker.state import EMPTY_SET, GroupBroker
from rocketha.broker.sync_state_set import learn_set, with_caught_up
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import ElectMaster, RoleChanged
from rocketha.formats.controller_responses import Elected, Registered, ReplicaInfo
from rocketha.ha import broker as ha
from rocketha.ha.events import MasterLearnt
from rocketha.ha.state import LogView
from rocketha.runtime.effects import CloseConnection, Then
from rocketha.types import BrokerId, Epoch, HaAddress, Offset, TimestampMs

__all__ = ["View", "take_view"]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the controller said of the group at some time."""

    epoch: Epoch
    master: BrokerId | None
    address: HaAddress | None
    sync_state_set: SyncStateSet

    @classmethod
    def of_info(cls, info: ReplicaInfo) -> View:
        """Take it from the answer to a poll."""
        return cls(
            epoch=info.master_epoch,
            master=info.master_broker_id,
            address=_address(info.master_address),
            sync_state_set=info.sync_state_set,
        )

    @classmethod
    def of_notice(cls, notice: RoleChanged) -> View:
        """Take it from the notice of an election."""
        return cls(
            epoch=notice.master_epoch,
            master=notice.master_broker_id,
            address=_address(notice.master_address),
            sync_state_set=notice.sync_state_set,
        )

    @classmethod
    def of_election(cls, elected: Elected) -> View:
        """Take it from the answer to who wanted an election."""
        master = elected.master
        return cls(
            epoch=master.epoch,
            master=master.broker_id,
            address=_address(master.address),
            sync_state_set=SyncStateSet(elected.members, master.sync_state_set_epoch),
        )

    @classmethod
    def of_registration(cls, registered: Registered) -> View:
        """Take it from the answer to a registration, which names a master only if it lives."""
        master = registered.master
        told = Epoch(0) if master is None else master.epoch
        return cls(
            epoch=max(registered.master_epoch, told),
            master=None if master is None else master.broker_id,
            address=None if master is None else _address(master.address),
            sync_state_set=registered.sync_state_set,
        )


def _address(text: str | None) -> HaAddress | None:
    return HaAddress(text) if text else None


def take_view(
    state: GroupBroker,
    view: View,
    *,
    registers: bool = False,
    now_ms: TimestampMs,
    log: LogView,
) -> GroupStepped:
    """Act on what the controller says; what is old, or known already, changes nothing.

    Where there is no master, the broker asks for an election.

    Spec: ReplicaGroup!Heard
    Source: ReplicasManager.syncBrokerMetadata, ReplicasManager.changeBrokerRole
    """
    if state.options.rules.new_master_epoch(state.ha, view.epoch, view.master, registers):
        if view.master == state.broker_id:
            return _become_master(state, view, now_ms=now_ms, log=log)
        follows = become_slave(state, view, now_ms=now_ms)
        return follows.then(_want_master(follows.state, view, now_ms=now_ms))
    if view.epoch == state.ha.known_epoch and view.master is not None:
        if view.master == state.broker_id:
            return learn_set(state, view.sync_state_set, now_ms=now_ms)
        return _learn_address(state, view, now_ms=now_ms, log=log)
    return _want_master(state, view, now_ms=now_ms)


def _become_master(
    state: GroupBroker, view: View, *, now_ms: TimestampMs, log: LogView
) -> GroupStepped:
    """Become master, perhaps once more: then the slaves connect anew.

    Spec: ReplicaGroup!BecomeMaster
    Source: ReplicasManager.changeToMaster
    """
    reason = "the master begins another epoch"
    closed = [CloseConnection(conn=conn, reason=reason) for conn in state.ha.servers]
    before = replace(state.ha, servers=MappingProxyType({}))
    before = state.options.rules.before_mastership(before, view.epoch)
    stepped = ha.become_master(
        before, MasterLearnt(epoch=view.epoch, master=view.master, address=view.address), log=log
    )
    rules, after = state.options.rules, stepped.state
    after = replace(
        after, cache=rules.epochs_of_master(before.cache, after.cache, after.known_epoch)
    )
    assert stepped.action is not None
    assert stepped.action.offset is not None
    start = stepped.action.offset
    members = rules.set_of_master(view.sync_state_set.members, state.broker_id)
    master = replace(
        _without_master_state(state),
        ha=after,
        local=SyncStateSet(members, view.sync_state_set.epoch),
        # Its own promise begins with what it has, if nobody else is in the set.
        confirm=start if members == {state.broker_id} else Offset(0),
        waiting=state.waiting,
        check_at_ms=TimestampMs(now_ms + state.options.check_sync_state_set_ms),
    )
    master = with_caught_up(master, members, now_ms)
    effects = (*closed, *stepped.effects, Then(event=ConfirmDue()))
    return GroupStepped(master, effects, stepped.action)


def become_slave(state: GroupBroker, view: View, *, now_ms: TimestampMs) -> GroupStepped:
    """Follow another master, or nobody as long as there is none.

    Spec: ReplicaGroup!BecomeSlave
    Source: ReplicasManager.changeToSlave
    """
    learnt = MasterLearnt(epoch=view.epoch, master=view.master, address=view.address)
    stepped = ha.become_slave(state.ha, learnt, now_ms=now_ms)
    action = stepped.action if view.master is not None else _LEADERLESS
    return GroupStepped(
        replace(_without_master_state(state), ha=stepped.state),
        (*stepped.effects, *fail_pending_puts(state)),
        action,
    )


_LEADERLESS = GroupAction(name=GroupActionName.BECOME_SLAVE)


def _without_master_state(state: GroupBroker) -> GroupBroker:
    """Forget what only a master has.

    When others had everything is asked of members, of whom it is noted when they join; incarnations
    are asked of slaves that have shaken hands.
    """
    return replace(
        state,
        local=EMPTY_SET,
        pending=None,
        confirm=Offset(0),
        waiting=(),
    )


def _learn_address(
    state: GroupBroker, view: View, *, now_ms: TimestampMs, log: LogView
) -> GroupStepped:
    """Note where the master is whom this broker follows already."""
    if view.address is None or view.address == state.ha.master_address:
        return GroupStepped(state)
    learnt = MasterLearnt(epoch=view.epoch, master=view.master, address=view.address)
    stepped = ha.step(state.ha, learnt, now_ms=now_ms, log=log)
    return GroupStepped(replace(state, ha=stepped.state), stepped.effects)


def _want_master(state: GroupBroker, view: View, *, now_ms: TimestampMs) -> GroupStepped:
    """Ask for an election if the controller knows of no master.

    Source: ReplicasManager.brokerElect
    """
    if view.master is not None or is_asking(state, ElectMaster):
        return GroupStepped(state)
    request = ElectMaster(
        cluster_name=state.options.cluster_name,
        broker_name=state.options.broker_name,
        broker_id=state.broker_id,
        invoke_time_ms=now_ms,
    )
    asking, send = ask(state, request, now_ms=now_ms)
    return GroupStepped(asking, (send,))
