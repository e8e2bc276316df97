"""One simulated broker: a disk, what recovery made of it, and the core's state while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random

from rocketha.bugs import Bug, Bugs
from rocketha.errors import EpochFileError
from rocketha.formats.ha_packets import MasterPacket, SlavePacket
from rocketha.formats.packet_stream import PacketStream, master_stream, slave_stream
from rocketha.ha.state import BrokerState, ConnectionId, HaAddress, HaOptions
from rocketha.sim.records import SEGMENT_SIZE
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.epoch_store import EpochStore, EpochStoreOptions
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, EpochEntry

__all__ = ["Inbox", "Node", "broker_address", "log_options", "new_node"]

Inbox = PacketStream[MasterPacket] | PacketStream[SlavePacket]


@cache
def broker_address(broker: BrokerId) -> HaAddress:
    """Return the address of a broker; it is also its name."""
    return HaAddress(f"b{broker}")


def log_options(bugs: Bugs) -> CommitLogOptions:
    """Return how brokers keep their CommitLog."""
    return CommitLogOptions(segment_size=SEGMENT_SIZE, durable_truncate=Bug.B07 not in bugs)


def _store_options(bugs: Bugs) -> EpochStoreOptions:
    return EpochStoreOptions(skip_empty_write=Bug.B06 in bugs, in_place=Bug.B86 in bugs)


@dataclass(slots=True)
class Node:
    """A broker and its machine."""

    id: BrokerId
    options: HaOptions
    disk: MemoryDisk
    store: EpochStore
    log: CommitLog
    """The opened log; of a broker that is down, the one that it had."""
    state: BrokerState | None
    """None: it is down."""
    incarnation: int = 0
    inboxes: dict[ConnectionId, Inbox] = field(default_factory=dict)
    """The bytes of each open connection that are no whole packet yet."""
    attempt: tuple[ConnectionId, HaAddress] | None = None
    """A connection that was asked for and is neither open nor refused, and with whom."""
    timer_at_ms: int | None = None
    """The time for which a timer is set."""
    transfer_at_ms: dict[ConnectionId, int] = field(default_factory=dict)
    """Connections for which a transfer is scheduled, and for when."""
    log_version: int = 0
    """Grows when the log, or what is durable of it, may have changed."""
    epochs_version: int = 0
    """Grows when the epoch file may have changed."""

    def running(self) -> BrokerState:
        """Return the state of a broker that is known to run."""
        assert self.state is not None, f"broker {self.id} is down"
        return self.state

    def client_inbox(self, conn: ConnectionId) -> None:
        """Begin to hear a master."""
        self.inboxes[conn] = master_stream()

    def server_inbox(self, conn: ConnectionId) -> None:
        """Begin to hear a slave."""
        self.inboxes[conn] = slave_stream()

    def stop(self) -> None:
        """Forget everything that is not on the disk."""
        self.state = None
        self.incarnation += 1
        self.inboxes.clear()
        self.attempt = None
        self.timer_at_ms = None
        self.transfer_at_ms.clear()
        self.log_version += 1
        self.epochs_version += 1

    def lose_power(self, rng: Random | None) -> int:
        """Lose unsynced bytes, all or what `rng` draws; return how many writes suffered."""
        cut = self.disk.lose_unsynced() if rng is None else self.disk.power_cut(rng)
        return cut.lost + cut.torn + cut.names_lost

    def recover(self) -> tuple[EpochEntry, ...]:
        """Open the log again and read the epoch file; a file that nobody can read is empty.

        Source: EpochFileCache.initCacheFromFile
        """
        self.log, _ = CommitLog.open(self.disk, log_options(self.options.bugs))
        self.log_version += 1
        self.epochs_version += 1
        try:
            return self.store.load().entries
        except EpochFileError:
            return ()


def new_node(broker: BrokerId, options: HaOptions) -> Node:
    """Make a broker with an empty disk that runs."""
    disk = MemoryDisk()
    log, _ = CommitLog.open(disk, log_options(options.bugs))
    return Node(
        id=broker,
        options=options,
        disk=disk,
        store=EpochStore(disk, _store_options(options.bugs)),
        log=log,
        state=BrokerState(broker_id=broker, options=options),
    )
