"""B83: a slave that lost its log, but not its epochs, reports that it has all of it.

Its epoch file survives, and its last epoch begins behind its log: the consistent point is the
master's end, the slave reports that, and the master takes it for in sync. Then it is elected.
"""

from __future__ import annotations

import shutil
from typing import Final

from rocketmq_peer.configuration import Promises
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    (master,) = stage.others(old)
    stage.send_all("a", 4)
    group.kill(old)
    stage.next_master(old)
    for name in ("c0", "c1"):
        stage.send_until_ok(name)
    group.start_broker(old)
    stage.in_sync(*group.brokers)
    group.kill(old)
    stage.in_sync(master)
    store = group.store_of(old)
    for folder in ("commitlog", "consumequeue", "index"):
        shutil.rmtree(store / folder, ignore_errors=True)
    for file in ("checkpoint", "abort"):
        (store / file).unlink(missing_ok=True)
    group.note("lose_log", node=old)
    stage.say(f"{old} has lost its log, not its epochs")
    group.start_broker(old)
    stage.in_sync(*group.brokers)
    ends = [f"{broker} ends at {stage.view(broker).end}" for broker in group.brokers]
    stage.say(f"both are in sync; {', '.join(ends)}")
    group.kill(master)
    stage.next_master(master)
    stage.send_until_ok("e0")
    stage.read_back()


SCENARIO: Final = Scenario(
    name="lost_log",
    about="B83: a slave without its log acknowledges everything, and is elected",
    protocols=("epoch_truncation",),
    play=_play,
    options=GroupOptions(brokers=2, promises=Promises(all_ack_in_sync_state_set=True)),
)
