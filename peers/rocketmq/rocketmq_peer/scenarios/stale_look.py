"""StaleLook: a set that the master had before is proposed with the epoch of the one that it has.

Every few seconds a thread of the master looks who of the SyncStateSet is behind, compares what is
left with the set that is known then, and proposes it where they differ. Here it gets no processor
between the two: the slave's connection is cut, the slave is taken out, and the master alone
acknowledges messages. Then the thread goes on: what it looked at has the slave, the controller
takes it in, and may elect it.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.configuration import Promises
from rocketmq_peer.gates import LOOKED
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    (slave,) = stage.others(old)
    stage.send_all("a", 2)
    group.gates.shut(old, LOOKED)

    def looked() -> bool | None:
        return group.gates.is_reached(old, LOOKED) or None

    group.wait_for(looked, f"{old} had looked who is behind")
    stage.say(f"{old} has seen that nobody is behind, and does nothing with it yet")
    stage.cut_replication(old, refused=True)
    stage.in_sync(old)
    stage.say(f"{slave} is cut off, and taken out of the SyncStateSet")
    stage.send_all("b", 3)
    group.gates.open(old, LOOKED)
    stage.in_sync(*group.brokers)
    stage.say(f"{slave} has {', '.join(stage.view(slave).ids)}, and is in sync for the controller")
    group.kill(old)
    stage.allow_replication(old)
    stage.next_master(old)
    stage.send_until_ok("c0")
    stage.read_back()


SCENARIO: Final = Scenario(
    name="stale_look",
    about="StaleLook: a slave is back in the SyncStateSet, as the master looked before it was out",
    protocols=("sync_state_set", "epoch_truncation"),
    play=_play,
    options=GroupOptions(
        brokers=2,
        promises=Promises(all_ack_in_sync_state_set=True),
        more_of_brokers={"slaveTimeout": 1000},
    ),
)
