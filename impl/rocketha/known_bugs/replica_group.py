"""Known bugs of the brokers of a group and of its controller, as overrides of their rules.

Where two override one rule, the later one in the table has the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from rocketha.broker.replicas import ack_of, connection_of, record_end, slaves
from rocketha.broker.rules import BROKER_RULES, BrokerRules, Members
from rocketha.broker.state import GroupBroker
from rocketha.controller.group_table import GroupTable
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import NO_CHANNEL, ControllerState, Group, Heard
from rocketha.epoch.cache import EpochCache
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_requests import RegisterBroker
from rocketha.ha.state import NOT_YET, BrokerState, LogView, Role
from rocketha.known_bugs.bug import Bug, Bugs
from rocketha.known_bugs.overrides import Override, overridden
from rocketha.types import BrokerId, ConnectionId, Epoch, Offset, TimestampMs

__all__ = [
    "BROKER_BUGS",
    "BROKER_OVERRIDES",
    "CONTROLLER_BUGS",
    "CONTROLLER_OVERRIDES",
    "GROUP_BUGS",
    "broker_rules",
    "controller_rules",
]


@cache
def broker_rules(bugs: Bugs) -> BrokerRules:
    """Return the rules of a broker with these bugs in them; it replicates by `ha_rules`."""
    return overridden(BROKER_RULES, BROKER_OVERRIDES, bugs)


@cache
def controller_rules(bugs: Bugs) -> ControllerRules:
    """Return the rules of a controller with these bugs in them."""
    return overridden(CONTROLLER_RULES, CONTROLLER_OVERRIDES, bugs)


# ---- the SyncStateSet of a master ----


def _pending_alone_counts(rules: BrokerRules) -> BrokerRules:
    return replace(rules, ack_set=lambda known, proposed: known if proposed is None else proposed)


def _known_alone_counts(rules: BrokerRules) -> BrokerRules:
    return replace(rules, ack_set=lambda known, proposed: known)


def _many_proposals(rules: BrokerRules) -> BrokerRules:
    return replace(rules, may_propose=lambda proposed: True)


def _joins_without_the_promised(rules: BrokerRules) -> BrokerRules:
    return replace(rules, has_confirmed=lambda ack, confirm: True)


def _joins_without_the_start(rules: BrokerRules) -> BrokerRules:
    return replace(rules, has_epoch_start=lambda ack, start: True)


def _no_incarnation_named(rules: BrokerRules) -> BrokerRules:
    return replace(rules, joining=lambda slave, handshake: {})


def _master_removes_itself(rules: BrokerRules) -> BrokerRules:
    """Know no time of the master itself, nor of a slave that has gone."""

    def removable(late: Members, known: Members, ha: BrokerState) -> Members:
        slaves_late = rules.removable(late, known, ha)
        gone = {member for member in slaves_late if connection_of(ha, member) is None}
        return (slaves_late - gone) | (known & {ha.broker_id})

    return replace(rules, removable=removable)


def _other_set_is_news(rules: BrokerRules) -> BrokerRules:
    return replace(rules, is_news=lambda found, known: found != known)


def _proposal_adopted(rules: BrokerRules) -> BrokerRules:
    return replace(rules, adopted=lambda found, proposed: SyncStateSet(proposed, found.epoch))


def _refused_proposal_stays(rules: BrokerRules) -> BrokerRules:
    return replace(rules, ends=lambda found, proposed: found == proposed)


def _refusal_ends(rules: BrokerRules) -> BrokerRules:
    def undecided(state: GroupBroker, refused: bool) -> GroupBroker:
        return replace(state, pending=None) if refused else rules.undecided(state, refused)

    return replace(rules, undecided=undecided)


def _silence_ends(rules: BrokerRules) -> BrokerRules:
    return replace(rules, undecided=lambda state, refused: replace(state, pending=None))


# ---- confirmOffset ----


def _passed_by(counts: Callable[[BrokerId, BrokerState], bool]) -> Override[BrokerRules]:
    """Pass by who has reported nothing, unless it counts all the same."""

    def override(rules: BrokerRules) -> BrokerRules:
        def gate(acks: Mapping[BrokerId, Offset], ha: BrokerState, log: LogView) -> Offset:
            left = {one: ack for one, ack in acks.items() if ack != NOT_YET or counts(one, ha)}
            return rules.gate(left, ha, log)

        return replace(rules, gate=gate)

    return override


def _copies_counted(rules: BrokerRules) -> BrokerRules:
    """Count as many copies as there are members, whosoever they are."""

    def gate(acks: Mapping[BrokerId, Offset], ha: BrokerState, log: LogView) -> Offset:
        everybody = slaves(ha).keys() | {ha.broker_id}
        copies = sorted((ack_of(ha, one, log) for one in everybody), reverse=True)
        return copies[len(acks) - 1] if len(copies) >= len(acks) else NOT_YET

    return replace(rules, gate=gate)


def _confirm_falls(rules: BrokerRules) -> BrokerRules:
    """Take confirmOffset back when all members are connected and one has not reported."""

    def may_confirm(end: Offset, confirm: Offset, replicas: Members, ha: BrokerState) -> bool:
        connected, members = slaves(ha), replicas - {ha.broker_id}
        falls = members <= connected.keys() and any(
            connected[member].slave_ack == NOT_YET for member in members
        )
        return (falls and confirm != 0) or rules.may_confirm(end, confirm, replicas, ha)

    return replace(rules, may_confirm=may_confirm)


def _lone_master_shows_all(rules: BrokerRules) -> BrokerRules:
    def visible_end(
        confirm: Offset, known: Members, replicas: Members, ha: BrokerState, log: LogView
    ) -> Offset:
        if known == {ha.broker_id}:
            return record_end(log, log.max_phy_offset)
        return rules.visible_end(confirm, known, replicas, ha, log)

    return replace(rules, visible_end=visible_end)


def _reported_is_shown(rules: BrokerRules) -> BrokerRules:
    """Pass by who is not connected, and who has not reported anything."""

    def visible_end(
        confirm: Offset, known: Members, replicas: Members, ha: BrokerState, log: LogView
    ) -> Offset:
        heard = [ack for replica in replicas if (ack := ack_of(ha, replica, log)) > 0]
        return record_end(log, min([log.max_phy_offset, *heard]))

    return replace(rules, visible_end=visible_end)


# ---- roles ----


def _serves_unregistered(rules: BrokerRules) -> BrokerRules:
    """Take the role of the configuration, which is that of a master."""

    def role_after_restart(ha: BrokerState) -> tuple[BrokerState, Members]:
        if not ha.cache.entries:
            return rules.role_after_restart(ha)
        return replace(ha, role=Role.MASTER), frozenset({ha.broker_id})

    return replace(rules, is_fenced=lambda registered: False, role_after_restart=role_after_restart)


def _old_answer(rules: BrokerRules) -> BrokerRules:
    """Hear what was before the election: nothing new is learnt from it."""
    return replace(rules, learns_at_registration=lambda ha, master: False)


def _old_view_makes_master(rules: BrokerRules) -> BrokerRules:
    def new_master_epoch(
        ha: BrokerState, epoch: Epoch, master: BrokerId | None, registers: bool
    ) -> bool:
        again = master == ha.broker_id and ha.role is not Role.MASTER
        return (epoch == ha.known_epoch and again) or rules.new_master_epoch(
            ha, epoch, master, registers
        )

    return replace(rules, new_master_epoch=new_master_epoch, before_mastership=_forgetting_epoch)


def _forgetting_epoch(ha: BrokerState, epoch: Epoch) -> BrokerState:
    """Become master of an epoch that is known already, as if it were not."""
    return replace(ha, known_epoch=min(ha.known_epoch, Epoch(epoch - 1)))


def _master_after_restart(rules: BrokerRules) -> BrokerRules:
    """Be master again, if the controller says so to who registers."""
    return replace(
        rules,
        learns_at_registration=lambda ha, master: (
            master == ha.broker_id or rules.learns_at_registration(ha, master)
        ),
        new_master_epoch=lambda ha, epoch, master, registers: (
            (registers and master == ha.broker_id)
            or rules.new_master_epoch(ha, epoch, master, registers)
        ),
        before_mastership=_forgetting_epoch,
    )


def _master_goes_on(rules: BrokerRules) -> BrokerRules:
    """Be master again of an old epoch, which has begun already."""

    def epochs_of_master(before: EpochCache, after: EpochCache, epoch: Epoch) -> EpochCache:
        return before if before.last_epoch == epoch else after

    return replace(_master_after_restart(rules), epochs_of_master=epochs_of_master)


def _lone_set(rules: BrokerRules) -> BrokerRules:
    return replace(rules, set_of_master=lambda members, master: frozenset({master}))


BROKER_OVERRIDES: Final[dict[Bug, Override[BrokerRules]]] = {
    Bug.W2: _pending_alone_counts,
    Bug.B14: _known_alone_counts,
    Bug.B79: _many_proposals,
    Bug.EXPAND_CONFIRM: _joins_without_the_promised,
    Bug.EXPAND_EPOCH: _joins_without_the_start,
    Bug.HALF_OPEN: _no_incarnation_named,
    Bug.B25: _master_removes_itself,
    Bug.LATE_SET: _other_set_is_news,
    Bug.ADOPT: _proposal_adopted,
    Bug.B20: _refused_proposal_stays,
    Bug.REFUSAL: _refusal_ends,
    Bug.B82: _silence_ends,
    Bug.B15: _passed_by(lambda replica, ha: replica in slaves(ha)),
    Bug.B19: _passed_by(lambda replica, ha: replica not in slaves(ha)),
    Bug.COUNTED: _copies_counted,
    Bug.B16: _confirm_falls,
    Bug.ALONE: _lone_master_shows_all,
    Bug.W8: _reported_is_shown,
    Bug.B35: _serves_unregistered,
    Bug.B31: _old_answer,
    Bug.LATE_EPOCH: _old_view_makes_master,
    Bug.B10: _master_after_restart,
    Bug.B84: _master_goes_on,
    Bug.B26: _lone_set,
}

BROKER_BUGS: Final[Bugs] = frozenset(BROKER_OVERRIDES)
"""What the brokers of a group may have, their replication left out."""

# ---- the controller ----


def _served_once(rules: ControllerRules) -> ControllerRules:
    """Pass a group without master by."""
    return replace(
        rules,
        needs_election=lambda group, now_ms: (
            group.master is not None and rules.needs_election(group, now_ms)
        ),
    )


def _torn_is_elected(rules: ControllerRules) -> ControllerRules:
    return replace(rules, whole=lambda group: group.members)


def _epoch_again(rules: ControllerRules) -> ControllerRules:
    return replace(rules, next_epoch=lambda epoch: epoch)


def _unasked_without_master(rules: ControllerRules) -> ControllerRules:
    return replace(
        rules,
        from_master=lambda group, request: (
            group.master is None or rules.from_master(group, request)
        ),
        has_master=lambda group, request: group.master is None or rules.has_master(group, request),
    )


def _any_epoch(rules: ControllerRules) -> ControllerRules:
    return replace(rules, of_epoch=lambda group, request: True)


def _any_set(rules: ControllerRules) -> ControllerRules:
    return replace(rules, of_set=lambda group, request: True)


def _without_the_master(rules: ControllerRules) -> ControllerRules:
    return replace(rules, has_master=lambda group, request: True)


def _applied_as_it_is(rules: ControllerRules) -> ControllerRules:
    """Ask before the proposal is logged, and not when it is applied."""
    unasked = _without_the_master(_any_set(_any_epoch(rules)))
    return replace(unasked, from_master=lambda group, request: True)


def _any_incarnation(rules: ControllerRules) -> ControllerRules:
    return replace(rules, same_incarnation=lambda named, present: True)


def _refusal_spends_nothing(rules: ControllerRules) -> ControllerRules:
    return replace(rules, spends_version=lambda group, request: False)


def _first_channel_counts(rules: ControllerRules) -> ControllerRules:
    """Keep the channel of the first sign of life, whichever the next ones come on."""

    def on_channel(heard: Heard, channel: ConnectionId, now_ms: TimestampMs) -> Heard:
        first = next((one for one in heard.channels if one != NO_CHANNEL), channel)
        return rules.on_channel(heard, first, now_ms)

    return replace(rules, on_channel=on_channel, heard_after_restart=lambda before: before)


def _still_master(rules: ControllerRules) -> ControllerRules:
    return replace(rules, master_after_restart=lambda group, request: group.master)


def _still_master_if_whole(rules: ControllerRules) -> ControllerRules:
    def master_after_restart(group: Group, request: RegisterBroker) -> BrokerId | None:
        return rules.master_after_restart(group, request) if request.log_torn else group.master

    return replace(rules, master_after_restart=master_after_restart)


def _epochs_begin_anew(rules: ControllerRules) -> ControllerRules:
    return replace(rules, epoch_after_clean=lambda epoch: Epoch(0))


def _groups_come_back(rules: ControllerRules) -> ControllerRules:
    """Put what is loaded over what is there."""

    def loaded(before: ControllerState, found: ControllerState) -> ControllerState:
        return replace(found, groups=GroupTable({**before.groups, **found.groups}))

    return replace(rules, loaded=loaded)


CONTROLLER_OVERRIDES: Final[dict[Bug, Override[ControllerRules]]] = {
    Bug.B29: _served_once,
    Bug.W3: _torn_is_elected,
    Bug.NEW_EPOCH: _epoch_again,
    Bug.B33: _unasked_without_master,
    Bug.MASTER_EPOCH: _any_epoch,
    Bug.SET_EPOCH: _any_set,
    Bug.HAS_MASTER: _without_the_master,
    Bug.B36: _applied_as_it_is,
    Bug.B85: _any_incarnation,
    Bug.SPENT: _refusal_spends_nothing,
    Bug.B28: _first_channel_counts,
    Bug.B10: _still_master,
    Bug.B84: _still_master_if_whole,
    Bug.B37: _epochs_begin_anew,
    Bug.B53: _groups_come_back,
}

CONTROLLER_BUGS: Final[Bugs] = frozenset(CONTROLLER_OVERRIDES) - {Bug.B53}
"""What a controller may have; B53 is hunted where snapshots are."""

GROUP_BUGS: Final[Bugs] = CONTROLLER_BUGS | BROKER_BUGS | {Bug.B11, Bug.B83}
"""What a whole group may have: its controller, its brokers, and their replication."""
