"""What clients of a DLedger group ask of a node, and its answers.

| request  | answer                                                                             |
|----------|------------------------------------------------------------------------------------|
| METADATA | who leads, as far as this node knows, and where all members are                    |
| APPEND   | index and pos of the entry, when it is agreed on; or why not                       |
| GET      | one entry of the leader's log, agreed on or not, as DLedger's server answers        |

A client whose entry may still be agreed on is told WAIT_QUORUM_ACK_TIMEOUT, or TERM_CHANGED by a
node that led when it was asked.

Source: DLedgerServer (`handleMetadata`, `handleAppend`, `handleGet`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias, assert_never

from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.node_state import AnswerApplied, AppendAsked, NodeState, RefuseClient
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_requests import (
    AppendEntryRequest,
    AppendEntryResponse,
    GetEntriesRequest,
    GetEntriesResponse,
    MetadataRequest,
    MetadataResponse,
)
from rocketha.types import Offset

__all__ = ["CLIENT_CODES", "ClientRequest", "ClientResponse", "appended", "ask"]

CLIENT_CODES: Final = frozenset(
    {DLedgerRequestCode.METADATA, DLedgerRequestCode.APPEND, DLedgerRequestCode.GET}
)

ClientRequest: TypeAlias = MetadataRequest | AppendEntryRequest | GetEntriesRequest
ClientResponse: TypeAlias = MetadataResponse | AppendEntryResponse | GetEntriesResponse


def ask(
    state: NodeState,
    message: ClientRequest,
    *,
    ticket: int,
    log: LedgerView,
    addresses: Mapping[str, str],
) -> AppendAsked | ClientResponse:
    """Return the answer, or the event of which it comes later, with this ticket.

    Raises: DLedgerFileError, DiskError
    """
    config, leader = state.elector.config, state.elector.member.leader_id
    code = DLedgerResponseCode.SUCCESS
    if message.remote_id != config.self_id:
        code = DLedgerResponseCode.UNKNOWN_MEMBER
    elif message.group != config.group:
        code = DLedgerResponseCode.UNKNOWN_GROUP
    is_taken = code is DLedgerResponseCode.SUCCESS
    match message:
        case MetadataRequest(group=group):
            peers = addresses if is_taken else None
            return MetadataResponse(group=group, code=int(code), leader_id=leader, peers=peers)
        case AppendEntryRequest(group=group, body=body):
            if is_taken:
                return AppendAsked(ticket=ticket, body=body)
            return AppendEntryResponse(group=group, code=int(code), leader_id=leader)
        case GetEntriesRequest(group=group, begin_index=index):
            entries: tuple[DLedgerEntry, ...] = ()
            if is_taken and not state.elector.member.is_leader:
                code = DLedgerResponseCode.NOT_LEADER
            elif is_taken and (
                index is None or not log.before_begin_index < index <= log.end_index
            ):
                code = DLedgerResponseCode.INDEX_OUT_OF_RANGE
            elif is_taken and index is not None:
                entries = (replace(log.entry(index), channel=0),)  # that is a node's own
            return GetEntriesResponse(
                group=group, code=int(code), leader_id=leader, entries=entries
            )
        case _ as unreachable:
            assert_never(unreachable)


def appended(
    state: NodeState, answer: AnswerApplied | RefuseClient, log: LedgerView
) -> AppendEntryResponse:
    """Return the answer to an APPEND. Raises: DLedgerFileError, DiskError"""
    config, member = state.elector.config, state.elector.member
    said = AppendEntryResponse(group=config.group, leader_id=member.leader_id)
    if isinstance(answer, RefuseClient):
        code = answer.code
        if answer.is_unknown and code is DLedgerResponseCode.NOT_LEADER:
            code = DLedgerResponseCode.TERM_CHANGED
        return replace(said, code=int(code), leader_id=answer.leader_id)
    pos = Offset(-1)
    if answer.index > log.before_begin_index:
        pos = log.entry(answer.index).pos
    return replace(said, term=answer.term, index=answer.index, pos=pos)
