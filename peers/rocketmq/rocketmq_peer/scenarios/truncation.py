"""A master is killed with messages that nobody copied; it comes back, and is cut."""

from __future__ import annotations

from typing import Final

from rocketmq_peer.scenario import LIVE_IN_GROUPS, Scenario, Stage

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    stage.send_all("a", 4)
    stage.copied(stage.view(old).end, *stage.others(old))
    stage.say(f"nothing that {old} sends reaches its slaves any more")
    stage.hold_replication(old)
    stage.send_all("b", 3, timeout_ms=2500)
    group.kill(old)
    stage.allow_replication(old)
    new = stage.next_master(old)
    for name in ("c0", "c1", "c2"):
        stage.send_until_ok(name)
    stage.say(f"{old} comes back")
    group.start_broker(old)
    stage.copied(stage.view(new).end, *stage.others(new))
    stage.in_sync(*group.brokers)
    stage.read_back()


SCENARIO: Final = Scenario(
    name="truncation",
    about="a master is killed with messages that nobody copied, comes back, and is cut",
    protocols=("epoch_truncation", "replica_group"),
    play=_play,
    museum=LIVE_IN_GROUPS,
)
