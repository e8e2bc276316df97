"""Requests that no member of a group sends, whoever they say that they are of.

| what                                           | what is answered                          |
|------------------------------------------------|-------------------------------------------|
| a heartbeat of who is no member                | UNKNOWN_MEMBER                            |
| ... of the member itself                       | UNEXPECTED_MEMBER                         |
| ... of another leader of its term              | INCONSISTENT_LEADER                       |
| a request for a vote of who is no member       | REJECT_UNKNOWN_LEADER                     |
| ... of the member itself                       | REJECT_UNEXPECTED_LEADER                  |
| a push of a leader to itself                   | NOT_FOLLOWER                              |
| an APPEND without entries, INSTALL_SNAPSHOT as | UNEXPECTED_ARGUMENT                       |
| a push; an entry that is too large, of a later |                                           |
| term, or of one before that of the last entry  |                                           |
| an entry that it has, of another term; a       | INCONSISTENT_STATE                        |
| TRUNCATE of what is cut, or is committed and   |                                           |
| of no term                                     |                                           |
| one whose body breaks off, or of no kind       | nothing: the connection is closed         |

Nothing changes in who hears one. An entry that is damaged no member takes for one: whoever reads a
frame refuses it.

Source: DLedgerLeaderElector (`handleHeartBeat`, `handleVote`), DLedgerEntryPusher.EntryHandler
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any, Final

from rocketha.formats.dledger_codes import PushType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_request_codec import push_request
from rocketha.formats.dledger_requests import (
    DLedgerRequest,
    HeartBeatRequest,
    PushEntryRequest,
    VoteRequest,
)
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.sim.dledger.machine import Member
from rocketha.sim.engine.open_node import NO_REQUEST
from rocketha.types import LogIndex, Offset, Term

__all__ = ["STRANGER", "forged_request", "unreadable_request"]

STRANGER: Final = "stranger"
_FAR: Final = LogIndex(10**6)
_NO_TERM: Final = Term(-1)


def forged_request(member: Member, rng: Random) -> DLedgerRequest:
    """Draw a request that a member is to refuse as it is now."""
    pushes = [*_pushes(member)]
    return rng.choice(pushes if pushes and rng.randrange(3) else [*_of_elections(member)])


def unreadable_request(member: Member, rng: Random) -> RemotingCommand:
    """Draw what is no request, though it begins like one."""
    command = push_request(rng.choice([*_of_elections(member), *_pushes(member)]), opaque=1)
    if rng.randrange(2) == 0:
        return replace(command, code=NO_REQUEST)
    return replace(command, body=command.body[: rng.randrange(len(command.body))])


def _base(member: Member, sender: str) -> dict[str, Any]:
    config, term = member.config, member.state.elector.member.curr_term
    names = {"group": config.group, "local_id": sender, "remote_id": config.self_id}
    return {**names, "term": term, "leader_id": sender}


def _of_elections(member: Member) -> Iterator[DLedgerRequest]:
    own, leader = member.config.self_id, member.state.elector.member.leader_id
    for sender in (STRANGER, own):
        base = _base(member, sender)
        yield HeartBeatRequest(**base)
        yield VoteRequest(**base, ledger_end_index=_FAR, ledger_end_term=base["term"])
    rivals = [one for one in member.config.others if one != leader]
    if leader is not None and rivals:
        yield HeartBeatRequest(**_base(member, rivals[0]))


def _pushes(member: Member) -> Iterator[DLedgerRequest]:
    """Yield what its leader never pushes to a follower, nor a leader to itself."""
    elector, pusher, store = member.state.elector.member, member.state.pusher, member.files().store
    if elector.leader_id is None or member.config.legacy_push:
        return
    push = PushEntryRequest(**_base(member, elector.leader_id), kind=PushType.APPEND)
    yield push
    if elector.is_leader:
        return
    yield replace(push, kind=PushType.INSTALL_SNAPSHOT)
    if pusher.same_index == store.end_index:
        following, term = LogIndex(store.end_index + 1), elector.curr_term
        for of in (
            _entry(following, term, body=bytes(store.body_max + 1)),
            _entry(following, Term(term + 1)),
            _entry(following, Term(store.end_term - 1)),
        ):
            if of.term >= 0:
                yield replace(push, entries=(of,))
    known = min(pusher.same_index, store.end_index)
    if known > store.before_begin_index:
        had = store.term_at(known)
        assert had is not None
        yield replace(push, entries=(_entry(known, Term(had + 1)),))
    cut = replace(push, kind=PushType.TRUNCATE, pre_log_term=_NO_TERM)
    if store.before_begin_index >= 0:
        yield replace(cut, pre_log_index=store.before_begin_index)
    if store.before_begin_index < pusher.committed_index <= store.end_index:
        yield replace(cut, pre_log_index=pusher.committed_index)


def _entry(index: LogIndex, term: Term, *, body: bytes = b"forged") -> DLedgerEntry:
    return DLedgerEntry(index=index, term=term, pos=Offset(0), body=body)
