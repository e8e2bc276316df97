"""B36: the controllers agree on a proposal that was right when it came, and is not any more.

Their leader looks at what is applied, appends, waits 5 s for the others, and takes the next
request. The others are paused meanwhile: an election of the slave, and the old master's proposal to
take it out of the SyncStateSet, are both right by what is applied. Then both are applied. Brokers
keep their connections to a controller that is late; else their ends would elect once more.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Final

from rocketmq_peer.configuration import BrokerTiming, ControllerKind, Promises
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.gates import PROPOSE
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.scenario import LIVE, LIVE_IN_GROUPS, Scenario, Stage

__all__ = ["JRAFT", "SCENARIO"]

_TRIES: Final = 6
_HELD_S: Final = 5.5
"""A little longer than the leader waits for what it has appended; before it has no majority."""
_APPLIED_S: Final = 8.0


def _play(stage: Stage) -> None:
    group = stage.group
    master = stage.begin()
    stage.send_all("a", 2)
    for number in range(_TRIES):
        (slave,) = stage.others(master)
        if _provoke(stage, master, slave):
            stage.say(f"after {number + 1} tries the master is not in the SyncStateSet")
            _lose(stage, slave, master)
            break
        stage.allow_replication(master)
        master = group.wait_for_master()
        stage.in_sync(*group.brokers)
    else:
        stage.say(f"after {_TRIES} tries the master was always in the SyncStateSet")
        stage.send_until_ok("c0")
    stage.read_back()


def _provoke(stage: Stage, master: str, slave: str) -> bool:
    """Let the controllers agree late on both requests; tell whether both are applied."""
    group = stage.group
    leader = group.wait_for(group.leader, "a controller led")
    others = [one for one in group.controllers if one != leader]
    for one in others:
        group.pause(one)
    began = time.monotonic()
    stage.ask_election(leader, slave)
    stage.cut_replication(master, refused=True)
    time.sleep(max(0.0, began + _HELD_S - time.monotonic()))
    group.gates.shut(slave, PROPOSE)
    for one in others:
        group.resume(one)

    def outside() -> bool | None:
        return _is_outside(stage.view(leader).after.get("AlterSyncStateSet")) or None

    try:
        return group.wait_for(outside, "the master was outside", _APPLIED_S)
    except ProcessError:
        known = stage.view(leader).state
        stage.say(f"{leader} has {known['master']} with {known['sync_state_set']['members']}")
        group.gates.open(slave, PROPOSE)
        return False


def _is_outside(state: dict[str, Any] | None) -> bool:
    """Tell whether a proposal, when it was applied, left the master outside."""
    if state is None or state["master"] is None:
        return False
    return state["master"] not in state["sync_state_set"]["members"]


def _lose(stage: Stage, master: str, other: str) -> None:
    """Let the new master acknowledge what nobody else has, and end it.

    It would say within a tenth of a second that it is in sync itself: the gate lets it wait.
    """
    group = stage.group
    stage.hold_replication(master)
    stage.next_master(other)
    stage.send_until_ok("b0")
    stage.send("b1")
    view = group.view()
    if view is not None:
        members = ", ".join(f"b{one}" for one in sorted(view.sync_state_set))
        stage.say(f"{master} is master and has acknowledged; the SyncStateSet is {members}")
    group.kill(master)
    stage.allow_replication(master)
    stage.allow_replication(other)
    stage.next_master(master)
    stage.send_until_ok("c0")


_OPTIONS: Final = GroupOptions(
    brokers=2,
    controllers=3,
    promises=Promises(all_ack_in_sync_state_set=True),
    timing=BrokerTiming(heartbeat_timeout_ms=30_000),
    more_of_brokers={"clientCloseSocketIfTimeout": False},
)

SCENARIO: Final = Scenario(
    name="stale_alter",
    about="B36: controllers (DLedger) apply a proposal of the old master under the new one",
    protocols=("epoch_truncation", "replica_group"),
    play=_play,
    museum=LIVE_IN_GROUPS,
    options=_OPTIONS,
)

JRAFT: Final = replace(
    SCENARIO,
    name="stale_alter_jraft",
    about="controllers (JRaft) refuse a proposal of the old master under the new one",
    protocols=("epoch_truncation",),
    museum=LIVE,
    options=replace(_OPTIONS, controller_kind=ControllerKind.JRAFT),
)
