"""What a node knows of itself and of the group, as far as elections need it, and its transitions.

Term and vote are on the disk, everything else is in memory. A transition that a caller must not
ask for is an assertion: cores look first.

Source: MemberState
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Final

from rocketha.formats.dledger_term_file import TermAndVote
from rocketha.types import LogIndex, Term

__all__ = ["NO_TERM", "MemberState", "Role"]

NO_TERM: Final = Term(-1)

_FIRST_TERM: Final = Term(0)
_NO_INDEX: Final = LogIndex(-1)


class Role(Enum):
    """What a node is; DLedger's UNKNOWN is nobody's role."""

    CANDIDATE = "CANDIDATE"
    LEADER = "LEADER"
    FOLLOWER = "FOLLOWER"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberState:
    """A member of a group."""

    self_id: str
    # on the disk
    curr_term: Term = _FIRST_TERM
    curr_vote_for: str | None = None
    """Whom it voted for in this term."""
    refill_term: Term = NO_TERM
    """Of which term, or a later one, its last entry must be before it votes: its log was lost."""
    # of the log, as whoever has it says
    ledger_end_index: LogIndex = _NO_INDEX
    ledger_end_term: Term = NO_TERM
    """The term of the last entry."""
    # in memory
    role: Role = Role.CANDIDATE
    leader_id: str | None = None
    """Whom it follows; itself, if it leads."""
    known_max_term_in_group: Term = NO_TERM
    transferee: str | None = None
    """To whom it is handing its leadership over; it takes no entries meanwhile."""
    term_to_take_leadership: Term = NO_TERM
    """In which term it shall lead for somebody else."""
    peers_live_table: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))
    """Who has answered a leader's last request, and who has not."""

    @property
    def is_leader(self) -> bool:
        """Tell whether it leads."""
        return self.role is Role.LEADER

    @property
    def is_follower(self) -> bool:
        """Tell whether it follows somebody."""
        return self.role is Role.FOLLOWER

    @property
    def is_candidate(self) -> bool:
        """Tell whether it has no leader."""
        return self.role is Role.CANDIDATE

    @property
    def kept(self) -> TermAndVote:
        """Return what the disk must have."""
        return TermAndVote(
            curr_term=self.curr_term,
            vote_leader=self.curr_vote_for,
            refill_term=self.refill_term,
        )

    def next_term(self, term: Term) -> MemberState:
        """Go to a larger term, without a vote.

        Spec: DLedger!IncreaseTerm
        Source: MemberState.nextTerm
        """
        assert self.is_candidate, self.role
        return replace(self, curr_term=term, curr_vote_for=None)

    def voted(self, candidate: str) -> MemberState:
        """Vote in the present term. Source: MemberState.setCurrVoteFor"""
        return replace(self, curr_vote_for=candidate)

    def change_to_leader(self, term: Term) -> MemberState:
        """Lead in the present term; who is alive is to be seen.

        Spec: DLedger!BecomeLeader
        Source: MemberState.changeToLeader
        """
        assert term == self.curr_term, (term, self.curr_term)
        nobody: Mapping[str, bool] = MappingProxyType({})
        return replace(self, role=Role.LEADER, leader_id=self.self_id, peers_live_table=nobody)

    def change_to_follower(self, term: Term, leader: str) -> MemberState:
        """Follow the leader of the present term. Source: MemberState.changeToFollower"""
        assert term == self.curr_term, (term, self.curr_term)
        return replace(self, role=Role.FOLLOWER, leader_id=leader)

    def change_to_candidate(self, term: Term) -> MemberState:
        """Be without a leader, and remember a term that was heard of; do not go there yet.

        Spec: DLedger!StepDown, DLedger!KnownWith
        Source: MemberState.changeToCandidate
        """
        assert term >= self.curr_term, (term, self.curr_term)
        known = Term(max(term, self.known_max_term_in_group))
        return replace(
            self,
            role=Role.CANDIDATE,
            leader_id=None,
            known_max_term_in_group=known,
            transferee=None,
        )

    def alive(self, peer: str, answered: bool) -> MemberState:
        """Note whether a peer has answered."""
        table = MappingProxyType({**self.peers_live_table, peer: answered})
        return replace(self, peers_live_table=table)
