"""Records of a DLedger group as behaviours of DLedger.

Which action a step is, what arrived, what was sent and what has changed say, as for whole states
(`group`). A member that starts again was down: that is a Crash, whatever its stop had left, or a
Discard, if it has thrown its log away.

| specification        | records                                                              |
|----------------------|----------------------------------------------------------------------|
| term, vote           | `kept`: `currterm` on the disk                                       |
| log, synced, base    | `log`, `begin`, `synced`; what is cut is known from before           |
| round                | `own_answer`, and what other members sent for it                     |
| asks, transfers      | requests that were sent                                              |
| sent, agreed         | of each leadership: the leader's log, its commit index, its snapshot |
| truncates, acks      | answers that were sent                                               |
| inc                  | `incarnation`                                                        |
| all else             | the part of that name                                                |

An event shows what its member has then, and what was sent by all; of the other members nothing but
what they have answered to candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from rocketha.formats.dledger_codes import VoteResult
from rocketha.recording.record import (
    STARTED,
    STOPPED,
    NodeHeader,
    NodeRecord,
    RecordError,
    SentMessage,
)
from rocketha.sim.engine.frames import Frame
from rocketproof.protocols.dledger.group import GroupFollower, Told
from rocketproof.protocols.dledger.missed import MissedOfMembers
from rocketproof.protocols.dledger.said import SaidByMembers
from rocketproof.protocols.dledger.seen import ROLES, WITH_TERM, Entry, Seen
from rocketproof.protocols.dledger.values import OF_MEMBER, GroupValues
from rocketproof.protocols.epoch_truncation.values import NONE
from rocketproof.record_projection import (
    RecordProjection,
    alike,
    part,
    read_field,
    sequence_after,
)
from tlatrace.values import Fcn, State, Value, tla_set

__all__ = ["DLedgerRecords", "RecordedMember", "frame_of"]

_FIRST_TERM: Final = 0
_OF_OTHERS: Final = ("round", "asks", "sent", "truncates", "acks", "transfers", "agreed")


class _Settings(msgspec.Struct, frozen=True):
    peers: tuple[str, ...]
    preferred_leader_ids: tuple[str, ...]
    group: str = ""
    apply_wait_ms: int = 0
    legacy_push: bool = False
    max_leadership_transfer_wait_index: int = 0


class _Kept(msgspec.Struct, frozen=True):
    curr_term: int
    vote_leader: str | None
    refill_term: int = -1


class _Shown(msgspec.Struct, frozen=True):
    """What a member has, but for its log."""

    kept: _Kept | None
    begin: int
    begin_term: int
    synced: int
    snapshot: int
    curr_term: int
    role: str
    leader: str | None
    known: int
    raises: bool
    to_next: bool
    taking: int
    transferee: str | None
    own_answer: tuple[VoteResult, int] | None
    same: int
    committed: int
    applied: int


class RecordedMember:
    """A member, as its records show it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._parts: dict[str, object] = {}
        self._log: tuple[tuple[int, int], ...] = ()
        self._shown: _Shown | None = None

    def note(self, record: NodeRecord) -> None:
        """Take what a step has changed. Raises: RecordError"""
        if record.event == STARTED:
            self._log = ()
        if "log" in record.state:
            self._log = sequence_after(self._log, record.state["log"], tuple[int, int], "log")
        self._parts.update(record.state)
        if record.state or self._shown is None:
            self._shown = read_field(self._parts, _Shown, "state")
        if self._shown.role not in ROLES:
            raise RecordError(f"role: there is no {self._shown.role}")

    @property
    def shown(self) -> _Shown:
        """Return all parts but the log."""
        assert self._shown is not None, self.name
        return self._shown

    @property
    def is_leader(self) -> bool:
        """Tell whether it says that it leads."""
        return ROLES[self.shown.role] == "Leader"

    @property
    def before_begin_index(self) -> int:
        """Return the last entry that is cut; -1: none is."""
        return self.shown.begin

    @property
    def end_index(self) -> int:
        """Return the last entry of the log; -1: there is none."""
        return self.shown.begin + len(self._log)

    @property
    def has_kept(self) -> bool:
        """Tell whether a power cut leaves its term and vote on its disk."""
        return self.shown.kept is not None

    @property
    def own_answer(self) -> tuple[str, int] | None:
        """Return what it has answered itself in its present round; None: there is none."""
        if self.shown.own_answer is None:
            return None
        result, term = self.shown.own_answer
        return result.value, term + 1 if result in WITH_TERM else 0

    def term_at(self, index: int) -> int:
        """Return the term of an entry that is not cut. Raises: RecordError"""
        return self._entry(index)[0]

    def content(self, index: int) -> int:
        """Return the checksum of its body. Raises: RecordError"""
        return self._entry(index)[1]

    def _entry(self, index: int) -> tuple[int, int]:
        at = index - self.shown.begin - 1
        if not 0 <= at < len(self._log):
            raise RecordError(f"log: entry {index} was never there")
        return self._log[at]

    def seen(self, log: tuple[Entry, ...], inc: int) -> Seen:
        """Return it in the variables of the specification; `log` are its entries, all of them."""
        shown, kept = self.shown, self.shown.kept
        return Seen(
            term=(_FIRST_TERM if kept is None else kept.curr_term) + 1,
            vote=NONE if kept is None or kept.vote_leader is None else kept.vote_leader,
            refill=0 if kept is None else kept.refill_term + 1,
            log=log,
            synced=shown.synced + 1,
            base=shown.begin + 1,
            base_term=shown.begin_term + 1,
            snap=shown.snapshot + 1,
            role=ROLES[shown.role],
            leader=shown.leader or NONE,
            known=shown.known + 1,
            raises=shown.raises,
            to_next=shown.to_next,
            taking=shown.taking + 1,
            transferee=shown.transferee or NONE,
            same=shown.same + 1,
            commit=shown.committed + 1,
            applied=shown.applied + 1,
            inc=inc,
            has_round=shown.own_answer is not None,
        )


class DLedgerRecords(RecordProjection):
    """Makes the trace of a group."""

    def __init__(self, headers: Sequence[NodeHeader]) -> None:
        """Read how the members are set up. Raises: RecordError"""
        super().__init__()
        settings = {
            header.node: read_field(header.settings, _Settings, "settings") for header in headers
        }
        self._settings = alike(settings)
        if set(self._settings.peers) != settings.keys():
            missing = sorted(set(self._settings.peers) ^ settings.keys())
            raise RecordError(f"records and members of the group differ: {', '.join(missing)}")
        self._members = {name: RecordedMember(name) for name in self._settings.peers}
        self._group = GroupFollower(self._settings.peers)
        at_once = not self._settings.apply_wait_ms
        self._said = SaidByMembers(
            self._group,
            group_name=self._settings.group,
            applies_at_once=at_once,
            legacy_push=self._settings.legacy_push,
            transfer_wait_index=self._settings.max_leadership_transfer_wait_index,
        )
        self._missed = MissedOfMembers({header.node: header.settings for header in headers})
        self._values = GroupValues()

    @property
    def constants(self) -> State:
        """Return the constants."""
        return {
            "Node": tla_set(self._settings.peers),
            "None": NONE,
            "Preferred": tla_set(self._settings.preferred_leader_ids),
        }

    def take(self, record: NodeRecord, received: Sequence[SentMessage]) -> None:
        """Make the events of a record. Raises: RecordError"""
        for missed in self._missed.before(record):
            self.event(*missed, node=record.node)
        if record.event == STOPPED:
            self._said.stops(record.node)
            return
        member = self._members[record.node]
        member.note(record)
        if record.event == STARTED:
            if record.incarnation == 1:
                self._group.begins(member)
            else:
                told = self._group.starts_again(member)
                if told is not None:
                    self._make(record.node, told)
            return
        sent, arrived = [frame_of(one) for one in record.sent], [one.id for one in received]
        for missed in self._said.before_step(record.node, record.event, arrived):
            self.event(*missed, node=record.node)
        uncompared = self._group.cuts_uncompared(member, arrived)
        if uncompared is not None:
            self._make(record.node, uncompared)
        told = self._group.steps(member, record.event, arrived, sent)
        if told is not None:
            self._make(record.node, told)
        for said in self._said.after_step(record.node, sent):
            self.event(*said, node=record.node)
        for told in self._said.clients(record.node, record.heard, record.answered):
            self.event(*told, node=record.node)

    def _make(self, node: str, told: Told) -> None:
        action, params = told
        values = self._values.state(self._group.parts())
        shown = [
            part(variable, node, value=_of_member(values[variable], node))
            for variable in (*OF_MEMBER, "log")
        ]
        observed = {variable: values[variable] for variable in _OF_OTHERS}
        self.event(action, params, node=node, observed=observed, parts=tuple(shown))


def _of_member(values: Value, name: str) -> Value:
    assert isinstance(values, Fcn)
    return values[name]


def frame_of(message: SentMessage) -> Frame:
    """Return a message as it went over the wire. Raises: RecordError: it has no code"""
    if message.code is None:
        raise RecordError(f"sent: message {message.id} has no code")
    return Frame(message.id, message.to, message.code, (message.body or "").encode())
