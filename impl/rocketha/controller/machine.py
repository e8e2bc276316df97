"""The controller's state machine: one entry of the log in, the next state and the answer out.

Nothing but the entry and the state decides: the time and the configuration are in the entry. So all
controllers that apply one log have one state, and so has one that starts again.

Source: controller/impl `JRaftControllerStateMachine.onApplyCommand`, `ReplicasInfoManager`
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from rocketha.controller.applied import Applied
from rocketha.controller.cleaning import clean_broker_data
from rocketha.controller.election import elect_master
from rocketha.controller.entry import ChannelClosed, Entry, InactiveScanned, Started
from rocketha.controller.liveness import close_channel, hear_broker, scan_inactive, start_hearing
from rocketha.controller.registration import apply_broker_id, register_broker
from rocketha.controller.rules import CONTROLLER_RULES, ControllerRules
from rocketha.controller.state import ControllerState
from rocketha.controller.sync_state_set import alter_sync_state_set
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    CleanBrokerData,
    ElectMaster,
    Heartbeat,
    RegisterBroker,
)
from rocketha.types import TimestampMs

__all__ = ["apply", "replay"]


def apply(
    state: ControllerState, entry: Entry, rules: ControllerRules = CONTROLLER_RULES
) -> Applied:
    """Apply one entry. Nothing is raised: what cannot be is refused, and changes only the clock."""
    now_ms = TimestampMs(max(entry.at_ms, state.clock_ms))
    outcome = _apply_change(state, entry, now_ms, rules)
    return replace(outcome, state=replace(outcome.state, clock_ms=now_ms))


def replay(entries: Iterable[Entry], rules: ControllerRules = CONTROLLER_RULES) -> ControllerState:
    """Apply a log from its beginning."""
    state = ControllerState()
    for entry in entries:
        state = apply(state, entry, rules).state
    return state


def _apply_change(
    state: ControllerState, entry: Entry, now_ms: TimestampMs, rules: ControllerRules
) -> Applied:
    channel, unclean = entry.channel, entry.elect_unclean
    match entry.change:
        case Heartbeat() as request:
            return hear_broker(state, request, now_ms=now_ms, channel=channel, rules=rules)
        case AlterSyncStateSet() as request:
            return alter_sync_state_set(state, request, now_ms=now_ms, rules=rules)
        case ElectMaster() as request:
            return elect_master(state, request, now_ms=now_ms, elect_unclean=unclean, rules=rules)
        case RegisterBroker() as request:
            return register_broker(state, request, now_ms=now_ms, channel=channel, rules=rules)
        case CleanBrokerData() as request:
            return clean_broker_data(state, request, now_ms=now_ms, rules=rules)
        case ApplyBrokerId() as request:
            return apply_broker_id(state, request)
        case ChannelClosed():
            return close_channel(state, now_ms=now_ms, channel=channel)
        case InactiveScanned():
            return scan_inactive(state, now_ms=now_ms, elect_unclean=unclean, rules=rules)
        case Started():
            return start_hearing(state, now_ms=now_ms)
        case _ as unreachable:
            assert_never(unreachable)
