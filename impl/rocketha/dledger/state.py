"""What happens to an elector, what it does, and what it remembers.

Times are what the node's monotonic clock shows, in milliseconds. Numbers of requests to other nodes
are unique within one incarnation: an answer to one of before must not reach the node that started.

Source: DLedgerLeaderElector, VoteResponse.ParseResult
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import NewType, TypeAlias

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.member_state import MemberState, Role
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import (
    HeartBeatRequest,
    HeartBeatResponse,
    LeadershipTransferRequest,
    LeadershipTransferResponse,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.runtime.effects import Effect
from rocketha.types import LogIndex, RequestId, Term, TimestampMs

__all__ = [
    "NO_MARKS",
    "Answered",
    "Asked",
    "AskedToLead",
    "Beat",
    "ElectorAction",
    "ElectorActionName",
    "ElectorAnswer",
    "ElectorEvent",
    "ElectorRequest",
    "ElectorState",
    "ElectorStepped",
    "KeepTermAndVote",
    "MaintainState",
    "ParseResult",
    "PreferredLeaderDue",
    "RequestNumber",
    "RoleChanged",
    "SendElectorAnswer",
    "SendElectorRequest",
    "Transfer",
    "VoteRound",
    "WaterMarks",
]

RequestNumber = NewType("RequestNumber", int)
"""What a node calls a request of its own, or all of one round; grows."""

ElectorRequest: TypeAlias = VoteRequest | HeartBeatRequest | LeadershipTransferRequest
ElectorAnswer: TypeAlias = VoteResponse | HeartBeatResponse | LeadershipTransferResponse

WaterMarks: TypeAlias = Mapping[str, LogIndex]
NO_MARKS: WaterMarks = MappingProxyType({})


# ---- what happens ----


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainState:
    """Time has passed; DLedger looks every 10 ms, `next_timer_ms` says when there is a need."""

    drawn: int
    """A random number from 0 on, of which an interval is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request came from another node, or from who administers the group."""

    request: RequestId
    message: ElectorRequest
    water_marks: WaterMarks = field(default_factory=lambda: NO_MARKS)
    """Of a LEADERSHIP_TRANSFER to a leader: peer -> up to which entry it has acknowledged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A request was answered. None: it could not be sent, or nobody answered in time."""

    number: RequestNumber
    peer: str
    message: ElectorAnswer | None
    drawn: int
    """As of `MaintainState`."""
    is_behind: bool = False
    """Who answers has not acknowledged all that is in this node's log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferredLeaderDue:
    """A leader looks for somebody who is preferred: DLedger every second."""

    water_marks: WaterMarks
    """Peer -> up to which entry it has acknowledged in this term."""


ElectorEvent: TypeAlias = MaintainState | Asked | Answered | PreferredLeaderDue


# ---- what it does ----


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepTermAndVote(Effect):
    """Write `currterm`, and synchronize it and its name before the next effect."""

    kept: TermAndVote


@dataclass(frozen=True, slots=True, kw_only=True)
class SendElectorRequest(Effect):
    """Ask another node; `Answered` follows with the same number, at most once."""

    number: RequestNumber
    peer: str
    message: ElectorRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class SendElectorAnswer(Effect):
    """Answer a request."""

    request: RequestId
    message: ElectorAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChanged(Effect):
    """Tell the others in this node, also one that is a candidate once more.

    Source: DLedgerLeaderElector.handleRoleChange
    """

    term: Term
    """Of a candidate: the largest that it has heard of, perhaps above the one that it is in."""
    role: Role
    leader_id: str | None


class ElectorActionName(StrEnum):
    """The actions of DLedger that are elections; a power cut is its host's."""

    INCREASE_TERM = "IncreaseTerm"
    ASK_VOTES = "AskVotes"
    HANDLE_VOTE = "HandleVote"
    PARSE_VOTES = "ParseVotes"
    HANDLE_HEARTBEAT = "HandleHeartbeat"
    HEAR_TERM = "HearTerm"
    BECOME_CANDIDATE = "BecomeCandidate"
    TRANSFER_LEADERSHIP = "TransferLeadership"
    TAKE_LEADERSHIP = "TakeLeadership"
    GO_ON_LEADING = "GoOnLeading"


@dataclass(frozen=True, slots=True)
class ElectorAction:
    """The action of the specification that a step took; its first parameter is the node."""

    name: ElectorActionName
    peer: str | None = None
    """Of whom a leader heard a larger term, or to whom it hands its leadership over."""


# ---- what it remembers ----


class ParseResult(Enum):
    """What a candidate makes of the votes of a round."""

    WAIT_TO_REVOTE = "WAIT_TO_REVOTE"
    REVOTE_IMMEDIATELY = "REVOTE_IMMEDIATELY"
    PASSED = "PASSED"
    WAIT_TO_VOTE_NEXT = "WAIT_TO_VOTE_NEXT"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRound:
    """A candidate has asked for votes in the term that it is in."""

    number: RequestNumber
    ends_ms: TimestampMs
    silent: frozenset[str] = frozenset()
    """Who cannot be asked, or will not answer."""
    answers: Mapping[str, VoteResponse] = field(default_factory=lambda: MappingProxyType({}))
    """Its own among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """A leader's heartbeats, and who has answered."""

    number: RequestNumber
    started_ms: TimestampMs
    answers: Mapping[str, DLedgerResponseCode] = field(default_factory=lambda: MappingProxyType({}))
    """NETWORK_ERROR of who has not."""
    judged: bool = False
    """It is over; only a larger term is still looked for in what comes late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """This node asked another one to lead."""

    number: RequestNumber
    began_ms: TimestampMs
    request: RequestId | None
    """Who waits to hear how it went; None: nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedToLead:
    """This node was asked to lead, and waits for entries that it lacks."""

    request: RequestId
    message: LeadershipTransferRequest
    began_ms: TimestampMs


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectorState:
    """A node that takes part in elections."""

    config: DLedgerConfig
    member: MemberState
    last_leader_heart_beat_ms: TimestampMs | None = None
    last_send_heart_beat_ms: TimestampMs | None = None
    """None: the next heartbeats are due."""
    last_succ_heart_beat_ms: TimestampMs | None = None
    """When a majority has last answered this node as leader, be it in an earlier term."""
    next_time_to_request_vote_ms: TimestampMs | None = None
    """None: now."""
    need_increase_term_immediately: bool = False
    last_parse_result: ParseResult = ParseResult.WAIT_TO_REVOTE
    last_number: RequestNumber = RequestNumber(0)
    round: VoteRound | None = None
    beat: Beat | None = None
    transfer: Transfer | None = None
    asked_to_lead: AskedToLead | None = None
    taking: RequestId | None = None
    """Who waits to hear whether this node leads in `member.term_to_take_leadership`."""


@dataclass(frozen=True, slots=True)
class ElectorStepped:
    """The result of one step."""

    state: ElectorState
    effects: tuple[Effect, ...] = ()
    action: ElectorAction | None = None
