"""A master that was away is kept out of its group by what its slave says.

Its slave acts, and a client pulls a message from it. The slave keeps how far clients have pulled
(`pullOffsetTable`), and says it with the offsets of consumers. The master that comes back asks for
these before it serves (`BrokerPreOnlineService.syncMetadataReverse`). 5.5.0 cannot read the answer,
for the reason of #10284, where a slave cannot, and asks again, for ever.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.acting_stage import MASTER, ActingStage, acting_options
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.scenario import TOPIC, Scenario, Stage

__all__ = ["SCENARIO"]

_TRIES: Final = 10
_WAITS_S: Final = 120.0
"""A master that is not kept out is back in a few seconds."""


def _play(stage: Stage) -> None:
    acting = ActingStage(stage)
    acting.begin()
    if not any(acting.client.send(TOPIC, f"m{number}").is_ok for number in range(_TRIES)):
        raise ProcessError("no message was stored")
    acting.note("sent", MASTER)
    acting.copied()
    acting.kill_master()
    acting.pull_from_slave()
    acting.try_to_return(_WAITS_S)


SCENARIO: Final = Scenario(
    name="kept_out",
    about="a client pulls from a slave that acts, and the master comes back, or does not",
    protocols=(),
    history="returns",
    play=_play,
    options=acting_options(),
    museum=(),
)
