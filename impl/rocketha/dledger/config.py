"""The settings of a DLedger node; names and defaults are DLedger's.

Source: DLedgerConfig; DLedgerRpcNettyService (`leadershipTransfer`), DLedgerLeaderElector
(`maintainAsCandidate`)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rocketha.dledger.answer_rules import ANSWER_RULES, AnswerRules
from rocketha.dledger.push_rules import PUSHER_RULES, PusherRules
from rocketha.dledger.read_rules import READ_RULES, ReadRules
from rocketha.dledger.rules import ELECTOR_RULES, ElectorRules
from rocketha.errors import ConfigurationError

__all__ = ["ROUND_MS", "TRANSFER_MS", "DLedgerConfig"]

ROUND_MS: Final = 2_000
"""A candidate waits so long for votes, and for up to `maxVoteIntervalMs` more."""

TRANSFER_MS: Final = 3_000
"""A leader waits so long for who shall lead in its place: the time of such a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DLedgerConfig:
    """How a node is configured. Raises: ConfigurationError"""

    group: str = "default"
    self_id: str = "n0"
    peers: tuple[str, ...] = ("n0",)
    """The ids of all members, this node's among them; where they are is their host's business."""
    heart_beat_time_interval_ms: int = 2_000
    max_heart_beat_leak: int = 3
    """A follower, or a leader without a majority, gives up after so many intervals."""
    min_vote_interval_ms: int = 300
    max_vote_interval_ms: int = 1_000
    """A candidate asks again after a drawn time in `[min, max)`."""
    waits_after_restart: bool = False
    """A node that was up before asks for votes `lease_ms` later, in the next term; no setting in
    DLedger, where it asks at once. A leader of DLedger that has a majority does not follow who is
    in a later term, and so never helps one whose log is behind."""
    preferred_leader_ids: tuple[str, ...] = ()
    """`preferredLeaderId`: who shall lead if it can; none: whoever is elected."""
    preferred_leader_interval_ms: int = 1_000
    """A leader looks so often for somebody who is preferred; no setting in DLedger."""
    min_take_leadership_vote_interval_ms: int = 30
    max_take_leadership_vote_interval_ms: int = 100
    """The same, for a preferred node that was asked to lead."""
    max_leadership_transfer_wait_index: int = 1_000
    """Nobody gets the leadership who lacks so many entries."""
    leadership_transfer_wait_timeout_ms: int = 1_000
    """Who was asked to lead waits so long for the entries that it lacks."""
    max_push_time_out_ms: int = 1_000
    """A leader sends entries again that were not answered in this time."""
    max_pending_requests_num: int = 10_000
    """So many clients wait for their entries at most."""
    max_wait_ack_time_ms: int = 2_500
    """A client waits so long for its entry; nobody knows then whether it will be agreed on."""
    rpc_timeout_ms: int = 3_000
    """A node waits so long for an answer, and closes the connection then; no setting in DLedger."""
    push_commit_interval_ms: int = 1_000
    """A leader that has nothing to push says so often what is committed; no setting in DLedger."""
    push_retry_ms: int = 500
    """After an error a leader pushes nothing to a node for so long; no setting in DLedger."""
    enable_batch_append: bool = False
    max_batch_append_size: int = 4 * 1024
    """A push has entries of about so many bytes, if it may have more than one."""
    flush_file_interval_ms: int = 10
    """A leader synchronizes its log so long after it has written an entry."""
    enable_fast_advance_commit_index: bool = False
    """A new leader writes an entry of its own, NOOP, so that what was there is committed."""
    legacy_push: bool = False
    """`legacyPush`: the group has members of releases up to 0.3.2, so all push as these do (see
    `rocketha.dledger.legacy_push`); no setting in DLedger."""
    enable_snapshot: bool = False
    snapshot_threshold: int = 1_000
    """A snapshot is saved after so many entries."""
    max_snapshot_reserved_num: int = 3
    apply_wait_ms: int = 0
    """What is committed waits so long for the state machine, as in StateMachineCaller's queue; no
    setting in DLedger."""
    rules: ElectorRules = field(default=ELECTOR_RULES, repr=False)
    push_rules: PusherRules = field(default=PUSHER_RULES, repr=False)
    read_rules: ReadRules = field(default=READ_RULES, repr=False)
    answer_rules: AnswerRules = field(default=ANSWER_RULES, repr=False)

    def __post_init__(self) -> None:
        if len(set(self.peers)) != len(self.peers) or "" in self.peers:
            raise ConfigurationError("peers", reason="has an id twice, or an empty one")
        if self.self_id not in self.peers:
            raise ConfigurationError("selfId", reason=f"{self.self_id} is not one of the peers")
        least = {
            "heartBeatTimeIntervalMs": (self.heart_beat_time_interval_ms, 1),
            "maxHeartBeatLeak": (self.max_heart_beat_leak, 1),
            "minVoteIntervalMs": (self.min_vote_interval_ms, 0),
            "minTakeLeadershipVoteIntervalMs": (self.min_take_leadership_vote_interval_ms, 0),
            "maxLeadershipTransferWaitIndex": (self.max_leadership_transfer_wait_index, 0),
            "leadershipTransferWaitTimeout": (self.leadership_transfer_wait_timeout_ms, 0),
            "maxPushTimeOutMs": (self.max_push_time_out_ms, 1),
            "rpcTimeoutMs": (self.rpc_timeout_ms, 1),
            "pushCommitIntervalMs": (self.push_commit_interval_ms, 0),
            "pushRetryMs": (self.push_retry_ms, 1),
            "preferredLeaderIntervalMs": (self.preferred_leader_interval_ms, 1),
            "maxPendingRequestsNum": (self.max_pending_requests_num, 1),
            "maxWaitAckTimeMs": (self.max_wait_ack_time_ms, 1),
            "maxBatchAppendSize": (self.max_batch_append_size, 1),
            "flushFileInterval": (self.flush_file_interval_ms, 0),
            "snapshotThreshold": (self.snapshot_threshold, 1),
            "maxSnapshotReservedNum": (self.max_snapshot_reserved_num, 1),
            "applyWaitMs": (self.apply_wait_ms, 0),
        }
        for name, (value, minimum) in least.items():
            if value < minimum:
                raise ConfigurationError(name, reason=f"is {value}, less than {minimum}")
        if self.legacy_push and (self.enable_snapshot or self.enable_fast_advance_commit_index):
            reason = "is for releases up to 0.3.2, which have neither NOOPs nor INSTALL_SNAPSHOT"
            raise ConfigurationError("legacyPush", reason=reason)
        if self.max_vote_interval_ms <= self.min_vote_interval_ms:
            raise ConfigurationError("maxVoteIntervalMs", reason="is not above the minimum")
        taking = self.min_take_leadership_vote_interval_ms
        if self.max_take_leadership_vote_interval_ms <= taking:
            reason = "is not above the minimum"
            raise ConfigurationError("maxTakeLeadershipVoteIntervalMs", reason=reason)

    @property
    def others(self) -> tuple[str, ...]:
        """Return the members but for this node."""
        return tuple([peer for peer in self.peers if peer != self.self_id])

    @property
    def lease_ms(self) -> int:
        """Return after how long without its followers a leader is none."""
        return self.max_heart_beat_leak * self.heart_beat_time_interval_ms

    def is_quorum(self, count: int) -> bool:
        """Tell whether so many members decide. Source: MemberState.isQuorum"""
        return self.rules.quorum(count, len(self.peers))

    def vote_interval_ms(self, drawn: int, *, taking: bool) -> int:
        """Return how long to wait before votes are asked for; `drawn` is any number from 0 on.

        Source: DLedgerLeaderElector.getNextTimeToRequestVote
        """
        least, limit = self.min_vote_interval_ms, self.max_vote_interval_ms
        if taking:
            least = self.min_take_leadership_vote_interval_ms
            limit = self.max_take_leadership_vote_interval_ms
        return least + drawn % (limit - least)
