"""A slave comes back, and the master has compared its report, but not proposed it yet."""

from __future__ import annotations

from rocketmq_peer.gates import PROPOSE
from rocketmq_peer.scenario import Stage

__all__ = ["hold_proposal"]


def hold_proposal(stage: Stage) -> tuple[str, str]:
    """Play so far, with the gate of proposals shut; return the master and the slave."""
    group = stage.group
    master = stage.begin()
    (slave,) = stage.others(master)
    stage.send_all("a", 2)
    group.kill(slave)
    stage.in_sync(master)
    stage.send_all("b", 2)
    stage.say(f"{slave} comes back, and reports that it has all; {master} does not propose it yet")
    group.gates.shut(master, PROPOSE)
    group.start_broker(slave)

    def compared() -> bool | None:
        return group.gates.is_reached(master, PROPOSE) or None

    group.wait_for(compared, f"{master} had compared what {slave} reported")
    return master, slave
