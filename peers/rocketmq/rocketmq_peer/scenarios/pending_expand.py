"""B14: a slave is in the controller's SyncStateSet before the master hears that it is.

The answer to the proposal is held, and so is what the slave would copy. With allAckInSyncStateSet
the master may acknowledge nothing that the slave lacks: the controller may elect it, and does.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.configuration import Promises
from rocketmq_peer.gates import PROPOSE
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.scenario import LIVE_IN_GROUPS, Scenario, Stage
from rocketmq_peer.scenarios.held_proposal import hold_proposal

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    old, _ = hold_proposal(stage)
    stage.hold_answers(old)
    group.gates.open(old, PROPOSE)
    stage.in_sync(*group.brokers)
    stage.hold_replication(old)
    known = stage.view(old).state["local"]["members"]
    stage.say(f"the controller has both in sync, {old} knows of {len(known)}")
    stage.send_all("c", 2, timeout_ms=2500)
    group.kill(old)
    group.rejoin(old)
    stage.allow_replication(old)
    stage.next_master(old)
    stage.send_until_ok("e0")
    stage.read_back()


SCENARIO: Final = Scenario(
    name="pending_expand",
    about="B14: messages while a slave is in the SyncStateSet, and the master does not know it",
    protocols=("sync_state_set", "epoch_truncation", "replica_group"),
    play=_play,
    museum=LIVE_IN_GROUPS,
    options=GroupOptions(
        brokers=2,
        promises=Promises(all_ack_in_sync_state_set=True),
        more_of_brokers={"slaveTimeout": 1000, "clientCloseSocketIfTimeout": False},
    ),
)
