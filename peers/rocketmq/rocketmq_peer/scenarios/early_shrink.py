"""W2: a master takes a slave out of its own SyncStateSet before the controller agrees.

The master is cut off from its slave and from the controller; its producers still reach it. With
allAckInSyncStateSet it may acknowledge nothing that the slave lacks, as the controller may elect
the slave, and will.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.configuration import BrokerTiming, Promises
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.proxy import Way
from rocketmq_peer.scenario import LIVE_IN_GROUPS, Scenario, Stage

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    (slave,) = stage.others(old)
    stage.send_all("a", 3)
    stage.say(f"{old} is cut off from {slave} and from the controller")
    connections = stage.view(old).events.get("ConnectionRemoved", 0)
    for way in Way:
        for link in (f"c1.{old}", *group.links_of(kind="to", callee=old)):
            group.proxies.hold(link, way)
    stage.cut_replication(old, refused=True)

    def noticed() -> bool | None:
        return stage.view(old).events.get("ConnectionRemoved", 0) > connections or None

    group.wait_for(noticed, f"{old} noticed that {slave} was gone")
    stage.send_all("b", 3, timeout_ms=3000)
    stage.next_master(old)
    group.kill(old)
    group.rejoin(old)
    stage.allow_replication(old)
    stage.send_until_ok("c0")
    stage.read_back()


SCENARIO: Final = Scenario(
    name="early_shrink",
    about="W2: acknowledged by the master alone, although every member of the set must have it",
    protocols=("sync_state_set", "epoch_truncation", "replica_group"),
    play=_play,
    museum=LIVE_IN_GROUPS,
    options=GroupOptions(
        brokers=2,
        promises=Promises(all_ack_in_sync_state_set=True),
        timing=BrokerTiming(heartbeat_timeout_ms=8000),
        more_of_brokers={"slaveTimeout": 1500},
    ),
)
