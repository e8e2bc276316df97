"""One simulated broker: a disk, its files, and what runs its core."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any, Final, Generic, TypeVar

from rocketha.known_bugs import Bugs
from rocketha.known_bugs.storage import file_options
from rocketha.runtime.broker_files import BrokerFiles, BrokerName
from rocketha.runtime.node_host import NodeHost
from rocketha.runtime.performers import ConnectionPerformer
from rocketha.sim.engine.clock import TRUE_TIME, Clock
from rocketha.sim.engine.records import SEGMENT_SIZE
from rocketha.sim.engine.scheduler import Scheduler
from rocketha.storage.commit_log import CommitLog
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, ConnectionId, HaAddress, TimestampMs

__all__ = [
    "FIRST_CONTROLLER",
    "FIRST_NAME_SERVER",
    "FIRST_PRODUCER",
    "Node",
    "broker_address",
]

S = TypeVar("S")


FIRST_CONTROLLER: Final = BrokerId(101)
"""From this number on nodes are members of a controller group."""
FIRST_NAME_SERVER: Final = BrokerId(201)
"""From this number on they are name servers."""
FIRST_PRODUCER: Final = BrokerId(301)
"""From this number on they are producers, which brokers ask."""


@cache
def broker_address(broker: BrokerId) -> HaAddress:
    """Return the address of a broker, a controller, a name server or a producer, and its name."""
    if broker >= FIRST_PRODUCER:
        return HaAddress(f"p{broker - FIRST_PRODUCER + 1}")
    if broker >= FIRST_NAME_SERVER:
        return HaAddress(f"n{broker - FIRST_NAME_SERVER + 1}")
    if broker >= FIRST_CONTROLLER:
        return HaAddress(f"c{broker - FIRST_CONTROLLER + 1}")
    return HaAddress(f"b{broker}")


class Node(Generic[S]):
    """A broker and its machine."""

    __slots__ = (
        "bugs",
        "clock",
        "connections",
        "disk",
        "files",
        "host",
        "id",
        "incarnation",
        "timer_at_ms",
        "transfer_at_ms",
    )

    def __init__(self, broker: BrokerId, bugs: Bugs, *, name: BrokerName | None = None) -> None:
        """Make a broker with an empty disk that is down; one with a `name` has identity files."""
        self.id = broker
        self.bugs = bugs
        self.disk = MemoryDisk()
        self.files = BrokerFiles(self.disk, file_options(SEGMENT_SIZE, bugs), name=name)
        self.host: NodeHost[S, Any, Any] | None = None
        """What runs its core; the cluster gives it one."""
        self.connections: ConnectionPerformer[Any, Any] | None = None
        """Those that its core has, if it has any."""
        self.incarnation = 0
        self.clock: Clock = TRUE_TIME
        self.timer_at_ms: int | None = None
        """The time for which a timer is set."""
        self.transfer_at_ms: dict[ConnectionId, int] = {}
        """Connections for which a transfer is scheduled, and for when."""

    @property
    def state(self) -> S | None:
        """Return the core's state; None: the broker is down."""
        return None if self.host is None else self.host.state

    @state.setter
    def state(self, state: S | None) -> None:
        assert self.host is not None, f"broker {self.id} has no host"
        self.host.state = state

    @property
    def log(self) -> CommitLog:
        """Return the opened log; of a broker that is down, the one that it had."""
        return self.files.log

    @property
    def unsynced(self) -> int:
        """Return how much a power cut would take of its log: what it has to lose."""
        return self.log.max_phy_offset - self.log.flushed_offset

    @property
    def asked(self) -> ConnectionId | None:
        """Return the connection that it asked for and that is neither open nor lost."""
        return None if self.connections is None else self.connections.asked

    def shows_ms(self, scheduler: Scheduler) -> TimestampMs:
        """Return what its machine's clock shows."""
        return self.clock.shows(scheduler.now_ms)

    def running(self) -> S:
        """Return the state of a broker that is known to run."""
        state = self.state
        assert state is not None, f"broker {self.id} is down"
        return state

    def stop(self) -> None:
        """Forget everything that is not on the disk."""
        if self.host is not None:
            self.host.stop()
        self.incarnation += 1
        self.timer_at_ms = None
        self.transfer_at_ms.clear()
        self.files.changed()

    def lose_power(self, rng: Random | None) -> int:
        """Lose unsynced bytes, all or what `rng` draws; return how many writes suffered."""
        self.files.boot = str(int(self.files.boot) + 1)
        cut = self.disk.lose_unsynced() if rng is None else self.disk.power_cut(rng)
        return cut.lost + cut.torn + cut.names_lost
