"""B04, and what 5.4.0 made of it: an epoch of which a slave loses every record.

The master of epoch 2 has messages that the next master, elected uncleanly, has not. It comes back
and is cut to where epoch 2 began. Then its last entry is that of epoch 1, whose end is open again;
where the entry of epoch 2 stays instead, and the broker becomes master, the third broker takes its
own epoch 2 for the same, and keeps bytes that nobody else has.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    first = stage.begin()
    stage.send_all("a", 3)
    stage.copied(stage.view(first).end, *stage.others(first))
    group.kill(first)
    second = stage.next_master(first)
    (third,) = stage.others(first, second)
    for name in ("c0", "c1", "c2"):
        stage.send_until_ok(name)
    stage.in_sync(second, third)
    stage.copied(stage.view(second).end, third)
    stage.say(f"{third} and {second}, which have epoch 2, are killed; {first} has not")
    group.kill(third)
    group.kill(second)
    group.start_broker(first)
    stage.next_master(second, third)
    for number in range(4):
        stage.send_until_ok(f"d{number}")
    stage.say(f"{second} comes back")
    group.start_broker(second)
    stage.in_sync(first, second)
    epochs = stage.view(second).after["ReceiveHandshake"]["epochs"]
    stage.say(f"{second}, which was cut, had the epochs {_in_words(epochs)}")
    stage.copied(stage.view(first).end, second)
    group.kill(first)
    stage.next_master(first, third)
    stage.send_until_ok("e0")
    stage.say(f"{third} comes back")
    group.start_broker(third)
    stage.in_sync(second, third)
    stage.copied(stage.view(second).end, third)
    stage.say_logs(second, third)
    stage.read_back()


def _in_words(epochs: list[dict[str, int]]) -> str:
    """Write epochs as "1 from 0 to 663, 2 from 663 on"."""
    return ", ".join(
        f"{one['epoch']} from {one['start_offset']} "
        + ("on" if one["end_offset"] >= _OPEN else f"to {one['end_offset']}")
        for one in epochs
    )


_OPEN: Final = 2**63 - 1
"""The end of an entry that has none."""

SCENARIO: Final = Scenario(
    name="kept_epoch",
    about="B04: a slave loses all records of an epoch, and its cache is not as if it had not been",
    protocols=("epoch_truncation",),
    play=_play,
    options=GroupOptions(elect_unclean=True),
)
