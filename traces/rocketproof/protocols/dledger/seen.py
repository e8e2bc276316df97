"""What is seen of a member: its disk, and what it has in memory, as DLedger.tla counts.

Indexes and terms are one more than DLedger's: 0 is before the first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.dledger.state import ParseResult
from rocketha.formats.dledger_codes import VoteResult
from rocketha.formats.dledger_requests import VoteRequest, VoteResponse
from rocketha.sim.dledger.machine import Member
from rocketha.types import LogIndex
from rocketproof.protocols.epoch_truncation.values import NONE

__all__ = ["NO_ROUND", "Answers", "Ask", "Entry", "RunningMember", "Seen", "answer_of", "ask_of"]

Entry = tuple[int, str, int]
"""Term, who wrote it, since how many power cuts."""
Ask = tuple[str, int, int, int]
"""Candidate, term, end index, end term."""
Answers = tuple[tuple[str, tuple[str, int]], ...]
"""Member -> result and term, sorted by member; empty: there is no round."""
NO_ROUND: Final[Answers] = ()

ROLES: Final = {"LEADER": "Leader", "FOLLOWER": "Follower", "CANDIDATE": "Candidate"}
WITH_TERM: Final = (
    VoteResult.REJECT_EXPIRED_VOTE_TERM,
    VoteResult.REJECT_TERM_SMALL_THAN_LEDGER,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A member, in the variables of the specification."""

    term: int
    vote: str
    refill: int
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


class RunningMember:
    """A member that runs, looked at from outside: its disk, its memory."""

    __slots__ = ("_member", "_store", "name")

    def __init__(self, member: Member) -> None:
        """Look at this one; nothing is changed."""
        self.name = member.config.self_id
        self._member = member
        self._store = member.files().store

    @property
    def is_leader(self) -> bool:
        """Tell whether it says that it leads."""
        return self._member.state.elector.member.is_leader

    @property
    def before_begin_index(self) -> int:
        """Return the last entry that is cut; -1: none is."""
        return self._store.before_begin_index

    @property
    def end_index(self) -> int:
        """Return the last entry of the log; -1: there is none."""
        return self._store.end_index

    @property
    def has_kept(self) -> bool:
        """Tell whether a power cut leaves its term and vote on its disk."""
        return self._member.on_disk().kept is not None

    @property
    def own_answer(self) -> tuple[str, int] | None:
        """Return what it has answered itself in its present round; None: there is none."""
        voting = self._member.state.elector.round
        return None if voting is None else answer_of(voting.answers[self.name])

    def term_at(self, index: int) -> int:
        """Return the term of an entry that is not cut."""
        term = self._store.term_at(LogIndex(index))
        assert term is not None, index
        return term

    def content(self, index: int) -> bytes:
        """Return the body of such an entry."""
        return self._store.entry(LogIndex(index)).body

    def seen(self, log: tuple[Entry, ...], inc: int) -> Seen:
        """Return it in the variables of the specification; `log` are its entries, all of them."""
        member, store = self._member, self._store
        state, on_disk = member.state, member.on_disk()
        elector, pusher = state.elector, state.pusher
        known_to = elector.member
        kept = on_disk.kept
        known = known_to.known_max_term_in_group
        return Seen(
            term=1 if kept is None else kept.curr_term + 1,
            vote=NONE if kept is None or kept.vote_leader is None else kept.vote_leader,
            refill=0 if kept is None else kept.refill_term + 1,
            log=log,
            synced=on_disk.synced + 1,
            base=store.before_begin_index + 1,
            base_term=store.before_begin_term + 1,
            snap=on_disk.snapshot + 1,
            role=ROLES[known_to.role.value],
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
    term = answer.term + 1 if answer.vote_result in WITH_TERM else 0
    return answer.vote_result.value, term


def ask_of(request: VoteRequest) -> Ask:
    """Return a request for votes."""
    assert request.leader_id is not None
    index, term = request.ledger_end_index, request.ledger_end_term
    return request.leader_id, request.term + 1, index + 1, term + 1
