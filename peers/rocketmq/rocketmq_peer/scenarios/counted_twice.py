"""B23: two connections of one slave count as two slaves.

What a slave reports is under way when it is killed, and its master does not hear that the
connection is gone. It starts again and reports the same. The master waits for two slaves; the
other one has nothing.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.configuration import BrokerTiming, Promises
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.proxy import Way
from rocketmq_peer.scenario import LIVE_LEGACY, Scenario, Stage

__all__ = ["SCENARIO"]

_PATIENCE_MS: Final = 150_000


def _play(stage: Stage) -> None:
    group = stage.group
    one, other = group.brokers[1:]
    master = stage.begin_legacy(other)
    (link,) = group.links_of(kind="ha", callee=master, caller=one)
    (nothing,) = group.links_of(kind="ha", callee=master, caller=other)
    group.proxies.refuse(nothing)
    group.start_broker(other)
    stage.say(f"{other} runs, and does not reach {master}")
    group.proxies.linger(link, Way.TO_SERVER)
    group.proxies.hold(link, Way.TO_SERVER)
    answered = stage.send_until_had(master, 1, timeout_ms=_PATIENCE_MS)
    stage.copied(stage.view(master).end, one)
    stage.say(f"{one} has it, and {master} does not know that")
    group.kill(one)
    group.start_broker(one)
    group.wait_for(lambda: stage.view(one).state["client"], f"{one} reported")
    stage.say(f"{one} has reported twice, on two connections")
    group.proxies.release(link, Way.TO_SERVER)
    answered()
    stage.say_logs(*group.brokers)
    stage.read_back()


SCENARIO: Final = Scenario(
    name="counted_twice",
    about="B23: a slave reports on an old connection and on a new one, and counts as two",
    protocols=("legacy_replication",),
    play=_play,
    options=GroupOptions(
        brokers=3,
        replication=Replication.SYNC_MASTER,
        promises=Promises(in_sync_replicas=3),
        timing=BrokerTiming(ha_idle_ms=_PATIENCE_MS),
        more_of_brokers={"slaveTimeout": _PATIENCE_MS},
    ),
    museum=LIVE_LEGACY,
)
