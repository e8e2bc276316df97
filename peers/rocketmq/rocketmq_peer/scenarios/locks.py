"""Locks on queues do not outlive a master: by default the next one grants them to anybody.

A consumer holds the lock on a queue and processes it, a message in two seconds. The master is
killed; the consumer does not hear of the next one before it asks the name server again, every
30 s, and its lease of 30 s goes on. A second consumer starts. The next master has no locks
(`lockInStrictMode` is false, and the locks of a broker are in its memory only), and grants it
the queue.
"""

from __future__ import annotations

import time
from typing import Final

from rocketmq_peer.group import GROUP_NAME
from rocketmq_peer.group_options import GroupOptions
from rocketmq_peer.scenario import TOPIC, Scenario, Stage

__all__ = ["SCENARIO"]

_CONSUMERS: Final = "ordered"
"""The name of the group of consumers."""
_HOLDER: Final = "k2"
_NEXT: Final = "k1"
"""Of several consumers RocketMQ gives a single queue to the one whose name is first."""
_WORK_MS: Final = 2000
_MESSAGES: Final = 30
_LEASE_MS: Final = 30_000
_BOTH: Final = 3
"""So many messages each of the two processes after the kill."""


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    stage.send_all("a", _MESSAGES)
    stage.copied(stage.view(old).end, *stage.others(old))
    holder, newcomer = stage.consumer(_HOLDER), stage.consumer(_NEXT)
    holder.consume(TOPIC, group=_CONSUMERS, work_ms=_WORK_MS)

    def begun() -> bool | None:
        return stage.view(_HOLDER).events.get("Processed", 0) > 1 or None

    group.wait_for(begun, f"{_HOLDER} had locked the queue, and processed it")
    stage.say(f"{_HOLDER} holds the queue")
    killed_ns = time.monotonic_ns()
    group.kill(old)
    stage.next_master(old)
    stage.send_until_ok("b0")  # and if it has not heard of the topic, the next master creates it
    before = stage.view(_HOLDER).events["Processed"]
    newcomer.consume(TOPIC, group=_CONSUMERS, work_ms=_WORK_MS)

    def both() -> bool | None:
        now = stage.view(_HOLDER).events["Processed"] - before
        other = stage.view(_NEXT).events.get("Processed", 0)
        return (now >= _BOTH and other >= _BOTH) or None

    group.wait_for(both, f"{_HOLDER} and {_NEXT} processed the queue", timeout_s=40)
    granted_ns = stage.view(_NEXT).first_ns["ReceiveAnswer"]
    left_ms = (stage.view(_HOLDER).last_ns["ReceiveAnswer"] - granted_ns) // 1_000_000 + _LEASE_MS
    stage.say(f"{_NEXT} got the queue {(granted_ns - killed_ns) // 1_000_000} ms after the kill")
    stage.say(f"then {left_ms} ms of the lease of {_HOLDER} were left")
    stage.say(f"{_HOLDER} and {_NEXT} have processed {_BOTH} messages each since {old} was killed")


SCENARIO: Final = Scenario(
    name="locks",
    about="a queue's lock is forgotten with the master, and two consumers hold the queue",
    protocols=("lock_quorum",),
    play=_play,
    options=GroupOptions(
        brokers=2,
        said_of_brokers={
            "members": ["b1", "b2"],
            "queues": [{"topic": TOPIC, "broker_name": GROUP_NAME, "queue_id": 0}],
            "total_replicas": 1,
            "strict": False,
            "life_ms": 60_000,
            "replicates": True,
        },
        said_of_consumers={
            "consumer_group": _CONSUMERS,
            "lease_ms": _LEASE_MS,
            "patience_ms": 1000,
        },
    ),
    museum=(),
)
