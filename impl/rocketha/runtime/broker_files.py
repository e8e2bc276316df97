"""The files of a broker: its CommitLog, its epochs, and who it is; what a start reads from them."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocketha.formats.message import Message
from rocketha.storage.commit_log import CommitLog, CommitLogOptions
from rocketha.storage.disk import Disk
from rocketha.storage.epoch_store import EpochStore, EpochStoreOptions
from rocketha.storage.identity_store import IdentityStore
from rocketha.types import EpochEntry, Offset

__all__ = ["BrokerFiles", "BrokerName", "FileOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerName:
    """The group that a broker's identity files name. Source: `BrokerIdentity`"""

    cluster_name: str
    broker_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """How a broker keeps its files."""

    log: CommitLogOptions
    epochs: EpochStoreOptions = field(default_factory=EpochStoreOptions)


class BrokerFiles:
    """Reads and writes the files of one broker."""

    def __init__(self, disk: Disk, options: FileOptions, *, name: BrokerName | None = None) -> None:
        """Open the log; a broker without a name has no identity files.

        Raises: CommitLogError, DiskError
        """
        self.disk = disk
        self.boot = "0"
        """The present boot of the machine."""
        self.log_version = 0
        """Grows when the log, or what is durable of it, may have changed."""
        self.log_cuts = 0
        """Grows when the log may have changed otherwise than by growing."""
        self.epochs_version = 0
        """Grows when the epoch file may have changed."""
        self.log_options = options.log
        self._name = name
        self.epochs = EpochStore(disk, options.epochs)
        self.log: CommitLog
        """The opened log; while the broker is down, the one that it had."""
        self.recover()

    def recover(self) -> None:
        """Open the log again, as a start does. Raises: CommitLogError, DiskError"""
        self.log, _ = CommitLog.open(self.disk, self.log_options)
        self.log_version += 1
        self.log_cuts += 1

    def changed(self) -> None:
        """Note that the disk was harmed: every file may have changed."""
        self.log_version += 1
        self.log_cuts += 1
        self.epochs_version += 1

    # ---- the log ----

    def append(self, message: Message) -> tuple[Offset, Offset]:
        """Append the record of a message; return its begin and end. Raises: CommitLogError"""
        self.log_version += 1
        record = self.log.append(message)
        return record.offset, Offset(record.offset + record.size)

    def append_raw(self, offset: Offset, data: bytes) -> None:
        """Append bytes of another log. Raises: CommitLogError"""
        self.log_version += 1
        self.log.append_raw(offset, data)

    def truncate(self, offset: Offset) -> None:
        """Let the log end here. Raises: CommitLogError, DiskError"""
        self.log_version += 1
        self.log_cuts += 1
        self.log.truncate(offset)

    def flush(self) -> None:
        """Write the log through to the disk. Raises: DiskError"""
        self.log_version += 1
        self.log.flush()

    # ---- the epochs ----

    def load_epochs(self) -> tuple[EpochEntry, ...]:
        """Read the epoch file. Raises: EpochFileError, DiskError"""
        self.epochs_version += 1
        return self.epochs.load()

    def store_epochs(self, entries: tuple[EpochEntry, ...]) -> None:
        """Replace the content of the epoch file. Raises: DiskError"""
        self.epochs_version += 1
        self.epochs.replace(entries)

    # ---- who it is ----

    @property
    def identity(self) -> IdentityStore:
        """Return the identity files, on the present boot of the machine."""
        assert self._name is not None, "this broker has no identity"
        return IdentityStore(
            self.disk,
            cluster_name=self._name.cluster_name,
            broker_name=self._name.broker_name,
            boot=self.boot,
        )
