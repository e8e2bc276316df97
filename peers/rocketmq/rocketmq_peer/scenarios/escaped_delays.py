"""Delayed messages that come due while a slave acts for its master.

d0 to d5 come due one after the other, some before the master is killed, some while the slave acts,
some when the master is back, or nearly. With `enableRemoteEscape` the slave puts what is due to
another master; by default it may not, and each put fails. One more is sent to the master when it is
back. At the end all is read, with the time at which each was stored for consumers.

`escaped_delays` and `kept_delays` (by default) have messages with a delay level, for
`ScheduleMessageService`; `escaped_timers` and `dropped_timers` (by default) have some with a delay
in milliseconds, for `TimerMessageStore`, which tries a put three times, unless
`timerEnableRetryUntilSuccess` is set.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Final

from rocketmq_peer.acting_stage import OTHER, ActingStage, acting_options
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["DROPPED_TIMERS", "ESCAPED_TIMERS", "KEPT", "SCENARIO"]

_DELAYS_S: Final = (10, 40, 45, 50, 55, 60)
"""The first is for the master, the others should be for the slave."""
_LEVELS: Final = {"messageDelayLevel": " ".join(f"{one}s" for one in (5, *_DELAYS_S))}
_LAST_S: Final = 5
_SETTLES_S: Final = 10
"""So long the slave acts when the last message is due."""


def _send(acting: ActingStage, id_: str, delay_s: int, *, timer: bool) -> str:
    if timer:
        return acting.delayed(id_, delay_s * 1000, delay_ms=delay_s * 1000)
    return acting.delayed(id_, delay_s * 1000, delay_level=(_LAST_S, *_DELAYS_S).index(delay_s) + 1)


def _play(stage: Stage, *, timer: bool = False) -> None:
    acting = ActingStage(stage)
    acting.begin()
    for number, delay_s in enumerate(_DELAYS_S):
        _send(acting, f"d{number}", delay_s, timer=timer)
    last_ms = acting.now_ms + _DELAYS_S[-1] * 1000
    acting.create_topic(OTHER)
    time.sleep(_DELAYS_S[0])
    acting.copied()
    acting.kill_master()
    time.sleep(max(last_ms - acting.now_ms, 0) / 1000 + _SETTLES_S)
    acting.return_master()
    after = acting.delayed_at_master("n", partial(_send, delay_s=_LAST_S, timer=timer))
    stage.group.wait_for(partial(acting.is_found, after), f"{after} was found")
    time.sleep(_SETTLES_S)
    acting.found()


def _scenario(name: str, about: str, *, timer: bool, escape: bool) -> Scenario:
    return Scenario(
        name=name,
        about=about,
        protocols=(),
        history="delays",
        play=partial(_play, timer=timer),
        options=acting_options(more={"enableRemoteEscape": escape, **_LEVELS}),
        museum=(),
    )


SCENARIO: Final = _scenario(
    "escaped_delays",
    "delay levels come due while a slave acts, and go to another master",
    timer=False,
    escape=True,
)
KEPT: Final = _scenario(
    "kept_delays",
    "the same, where nothing may be put over the network",
    timer=False,
    escape=False,
)
ESCAPED_TIMERS: Final = _scenario(
    "escaped_timers",
    "delays in milliseconds come due while a slave acts, and go to another master",
    timer=True,
    escape=True,
)
DROPPED_TIMERS: Final = _scenario(
    "dropped_timers",
    "the same, where nothing may be put over the network",
    timer=True,
    escape=False,
)
