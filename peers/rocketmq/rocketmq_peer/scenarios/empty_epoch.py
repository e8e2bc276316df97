"""B03: an epoch in which nothing was written stays, and two masters write different bytes.

The master of epoch 1 writes messages that nobody copies, and is killed. The master of epoch 2
begins at the same offset; its own cache refuses its epoch, and nobody cuts the first one's log.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    for broker in group.brokers:
        stage.hold_replication(broker)
    stage.send_all("a", 4)
    group.kill(old)
    new = stage.next_master(old)
    for broker in group.brokers:
        stage.allow_replication(broker)
    for name in ("c0", "c1", "c2"):
        stage.send_until_ok(name)
    stage.say(f"{old} comes back")
    group.start_broker(old)
    stage.in_sync(*group.brokers, timeout_s=90.0)
    stage.say(f"all are in sync with {new}")
    stage.say_logs(*group.brokers)
    stage.read_back()


SCENARIO: Final = Scenario(
    name="empty_epoch",
    about="B03: replicas in sync keep different bytes after an epoch without messages",
    protocols=("epoch_truncation",),
    play=_play,
)
