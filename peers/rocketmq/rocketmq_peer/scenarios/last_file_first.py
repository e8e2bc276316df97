"""A slave without a log gets its master's last file first, and acknowledges all before it.

Three producers wait for a slave, the first two for messages of the file before the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from string import ascii_lowercase
from typing import Final

from rocketmq_peer.configuration import Promises
from rocketmq_peer.errors import ProcessError
from rocketmq_peer.group import GroupOptions
from rocketmq_peer.group_options import Replication
from rocketmq_peer.scenario import LIVE_LEGACY, Scenario, Stage

__all__ = ["SCENARIO"]

_FILE_BYTES: Final = 4096
_PER_FILE: Final = 2
_BODY_BYTES: Final = 1500
_PATIENCE_MS: Final = 150_000
_TRIES_S: Final = 10.0


def _play(stage: Stage) -> None:
    group = stage.group
    slave = group.brokers[-1]
    master = stage.begin_legacy(slave)
    group.proxies.refuse(f"ha.{master}.{slave}")
    group.start_broker(slave)
    answered = _fill(stage, master)
    stage.say(f"producers wait; {slave}, which has nothing, may reach {master}")
    group.proxies.refuse(f"ha.{master}.{slave}", False)
    for wait in answered:
        wait()
    stage.say_logs(*group.brokers)
    stage.read_back()


def _fill(stage: Stage, master: str) -> list[Callable[[], None]]:
    """Send until there is a second file; a busy machine lets some messages fail."""
    waits = []
    for letter in ascii_lowercase:
        wait = stage.send_at_once(letter, 1, timeout_ms=_PATIENCE_MS, size=_BODY_BYTES)
        waits.append(wait)
        with suppress(ProcessError):
            stage.group.wait_for(partial(_has, stage, master, f"{letter}0"), "it came", _TRIES_S)
        if len(stage.view(master).ids) > _PER_FILE:
            break
    return waits


def _has(stage: Stage, broker: str, name: str) -> bool | None:
    return name in stage.view(broker).ids or None


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
