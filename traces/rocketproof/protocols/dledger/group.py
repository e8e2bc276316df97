"""What is remembered of a DLedger group by whoever looks at its steps one by one.

Members are looked at in whole states, or in what they wrote of themselves: both have the same of a
member (`MemberLook`), and both know what was sent and what arrived. Which action a step is, is said
by that and by what has changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Final, Protocol, TypeAlias

from rocketha.errors import PacketError
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode, PushType
from rocketha.formats.dledger_request_codec import pull_request, pull_response
from rocketha.formats.dledger_requests import (
    DLedgerRequest,
    DLedgerResponse,
    InstallSnapshotRequest,
    LeadershipTransferRequest,
    LegacyPushEntryRequest,
    PushEntryRequest,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.recording.record import RESPONSE
from rocketha.sim.engine.frames import Frame
from rocketha.types import LogIndex, Term
from rocketproof.protocols.dledger.actions import Change, action_of
from rocketproof.protocols.dledger.seen import (
    NO_ROUND,
    Answers,
    Ask,
    Entry,
    Seen,
    answer_of,
    ask_of,
)
from rocketproof.protocols.dledger.values import GroupParts, Leadership
from rocketproof.protocols.epoch_truncation.values import NONE
from tlatrace.values import Value

__all__ = [
    "GroupFollower",
    "MemberLook",
    "Noted",
    "Told",
    "kind_of",
    "pull_answer",
    "understood",
]

_SNAPSHOT: Final = "SnapshotArrived"
"""The event of a snapshot, once more after what was not synchronized is."""

_Key: TypeAlias = tuple[str, int, int]
"""A leadership: by whom, since how many power cuts, in which term."""
Told: TypeAlias = tuple[str, tuple[Value, ...]]
"""An action and its parameters; `Unexplained`: something has changed, and nobody knows by which."""


class MemberLook(Protocol):
    """A member, as somebody sees it now. Indexes and terms are DLedger's, from 0 on."""

    @property
    def name(self) -> str:
        """Return what it is called."""
        ...

    @property
    def is_leader(self) -> bool:
        """Tell whether it says that it leads."""
        ...

    @property
    def before_begin_index(self) -> int:
        """Return the last entry that is cut; -1: none is."""
        ...

    @property
    def end_index(self) -> int:
        """Return the last entry of the log; -1: there is none."""
        ...

    @property
    def has_kept(self) -> bool:
        """Tell whether a power cut leaves its term and vote on its disk."""
        ...

    @property
    def own_answer(self) -> tuple[str, int] | None:
        """Return what it has answered itself in its present round; None: there is none."""
        ...

    def term_at(self, index: int) -> int:
        """Return the term of an entry that is not cut."""
        ...

    def content(self, index: int) -> Hashable:
        """Return what tells the body of such an entry from others."""
        ...

    def seen(self, log: tuple[Entry, ...], inc: int) -> Seen:
        """Return it in the variables of the specification; `log` are its entries, all of them."""
        ...


class GroupFollower:
    """Follows a group: what members have, what is sent, and which action each step was."""

    def __init__(self, names: Sequence[str]) -> None:
        """Begin before the first step; `seen` has what is seen of each member."""
        self.names = tuple(names)
        self.seen: dict[str, Seen] = {}
        self._answers: dict[str, dict[str, tuple[str, int]]] = {name: {} for name in names}
        """Of each candidate with a round: what members have answered."""
        self._asks: set[Ask] = set()
        self._sent: dict[_Key, Leadership] = {}
        self._truncates: set[tuple[str, str, int, int, int]] = set()
        self._acks: dict[tuple[str, int], int] = {}
        self._transfers: set[tuple[str, str, int, int]] = set()
        self._agreed: tuple[Entry, ...] = ()
        self._requests: dict[str, DLedgerRequest] = {}
        """What was sent, by the names of messages."""
        self._of_round: dict[str, set[str]] = {name: set() for name in names}
        """Of each candidate: its requests in the present round."""
        self._writers: dict[tuple[int, int, Hashable], Entry] = {}
        self._votes_answered: set[str] = set()
        """Answers to requests for votes, by the names of messages."""
        self._legacy_pushes: set[str] = set()
        """Pushes of the older generation, by the names of messages."""
        self._installing: dict[str, InstallSnapshotRequest] = {}
        """Of each member the last snapshot that arrived."""

    def begins(self, look: MemberLook) -> None:
        """Look at a member before anything happens."""
        self.seen[look.name] = look.seen((), 0)

    def starts_again(self, look: MemberLook) -> Told | None:
        """Look at a member that is back: it was down.

        None: it had written nothing, so it is as if it had not been there before; it does not go to
        a new term, since it has not led in any.
        """
        name, before = look.name, self.seen[look.name]
        log = self._log_of(look, before)
        self._answers[name] = {}
        if not look.has_kept and look.seen(log, before.inc) == before:
            return None
        self.seen[name] = look.seen(log, before.inc + 1)
        if self.seen[name].refill != before.refill:
            return "Discard", (name, 0)
        return "Crash", (name, len(log))

    def steps(
        self, look: MemberLook, event: str, received: Iterable[str], sent: Sequence[Frame]
    ) -> Told | None:
        """Look at a member after a step; None: nothing of the specification has happened."""
        name = look.name
        before, round_before = self.seen[name], self.round_of(name)
        arrived = self._arrived(name, event, received)
        for frame in sent:
            self._note_request(name, frame)
        after = look.seen(self._log_of(look, before, arrived), before.inc)
        self.seen[name] = after
        own = self._follow_round(look, before, after)
        noted = Noted()
        for frame in sent:
            self._note_answer(name, after, frame, noted)
            self._note_transfer(name, after, frame, noted)
        self._follow_leadership(name, before, after)
        round_after = self.round_of(name)
        changed = after != before or own or noted.changes or round_before != round_after
        if not changed:
            return None
        change = Change(
            before=before,
            after=after,
            round_before=round_before,
            round_after=round_after,
            of_others=noted.of_others,
            acks=noted.acks,
            truncates=noted.truncates,
            transferred_to=noted.transferred_to,
            arrived=None if arrived is None else kind_of(arrived),
            answered_by=self._answerer(received),
        )
        found = action_of(change)
        return ("Unexplained", (name,)) if found is None else (found[0], (name, *found[1]))

    def cuts_uncompared(self, look: MemberLook, received: Iterable[str]) -> Told | None:
        """Look at a member that perhaps has cut its log and was not asked what it has.

        A leader that pushes as older releases do sends no COMPARE for the beginning of all logs. It
        says which entry is to be the last one: that is there, or is cut, too, and comes later.
        None: there is no such cut.
        """
        count = look.end_index + 1
        if count >= len(self.seen[look.name].log):
            return None
        for message in self._legacy_pushes.intersection(received):
            match self._requests[message]:
                case PushEntryRequest(kind=PushType.TRUNCATE, pre_log_index=index) if (
                    index - count in (0, 1)
                ):
                    return self._compare_before_cut(look.name, count)
                case _:
                    pass
        return None

    def _compare_before_cut(self, name: str, count: int) -> Told | None:
        """Have it that a member was asked to cut all but so many entries; None: it was."""
        seen = self.seen[name]
        known = any(
            (leader, to, term, index) == (seen.leader, name, seen.term, count + 1)
            for leader, to, term, index, _ in self._truncates
        )
        if known or seen.leader == NONE:
            return None
        self._truncates.add(self._cut_after(name, seen.leader, seen.term, count))
        self.seen[name] = replace(seen, same=max(seen.same, count))
        return "Compare", (name,)

    def parts(self) -> GroupParts:
        """Return what there is now."""
        return GroupParts(
            seen=self.seen,
            rounds={name: self.round_of(name) for name in self.names},
            asks=frozenset(self._asks),
            sent=tuple(self._sent.items()),
            truncates=frozenset(self._truncates),
            acks=tuple(self._acks.items()),
            transfers=frozenset(self._transfers),
            agreed=self._agreed,
        )

    def round_of(self, name: str) -> Answers:
        """Return what members have answered in the present round of a candidate."""
        if not self.seen[name].has_round:
            return NO_ROUND
        return tuple(sorted(self._answers[name].items()))

    def request(self, message: str) -> DLedgerRequest | None:
        """Return a request that was sent, by the name of its message."""
        return self._requests.get(message)

    # ---- what arrived ----

    def _arrived(self, name: str, event: str, received: Iterable[str]) -> DLedgerRequest | None:
        if event == _SNAPSHOT:
            return self._installing.get(name)
        for message in received:
            if not message.endswith(RESPONSE):
                request = self._requests.get(message)
                if isinstance(request, InstallSnapshotRequest):
                    self._installing[name] = request
                return request
        return None

    def _answerer(self, received: Iterable[str]) -> str | None:
        for message in received:
            request = self._requests.get(message.removesuffix(RESPONSE))
            if message.endswith(RESPONSE) and request is not None:
                return request.remote_id
        return None

    # ---- what was sent ----

    def _note_request(self, name: str, frame: Frame) -> None:
        if frame.to is None:
            return
        command = RemotingCommand(code=frame.code, opaque=0, body=frame.body)
        said = pull_request(command)
        request = understood(said)
        self._requests[frame.id] = request
        if isinstance(said, LegacyPushEntryRequest):
            self._legacy_pushes.add(frame.id)
        if isinstance(request, VoteRequest):
            self._asks.add(ask_of(request))
            self._of_round[name].add(frame.id)

    def _note_transfer(self, name: str, after: Seen, frame: Frame, noted: Noted) -> None:
        request = self._requests.get(frame.id)
        if isinstance(request, LeadershipTransferRequest) and request.transferee_id is not None:
            index = request.take_leadership_ledger_index + 1
            asked = (name, request.transferee_id, request.term + 1, index)
            if asked not in self._transfers or after.transferee != NONE:
                noted.transferred_to = request.transferee_id
            self._transfers.add(asked)

    def _note_answer(self, name: str, after: Seen, frame: Frame, noted: Noted) -> None:
        """Note what an answer says: a vote, a match, or what is on the disk."""
        asked = self._requests.get(frame.id.removesuffix(RESPONSE))
        if frame.to is not None or asked is None:
            return
        answer = pull_answer(frame, asked)
        if isinstance(answer, VoteResponse) and isinstance(asked, VoteRequest):
            self._note_vote(name, frame, asked, answer, noted)
            return
        if answer is None or answer.response_code is not DLedgerResponseCode.SUCCESS:
            return
        match asked:
            case PushEntryRequest(kind=PushType.COMPARE):
                self._note_match(name, asked, noted)
            case PushEntryRequest(kind=PushType.TRUNCATE):
                self._note_ack(name, after, asked.pre_log_index, noted)
            case PushEntryRequest(kind=PushType.APPEND, entries=entries):
                self._note_ack(name, after, entries[-1].index + 1, noted)
            case InstallSnapshotRequest(last_included_index=index):
                self._note_ack(name, after, index + 1, noted)
            case _:
                pass

    def _note_vote(
        self, name: str, frame: Frame, asked: VoteRequest, answer: VoteResponse, noted: Noted
    ) -> None:
        """An answer counts in the round that it is of, and in one that asks for the same.

        Of two answers to a request that came twice nobody waits for the second.
        """
        comes_twice = frame.id in self._votes_answered
        self._votes_answered.add(frame.id)
        candidate = asked.leader_id
        assert candidate is not None
        if candidate not in self.names or not self.seen[candidate].has_round:
            return
        _, *present = self.seen[candidate].ask
        if (candidate, *present) != ask_of(asked):
            return
        answers = self._answers[candidate]
        is_of_round = frame.id.removesuffix(RESPONSE) in self._of_round[candidate]
        if name not in answers or (is_of_round and not comes_twice):
            noted.of_others = noted.of_others or answers.get(name) != answer_of(answer)
            answers[name] = answer_of(answer)

    def _note_match(self, name: str, asked: PushEntryRequest, noted: Noted) -> None:
        request = self._cut_after(name, asked.leader_id, asked.term + 1, asked.pre_log_index + 1)
        noted.truncates = noted.truncates or request not in self._truncates
        self._truncates.add(request)

    def _cut_after(
        self, name: str, leader: str | None, term: int, count: int
    ) -> tuple[str, str, int, int, int]:
        """Return the request to cut all but so many entries, which the leader has, too."""
        assert leader is not None
        log = self._log_of_leader(leader, term)
        entry_term = log[count][0] if count < len(log) else term
        return (leader, name, term, count + 1, entry_term)

    def _note_ack(self, name: str, after: Seen, index: int, noted: Noted) -> None:
        if index > self._acks.get((name, after.term), 0):
            self._acks[name, after.term] = index
            noted.acks = True

    # ---- the rest of the state ----

    def _follow_round(self, look: MemberLook, before: Seen, after: Seen) -> bool:
        """Begin or end the round of a member; tell whether it has."""
        name, own = look.name, look.own_answer
        answers = self._answers[name]
        if own is None:
            self._of_round[name].clear()
            self._answers[name] = {}
            return before.has_round
        if not before.has_round:
            answers.clear()
            self._of_round[name] = {
                one
                for one in self._of_round[name]
                if isinstance(request := self._requests[one], VoteRequest)
                and ask_of(request)[1] == after.term
            }
            answers[name] = own
            _, *present = after.ask
            self._asks.add((name, present[0], present[1], present[2]))
        return not before.has_round

    def _follow_leadership(self, name: str, before: Seen, after: Seen) -> None:
        key = (name, after.inc, after.term)
        if after.role == "Leader" and before.role != "Leader":
            self._sent.setdefault(key, Leadership(after.log, after.commit, after.snap))
        if key in self._sent and (after.log, after.commit, after.snap) != (
            before.log,
            before.commit,
            before.snap,
        ):
            self._sent[key] = Leadership(after.log, after.commit, after.snap)
        if after.role == "Leader" and after.commit > len(self._agreed):
            self._agreed = after.log[: after.commit]

    def _log_of(
        self, look: MemberLook, before: Seen, arrived: DLedgerRequest | None = None
    ) -> tuple[Entry, ...]:
        """Return the entries of a member: those that are cut are known from before.

        An entry that no leader has written, as it is on the disk, is nobody's.
        """
        base, end = look.before_begin_index + 1, look.end_index + 1
        log = before.log
        if isinstance(arrived, InstallSnapshotRequest) and base > before.base:
            assert arrived.leader_id is not None
            led = self._log_of_leader(arrived.leader_id, arrived.term + 1)
            if log[base - 1 : base] != led[base - 1 : base]:
                log = led[:base]
        kept = min(len(log), end)
        while kept > base and look.term_at(kept - 1) + 1 != log[kept - 1][0]:
            kept -= 1
        if kept == len(log) == end:
            return log
        new: list[Entry] = []
        for index in range(kept, end):
            term = look.term_at(index)
            key = (index, term, look.content(index))
            if look.is_leader and key not in self._writers:
                self._writers[key] = (term + 1, look.name, before.inc)
            new.append(self._writers.get(key, (term + 1, NONE, 0)))
        return (*log[:kept], *new)

    def _log_of_leader(self, leader: str, term: int) -> tuple[Entry, ...]:
        led = [one for key, one in self._sent.items() if (key[0], key[2]) == (leader, term)]
        return led[-1].log if led else ()


class Noted:
    """What the frames of a step changed."""

    def __init__(self) -> None:
        self.of_others = False
        self.acks = False
        self.truncates = False
        self.transferred_to: str | None = None

    @property
    def changes(self) -> bool:
        return self.of_others or self.acks or self.truncates or self.transferred_to is not None


def understood(request: DLedgerRequest) -> DLedgerRequest:
    """Return a push of the older generation as one of the newer one; all else as it is.

    What TRUNCATE lets be the last entry is in it, too.
    """
    if not isinstance(request, LegacyPushEntryRequest):
        return request
    index, term, entries = LogIndex(-1), Term(-1), request.entries
    if request.entry is not None and request.kind in (PushType.COMPARE, PushType.TRUNCATE):
        index, term = request.entry.index, request.entry.term
        if request.kind is PushType.TRUNCATE:
            index = LogIndex(index + 1)
    return PushEntryRequest(
        group=request.group,
        local_id=request.local_id,
        remote_id=request.remote_id,
        leader_id=request.leader_id,
        term=request.term,
        kind=request.kind,
        commit_index=request.commit_index,
        pre_log_index=index,
        pre_log_term=term,
        entries=() if request.kind is PushType.COMMIT else entries,
    )


def kind_of(request: DLedgerRequest) -> str:
    """Return the name of its code in DLedger."""
    match request:
        case VoteRequest():
            return "VOTE"
        case LeadershipTransferRequest():
            return "LEADERSHIP_TRANSFER"
        case PushEntryRequest():
            return "PUSH"
        case InstallSnapshotRequest():
            return "INSTALL_SNAPSHOT"
        case _:
            return "HEART_BEAT"


def pull_answer(frame: Frame, asked: DLedgerRequest) -> DLedgerResponse | None:
    """Return what is answered to a request; None: it cannot be read."""
    command = RemotingCommand(code=frame.code, opaque=0, flag=FLAG_RESPONSE, body=frame.body)
    try:
        return pull_response(command, DLedgerRequestCode[kind_of(asked)])
    except PacketError:
        return None
