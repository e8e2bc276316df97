"""An elector of three, n0 of n0, n1 and n2, and what it is told in tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from rocketha.dledger import elector
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.member_state import Role
from rocketha.dledger.state import (
    Answered,
    Asked,
    ElectorAnswer,
    ElectorEvent,
    ElectorRequest,
    ElectorState,
    ElectorStepped,
    MaintainState,
    ParseResult,
    RequestNumber,
    SendElectorAnswer,
    SendElectorRequest,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode, VoteResult
from rocketha.formats.dledger_requests import (
    HeartBeatRequest,
    HeartBeatResponse,
    LeadershipTransferRequest,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.types import LogIndex, RequestId, Term, TimestampMs

__all__ = [
    "NOW",
    "REQUEST",
    "answered",
    "answers_of",
    "asked",
    "beat",
    "beat_answer",
    "candidate",
    "config",
    "follower",
    "leader",
    "log",
    "maintained",
    "only_answer",
    "raised",
    "requests_of",
    "take",
    "transfer",
    "vote",
    "vote_answer",
]

NOW: Final = TimestampMs(100_000)
REQUEST: Final = RequestId(7)
A = TypeVar("A", bound=ElectorAnswer)


def config(**changed: Any) -> DLedgerConfig:
    return DLedgerConfig(**{"group": "g", "peers": ("n0", "n1", "n2"), **changed})


def candidate(term: int = 3, vote: str | None = None, **changed: Any) -> ElectorState:
    """A candidate that may ask for votes, with one entry, index 0 of term 2."""
    kept = TermAndVote(curr_term=Term(term), vote_leader=vote)
    state = elector.started(config(**changed), kept, end_index=LogIndex(0), end_term=Term(2))
    return replace(state, last_parse_result=ParseResult.WAIT_TO_REVOTE)


def follower(term: int = 3, leads: str = "n1", **changed: Any) -> ElectorState:
    return take(candidate(term, **changed), asked(beat(term, leads))).state


def leader(term: int = 3, **changed: Any) -> ElectorState:
    """n0 leads, by the vote of n1."""
    state = maintained(candidate(term, **changed)).state
    number = state.last_number
    state = take(state, answered(number, "n1", vote_answer(VoteResult.ACCEPT, term))).state
    assert state.member.role is Role.LEADER
    return state


def raised(state: ElectorState) -> bool:
    return state.need_increase_term_immediately


def log(state: ElectorState, index: int, term: int) -> ElectorState:
    member = replace(state.member, ledger_end_index=LogIndex(index), ledger_end_term=Term(term))
    return replace(state, member=member)


def take(state: ElectorState, event: ElectorEvent, after_ms: int = 0) -> ElectorStepped:
    return elector.step(state, event, now_ms=TimestampMs(NOW + after_ms))


def maintained(state: ElectorState, after_ms: int = 0, drawn: int = 0) -> ElectorStepped:
    return take(state, MaintainState(drawn=drawn), after_ms)


def asked(message: ElectorRequest, marks: Mapping[str, LogIndex] | None = None) -> Asked:
    return Asked(request=REQUEST, message=message, water_marks=marks or {})


def answered(number: int, peer: str, message: ElectorAnswer | None, drawn: int = 0) -> Answered:
    return Answered(number=RequestNumber(number), peer=peer, message=message, drawn=drawn)


def vote(term: int, of: str = "n1", index: int = 0, end_term: int = 2) -> VoteRequest:
    return VoteRequest(
        group="g",
        local_id=of,
        remote_id="n0",
        leader_id=of,
        term=Term(term),
        ledger_end_index=LogIndex(index),
        ledger_end_term=Term(end_term),
    )


def vote_answer(result: VoteResult, term: int = 3) -> VoteResponse:
    return VoteResponse(term=Term(term), vote_result=result)


def beat(term: int, of: str = "n1") -> HeartBeatRequest:
    return HeartBeatRequest(group="g", local_id=of, remote_id="n0", leader_id=of, term=Term(term))


def beat_answer(code: DLedgerResponseCode, term: int = -1) -> HeartBeatResponse:
    return HeartBeatResponse(code=int(code), term=Term(term))


def transfer(term: int, of: str, to: str, index: int = 0) -> LeadershipTransferRequest:
    return LeadershipTransferRequest(
        group="g",
        remote_id="n0",
        leader_id=of,
        term=Term(term),
        transfer_id=of,
        transferee_id=to,
        take_leadership_ledger_index=LogIndex(index),
    )


def answers_of(stepped: ElectorStepped) -> list[ElectorAnswer]:
    return [one.message for one in stepped.effects if isinstance(one, SendElectorAnswer)]


def only_answer(stepped: ElectorStepped, kind: type[A]) -> A:
    (message,) = [one for one in answers_of(stepped) if isinstance(one, kind)]
    return message


def requests_of(stepped: ElectorStepped) -> dict[str, ElectorRequest]:
    return {one.peer: one.message for one in stepped.effects if isinstance(one, SendElectorRequest)}
