"""The PUSH of DLedger's releases up to 0.3.2, by a node that thinks in that of 0.4.0.

It carries whole entries, where the newer one has an index and a term (with `legacy_push` a group
speaks it; all its members must):

| push            | the older one                                       | here                     |
|-----------------|-----------------------------------------------------|--------------------------|
| COMPARE i       | has the follower this entry, byte for byte? The     | no, also where only the  |
|                 | answer has its end, and not which term it has there | body differs             |
| COMPARE nothing | there is none                                       | this node answers itself:|
|                 |                                                     | all logs begin alike     |
| TRUNCATE e      | let the log end with this entry, whatever it is now | cut all behind it, but   |
|                 |                                                     | nothing that is committed|
|                 |                                                     | or surely of this leader;|
|                 |                                                     | write it if need be      |
| APPEND          | one entry, or a batch                               | the same                 |
| COMMIT          | the commit index                                    | the same                 |

A leader whose compared entry is the last one of the follower begins to append: TRUNCATE is sent
only where there is something to cut, for who gets one late cuts what it has written meanwhile.

A follower of DLedger's says that it has an entry before that is on its disk. One of this project's
does not.

Source: DLedgerEntryPusher.EntryDispatcher, DLedgerEntryPusher.EntryHandler,
DLedgerMmapFileStore (`truncate`), of 0.3.1.2 and 0.3.2
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rocketha.dledger.ledger import LedgerView, has_entry
from rocketha.dledger.push_state import PushArrived, PushDone, SendPushAnswer
from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_requests import (
    LegacyPushEntryRequest,
    LegacyPushEntryResponse,
    PushEntryRequest,
    PushEntryResponse,
)
from rocketha.types import LogIndex, Term

__all__ = ["heard_answer", "heard_request", "said_answer", "said_request"]

_UNSAID: Final = Term(-1)


# ---- a leader ----


def said_request(
    message: PushEntryRequest, log: LedgerView
) -> LegacyPushEntryRequest | PushEntryResponse:
    """Return a push as it is sent, or the answer to one of which nobody needs to be asked.

    Raises: DLedgerFileError, DiskError
    """
    known = PushEntryResponse(group=message.group, term=message.term)
    entry: DLedgerEntry | None = None
    match message.kind:
        case PushType.COMPARE:
            if message.pre_log_index < 0:
                return known
            entry = _sent(log.entry(message.pre_log_index))
        case PushType.TRUNCATE:
            last = LogIndex(max(0, message.pre_log_index - 1))
            if last > log.end_index:  # an empty log, of which the first entry is yet to be written
                return known
            entry = _sent(log.entry(last))
        case PushType.APPEND | PushType.COMMIT:
            entry = _sent(message.entries[0]) if len(message.entries) == 1 else None
        case PushType.INSTALL_SNAPSHOT:
            raise AssertionError("a group that pushes as up to 0.3.2 has no snapshots")
    batch = tuple(map(_sent, message.entries)) if len(message.entries) > 1 else ()
    return LegacyPushEntryRequest(
        group=message.group,
        local_id=message.local_id,
        remote_id=message.remote_id,
        leader_id=message.leader_id,
        term=message.term,
        kind=message.kind,
        commit_index=message.commit_index,
        entry=entry,
        batch_entry=batch,
    )


def _sent(entry: DLedgerEntry) -> DLedgerEntry:
    """Return an entry as DLedger compares it: it has no channel."""
    return replace(entry, channel=0)


def heard_answer(said: LegacyPushEntryResponse) -> PushEntryResponse:
    """Return an answer as it is understood: that which term is there, it does not say."""
    return PushEntryResponse(
        group=said.group,
        code=said.code,
        leader_id=said.leader_id,
        term=said.term,
        index=said.index,
        begin_index=said.begin_index,
        end_index=said.end_index,
        count=said.count,
    )


# ---- a follower ----


def heard_request(
    said: LegacyPushEntryRequest, log: LedgerView, same_index: LogIndex
) -> PushEntryRequest:
    """Return a push as it is understood; one without the entry that it must have has no entries.

    Up to `same_index` this log is the leader's: a TRUNCATE that would cut of that came late.

    Raises: DLedgerFileError, DiskError
    """
    message = PushEntryRequest(
        group=said.group,
        local_id=said.local_id,
        remote_id=said.remote_id,
        leader_id=said.leader_id,
        term=said.term,
        kind=said.kind,
        commit_index=said.commit_index,
    )
    entry = said.entry
    match said.kind:
        case PushType.COMPARE if entry is not None:
            term = entry.term if _has(log, entry) else _UNSAID
            return replace(message, pre_log_index=entry.index, pre_log_term=term)
        case PushType.TRUNCATE if entry is not None:
            first = LogIndex(entry.index + 1) if _has(log, entry) else entry.index
            own = log.term_at(first) if first <= same_index else None
            term = _UNSAID if own is None else own
            return replace(message, pre_log_index=first, pre_log_term=term)
        case PushType.COMMIT:
            return message
        case _:
            return replace(message, kind=PushType.APPEND, entries=said.entries)


def said_answer(
    said: LegacyPushEntryRequest, answer: SendPushAnswer, log: LedgerView
) -> LegacyPushEntryResponse | PushArrived | PushDone:
    """Return the answer to a push, or what is still to be done before it.

    Raises: DLedgerFileError, DiskError
    """
    message, request, entry = answer.message, answer.request, said.entry
    if message.response_code is DLedgerResponseCode.SUCCESS and entry is not None:
        if said.kind is PushType.TRUNCATE and not _has(log, entry):
            rest = replace(said, kind=PushType.APPEND)
            return PushArrived(request=request, message=heard_request(rest, log, LogIndex(-1)))
        if said.kind is PushType.COMPARE and log.synced_index < entry.index:
            return PushDone(request=request, index=entry.index)
    is_empty = log.end_index == log.before_begin_index
    return LegacyPushEntryResponse(
        group=message.group,
        code=message.code,
        term=message.term,
        index=said.entries[0].index if said.entries else None,
        begin_index=LogIndex(-1) if is_empty else LogIndex(log.before_begin_index + 1),
        end_index=log.end_index,
        count=len(said.entries),
    )


def _has(log: LedgerView, entry: DLedgerEntry) -> bool:
    """Tell whether a log has an entry, as it is. Source: DLedgerEntry.equals"""
    if not has_entry(log, entry.index, entry.term):
        return False
    return entry.index == log.before_begin_index or log.entry(entry.index).body == entry.body
