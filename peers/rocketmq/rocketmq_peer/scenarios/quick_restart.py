"""B10: a master restarts before the controller misses it, and begins its epoch anew.

The controller does not hear that its connection is gone, as of a machine without power. The master
comes back with the same masterEpoch, drops its entry and writes another one at its end; no slave
finds a common point with it. A controller that elects anew, as whoever registers has started, keeps
it from that.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.configuration import BrokerTiming
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.proxy import Way
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["SCENARIO"]

_WATCHED_S: Final = 12.0


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    (slave,) = stage.others(old)
    stage.send_all("a", 4)
    stage.copied(stage.view(old).end, slave)
    group.proxies.linger(f"c1.{old}", Way.TO_SERVER)
    stage.say(f"{old} is killed, and back before the controller misses it")
    group.kill(old)
    group.start_broker(old)

    def leads() -> str | None:
        return next((one for one in (old, slave) if stage.view(one).role == "Master"), None)

    master = group.wait_for(leads, "one of them was master")
    (other,) = stage.others(master)
    stage.say(f"{master} is master, of masterEpoch {stage.view('c1').state['epoch']}")
    stage.send_until_ok("c0")
    end = stage.view(master).end
    try:
        stage.copied(end, other, timeout_s=_WATCHED_S)
        stage.say(f"{other} has copied it")
    except ProcessError:
        tries = stage.view(other).events.get("HandshakeRefused", 0)
        stage.say(
            f"{other} has not copied it in {_WATCHED_S:.0f} s, and refused {tries} handshakes"
        )
    stage.read_back()


SCENARIO: Final = Scenario(
    name="quick_restart",
    about="B10: a restarted master begins its epoch anew, and its slave never comes back",
    protocols=("epoch_truncation",),
    play=_play,
    options=GroupOptions(brokers=2, timing=BrokerTiming(heartbeat_timeout_ms=120_000)),
)
