"""One simulated broker: a disk, the log that recovery made of it, and the core's state."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Generic, TypeVar

from rocketha.bugs import Bug, Bugs
from rocketha.sim.clock import TRUE_TIME, Clock
from rocketha.sim.records import SEGMENT_SIZE
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, ConnectionId, HaAddress

__all__ = ["Node", "broker_address", "log_options", "new_node"]

S = TypeVar("S")


@cache
def broker_address(broker: BrokerId) -> HaAddress:
    """Return the address of a broker; it is also its name."""
    return HaAddress(f"b{broker}")


def log_options(bugs: Bugs) -> CommitLogOptions:
    """Return how brokers keep their CommitLog."""
    return CommitLogOptions(segment_size=SEGMENT_SIZE, durable_truncate=Bug.B07 not in bugs)


@dataclass(slots=True)
class Node(Generic[S]):
    """A broker and its machine."""

    id: BrokerId
    bugs: Bugs
    disk: MemoryDisk
    log: CommitLog
    """The opened log; of a broker that is down, the one that it had."""
    state: S | None
    """None: it is down."""
    incarnation: int = 0
    boot: int = 0
    """How often the machine was switched on again."""
    clock: Clock = TRUE_TIME
    attempt: tuple[ConnectionId, HaAddress] | None = None
    """A connection that was asked for and is neither open nor refused, and with whom."""
    timer_at_ms: int | None = None
    """The time for which a timer is set."""
    transfer_at_ms: dict[ConnectionId, int] = field(default_factory=dict)
    """Connections for which a transfer is scheduled, and for when."""
    log_version: int = 0
    """Grows when the log, or what is durable of it, may have changed."""

    def running(self) -> S:
        """Return the state of a broker that is known to run."""
        assert self.state is not None, f"broker {self.id} is down"
        return self.state

    def stop(self) -> None:
        """Forget everything that is not on the disk."""
        self.state = None
        self.incarnation += 1
        self.attempt = None
        self.timer_at_ms = None
        self.transfer_at_ms.clear()
        self.log_version += 1

    def lose_power(self, rng: Random | None) -> int:
        """Lose unsynced bytes, all or what `rng` draws; return how many writes suffered."""
        self.boot += 1
        cut = self.disk.lose_unsynced() if rng is None else self.disk.power_cut(rng)
        return cut.lost + cut.torn + cut.names_lost

    def recover(self) -> None:
        """Open the log again."""
        self.log, _ = CommitLog.open(self.disk, log_options(self.bugs))
        self.log_version += 1


def new_node(broker: BrokerId, state: S, bugs: Bugs) -> Node[S]:
    """Make a broker with an empty disk that runs."""
    disk = MemoryDisk()
    log, _ = CommitLog.open(disk, log_options(bugs))
    return Node(id=broker, bugs=bugs, disk=disk, log=log, state=state)
