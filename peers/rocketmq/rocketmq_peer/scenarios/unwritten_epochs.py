"""B06: an empty epoch cache is not written.

A slave without messages hears of epoch 1 and connects again. Where its log ends, at 0, the epoch
begins: the entry goes, the cache is empty, and the file stays as it was.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    master = stage.begin()
    (slave,) = stage.others(master)

    def has_epoch() -> bool | None:
        return bool(stage.view(slave).state.get("epochs")) or None

    group.wait_for(has_epoch, f"{slave} had heard of an epoch")
    before = stage.view(slave).events.get("ReceiveHandshake", 0)
    stage.say(f"{slave} connects again")
    stage.cut_replication(master)

    def connected() -> bool | None:
        return stage.view(slave).events.get("ReceiveHandshake", 0) > before or None

    group.wait_for(connected, f"{slave} shook hands again")
    shown = stage.view(slave).after["ReceiveHandshake"]
    stage.say(f"{slave} has {len(shown['epochs'])} epochs, its file {len(shown['epoch_file'])}")
    stage.in_sync(*group.brokers)
    stage.send_all("a", 3)
    stage.copied(stage.view(master).end, slave)
    stage.say(f"with messages, {slave} has {len(stage.view(slave).state['epochs'])} epochs")
    group.kill(slave)
    group.start_broker(slave)
    stage.in_sync(*group.brokers)
    stage.read_back()


SCENARIO: Final = Scenario(
    name="unwritten_epochs",
    about="B06: a slave without messages drops its epoch, and its file keeps it",
    protocols=("epoch_truncation",),
    play=_play,
    options=GroupOptions(brokers=2),
)
