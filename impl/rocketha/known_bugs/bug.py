"""Known bugs of RocketMQ, and the lack of one guard: what goes wrong with each.

A value is the tag that the specification writes behind `CHECK`. Without bugs the cores follow the
specification; with one a run must be told apart from it. What a bug changes stands in the file of
its protocol, beside this one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias

__all__ = [
    "NO_BUGS",
    "Bug",
    "Bugs",
]


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
    """A master that restarted takes up its old epoch again, with a later start: the broker does not
    remember the epoch, `AutoSwitchHAService.changeToMaster`, and the controller still has it as the
    master, `ReplicasInfoManager.electMaster`, which answers MASTER_STILL_EXIST."""
    B11 = "B11"
    """A slave follows a master that was replaced: nobody compares the epoch in the handshake.
    `AutoSwitchHAClient.doTruncate`."""
    B14 = "B14"
    """A master that has proposed a larger set still waits for the smaller one only. #5663,
    `AutoSwitchHAService.getSyncStateSet`."""
    B15 = "B15"
    """confirmOffset passes by the members that have no connection; here it answers producers, too.
    #6662, `AutoSwitchHAService.computeConfirmOffset`."""
    B16 = "B16"
    """confirmOffset falls while a member has connected and not reported. #6728,
    `AutoSwitchHAService.computeConfirmOffset`."""
    B19 = "B19"
    """confirmOffset passes by the members that have connected and not reported: what #6729 left.
    `AutoSwitchHAService.computeConfirmOffset`."""
    B20 = "B20"
    """A proposal that was refused is never ended. `ReplicasManager.doReportSyncStateSetChanged`."""
    B23 = "B23"
    """Without a controller: two connections of one slave count as two slaves.
    `GroupTransferService.doWaitTransfer`."""
    B25 = "B25"
    """A master never caught up with itself, so it proposes to leave its set; a member without a
    connection stays in it for ever. #4422, #7219, `AutoSwitchHAService.maybeShrinkSyncStateSet`."""
    B26 = "B26"
    """A new master takes itself for the whole set, whatever set it was told. #6342,
    `ReplicasManager.changeToMaster`."""
    B28 = "B28"
    """A heartbeat does not bind its channel: the late close of an old one evicts who is heard on
    another. #11045, `DefaultBrokerHeartbeatManager.onBrokerHeartbeat`."""
    B29 = "B29"
    """A group without master is not looked at by the scan. #5009, #6382,
    `ReplicasInfoManager.scanNeedReelectBrokerSets`."""
    B31 = "B31"
    """A broker that registers does not learn the present masterEpoch: an old answer makes it follow
    or be master in the past. #4442, where a new leader answered from old state."""
    B33 = "B33"
    """A proposal for a group without master is taken. #7293, where the handler crashed."""
    B35 = "B35"
    """A broker that restarts takes messages before it has registered. #6508, `BrokerController`."""
    B36 = "B36"
    """A proposal is taken although its master, or the set that it changes, is no longer the present
    one: the outcome was worked out before it was logged. `DLedgerController`."""
    B37 = "B37"
    """The epochs of a group that was cleaned begin at 0 again.
    `ReplicasInfoManager.handleCleanBrokerDataEvent`."""
    B40 = "B40"
    """The last master that registers is the one that clients find, whichever epoch it is of. #6316,
    `RouteInfoManager.registerBroker`."""
    B40_FORGOTTEN = "B40Forgotten"
    """A master that is gone is forgotten, and the one before it is found again: epochs are compared
    with whoever is registered at present. `RouteInfoManager.registerBroker`."""
    B41 = "B41"
    """Whoever has the brokerId is removed. #5374, `RouteInfoManager.unRegisterBroker`."""
    B42 = "B42"
    """Whoever has the address is removed, whatever it has registered since. #11043,
    `RouteInfoManager.unRegisterBroker`."""
    B43 = "B43"
    """Topics of groups of which no slave acts become read-only. #7626,
    `RouteInfoManager.unRegisterBroker`."""
    B44 = "B44"
    """A broker registers as a master before it knows what it is. #1464,
    `BrokerController.registerBrokerAll`."""
    B45_LEASE = "B45Lease"
    """A consumer's lease is longer than it may be: nothing compares it with the life of a vote.
    `REBALANCE_LOCK_MAX_LIVE_TIME` of `ProcessQueue` and of `RebalanceLockManager`."""
    B45_PARTIAL = "B45Partial"
    """Who gets too few votes keeps them, and renews them with each attempt.
    `AdminBrokerProcessor.lockBatchMQ`."""
    B45_QUORUM = "B45Quorum"
    """A majority of `totalReplicas`, which is 1 unless somebody sets it: one vote is enough.
    `AdminBrokerProcessor.lockBatchMQ`."""
    B45_RESTART = "B45Restart"
    """A broker forgets its votes when it restarts, and votes at once. `RebalanceLockManager`."""
    B46 = "B46"
    """The queue is locked, but the consumer does not know it. #2621, #5465,
    `RebalanceImpl.updateProcessQueueTableInRebalance`."""
    B47 = "B47"
    """A slave that acts does not ask which masters there are. #7923, `EscapeBridge.putMessage`."""
    B48 = "B48"
    """A slave that acts copies its master's tables; and what it tries again it appends to its own
    log. #7601, `SlaveSynchronize`, `TimerMessageStore.doPut`."""
    B48_VERSION = "B48Version"
    """A slave copies its master's table, and keeps its own version. #7577."""
    B49 = "B49"
    """No commit moves the version of a table. #9711, `LmqConsumerOffsetManager.commitOffset`."""
    B50 = "B50"
    """A master that comes back counts the slaves that it has asked, whoever came and went since.
    `BrokerPreOnlineService.prepareForMasterOnline`, whose progress is an index."""
    B51 = "B51"
    """A slave that copies deletes what it has, on its disk, too, before it puts what its master
    has. #9984, `SlaveSynchronize` (topics and groups)."""
    B52 = "B52"
    """Without a controller: a slave's report beyond the master's log counts. #3015, lost in 5.0,
    `DefaultHAConnection.ReadSocketService.processReadEvent`."""
    B53 = "B53"
    """A snapshot is added to the state that is there: what was removed is back.
    `ReplicasInfoManager.loadMetadata` of the branch, RIP-59."""
    B54 = "B54"
    """Nobody takes a snapshot of a leader: who lacks what a leader has removed never catches up.
    RIP-59; openmessaging/dledger `DLedgerEntryPusher` before it."""
    B55 = "B55"
    """The log is cut up to what is applied, although the snapshot says less.
    openmessaging/dledger#268."""
    B56 = "B56"
    """The place of the snapshot that a leader sends is never free again: a process can install one.
    openmessaging/dledger `DLedgerEntryPusher`."""
    B57 = "B57"
    """A snapshot is loaded although the log does not go on behind it. RIP-59, step 7c of loading;
    openmessaging/dledger `SnapshotManager`."""
    B58 = "B58"
    """A load does not raise the commit index of a follower. openmessaging/dledger
    `StateMachineCaller`."""
    B59 = "B59"
    """The term of the entry before the first one is forgotten at a restart: beforeBeginTerm of
    openmessaging/dledger."""
    B60 = "B60"
    """A node claims the term that it is in for that of its last entry. openmessaging/dledger#52,
    `DLedgerStore.updateLedgerEndIndexAndTerm`."""
    B61 = "B61"
    """A follower commits what its leader has committed, and may lack it.
    openmessaging/dledger#278."""
    B62 = "B62"
    """A follower commits as far as its own log goes, and what is cut of it stays committed.
    openmessaging/dledger#316, `DLedgerMmapFileStore.updateCommittedIndex`, `truncate`."""
    B63 = "B63"
    """A leader does not hear of a larger term while a majority answers. openmessaging/dledger#247,
    `DLedgerLeaderElector.sendHeartbeats`."""
    B64 = "B64"
    """A leader does not hear of the larger term of a node whose log is short, and that node is a
    candidate for ever. openmessaging/dledger#85, #325, `DLedgerLeaderElector.handleVote`."""
    B65 = "B65"
    """A follower that lost entries is not compared again: what a leader writes to it only moves
    forward. openmessaging/dledger#61, `DLedgerEntryPusher.EntryDispatcher`."""
    B68 = "B68"
    """The log is cut without any snapshot. openmessaging/dledger#236."""
    B70 = "B70"
    """The result of an old round of votes survives a time as follower: the next one goes to a
    larger term at once. openmessaging/dledger `DLedgerLeaderElector`."""
    B71 = "B71"
    """A vote does not survive a power cut. openmessaging/dledger `MemberState.persistState`."""
    B76 = "B76"
    """A master that comes back serves at once, with the offsets that it had. #1094,
    `skipPreOnline`."""
    B77 = "B77"
    """A broker that cannot be asked fails the whole batch. #7078, `AdminBrokerProcessor`."""
    B79 = "B79"
    """A second proposal takes the place of one that is not decided, and the master forgets for whom
    it must wait. `AutoSwitchHAService.maybeExpandInSyncStateSet`."""
    B82 = "B82"
    """A proposal that is not answered, or refused, counts as ended, though a copy of it may yet be
    applied. Nobody does this; who mends B20 is tempted to."""
    B83 = "B83"
    """Epochs beyond the log end survive a restart, and the slave reports the master's log end as
    its own. `EpochFileCache.setLastEpochEntryEndOffset`, `AutoSwitchHAClient.doTruncate`."""
    B84 = "B84"
    """A master that restarts with a whole log is still master, and has forgotten its proposals.
    `ReplicasInfoManager.registerBroker`."""
    B85 = "B85"
    """A replica joins although it restarted since the master saw it caught up.
    `ReplicasInfoManager.alterSyncStateSet`."""
    B86 = "B86"
    """The epoch file is rewritten without a sync, so a power cut loses the new epoch.
    `CheckpointFile.write`."""
    ADOPT = "Adopt"
    """A master takes the set that it asked for, although the controller has another one."""
    ALONE = "Alone"
    """A master that knows itself only shows all of its log, also while it has asked for others.
    `CommitLog.getConfirmOffset`."""
    ANSWER_APPLIED = "AnswerApplied"
    """A write or a read is answered when its entry is in the leader's log, and not applied."""
    APPLIED_FIRST = "AppliedFirst"
    """A read is answered before the state machine has what was committed."""
    BOUNDARY_OF_CUT = "BoundaryOfCut"
    """A log that is cut has the term of its last entry before its first one: the boundary of
    another entry. openmessaging/dledger, RESET_BUT_KEEP_SOME."""
    COMMIT_OWN_TERM = "CommitOwnTerm"
    """A leader commits an entry of an earlier term. Raft, 5.4.2."""
    COMMIT_SAME = "CommitSame"
    """A follower commits what another leader wrote at that place."""
    COMPARED_FIRST = "ComparedFirst"
    """An entry goes behind a log that nobody has compared."""
    COMPARED = "Compared"
    """A master that comes back takes whatever offsets a slave has."""
    COUNT_ONCE = "CountOnce"
    """The broker that is asked finds itself among those that it asks, and counts twice.
    `AdminBrokerProcessor.lockBatchMQ`, which knows itself by an id that changes."""
    COUNTED = "Counted"
    """Acknowledgements are counted, of whatever slave. `GroupTransferService.doWaitTransfer`."""
    CRC = "Crc"
    """Snapshots have no checksum. `StatemachineSnapshotFileGenerator` of the branch."""
    CUT_AT_OLDEST = "CutAtOldest"
    """The log is cut up to the newest snapshot, although older ones are kept to fall back to them.
    RIP-59, step 2 of cleaning; openmessaging/dledger `SnapshotManager`."""
    DIRECTORY_SYNC = "DirectorySync"
    """A snapshot counts before its name is on the disk. RIP-59."""
    EARLY = "Early"
    """A slave that acts writes down as passed what it has only sent."""
    EXPAND_CONFIRM = "ExpandConfirm"
    """A slave joins that lacks a part of what was confirmed."""
    EXPAND_EPOCH = "ExpandEpoch"
    """A slave joins that has not reached the beginning of the master epoch."""
    EXPIRED = "Expired"
    """Older snapshots are deleted before the new one was read back. RIP-59, step 1 of cleaning."""
    FAST_BACKUP = "FastBackup"
    """A leader looks for a match before a whole term, and has what is behind it cut.
    openmessaging/dledger 0.4.0, `EntryDispatcher.doCompare`, `EntryHandler.handleDoCompare`."""
    FIRST_REPORT = "FirstReport"
    """Without a controller: the first report of a connection may be beyond the master's log. #3016,
    `HAConnection.ReadSocketService.processReadEvent` of the branch 4.9.x."""
    FLUSH_BEFORE_EPOCH = "FlushBeforeEpoch"
    """A new master notes where its epoch starts before the log up to there is on the disk."""
    FRESH = "Fresh"
    """A master that comes back goes through one answer of the name server to its end.
    `BrokerPreOnlineService.prepareForMasterOnline`."""
    FRESH_OBJECT = "FreshObject"
    """The state is cleared, and filled while the file is read: a load that fails leaves a part.
    `ReplicasInfoManager.deserializeFrom`."""
    GIVES = "Gives"
    """A master in isolation gives its slaves the tables of before.
    `AdminBrokerProcessor.getAllConsumerOffset`."""
    HALF_OPEN = "HalfOpen"
    """Who joins counts as the incarnation that it is in, not as the one that reported: the
    connection may be that of one that is gone. `ReplicasManager.doReportSyncStateSetChanged`."""
    HAS_MASTER = "HasMaster"
    """A set without the master is taken."""
    HEARTBEATS = "Heartbeats"
    """A leader answers a read that nobody has confirmed since the call. openmessaging/dledger
    `ReadMode.LEASE_READ`."""
    HOST = "Host"
    """A connection of another slave counts as a slave's own, as if both were on one host.
    `HAConnectionStateNotificationService`."""
    INSTALL_FRESH = "InstallFresh"
    """A leader's snapshot is taken that is behind what the node knows, if only it is not older than
    the node's last one."""
    ISOLATED = "Isolated"
    """A master in isolation registers."""
    KEPT_LINK = "KeptLink"
    """A slave keeps its connection although another master was elected than the one that it leads
    to. `ReplicasManager.changeToSlave`, which compares who was taken for the master."""
    KNOWN_FOLLOWS_BATCH = "KnownFollowsBatch"
    """A slave learns no epoch from the batches of a master that was elected again.
    `AutoSwitchHAClient`, which compares no epoch at all."""
    LATE_ANSWER = "LateAnswer"
    """An answer counts however late it is: the votes behind it may be over."""
    LATE_ASK = "LateAsk"
    """A request counts that comes after its release: nobody gives that vote back."""
    LATE_FREE = "LateFree"
    """A release takes the votes of later attempts, too. `RebalanceLockManager.unlockBatch`."""
    LATE_TRUNCATE = "LateTruncate"
    """A request to cut comes late, and takes what was appended since. openmessaging/dledger 0.4.0,
    `EntryHandler.handleDoTruncate`."""
    LATE_EPOCH = "LateEpoch"
    """An answer from before a restart makes a broker master of its old epoch once more."""
    LATE_SET = "LateSet"
    """An answer that was overtaken takes a master's set back to an older one."""
    LOCAL_FIRST = "LocalFirst"
    """A slave that acts puts to any master, though one is in its process."""
    LOCAL_READ = "LocalRead"
    """Any member answers a read from its own state. openmessaging/dledger
    `ReadMode.UNSAFE_READ`."""
    MASTER_ANSWERS = "MasterAnswers"
    """Any broker answers a handshake, whatever its role.
    `AutoSwitchHAService.AutoSwitchAcceptSocketService`."""
    MASTER_EPOCH = "MasterEpoch"
    """A proposal from an older master epoch of the present master is taken."""
    MEETS = "Meets"
    """A check point and its ACK go where a hash modulo the number of masters leads at that time.
    `EscapeBridge.putMessageToSpecificQueue`."""
    MIN_END = "MinEnd"
    """The consistent point is the end of the slave's epoch, even if the master's ends earlier."""
    NAMES = "Names"
    """Keys of check points and ACKs have no broker's name. `PopMessageProcessor.genAckUniqueId`
    before RIP-32."""
    NEW_EPOCH = "NewEpoch"
    """An election begins no new epoch."""
    OFFSET_CONTINUES = "OffsetContinues"
    """A slave appends a batch wherever its offset is."""
    OLD_LEADER = "OldLeader"
    """A follower takes pushes of a leader that was replaced. openmessaging/dledger 0.4.0,
    `EntryHandler.doWork`, all but APPEND."""
    ONE_VOTE = "OneVote"
    """A node votes twice in a term."""
    OWN_SYNC = "OwnSync"
    """A leader counts what it has not synchronized. openmessaging/dledger `QuorumAckChecker`."""
    OWN_TERM_FIRST = "OwnTermFirst"
    """A new leader notes an index for reads before it knows what was committed."""
    PASSED_STALE = "PassedStale"
    """A candidate that has heard of a larger term leads in this one. openmessaging/dledger
    `DLedgerLeaderElector.maintainAsCandidate`."""
    READ_BACK = "ReadBack"
    """Nobody looks whether a snapshot can be read before the log goes. RIP-59."""
    REFILLED = "Refilled"
    """A node that has thrown its log away votes before its leader has sent it again."""
    REFUSAL = "Refusal"
    """The refusal of a proposal ends it, although another copy of it may have been applied."""
    REFUSE_GAP = "RefuseGap"
    """A node without any snapshot starts with a log that lacks its beginning. RIP-59, step 7 of
    loading: none left."""
    REPORT_OWN_END = "ReportOwnEnd"
    """After the handshake a slave reports the consistent point, whether it has it or not."""
    SAME_ENTRY = "SameEntry"
    """Who waits for an entry is answered when another leader's is applied at its index. Raft, 8;
    openmessaging/dledger `DLedgerEntryPusher.QuorumAckChecker`, which clears who waits."""
    SAME_TERM = "SameTerm"
    """A leader that lost entries is elected again in the same term. openmessaging/dledger
    `DLedgerLeaderElector`."""
    SENT = "Sent"
    """A slave that acts passes what it has sent, and nobody has answered."""
    SERVING = "Serving"
    """A master in isolation serves who has its address. `ConsumerManageProcessor`."""
    SET_EPOCH = "SetEpoch"
    """A proposal that changes an older set is taken."""
    SHORTER_LOG = "ShorterLog"
    """A node votes for a log that lacks what its own has."""
    SKIPS = "Skips"
    """A slave that acts passes what it could not put. `TransactionalMessageServiceImpl.check`,
    after eleven times."""
    SNAP_AT_APPLIED = "SnapAtApplied"
    """A snapshot carries the index of the last entry that is agreed on, not of the last one that is
    in it. openmessaging/dledger#268, which took the entry that had triggered it."""
    SPENT = "Spent"
    """A refusal does not spend the version of the set: its master never learns of it, and a copy
    may be taken later. `ReplicasInfoManager.alterSyncStateSet`."""
    START_COMPARED = "StartCompared"
    """Two entries of one epoch count as common, whatever their starts."""
    START_COVERS_WAITING = "StartCoversWaiting"
    """Without a controller: a slave without a log begins behind a message that a producer waits
    for, and then counts for it. `DefaultHAConnection.WriteSocketService.run`."""
    STAYS_HALF = "StaysHalf"
    """A slave that acts puts a half message as the real one."""
    SUFFIX_DROPPED = "SuffixDropped"
    """A load leaves a log that does not go on behind the snapshot."""
    SUFFIX_KEPT = "SuffixKept"
    """A load drops the log that goes on behind the snapshot."""
    SYNCED_ACK = "SyncedAck"
    """A follower acknowledges what it has not synchronized. openmessaging/dledger
    `EntryHandler.handleDoAppend`."""
    SYNC_FIRST = "SyncFirst"
    """A snapshot has its name before it has its contents. openmessaging/dledger, which never
    synchronizes it."""
    SYNC_WAITS = "SyncWaits"
    """Without a controller: a producer that waits for one slave is answered at once.
    `CommitLog.handleHA`."""
    TERM_FIRST = "TermFirst"
    """Of a snapshot and the state only the indexes are compared. openmessaging/dledger
    `StateMachineCaller`."""
    TERM_NOT_READY = "TermNotReady"
    """A node votes in a term that it has not gone to."""
    TIES = "Ties"
    """Of two tables of one version a master that comes back keeps its own. Nobody does this; who
    reads "newer" as "larger" is tempted to."""
    TRANSFER = "Transfer"
    """A slave's tables are taken before its connection is in TRANSFER.
    `DefaultHAConnection`, which is when it is accepted."""
    TRANSFER_ENDS = "TransferEnds"
    """A leader waits for ever for whom it has asked to lead."""
    TOLD = "Told"
    """A slave that acts tells a consumer that its ACK is stored, whatever has become of it
    (`AckMessageProcessor`)."""
    UNASKED = "Unasked"
    """A master shows a half message whose producer has not said anything yet."""
    UNLOCK_OWN = "UnlockOwn"
    """A release takes whosesoever vote there is."""
    VALIDITY = "Validity"
    """A snapshot is loaded that the state machine has passed. RIP-59 without its validity rule."""
    VERSIONS = "Versions"
    """Of two tables the slave's is taken if its version is not smaller.
    `BrokerPreOnlineService.syncMetadataReverse`."""
    VOTE_ONCE = "VoteOnce"
    """A broker votes for whoever asks."""
    W2 = "W2"
    """A master no longer waits for a member that it has proposed to remove."""
    W3 = "W3"
    """A member that lost a part of its log is elected."""
    W8 = "W8"
    """Consumers see what the members that are connected have, whoever is not. #6662, #6728,
    `AutoSwitchHAService.computeConfirmOffset`."""


Bugs: TypeAlias = frozenset[Bug]
"""The switches that are on."""

NO_BUGS: Final[Bugs] = frozenset()
