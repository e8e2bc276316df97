"""Reads without an entry in the log: as new as the moment in which they were asked for.

A leader notes what is committed, proves by heartbeats that it still led then, and waits until its
state machine is so far. What is committed is known only once an entry of the own term is.

Spec: Register!IndexRead, Register!ConfirmLeadership, Register!AnswerIndexRead
Source: DLedgerServer.handleRead (ReadMode.READ_INDEX_READ); the Raft dissertation, 6.4
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.node_state import (
    AnswerRead,
    NodeState,
    NodeStepped,
    PendingRead,
    ReadAsked,
    RefuseClient,
)
from rocketha.dledger.state import Beat
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.runtime.effects import Effect
from rocketha.types import TimestampMs

__all__ = ["ask_read", "serve_reads"]


def ask_read(
    state: NodeState, event: ReadAsked, log: LedgerView, *, now_ms: TimestampMs
) -> NodeStepped:
    """Note what is committed; heartbeats are due at once."""
    member, committed = state.elector.member, state.pusher.committed_index
    code, rules = None, state.elector.config.read_rules
    if not rules.may_read(member.is_leader):
        code = DLedgerResponseCode.NOT_LEADER
    elif not rules.knows_committed(log.term_at(committed), member.curr_term):
        code = DLedgerResponseCode.LEADER_NOT_READY
    if code is not None:
        refused = RefuseClient(
            ticket=event.ticket, code=code, leader_id=member.leader_id, is_unknown=False
        )
        return NodeStepped(state, (refused,))
    read = PendingRead(
        ticket=event.ticket,
        index=committed,
        after=state.elector.last_number,
        since_ms=now_ms,
        is_confirmed=not state.elector.config.others,
    )
    elector = replace(state.elector, last_send_heart_beat_ms=None)
    return serve_reads(replace(state, elector=elector, reads=(*state.reads, read)))


def serve_reads(state: NodeState) -> NodeStepped:
    """Answer the reads that may be answered by now."""
    if not state.reads:
        return NodeStepped(state)
    rules, applied = state.elector.config.read_rules, state.pusher.applied_index
    effects, left = list[Effect](), list[PendingRead]()
    for read in _confirmed(state, state.elector.beat):
        if rules.is_confirmed(read.is_confirmed) and rules.has_applied(applied, read.index):
            effects.append(AnswerRead(ticket=read.ticket))
        else:
            left.append(read)
    return NodeStepped(replace(state, reads=tuple(left)), tuple(effects))


def _confirmed(state: NodeState, beat: Beat | None) -> Iterator[PendingRead]:
    config = state.elector.config
    follow = 0
    if beat is not None:
        codes = beat.answers.values()
        follow = 1 + sum(code is DLedgerResponseCode.SUCCESS for code in codes)
    for read in state.reads:
        proves = beat is not None and beat.number > read.after and config.is_quorum(follow)
        yield replace(read, is_confirmed=True) if proves else read
