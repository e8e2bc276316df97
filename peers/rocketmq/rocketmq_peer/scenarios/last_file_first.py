"""A slave without a log gets its master's last file first, and acknowledges all before it.

Three producers wait for a slave, the first two for messages of the file before the last one.
"""

from __future__ import annotations

from typing import Final

from rocketmq_peer.configuration import Promises
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.scenario import LIVE_LEGACY, Scenario, Stage

__all__ = ["SCENARIO"]

_FILE_BYTES: Final = 4096
_PER_FILE: Final = 2
_BODY_BYTES: Final = 1500
_PATIENCE_MS: Final = 150_000


def _play(stage: Stage) -> None:
    group = stage.group
    slave = group.brokers[-1]
    master = stage.begin_legacy(slave)
    group.proxies.refuse(f"ha.{master}.{slave}")
    group.start_broker(slave)
    answered = stage.send_until_had(
        master, _PER_FILE + 1, timeout_ms=_PATIENCE_MS, size=_BODY_BYTES
    )
    stage.say(f"producers wait; {slave}, which has nothing, may reach {master}")
    group.proxies.refuse(f"ha.{master}.{slave}", False)
    answered()
    stage.say_logs(*group.brokers)
    stage.read_back()


SCENARIO: Final = Scenario(
    name="last_file_first",
    about="a slave without a log is sent its master's last file, and acknowledges those before it",
    protocols=("legacy_replication",),
    play=_play,
    options=GroupOptions(
        brokers=2,
        replication=Replication.SYNC_MASTER,
        promises=Promises(in_sync_replicas=2),
        more_of_brokers={"mappedFileSizeCommitLog": _FILE_BYTES, "slaveTimeout": _PATIENCE_MS},
        said_of_brokers={"segment_bytes": _FILE_BYTES, "records_per_segment": _PER_FILE},
    ),
    museum=LIVE_LEGACY,
)
