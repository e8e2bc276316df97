"""The errors that `rocketha` raises: one root, and leaves that say whose fault it is.

A `FormatError` is the sender's (or the disk's) fault: the bytes at hand are not what the format
says; nothing else escapes a decoder. A `RequestError` is a peer's that speaks the protocol, but
asks for what cannot be asked. An `EncodingError` is the caller's: the value does not fit into the
format. A `DiskError` comes from below.
"""

from __future__ import annotations

__all__ = [
    "CheckpointError",
    "CommitLogError",
    "ConfigurationError",
    "ControllerLogError",
    "DLedgerFileError",
    "DamagedLogError",
    "DiskError",
    "EncodingError",
    "EpochFileError",
    "FormatError",
    "HistoryFormatError",
    "IdentityFileError",
    "IncompleteRecordError",
    "ListenError",
    "MissingFileError",
    "OperationError",
    "PacketError",
    "PowerCutError",
    "RequestError",
    "RockethaError",
    "SnapshotError",
    "SnapshotGapError",
    "TermFileError",
]


class RockethaError(Exception):
    """Anything that `rocketha` refuses or cannot do; the message is one line for its user."""


class FormatError(RockethaError):
    """Bytes that are not what their format says.

    `what` names the format or the field, `offset` is where in the given bytes (or, for records, in
    the CommitLog) it was seen, `reason` is a clause without a full stop.
    """

    def __init__(self, what: str, *, offset: int, reason: str) -> None:
        super().__init__(f"{what} at byte {offset}: {reason}")
        self.what = what
        self.offset = offset
        self.reason = reason


class PacketError(FormatError):
    """A peer sent bytes that no peer may send now: close the connection."""


class EpochFileError(FormatError):
    """An epoch file is damaged: empty the store, and let the broker copy all of its master's."""


class CheckpointError(FormatError):
    """A checkpoint is damaged or of another program: recover the whole log without it."""


class IdentityFileError(FormatError):
    """A file that says who a broker is, is damaged: nobody else knows; restore it."""


class CommitLogError(FormatError):
    """A CommitLog record or segment is damaged: the log ends before it."""


class IncompleteRecordError(CommitLogError):
    """The bytes end inside a record: more may follow, or the tail was torn."""


class ControllerLogError(FormatError):
    """A controller's log is damaged where it was durable: restore it, or the controller's data."""


class DLedgerFileError(FormatError):
    """A data or index file of DLedger is damaged: refuse, and be refilled by the leader.

    `offset` counts in the log where the error is of a data file, else in the file.
    """


class DamagedLogError(DLedgerFileError):
    """A log is damaged in what was durable, and not merely of another layout than was said."""


class TermFileError(FormatError):
    """A `currterm` is damaged: nobody else knows of its vote. Do not vote, and restore it."""


class SnapshotError(FormatError):
    """A snapshot is damaged or none of ours: load an older one, or get one from the leader."""


class RequestError(RockethaError):
    """A field of a well-formed request or response is missing or cannot be: say so to the peer."""

    def __init__(self, field: str, *, reason: str) -> None:
        super().__init__(f"{field} {reason}")
        self.field = field
        self.reason = reason


class EncodingError(RockethaError):
    """A value does not fit into the format that should carry it."""

    def __init__(self, what: str, *, reason: str) -> None:
        super().__init__(f"{what}: {reason}")
        self.what = what
        self.reason = reason


class DiskError(RockethaError):
    """A storage operation failed. `path` is relative to the root of the disk."""

    def __init__(self, path: str, *, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class MissingFileError(DiskError):
    """The named file does not exist."""


class PowerCutError(DiskError):
    """The power went off at this operation: the replica is gone, its disk is what survived."""


class SnapshotGapError(RockethaError):
    """No snapshot stands for what the log has no more: restore one, or get it from the leader."""

    def __init__(self, *, first_index: int, loaded: int) -> None:
        super().__init__(f"the log begins with entry {first_index}, the snapshots end at {loaded}")
        self.first_index = first_index
        self.loaded = loaded


class ConfigurationError(RockethaError):
    """A configuration file cannot be read, or says what cannot be."""

    def __init__(self, path: str, *, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class ListenError(RockethaError):
    """A process cannot listen where it should: another one does, or it may not."""

    def __init__(self, address: str, *, reason: str) -> None:
        super().__init__(f"cannot listen at {address}: {reason}")
        self.address = address
        self.reason = reason


class HistoryFormatError(RockethaError):
    """A file is no history; `line` counts from 1."""

    def __init__(self, name: str, *, line: int, reason: str) -> None:
        super().__init__(f"{name}, line {line}: {reason}")
        self.name = name
        self.line = line
        self.reason = reason


class OperationError(RockethaError):
    """Operations cannot be what clients saw; `number` counts them from 0."""

    def __init__(self, number: int, *, reason: str) -> None:
        super().__init__(f"operation {number}: {reason}")
        self.number = number
        self.reason = reason
