"""What is remembered of a DLedger group of which some members are not looked at.

Of these there is what came from them. What a leader has sent of its log is known as far as a member
that is looked at was shown it: an entry that it compared and has is the leader's with all before
it, and what was agreed on every later leader has. So that is what it has "at least", and more comes
to it as it is shown; a leader that shows something else at a place takes it back, which
DLedgerInPart does not allow.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_request_codec import pull_request
from rocketha.formats.dledger_requests import (
    DLedgerRequest,
    HeartBeatRequest,
    LeadershipTransferRequest,
    PushEntryRequest,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.recording.dledger_parts import HeardFrame
from rocketha.recording.record import RESPONSE
from rocketha.sim.engine.frames import Frame
from rocketproof.protocols.dledger.group import (
    GroupFollower,
    MemberLook,
    Noted,
    Told,
    pull_answer,
    understood,
)
from rocketproof.protocols.dledger.seen import Entry, Seen, ask_of
from rocketproof.protocols.dledger.values import Leadership
from rocketproof.protocols.epoch_truncation.values import NONE

__all__ = ["AS_IN_INIT", "PartFollower"]

AS_IN_INIT: Final = Seen(
    term=1,
    vote=NONE,
    refill=0,
    log=(),
    synced=0,
    base=0,
    base_term=0,
    snap=0,
    role="Candidate",
    leader=NONE,
    known=0,
    raises=False,
    to_next=False,
    taking=0,
    transferee=NONE,
    same=0,
    commit=0,
    applied=0,
    inc=0,
    has_round=False,
)
"""A member before its first step, and whoever is not looked at."""
_UNSEEN: Final[Told] = ("Unseen", ())
_Emit = Callable[[Told], None]


class PartFollower(GroupFollower):
    """Follows a group by the members that are looked at; `emit` is told what happened besides."""

    def __init__(self, names: Sequence[str], hidden: frozenset[str], emit: _Emit) -> None:
        """Begin before the first step."""
        super().__init__(names)
        self.seen = dict.fromkeys(self.names, AS_IN_INIT)
        self._hidden = hidden
        self._emit = emit
        self._leaders: dict[int, str] = {}
        """Who may have led a term of which nothing but entries came."""
        self._places: set[tuple[int, int]] = set()
        """Index and term of the entries that came from elsewhere."""

    # ---- what came from members that are not looked at ----

    def hears(self, member: str, heard: Sequence[HeardFrame]) -> None:
        """Take what came to a member, and what a leader says by it. Raises: PacketError"""
        before = self._of_unseen()
        for frame in heard:
            if frame.sender not in self._hidden:
                continue  # a stranger
            if frame.id.endswith(RESPONSE):
                self._answered(frame)
            else:
                self._asked(member, frame)
        self._tell(before)

    def will_commit(self, name: str, index: int) -> None:
        """Hear that a leader is about to commit entries: all later leaders have them."""
        before, seen = self._of_unseen(), self.seen[name]
        self._all_have(seen.log[:index], seen.term)
        self._tell(before)

    def has_files(self, name: str, items: Sequence[tuple[int, int]]) -> None:
        """Take the log of a member that was not looked at: of each entry its term and body."""
        log = tuple([self._entry(at, term, crc) for at, (term, crc) in enumerate(items)])
        self.seen[name] = replace(self.seen[name], log=log, synced=len(log))
        self._emit(_UNSEEN)

    def _tell(self, before: object) -> None:
        if self._of_unseen() != before:
            self._emit(_UNSEEN)

    def _of_unseen(self) -> object:
        rounds = [self.round_of(name) for name in self.names]
        terms = [self.seen[name].term for name in self._hidden]
        counts = len(self._asks), len(self._transfers), terms
        return counts, dict(self._sent), dict(self._acks), self._agreed, rounds

    def _is_in(self, name: str, term: int) -> None:
        seen = self.seen[name]
        if term > seen.term:
            self.seen[name] = replace(seen, term=term)

    def _answered(self, heard: HeardFrame) -> None:
        asked = self._requests.get(heard.id.removesuffix(RESPONSE))
        frame = Frame(heard.id, None, heard.code, heard.body.encode())
        answer = None if asked is None else pull_answer(frame, asked)
        if answer is None:
            return
        sender = heard.sender
        self._is_in(sender, answer.term + 1)
        if isinstance(answer, VoteResponse) and isinstance(asked, VoteRequest):
            self._note_vote(sender, frame, asked, answer, Noted())
        elif answer.response_code is DLedgerResponseCode.SUCCESS:
            match asked:
                case PushEntryRequest(kind=PushType.TRUNCATE, pre_log_index=count):
                    self._acknowledged(sender, asked.term + 1, count)
                case PushEntryRequest(kind=PushType.APPEND, entries=(*_, last)):
                    self._acknowledged(sender, asked.term + 1, last.index + 1)
                case _:
                    pass

    def _acknowledged(self, name: str, term: int, count: int) -> None:
        if count > self._acks.get((name, term), 0):
            self._acks[name, term] = count

    def _asked(self, member: str, heard: HeardFrame) -> None:
        command = RemotingCommand(code=heard.code, opaque=0, body=heard.body.encode())
        sender = heard.sender
        request: DLedgerRequest = replace(understood(pull_request(command)), leader_id=sender)
        self._requests[heard.id] = request
        term = request.term + 1
        self._is_in(sender, term)
        match request:
            case VoteRequest():
                self._asks.add(ask_of(request))
            case HeartBeatRequest():
                self._leads(sender, term)
            case PushEntryRequest():
                self._leads(sender, term)
                self._pushed(member, sender, request)
            case LeadershipTransferRequest(transferee_id=str(to)):
                index = request.take_leadership_ledger_index + 1
                self._transfers.add((sender, to, term, index))
            case _:
                pass

    # ---- what leaders have ----

    def _leads(self, leader: str, term: int) -> None:
        key = (leader, 0, term)
        if key not in self._sent:
            log = tuple(_up_to(self._agreed, term))
            self._sent[key] = Leadership(log, 0, 0)

    def _pushed(self, member: str, leader: str, request: PushEntryRequest) -> None:
        """Take what a push shows of its leader's log, and of what is committed."""
        key = (leader, 0, request.term + 1)
        log, own = self._sent[key].log, self.seen[member]
        if request.kind is PushType.COMPARE:
            index = request.pre_log_index
            if 0 <= index < len(own.log) and own.log[index][0] == request.pre_log_term + 1:
                log = _joined(log, own.log[: index + 1])
        for entry in request.entries:
            at = entry.index
            if at > len(log) and at <= own.same:
                log = _joined(log, own.log[:at])
            if at > len(log):
                break  # nobody knows what is between
            log = _joined(log, (*log[:at], self._entry_of(entry)))
        led = self._sent[key]
        commit = max(led.commit, min(request.commit_index + 1, len(log)))
        self._sent[key] = Leadership(log, commit, led.snap)
        if commit > len(self._agreed):
            self._agreed = log[:commit]
            self._all_have(self._agreed, request.term + 1)

    def _all_have(self, agreed: tuple[Entry, ...], term: int) -> None:
        """Let all leaders of this term or a later one have what was agreed on in it."""
        for key, led in self._sent.items():
            is_later = key[0] in self._hidden and key[2] >= term
            if is_later and led.log == agreed[: len(led.log)] != agreed:
                self._sent[key] = Leadership(agreed, led.commit, led.snap)

    def _entry_of(self, entry: DLedgerEntry) -> Entry:
        return self._entry(entry.index, entry.term, zlib.crc32(entry.body))

    def _entry(self, index: int, term: int, crc: int) -> Entry:
        """Return an entry that came from elsewhere.

        It is nobody's if a member led its term that is looked at, and has not written it; or if
        another one of this term was seen at its place.
        """
        key = (index, term, crc)
        if key not in self._writers:
            writer = self._leader_of(term + 1)
            known = writer in self._hidden and (index, term) not in self._places
            self._places.add((index, term))
            self._writers[key] = (term + 1, writer if known else NONE, 0)
        return self._writers[key]

    def _leader_of(self, term: int) -> str:
        known = [key[0] for key in self._sent if key[2] == term]
        return (
            known[0] if known else self._leaders.setdefault(term, min(self._hidden, default=NONE))
        )

    # ---- members that are looked at ----

    def compares(self, name: str, received: Sequence[str], count: int) -> None:
        """Hear that a member has found so many entries to be its leader's, before it says so."""
        for message in received:
            asked = self._requests.get(message)
            if isinstance(asked, PushEntryRequest) and asked.kind is PushType.COMPARE:
                request = self._cut_after(name, asked.leader_id, asked.term + 1, count)
                self._truncates.add(request)

    def cuts(self, name: str, count: int) -> None:
        """Hear that a member is about to cut all but so many entries: that has been compared."""
        told = self._compare_before_cut(name, count)
        if told is not None:
            self._emit(told)

    def ended_within(self, look: MemberLook) -> None:
        """Take what the disk of a member has that is back of a step that it had not written down.

        There is one such step at most; what it would have said has left nobody.
        """
        name = look.name
        after = look.seen((), 0)
        has_discarded = after.refill != self.seen[name].refill
        was_in = after.refill - 1 if has_discarded else after.term
        if was_in > self.seen[name].term:
            self._change(name, term=was_in, vote=NONE, known=0, raises=False, to_next=False)
            self._emit(("IncreaseTerm", (name,)))
        if has_discarded:
            return  # of the log nobody knows what it was
        if after.vote not in (NONE, self.seen[name].vote):
            self._voted(name, after.vote)
        self._took_snapshot(name, after)
        end = look.end_index + 1
        before = self.seen[name]
        if end < before.synced:
            self.cuts(name, end)
            before = self.seen[name]
            self._change(name, log=before.log[:end], synced=end, same=min(before.same, end))
            self._emit(("Truncate", (name,)))
        elif end > len(before.log):
            self._appended(look)

    def _change(self, name: str, **changed: object) -> None:
        self.seen[name] = replace(self.seen[name], **changed)  # type: ignore[arg-type]

    def _took_snapshot(self, name: str, after: Seen) -> None:
        """Take a snapshot that was not written down, or what was cut for one that was."""
        before = self.seen[name]
        if after.snap == before.applied > before.snap:
            self._change(name, snap=after.snap)
            self._follow_leadership(name, before, self.seen[name])
            self._emit(("SaveSnapshot", (name,)))
        elif after.snap > before.snap:
            self._installed(name, after.snap)
        elif after.base > before.base:
            self._change(name, base=after.base, base_term=after.base_term)
            self._emit(("CutLog", (name,)))

    def _installed(self, name: str, count: int) -> None:
        before = self.seen[name]
        led = self._log_of_leader(before.leader, before.term)
        if len(led) < count:
            return  # nobody has sent it: the restart will be none of the specification's
        is_new, has = count > before.base, before.log[count - 1 : count] == led[count - 1 : count]
        self._change(
            name,
            snap=count,
            applied=count,
            commit=max(before.commit, count),
            same=max(before.same, count),
            base=max(before.base, count),
            base_term=led[count - 1][0] if is_new else before.base_term,
            log=before.log if has else led[:count],
            synced=before.synced if has else count,
        )
        self._emit(("InstallSnapshot", (name,)))

    def _voted(self, name: str, candidate: str) -> None:
        _, term, end, end_term = self.seen[name].ask
        ask = (candidate, term, end, end_term)
        if candidate == name:
            self._asks.add(ask)
            self._answers[name] = {name: ("ACCEPT", 0)}
            self._change(name, vote=name, has_round=True)
            self._emit(("AskVotes", (name,)))
            return
        if candidate in self._hidden and ask not in self._asks:
            self._asks.add(ask)
            self._is_in(candidate, term)
            self._emit(_UNSEEN)
        asking = self.seen.get(candidate, AS_IN_INIT)
        if asking.has_round and asking.term == term:
            self._answers[candidate].setdefault(name, ("ACCEPT", 0))
        self._change(name, vote=candidate)
        self._emit(("HandleVote", (name,)))

    def _appended(self, look: MemberLook) -> None:
        name, before = look.name, self.seen[look.name]
        at = len(before.log)
        term, content = look.term_at(at), look.content(at)
        assert isinstance(content, int)
        if before.role == "Leader":
            entry = self._writers.setdefault((at, term, content), (term + 1, name, before.inc))
            self._change(name, log=(*before.log, entry))
            self._follow_leadership(name, before, self.seen[name])
            self._emit(("AppendAsLeader", (name,)))
            return
        entry = self._entry(at, term, content)
        key = (before.leader, 0, before.term)
        if before.leader in self._hidden and key in self._sent:
            led = self._sent[key]
            log = _joined(led.log, (*before.log, entry))
            if log != led.log:
                self._sent[key] = Leadership(log, led.commit, led.snap)
                self._emit(_UNSEEN)
        self._change(name, log=(*before.log, entry), same=at + 1)
        self._emit(("AppendAsFollower", (name,)))


def _up_to(log: Sequence[Entry], term: int) -> Iterator[Entry]:
    """Yield the entries before the first one of a larger term."""
    for entry in log:
        if entry[0] > term:
            return
        yield entry


def _joined(log: tuple[Entry, ...], other: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the longer one of two logs with one beginning; else the other one."""
    return log if log[: len(other)] == other else other
