"""The default configuration: an acknowledgement of the master alone does not outlive it."""

from __future__ import annotations

from typing import Final

from rocketmq_peer.group import GroupOptions
from rocketmq_peer.scenario import LIVE_IN_GROUPS, Scenario, Stage

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    stage.send_all("a", 3)
    stage.copied(stage.view(old).end, *stage.others(old))
    stage.hold_replication(old)
    stage.send_all("b", 3)
    group.kill(old)
    stage.allow_replication(old)
    stage.next_master(old)
    stage.send_until_ok("c0")
    stage.read_back()


SCENARIO: Final = Scenario(
    name="default_configuration",
    about="what the master alone acknowledged is gone after a failover, as configured",
    protocols=("epoch_truncation", "replica_group"),
    play=_play,
    museum=LIVE_IN_GROUPS,
    options=GroupOptions(brokers=2),
)
