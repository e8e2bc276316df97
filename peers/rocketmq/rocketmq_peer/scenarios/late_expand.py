"""B81: a slave is proposed that has not what was acknowledged since it reported.

The thread that took the report has compared it and gets no processor. The master, alone in its set,
acknowledges messages that the slave never gets; then the proposal is made, with which the slave
may be elected.
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
    old, slave = hold_proposal(stage)
    stage.hold_replication(old)
    stage.send_all("c", 3)
    group.gates.open(old, PROPOSE)
    stage.in_sync(*group.brokers)
    stage.say(f"{slave} has {', '.join(stage.view(slave).ids)}, and is in sync for the controller")
    group.kill(old)
    stage.allow_replication(old)
    stage.next_master(old)
    stage.send_until_ok("e0")
    stage.read_back()


SCENARIO: Final = Scenario(
    name="late_expand",
    about="B81: a slave joins the SyncStateSet without what was acknowledged a moment before",
    protocols=("sync_state_set", "epoch_truncation", "replica_group"),
    play=_play,
    museum=LIVE_IN_GROUPS,
    options=GroupOptions(
        brokers=2,
        promises=Promises(all_ack_in_sync_state_set=True),
        more_of_brokers={"slaveTimeout": 1000},
    ),
)
