"""A log that is a list of terms, and a follower or leader of it, n0 of n0, n1 and n2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.member_state import MemberState, Role
from rocketha.dledger.push_state import (
    Around,
    PushArrived,
    PusherState,
    PusherStepped,
    SendPush,
    SendPushAnswer,
)
from rocketha.formats.dledger_codes import PushType
from rocketha.formats.dledger_entry import DLedgerEntry, body_crc
from rocketha.formats.dledger_requests import (
    InstallSnapshotResponse,
    PushEntryRequest,
    PushEntryResponse,
)
from rocketha.runtime.effects import Then
from rocketha.types import LogIndex, Offset, RequestId, Term, TimestampMs

__all__ = [
    "NOW",
    "REQUEST",
    "TERM",
    "ListLog",
    "answer_of",
    "around",
    "body",
    "entry",
    "follows",
    "log",
    "push",
    "pushed",
    "pusher",
    "sent_to",
    "thens",
]

NOW: Final = TimestampMs(100_000)
REQUEST: Final = RequestId(7)
TERM: Final = Term(3)
"""The term that both are in."""
E = TypeVar("E")


def body(index: int) -> bytes:
    return f"entry {index}".encode()


def entry(index: int, term: int, content: bytes | None = None) -> DLedgerEntry:
    content = body(index) if content is None else content
    return DLedgerEntry(
        index=LogIndex(index),
        term=Term(term),
        pos=Offset(0),
        body_crc=body_crc(content),
        body=content,
    )


BODY_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class ListLog:
    """A `LedgerView`: the terms of all entries from 0 on, of which some are cut."""

    terms: tuple[int, ...]
    before: int = -1
    synced: int | None = None
    """None: all of it."""
    body_max: int = BODY_MAX

    @property
    def before_begin_index(self) -> LogIndex:
        return LogIndex(self.before)

    @property
    def before_begin_term(self) -> Term:
        return Term(self.terms[self.before] if self.before >= 0 else -1)

    @property
    def end_index(self) -> LogIndex:
        return LogIndex(len(self.terms) - 1)

    @property
    def end_term(self) -> Term:
        return Term(self.terms[-1] if self.terms else -1)

    @property
    def synced_index(self) -> LogIndex:
        return self.end_index if self.synced is None else LogIndex(self.synced)

    def term_at(self, index: LogIndex) -> Term | None:
        if not self.before <= index <= self.end_index:
            return None
        return Term(self.terms[index]) if index >= 0 else Term(-1)

    def entry(self, index: LogIndex) -> DLedgerEntry:
        assert self.before < index <= self.end_index, index
        return entry(index, self.terms[index])


def log(*terms: int, before: int = -1, synced: int | None = None) -> ListLog:
    return ListLog(terms, before, synced)


def around(
    of: ListLog | Sequence[int], role: Role = Role.FOLLOWER, after_ms: int = 0, **changed: Any
) -> Around:
    """What n0 looks at: it leads in term 3, or follows n1."""
    config = DLedgerConfig(**{"group": "g", "peers": ("n0", "n1", "n2"), **changed})
    leaders = {Role.FOLLOWER: "n1", Role.LEADER: "n0", Role.CANDIDATE: None}
    member = MemberState(self_id="n0", curr_term=TERM, role=role, leader_id=leaders[role])
    seen = of if isinstance(of, ListLog) else ListLog(tuple(of))
    return Around(config=config, member=member, log=seen, now_ms=TimestampMs(NOW + after_ms))


def pusher(
    *, committed: int = -1, applied: int = -1, snapshot: int = -1, same: int = -1
) -> PusherState:
    """What a node knows of its log."""
    return PusherState(
        committed_index=LogIndex(committed),
        applied_index=LogIndex(applied),
        snapshot_index=LogIndex(snapshot),
        same_index=LogIndex(same),
    )


def push(kind: PushType, **changed: Any) -> PushEntryRequest:
    message = PushEntryRequest(
        group="g", local_id="n1", remote_id="n0", leader_id="n1", term=TERM, kind=kind
    )
    return replace(message, **changed)


def pushed(message: PushEntryRequest, written: int = 0) -> PushArrived:
    return PushArrived(request=REQUEST, message=message, written=written)


def answer_of(stepped: PusherStepped) -> PushEntryResponse | InstallSnapshotResponse:
    """The one answer of a step, to the request of this scene."""
    (sent,) = [one for one in stepped.effects if isinstance(one, SendPushAnswer)]
    assert sent.request == REQUEST
    return sent.message


def thens(stepped: PusherStepped) -> list[object]:
    """What follows at once."""
    return [one.event for one in stepped.effects if isinstance(one, Then)]


def follows(stepped: PusherStepped, kind: type[E]) -> E:
    """The one event of this kind that follows."""
    (event,) = [one for one in thens(stepped) if isinstance(one, kind)]
    return event


def sent_to(stepped: PusherStepped, peer: str = "n1") -> list[PushEntryRequest]:
    """What is pushed to a member."""
    return [
        one.message for one in stepped.effects if isinstance(one, SendPush) and one.peer == peer
    ]
