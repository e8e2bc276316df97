"""A master without controllers, and the producers that wait for one of its two slaves."""

from __future__ import annotations

from typing import Final

from rocketmq_peer.configuration import Promises
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.proxy import Way
from rocketmq_peer.scenario import LIVE_LEGACY, Scenario, Stage

__all__ = ["SCENARIO"]

_SLAVE_TIMEOUT_MS: Final = 1500


def _play(stage: Stage) -> None:
    group = stage.group
    master = stage.begin_legacy()
    first, second = stage.others(master)
    stage.send_all("a", 3)
    stage.say("nothing that slaves report reaches the master any more")
    stage.hold_replication(master, Way.TO_SERVER)
    stage.send_all("b", 2)
    stage.allow_replication(master)
    stage.nobody_connected()
    stage.reported(first, second)
    group.kill(first)
    stage.send_all("c", 2)
    stage.cut_replication(master, refused=True)
    stage.send("d0")
    stage.allow_replication(master)
    stage.copied(stage.view(master).end, second)
    group.kill(master)
    group.start_broker(first)
    group.start_broker(master)
    stage.copied(stage.view(master).end, first, second)
    stage.send_until_ok("e0")
    stage.send_all("f", 2)
    stage.copied(stage.view(master).end, first, second)
    stage.say_logs(*group.brokers)
    stage.read_back()


SCENARIO: Final = Scenario(
    name="sync_master",
    about="no controllers: reports are held, connections cut, slave and master are killed",
    protocols=("legacy_replication",),
    play=_play,
    options=GroupOptions(
        brokers=3,
        replication=Replication.SYNC_MASTER,
        promises=Promises(in_sync_replicas=2),
        more_of_brokers={"slaveTimeout": _SLAVE_TIMEOUT_MS},
    ),
    museum=LIVE_LEGACY,
)
