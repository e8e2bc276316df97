"""Three controllers: their leader is killed, then the master."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rocketmq_peer.configuration import ControllerKind
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["JRAFT", "SCENARIO"]


def _play(stage: Stage) -> None:
    group = stage.group
    old = stage.begin()
    stage.send_all("a", 3)
    leader = group.wait_for(group.leader, "a controller led")
    stage.say(f"{leader}, which leads the controllers, is killed")
    group.kill(leader)
    group.wait_for(group.leader, "another controller led")
    stage.send_all("b", 2)
    stage.copied(stage.view(old).end, *stage.others(old))
    stage.say(f"{old} is killed")
    group.kill(old)
    stage.next_master(old)
    stage.send_until_ok("c0")
    stage.read_back()


_OPTIONS: Final = GroupOptions(brokers=2, controllers=3)

SCENARIO: Final = Scenario(
    name="three_controllers",
    about="three controllers (DLedger): their leader is killed, then the master",
    protocols=("epoch_truncation",),
    play=_play,
    options=_OPTIONS,
)

JRAFT: Final = replace(
    SCENARIO,
    name="three_controllers_jraft",
    about="three controllers (JRaft): their leader is killed, then the master",
    options=replace(_OPTIONS, controller_kind=ControllerKind.JRAFT),
)
