"""B75: elections that find nobody spend epochs.

All of the SyncStateSet is gone, and a broker outside of it asks for a master. Each time the
controller looks, it elects nobody, and counts one more masterEpoch.
"""

from __future__ import annotations

import time
from typing import Final

from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.scenario import LIVE_IN_GROUPS, Scenario, Stage

__all__ = ["SCENARIO"]

_WATCHED_S: Final = 10.0


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    (outsider,) = stage.others(old)
    stage.send_all("a", 3)
    stage.copied(stage.view(old).end, outsider)
    stage.cut_replication(old, refused=True)
    stage.in_sync(old)
    stage.send_all("b", 2)
    controller = group.controllers[0]
    first = stage.view(controller).state["epoch"]
    stage.say(f"{old}, which alone is in sync, is killed; the masterEpoch is {first}")
    group.kill(old)
    began = time.monotonic()

    def nobody() -> bool | None:
        return stage.view(controller).state["master"] is None or None

    group.wait_for(nobody, "there was no master")
    time.sleep(max(0.0, began + _WATCHED_S - time.monotonic()))
    spent = stage.view(controller).state
    stage.say(
        f"{_WATCHED_S:.0f} s later it is {spent['epoch']}, the master {spent['master'] or 'nobody'}"
    )
    group.start_broker(old)
    stage.next_master(outsider)
    stage.allow_replication(old)
    stage.say(f"{old} is master with masterEpoch {stage.view(controller).state['epoch']}")
    stage.send_until_ok("c0")
    stage.in_sync(*group.brokers)
    stage.copied(stage.view(old).end, outsider)
    stage.read_back()


SCENARIO: Final = Scenario(
    name="failed_elections",
    about="B75: elections that find nobody spend masterEpochs",
    protocols=("epoch_truncation", "replica_group"),
    play=_play,
    museum=LIVE_IN_GROUPS,
    options=GroupOptions(brokers=2),
)
