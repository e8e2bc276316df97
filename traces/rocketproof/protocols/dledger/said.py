"""What members of a DLedger group say to each other, and what is missed of them.

Each message is an event of its own, with what it says in the counts of the specification, which
changes nothing (`DLedgerMessages`): whether it was right to say so is asked there. A member that
says it again is not shown again, unless something of it has changed.

What is missed is known when the next thing comes to a member from outside: until then it may still
do what follows from the last one. Of a member that ended meanwhile nothing is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard, TypeVar

import msgspec

from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType
from rocketha.formats.dledger_requests import (
    DLedgerRequest,
    DLedgerResponse,
    HeartBeatRequest,
    HeartBeatResponse,
    InstallSnapshotRequest,
    LeadershipTransferRequest,
    PushEntryRequest,
    PushEntryResponse,
    VoteRequest,
    VoteResponse,
)
from rocketha.obligations.dledger_turns import FORGED, FROM_OUTSIDE
from rocketha.recording.record import RESPONSE, RecordError
from rocketha.sim.engine.frames import Frame
from rocketproof.protocols.dledger.group import GroupFollower, Told, pull_answer
from rocketproof.protocols.dledger.seen import Seen, answer_of, ask_of
from rocketproof.protocols.epoch_truncation.values import NONE
from tlatrace.values import tla_set

__all__ = ["SaidByMembers"]

S = TypeVar("S", bound=msgspec.Struct)

_SUCCESS: Final = DLedgerResponseCode.SUCCESS
_INCONSISTENT: Final = DLedgerResponseCode.INCONSISTENT_STATE
_UNKNOWN: Final = "UNKNOWN"
"""No answer of the specification: where nothing may be said at all."""
_ANSWERED_AT_ONCE: Final = (
    VoteRequest | HeartBeatRequest | PushEntryRequest | InstallSnapshotRequest
)

_OF_CLIENTS: Final = ("AnswerApplied", "AnswerRead", "AppendAsked", "ReadAsked", "RefuseClient")


@dataclass(slots=True)
class _Turn:
    """What has come to a member from outside, and what it has said and done since."""

    waits: DLedgerRequest | None = None
    """A request that is to be answered."""
    commit_told: tuple[str, int, int] | None = None
    """By which leader, in which term, how much is committed: of a push that was taken."""
    commit_before: int = 0
    led_before: int = 0
    """Which term it led."""
    compared: set[str] = field(default_factory=set)
    """Who was asked what it has, or sent a snapshot."""
    has_handed_over: bool = False
    """It was answered whether its leadership is another one's now."""


@dataclass(slots=True)
class _Member:
    turn: _Turn = field(default_factory=_Turn)
    hands_over: str | None = None
    """The request with which it does."""
    seen: Seen | None = None
    told: set[Told] = field(default_factory=set)
    """What it has said since something of it has changed."""
    asked: dict[int, int] = field(default_factory=dict)
    """A client's ticket -> the entry that its write became, or what was committed when it read."""


class SaidByMembers:
    """Follows what is said in a group; a `GroupFollower` follows what is done."""

    def __init__(
        self,
        group: GroupFollower,
        *,
        group_name: str,
        applies_at_once: bool,
        legacy_push: bool = False,
        transfer_wait_index: int = 0,
    ) -> None:
        """Begin before the first step; `applies_at_once`: no state machine has a queue.

        With `legacy_push` a term begins without an entry, and comparisons say less: neither is
        looked at, nor are answers to pushes. Who lacks `transfer_wait_index` entries is handed no
        leadership.
        """
        self._group = group
        self._group_name = group_name
        self._legacy_push = legacy_push
        self._transfer_wait_index = transfer_wait_index
        self._applies_at_once = applies_at_once
        self._members = {name: _Member() for name in group.names}

    def stops(self, name: str) -> None:
        """Forget what a member has begun: it ended."""
        self._members[name] = _Member()

    def before_step(self, name: str, event: str, received: Sequence[str]) -> Iterator[Told]:
        """Yield what is missed of a member, if a step of it begins with something new."""
        if event not in FROM_OUTSIDE:
            return
        one, now = self._members[name], self._group.seen[name]
        turn = one.turn
        if turn.waits is not None:
            yield "LeaveUnanswered", (name,)
        if turn.commit_told is not None:
            yield "KnowCommit", (name, *turn.commit_told)
        if turn.has_handed_over:
            yield "HearOfTransfer", (name,)
        if self._applies_at_once and now.commit != turn.commit_before:
            yield "ApplyAll", (name,)
        leads = now.term if now.role == "Leader" else 0
        if leads and leads != turn.led_before and not self._legacy_push:
            yield "BeginTerm", (name, tla_set(sorted(turn.compared)))
        one.turn = _Turn(commit_before=now.commit, led_before=leads)
        if one.hands_over is not None and one.hands_over + RESPONSE in received:
            one.hands_over, one.turn.has_handed_over = None, True
        asked = [self._group.request(id) for id in received if not id.endswith(RESPONSE)]
        if asked and isinstance(asked[0], _ANSWERED_AT_ONCE):
            one.turn.waits = asked[0]

    def after_step(self, name: str, sent: Sequence[Frame]) -> Iterator[Told]:
        """Yield what a member says in a step that the group was told of."""
        one, now = self._members[name], self._group.seen[name]
        if one.seen != now:
            one.seen = now
            one.told.clear()
        for frame in sent:
            for told in self._of_frame(name, frame):
                if told not in one.told:
                    one.told.add(told)
                    yield told

    def clients(
        self, name: str, heard: Sequence[object], answered: Sequence[object]
    ) -> Iterator[Told]:
        """Yield what clients are told in a step, which they perhaps asked for in it.

        And what is answered to operators, and to requests that are for somebody else, or forged.

        Raises: RecordError
        """
        yield from self._misdirected(name, heard, answered)
        yield from self._operators(name, heard, answered)
        yield from self._forged(name, heard, answered)
        one, now = self._members[name], self._group.seen[name]
        for asks in filter(_is_of_client, heard):
            is_write = asks["is"] == "AppendAsked"
            one.asked[_of_client(asks).ticket] = len(now.log) if is_write else now.commit
        for told in filter(_is_of_client, answered):
            how = _of_client(told)
            entry = one.asked.pop(how.ticket, None)
            match told["is"]:
                case _ if entry is None:
                    yield "RefuseClient", (name, _UNKNOWN, NONE)  # nobody waits for it
                case "AnswerApplied":
                    yield "AnswerWrite", (name, how.term + 1, how.index + 1, entry)
                case "AnswerRead":
                    yield "AnswerRead", (name, entry)
                case _ if how.code is DLedgerResponseCode.DISK_ERROR:
                    pass  # it was too large, and the specification has no sizes
                case _:
                    yield "RefuseClient", (name, how.code.name, how.leader_id or NONE)

    def _misdirected(
        self, name: str, heard: Sequence[object], answered: Sequence[object]
    ) -> Iterator[Told]:
        told = _told_outside(answered)
        for one in heard:
            if not isinstance(one, Mapping) or "remote_id" not in one:
                continue
            asked = _convert(one, _FromOutside)
            if (asked.remote_id, asked.group) == (name, self._group_name):
                continue
            if (
                told is None or told.group != asked.group
            ):  # what is not for who asks answers nothing
                yield "LeaveUnanswered", (name,)
                return
            whom = asked.remote_id if asked.remote_id in self._group.names else NONE
            yield "RefuseMisdirected", (name, whom, asked.term + 1, told.code.name, told.term + 1)

    def _operators(
        self, name: str, heard: Sequence[object], answered: Sequence[object]
    ) -> Iterator[Told]:
        """Yield what is told to who wants another leader; else the leadership is handed over."""
        told = _told_outside(answered)
        for one in heard:
            if not _is(one, "LeadershipTransferRequest"):
                continue
            asked = _convert(one, _OfOperator)
            if (asked.remote_id, asked.group) != (name, self._group_name):
                continue
            if told is not None:
                code = told.code.name
                names, most = self._group.names, self._transfer_wait_index
                by = asked.transfer_id if asked.transfer_id in names else NONE
                whom = asked.transferee_id if asked.transferee_id in names else NONE
                yield "RefuseTransfer", (name, by, whom, asked.term + 1, most, code)
            elif self._group.seen[name].transferee != asked.transferee_id:
                yield "LeaveUnanswered", (name,)

    def _forged(
        self, name: str, heard: Sequence[object], answered: Sequence[object]
    ) -> Iterator[Told]:
        """Yield what is told to who sends what no member sends; what is no request is closed."""
        told = _told_outside(answered)
        is_closed = any(_is(one, "OutsiderRefused") for one in answered)
        for one in heard:
            if _is(one, "OutsiderHeard") and not is_closed:
                yield "LeaveUnanswered", (name,)
            if not _is(one, *FORGED):
                continue
            asked = _convert(one, _Forged)
            if (asked.remote_id, asked.group) != (name, self._group_name):
                continue
            if told is None:
                yield "LeaveUnanswered", (name,)
                return
            leader = asked.leader_id if asked.leader_id in self._group.names else NONE
            *_, last_term = self._group.seen[name].ask
            yield _told_of_forged(name, leader, asked, told, last_term)

    def _of_frame(self, name: str, frame: Frame) -> Iterator[Told]:
        asked = self._group.request(frame.id.removesuffix(RESPONSE))
        if asked is None:
            return
        if frame.to is not None:
            if _begins(asked):
                self._members[name].turn.compared.add(frame.to)
            if isinstance(asked, LeadershipTransferRequest):
                self._members[name].hands_over = frame.id
            if not (self._legacy_push and _looks_for_place(asked)):
                yield from _request(name, frame.to, asked)
            return
        turn = self._members[name].turn
        turn.waits = None
        answer = pull_answer(frame, asked)
        if answer is None:
            return
        if not (self._legacy_push and isinstance(asked, PushEntryRequest)):
            yield from _answer(name, asked, answer)
        is_told = isinstance(asked, PushEntryRequest) and asked.kind is not PushType.COMPARE
        if is_told and answer.response_code is _SUCCESS:
            assert isinstance(asked, PushEntryRequest)
            turn.commit_told = (*_leader(asked), asked.commit_index + 1)


class _OfClient(msgspec.Struct, frozen=True):
    """What a client asks for, or is told."""

    ticket: int
    index: int = -1
    term: int = -1
    code: DLedgerResponseCode = DLedgerResponseCode.SUCCESS
    leader_id: str | None = None


class _FromOutside(msgspec.Struct, frozen=True):
    """A request that is heard from outside of the group."""

    group: str
    remote_id: str
    term: int


class _OfOperator(_FromOutside, frozen=True):
    """A request of who wants another leader."""

    transfer_id: str | None
    transferee_id: str | None


class _ForgedEntry(msgspec.Struct, frozen=True):
    index: int
    term: int


class _Forged(_FromOutside, frozen=True):
    """A request of whoever says that it is a member, or of who is none."""

    kind: str = ""
    """Of a push: see PushType."""
    leader_id: str | None = None
    pre_log_index: int = -1
    pre_log_term: int = -1
    entries: tuple[_ForgedEntry, ...] = ()


class _ToOutside(msgspec.Struct, frozen=True):
    """Its answer."""

    body: str

    @property
    def said(self) -> _Said:
        """Return what it says. Raises: RecordError"""
        try:
            return msgspec.json.decode(self.body, type=_Said)
        except msgspec.MsgspecError as error:
            raise RecordError(f"OutsiderTold: body: {error}") from None


class _Said(msgspec.Struct, frozen=True, rename="camel"):
    code: DLedgerResponseCode
    term: int = -1
    group: str | None = None
    vote_result: str | None = None


def _told_outside(answered: Sequence[object]) -> _Said | None:
    """Return what who is outside of the group was answered first. Raises: RecordError"""
    told = (one for one in answered if _is(one, "OutsiderTold"))
    first = next(told, None)
    return None if first is None else _convert(first, _ToOutside).said


def _is_of_client(told: object) -> TypeGuard[Mapping[str, Any]]:
    return _is(told, *_OF_CLIENTS)


def _is(told: object, *names: str) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(told, Mapping) and told.get("is") in names


def _of_client(told: Mapping[str, Any]) -> _OfClient:
    return _convert(told, _OfClient)


def _convert(told: Mapping[str, Any], kind: type[S]) -> S:
    try:
        return msgspec.convert(told, kind)
    except msgspec.ValidationError as error:
        raise RecordError(f"{told['is']}: {error}") from None


def _begins(asked: DLedgerRequest) -> bool:
    compares = isinstance(asked, PushEntryRequest) and asked.kind is PushType.COMPARE
    return compares or isinstance(asked, InstallSnapshotRequest)


def _looks_for_place(asked: DLedgerRequest) -> bool:
    """Tell whether a leader asks by it where the logs part."""
    kinds = (PushType.COMPARE, PushType.TRUNCATE)
    return isinstance(asked, PushEntryRequest) and asked.kind in kinds


def _leader(asked: DLedgerRequest) -> tuple[str, int]:
    return asked.leader_id or NONE, asked.term + 1


# ---- requests ----


def _request(name: str, to: str, asked: DLedgerRequest) -> Iterator[Told]:
    leader = (name, *_leader(asked))
    match asked:
        case HeartBeatRequest():
            yield "SendHeartbeat", leader
        case InstallSnapshotRequest(last_included_index=index, last_included_term=term):
            yield "SendSnapshot", (*leader, index + 1, term + 1)
        case PushEntryRequest(commit_index=commit, pre_log_index=index, pre_log_term=term):
            told = (*leader, commit + 1)
            match asked.kind:
                case PushType.COMPARE:
                    yield "SendCompare", (*told, index + 1, term + 1)
                case PushType.TRUNCATE:
                    yield "SendTruncate", (*told, index + 1, term + 1, to)
                case PushType.APPEND if asked.entries:
                    first, last = asked.entries[0], asked.entries[-1]
                    yield "SendEntries", (*told, first.index + 1, last.index + 1, last.term + 1)
                case PushType.COMMIT:
                    yield "SendCommit", told
                case _:
                    yield "RefusePush", (*leader, _UNKNOWN, 0)
        case _:
            pass


# ---- answers ----


def _answer(name: str, asked: DLedgerRequest, answer: DLedgerResponse) -> Iterator[Told]:
    code, leader = answer.response_code, (name, *_leader(asked))
    match asked, answer:
        case VoteRequest(), VoteResponse():
            yield "AnswerVote", (name, *ask_of(asked), *answer_of(answer))
        case HeartBeatRequest(), HeartBeatResponse():
            yield "AnswerHeartbeat", (*leader, code.name, answer.term + 1)
        case InstallSnapshotRequest(last_included_index=index), _:
            if code is _SUCCESS:
                yield "AcknowledgePush", (name, answer.term + 1, index + 1)
            else:
                yield "RefuseSnapshot", (*leader, index + 1, code.name)
        case PushEntryRequest(), PushEntryResponse() if code is _SUCCESS:
            yield from _taken(name, asked, answer)
        case PushEntryRequest(), PushEntryResponse() if code is _INCONSISTENT:
            yield _not_taken(name, asked, answer)
        case PushEntryRequest(), _:
            yield "RefusePush", (*leader, code.name, answer.term + 1)
        case _:
            pass


def _taken(name: str, asked: PushEntryRequest, answer: PushEntryResponse) -> Iterator[Told]:
    leader = (name, *_leader(asked))
    match asked.kind:
        case PushType.COMPARE:
            yield "FindSame", (*leader, asked.pre_log_index + 1, asked.pre_log_term + 1)
        case PushType.COMMIT:
            yield "TakeCommit", leader
        case _:
            wanted = asked.pre_log_index - 1
            if asked.kind is PushType.APPEND and asked.entries:
                wanted = asked.entries[-1].index
            for index in {wanted, answer.index}:
                known = -1 if index is None else index
                yield "AcknowledgePush", (name, answer.term + 1, known + 1)


def _not_taken(name: str, asked: PushEntryRequest, answer: PushEntryResponse) -> Told:
    leader, place = (name, *_leader(asked)), asked.pre_log_index + 1
    match asked.kind:
        case PushType.COMPARE:
            has = answer.begin_index, answer.end_index + 1, answer.x_term + 1, answer.x_index + 1
            return "FindOther", (*leader, place, asked.pre_log_term + 1, *has)
        case PushType.TRUNCATE:
            return "RefuseTruncate", (*leader, place, asked.pre_log_term + 1, answer.term + 1)
        case PushType.APPEND if asked.entries:
            first, last = asked.entries[0], asked.entries[-1]
            entries = first.index + 1, last.index + 1, first.term + 1
            return "RefuseEntries", (*leader, *entries, answer.term + 1)
        case _:
            return "RefusePush", (*leader, _UNKNOWN, 0)


# ---- what is answered to who forges requests ----


def _told_of_forged(name: str, leader: str, asked: _Forged, told: _Said, last_term: int) -> Told:
    """Return what is answered, by the kind of request and of refusal.

    `last_term` is of the last entry that the member has.
    """
    from_leader, term = (name, leader, asked.term + 1), told.term + 1
    if told.vote_result is not None:
        return "RefuseCandidate", (name, leader, told.vote_result, term)
    if not asked.kind:
        return "AnswerHeartbeat", (*from_leader, told.code.name, term)
    is_cut = asked.kind == PushType.TRUNCATE.value
    first = asked.entries[0] if asked.entries else None
    if told.code is DLedgerResponseCode.UNEXPECTED_ARGUMENT and not is_cut:
        if first is not None and not last_term <= first.term + 1 <= asked.term + 1:
            return "RefuseTerm", (*from_leader, first.term + 1, term)
        return "RefuseMalformed", (*from_leader, 0 if first is None else first.index + 1, term)
    if told.code is _INCONSISTENT and first is not None:
        place = first.index + 1
        return "RefuseEntries", (*from_leader, place, place, first.term + 1, term)
    if told.code is _INCONSISTENT and is_cut:
        place = asked.pre_log_index + 1
        return "RefuseTruncate", (*from_leader, place, asked.pre_log_term + 1, term)
    return "RefusePush", (*from_leader, told.code.name, term)
