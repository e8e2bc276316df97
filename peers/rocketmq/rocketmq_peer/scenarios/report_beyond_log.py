"""B52: a slave that is ahead of its master acknowledges messages that it never had.

The master loses its power, and with it the end of its log, which its slave has. Without epochs a
report is a number: the slave's is beyond all that the master writes next, and counts for it.

All messages have one size: the log of the master goes on where a record of the slave ends. Else
the slave gets the rest of a record, and from then on can read nothing of its log.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.configuration import Promises
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.scenario import LIVE_LEGACY, Scenario, Stage

__all__ = ["SCENARIO"]

_NEVER_MS: Final = 3_600_000


def _play(stage: Stage) -> None:
    group = stage.group
    master = stage.begin_legacy()
    (slave,) = stage.others(master)
    stage.send_all("a", 3)
    stage.copied(stage.view(master).end, slave)
    stage.power_cut(master)
    group.start_broker(master)
    stage.reported(slave)
    stage.registered()
    names = (f"{letter}{number}" for letter in "bdefgh" for number in range(10))
    stage.group.wait_for(lambda: stage.send(next(names)).offset, "a message was stored")
    stage.say_logs(*group.brokers)
    stage.send_all("c", 4)
    stage.copied(stage.view(master).end, slave)
    stage.say_logs(*group.brokers)
    stage.read_back()


SCENARIO: Final = Scenario(
    name="report_beyond_log",
    about="B52: a slave has what a power cut took from its master, and acknowledges what follows",
    protocols=("legacy_replication",),
    play=_play,
    options=GroupOptions(
        brokers=2,
        replication=Replication.SYNC_MASTER,
        promises=Promises(in_sync_replicas=2),
        more_of_brokers={"flushCommitLogThoroughInterval": _NEVER_MS},
    ),
    museum=LIVE_LEGACY,
)
