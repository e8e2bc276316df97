"""A check point and its ACK go to two masters, as another one has come between them.

Consumers pop m0, m1 and m2 from a slave that acts; its check points go to another master, b3. m0 is
acknowledged at once. Then b4 comes, a third master. m1 is acknowledged, and the slave says OK. But
it takes the queue for both from a hash modulo how many queues there are at present
(`EscapeBridge.asyncRemotePutMessageToSpecificQueue`), so the ACK is b4's: b3 revives the check
point, and m1 is delivered again. m2 is not acknowledged, and must come again; m0 must not.

`met_ack` is the same where the hash leads to b3 with b4, too.
"""

from __future__ import annotations

import time
from typing import Final

from rocketmq_peer.acting_stage import (
    MASTER,
    OTHER,
    SLAVE,
    THIRD,
    ActingStage,
    acting_options,
    moves_with_b4,
)
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.ports import GroupPorts
from rocketmq_peer.scenario import TOPIC, Scenario, Stage

__all__ = ["MET", "SCENARIO"]

_MESSAGES: Final = 3
_TRIES: Final = 20
_INVISIBLE_MS: Final = 60_000
_AGAIN_MS: Final = 60_000
_MORE_S: Final = 15.0
"""So long after what must come again what must not might come."""


def _play(stage: Stage) -> None:
    acting = ActingStage(stage)
    acting.begin()
    acting.hold_third()
    met, missed, left = _send(acting)
    acting.create_topic(OTHER)
    acting.copied()
    acting.kill_master()
    handles: dict[str, str] = {}

    def popped() -> bool | None:
        handles.update(acting.pop(SLAVE, 8, _INVISIBLE_MS))
        return handles.keys() >= {met, missed, left} or None

    stage.group.wait_for(popped, "all were popped")
    acting.acknowledge(SLAVE, met, handles[met])
    acting.let_third_in()
    acting.acknowledge(SLAVE, missed, handles[missed])
    again: set[str] = set()

    def revived() -> bool | None:
        for broker in (SLAVE, OTHER, THIRD):
            again.update(acting.pop(broker, 8, _AGAIN_MS))
        time.sleep(0.9)
        return left in again or None

    stage.group.wait_for(revived, f"{left} came again", timeout_s=180)
    until = time.monotonic() + _MORE_S
    while time.monotonic() < until:
        revived()
    acting.stored_tags(OTHER, THIRD)


def _send(acting: ActingStage) -> list[str]:
    """Send messages until three are stored; a name is used once."""
    stored: list[str] = []
    for number in range(_TRIES):
        name = f"m{number}"
        answer = acting.client.send(TOPIC, name)
        if answer.is_ok:
            acting.note("sent", MASTER, name, answer.status)
            stored.append(name)
        if len(stored) == _MESSAGES:
            return stored
    raise ProcessError(f"{len(stored)} of {_TRIES} messages were stored")


def _stays(ports: GroupPorts) -> bool:
    return not moves_with_b4(ports)


SCENARIO: Final = Scenario(
    name="missed_ack",
    about="a slave acts, and a third master comes between a check point and its ACK",
    protocols=(),
    history="pops",
    play=_play,
    options=acting_options(
        brokers=4, suit=moves_with_b4, more={"enableRemoteEscape": True, "reviveQueueNum": 8}
    ),
    museum=(),
)

MET: Final = Scenario(
    name="met_ack",
    about="the same, where the hash leads both to the same master",
    protocols=(),
    history="pops",
    play=_play,
    options=acting_options(
        brokers=4, suit=_stays, more={"enableRemoteEscape": True, "reviveQueueNum": 8}
    ),
    museum=(),
)
