"""A slave that acts for its master gives up half messages that it cannot put, and passes them.

h0, h1 and h2 are half messages that their producer leaves open; the master asks for each. It is
killed, and the slave acts. By default (`enableRemoteEscape` is false) it may put nothing over the
network: each put fails, and after eleven of them the half message is passed
(`TransactionalMessageServiceImpl.check`). Then the producer decides: h0 and h1 are committed, h2 is
rolled back. The master comes back and takes over how far the slave was. A half message that is
sent then is asked for, committed and found: the master works. Nobody asks for h0 and h1 any more.

`unreachable_halves` is the same with `enableRemoteEscape`, while no other master runs.
`escaped_halves` is the same where it does: the other master gets the half messages, asks for them,
and they are found. There the slave is asked to commit h0, too, as RIP-32 says that it can.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from rocketmq_peer.acting_stage import MASTER, OTHER, SLAVE, ActingStage, acting_options
from rocketmq_peer.scenario import Scenario, Stage

__all__ = ["ESCAPED", "SCENARIO", "UNREACHABLE"]

_HALVES: Final = ("h0", "h1", "h2")
_AFTER: Final = "n"
_COMMIT: Final = "COMMIT_MESSAGE"
_ROLLBACK: Final = "ROLLBACK_MESSAGE"


def _play(stage: Stage, *, reachable: bool = True, escapes: bool = False) -> None:
    acting = ActingStage(stage)
    acting.begin()
    for one in _HALVES:
        acting.half(one)
    acting.asked(*_HALVES)
    acting.copied()
    acting.create_topic(OTHER)
    if not reachable:
        acting.kill_other()
    acting.kill_master()
    acting.checks()
    stage.group.wait_for(
        partial(acting.progress_of_halves, SLAVE), "b2 had passed all half messages", 90
    )
    if escapes:
        acting.asked(*_HALVES)
        acting.end_at_slave(_HALVES[0])
    for one in _HALVES:
        acting.decide(one, _ROLLBACK if one == _HALVES[-1] else _COMMIT)
    if escapes:
        acting.asked(*_HALVES)
    acting.return_master()
    if not reachable:
        acting.return_other()
    acting.progress_of_halves(MASTER)
    after = acting.half_at(MASTER, _AFTER)
    acting.asked(after)
    acting.asked(after)  # and again: each round looks at all half messages
    acting.decide(after, _COMMIT)
    acting.asked(after)
    stage.group.wait_for(partial(acting.is_found, after), f"{after} was found")
    acting.checks()
    acting.progress_of_halves(MASTER)
    acting.found()


SCENARIO: Final = Scenario(
    name="passed_halves",
    about="a slave acts, may put nothing over the network, and passes open half messages",
    protocols=(),
    history="halves",
    play=_play,
    options=acting_options(),
    museum=(),
)

UNREACHABLE: Final = Scenario(
    name="unreachable_halves",
    about="the same, where it may, and no other master runs",
    protocols=(),
    history="halves",
    play=partial(_play, reachable=False),
    options=acting_options(more={"enableRemoteEscape": True}),
    museum=(),
)

ESCAPED: Final = Scenario(
    name="escaped_halves",
    about="the same, where it reaches one, which asks for the half messages",
    protocols=(),
    history="halves",
    play=partial(_play, escapes=True),
    options=acting_options(more={"enableRemoteEscape": True}),
    museum=(),
)
