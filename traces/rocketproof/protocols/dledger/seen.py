"""What is seen of a member: its disk, and what it has in memory, as DLedger.tla counts.

Indexes and terms are one more than DLedger's: 0 is before the first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.dledger.state import ParseResult
from rocketha.dledger.store_options import read_term
from rocketha.formats.dledger_codes import VoteResult
from rocketha.formats.dledger_requests import VoteRequest, VoteResponse
from rocketha.sim.dledger.machine import Member
from rocketha.sim.dledger.member import STORE
from rocketproof.protocols.epoch_truncation.values import NONE

__all__ = ["NO_ROUND", "Answers", "Ask", "Entry", "Seen", "answer_of", "ask_of", "seen"]

Entry = tuple[int, str, int]
"""Term, who wrote it, since how many power cuts."""
Ask = tuple[str, int, int, int]
"""Candidate, term, end index, end term."""
Answers = tuple[tuple[str, tuple[str, int]], ...]
"""Member -> result and term, sorted by member; empty: there is no round."""
NO_ROUND: Final[Answers] = ()

_ROLES: Final = {"LEADER": "Leader", "FOLLOWER": "Follower", "CANDIDATE": "Candidate"}
_WITH_TERM: Final = (
    VoteResult.REJECT_EXPIRED_VOTE_TERM,
    VoteResult.REJECT_TERM_SMALL_THAN_LEDGER,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A member, in the variables of the specification."""

    term: int
    vote: str
    log: tuple[Entry, ...]
    synced: int
    base: int
    base_term: int
    snap: int
    role: str
    leader: str
    known: int
    raises: bool
    to_next: bool
    taking: int
    transferee: str
    same: int
    commit: int
    applied: int
    inc: int
    has_round: bool

    @property
    def ask(self) -> Ask:
        """Return what it would ask for in its term; who it is the caller knows."""
        end = len(self.log)
        term = self.base_term if end == self.base else self.log[-1][0]
        return ("", self.term, end, term)


def seen(member: Member, log: tuple[Entry, ...], inc: int) -> Seen:
    """Look at a member that runs; `log` are its entries, those that are cut included."""
    state, files = member.state, member.files()
    elector, pusher, store = state.elector, state.pusher, files.store
    known_to = elector.member
    kept = read_term(member.machine.disk, STORE)
    snapshots = files.snapshots.indexes
    known = known_to.known_max_term_in_group
    return Seen(
        term=1 if kept is None else kept.curr_term + 1,
        vote=NONE if kept is None or kept.vote_leader is None else kept.vote_leader,
        log=log,
        synced=store.synced_index + 1,
        base=store.before_begin_index + 1,
        base_term=store.before_begin_term + 1,
        snap=snapshots[-1] + 1 if snapshots else 0,
        role=_ROLES[known_to.role.value],
        leader=known_to.leader_id or NONE,
        known=known + 1 if known > known_to.curr_term else 0,
        raises=elector.need_increase_term_immediately,
        to_next=elector.last_parse_result is ParseResult.WAIT_TO_VOTE_NEXT,
        taking=known_to.term_to_take_leadership + 1,
        transferee=known_to.transferee or NONE,
        same=pusher.same_index + 1,
        commit=pusher.committed_index + 1,
        applied=pusher.applied_index + 1,
        inc=inc,
        has_round=elector.round is not None,
    )


def answer_of(answer: VoteResponse) -> tuple[str, int]:
    """Return an answer to a request for votes."""
    term = answer.term + 1 if answer.vote_result in _WITH_TERM else 0
    return answer.vote_result.value, term


def ask_of(request: VoteRequest) -> Ask:
    """Return a request for votes."""
    assert request.leader_id is not None
    index, term = request.ledger_end_index, request.ledger_end_term
    return request.leader_id, request.term + 1, index + 1, term + 1
