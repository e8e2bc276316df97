"""Switches that put a known bug of RocketMQ, or the lack of one guard, into the cores.

A value is the tag that the specification writes behind `CHECK`. Without switches the cores follow
the specification; with one the run must be told apart from it.

Three are about the disk and belong to its options: B06 is `EpochStoreOptions.skip_empty_write`, B86
`EpochStoreOptions.in_place`, B07 `CommitLogOptions.durable_truncate`; `STORAGE_BUGS` names them for
whoever opens the storage.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias

__all__ = ["EPOCH_BUGS", "LEGACY_BUGS", "NO_BUGS", "STORAGE_BUGS", "Bug", "Bugs"]


class Bug(StrEnum):
    """What goes wrong, and where RocketMQ does it."""

    B01 = "B01"
    """A handshake cuts the epoch that starts at the log end, and the slave never notes it again:
    the last epoch it received survives the reconnect. #9942, `AutoSwitchHAClient.doTruncate`."""
    B02 = "B02"
    """A master that is elected again sends its new epoch under the old one: open connections keep
    the old end of the epoch. #9689, `AutoSwitchHAConnection.setCurrentTransferEpoch`."""
    B03 = "B03"
    """A master whose predecessor wrote nothing gets no epoch entry: the equal start is refused.
    `EpochFileCache.appendEntry`."""
    B04 = "B04"
    """After a truncation the last epoch keeps its old end. `EpochFileCache.doTruncateSuffix`."""
    B05 = "B05"
    """A batch that was cut at an epoch border is labelled with the next epoch: the sender moves on
    before it builds the header. `AutoSwitchHAConnection.transferToSlave`."""
    B06 = "B06"
    """An epoch file is never emptied: truncated epochs come back. `CheckpointFile.write`."""
    B07 = "B07"
    """A truncation only moves positions in memory: a crash brings the tail back. #10666."""
    B10 = "B10"
    """A master that restarted takes up its old epoch again, with a later start.
    `AutoSwitchHAService.changeToMaster`."""
    B11 = "B11"
    """A slave follows a master that was replaced: nobody compares the epoch in the handshake.
    `AutoSwitchHAClient.doTruncate`."""
    B23 = "B23"
    """Without a controller: two connections of one slave count as two slaves.
    `GroupTransferService.doWaitTransfer`."""
    B52 = "B52"
    """Without a controller: a slave's report beyond the master's log counts. #3015, lost in 5.0,
    `DefaultHAConnection.ReadSocketService.processReadEvent`."""
    B83 = "B83"
    """Epochs beyond the log end survive a restart, and the slave reports the master's log end as
    its own. `EpochFileCache.setLastEpochEntryEndOffset`, `AutoSwitchHAClient.doTruncate`."""
    B86 = "B86"
    """The epoch file is rewritten without a sync, so a power cut loses the new epoch.
    `CheckpointFile.write`."""
    FIRST_REPORT = "FirstReport"
    """Without a controller: the first report of a connection may be beyond the master's log. #3016,
    `HAConnection.ReadSocketService.processReadEvent` of the branch 4.9.x."""
    FLUSH_BEFORE_EPOCH = "FlushBeforeEpoch"
    """A new master notes where its epoch starts before the log up to there is on the disk."""
    KNOWN_FOLLOWS_BATCH = "KnownFollowsBatch"
    """A slave learns no epoch from the batches of a master that was elected again.
    `AutoSwitchHAClient`, which compares no epoch at all."""
    MASTER_ANSWERS = "MasterAnswers"
    """Any broker answers a handshake, whatever its role.
    `AutoSwitchHAService.AutoSwitchAcceptSocketService`."""
    MIN_END = "MinEnd"
    """The consistent point is the end of the slave's epoch, even if the master's ends earlier."""
    OFFSET_CONTINUES = "OffsetContinues"
    """A slave appends a batch wherever its offset is."""
    REPORT_OWN_END = "ReportOwnEnd"
    """After the handshake a slave reports the consistent point, whether it has it or not."""
    START_COMPARED = "StartCompared"
    """Two entries of one epoch count as common, whatever their starts."""
    START_COVERS_WAITING = "StartCoversWaiting"
    """Without a controller: a slave without a log begins behind a message that a producer waits
    for, and then counts for it. `DefaultHAConnection.WriteSocketService.run`."""
    SYNC_WAITS = "SyncWaits"
    """Without a controller: a producer that waits for one slave is answered at once.
    `CommitLog.handleHA`."""


Bugs: TypeAlias = frozenset[Bug]
"""The switches that are on."""

NO_BUGS: Final[Bugs] = frozenset()

STORAGE_BUGS: Final[Bugs] = frozenset({Bug.B06, Bug.B07, Bug.B86})
"""Switches that the cores do not read."""

LEGACY_BUGS: Final[Bugs] = frozenset(
    {
        Bug.B23,
        Bug.B52,
        Bug.FIRST_REPORT,
        Bug.OFFSET_CONTINUES,
        Bug.START_COVERS_WAITING,
        Bug.SYNC_WAITS,
    }
)
"""Switches of `rocketha.legacy_ha`."""

EPOCH_BUGS: Final[Bugs] = frozenset(
    {
        Bug.B01,
        Bug.B02,
        Bug.B03,
        Bug.B04,
        Bug.B05,
        Bug.B06,
        Bug.B07,
        Bug.B10,
        Bug.B11,
        Bug.B83,
        Bug.B86,
        Bug.FLUSH_BEFORE_EPOCH,
        Bug.KNOWN_FOLLOWS_BATCH,
        Bug.MASTER_ANSWERS,
        Bug.MIN_END,
        Bug.OFFSET_CONTINUES,
        Bug.REPORT_OWN_END,
        Bug.START_COMPARED,
    }
)
"""Switches of `rocketha.ha`, `rocketha.epoch` and the storage."""
