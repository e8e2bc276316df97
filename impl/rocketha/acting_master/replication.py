"""How a slave gets its master's log: it asks for what is behind its end, again and again.

The question says how far the slave's log is on its disk, so it acknowledges what came before. The
master gives whole records that no power cut takes. RocketMQ replicates over a connection of its
own (`rocketha.ha`), which this is not; its code for requests is none of RocketMQ's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Protocol

from rocketha.acting_master.events import BrokerDoes, BrokerDone, BrokerHears, CopyLogDue
from rocketha.acting_master.state import BrokerState
from rocketha.errors import RequestError
from rocketha.escape.master import LogView
from rocketha.formats.broker_requests import BrokerResponse
from rocketha.formats.ext_fields import FieldReader, push_fields
from rocketha.formats.remoting_command import RemotingCommand
from rocketha.runtime.effects import After, AppendLog, FlushLog, Respond, SendRequest
from rocketha.runtime.events import RequestArrived
from rocketha.types import MASTER, Offset

__all__ = ["GET_LOG", "LOG", "BrokerLog", "ask_log", "give_log", "heard_log"]

GET_LOG: Final = 900_001
"""No request of RocketMQ has this code."""
LOG: Final = 41
"""What a request is for: the first number of its reference, before its own."""


class BrokerLog(LogView, Protocol):
    """What a broker may see of its log (`rocketha.storage.commit_log`)."""

    def read(self, offset: Offset, size: int) -> bytes:
        """Read bytes of the log. Raises: CommitLogError"""
        ...


def ask_log(state: BrokerState, log: BrokerLog) -> BrokerDone:
    """Ask the master for the rest of its log, if there is one; a slave that acts does not."""
    options, tables = state.options, state.tables
    again: After[BrokerHears] = After(wait_ms=options.copy_log_ms, event=CopyLogDue())
    may_copy = tables.options.rules.may_copy(tables.serves)
    if tables.master_address is None or not may_copy or state.asks_log is not None:
        return BrokerDone(state, (again,))
    number = state.asked_logs + 1
    ask = SendRequest(
        peer=MASTER,
        code=GET_LOG,
        body=b"",
        ext_fields=push_fields({"offset": log.flushed_offset}),
        reference=(LOG, number),
        timeout_ms=options.log_timeout_ms,
    )
    return BrokerDone(replace(state, asks_log=number, asked_logs=number), (ask, again))


def give_log(state: BrokerState, event: RequestArrived, log: BrokerLog) -> BrokerDone:
    """Give what is behind a slave's end, unless the slave has what its master has not."""
    tables = state.tables
    if not state.options.is_master or not tables.options.rules.may_be_copied(tables.isolated):
        return _refused(state, event, BrokerResponse.SERVICE_NOT_AVAILABLE, "gives no log")
    try:
        offset = Offset(FieldReader(event.command.ext_fields).int64("offset"))
    except RequestError as error:
        return _refused(state, event, BrokerResponse.SYSTEM_ERROR, str(error))
    if not 0 <= offset <= log.flushed_offset or not log.is_record_boundary(offset):
        return _refused(state, event, BrokerResponse.PULL_OFFSET_MOVED, "is no end of this log")
    end = min(Offset(offset + state.options.log_bytes_max), log.flushed_offset)
    while end < log.flushed_offset and not log.is_record_boundary(end):
        end = Offset(end + 1)
    body = log.read(offset, end - offset)
    fields = push_fields({"offset": offset})
    says: BrokerDoes = Respond(
        request=event.request, code=BrokerResponse.SUCCESS, body=body, ext_fields=fields
    )
    return BrokerDone(state, (says,))


def _refused(
    state: BrokerState, event: RequestArrived, code: BrokerResponse, remark: str
) -> BrokerDone:
    return BrokerDone(state, (Respond(request=event.request, code=code, body=b"", remark=remark),))


def heard_log(
    state: BrokerState, number: int, command: RemotingCommand | None, log: BrokerLog
) -> BrokerDone:
    """Append what was asked for last, if it continues the log, and have it on the disk."""
    if number != state.asks_log:
        return BrokerDone(state)
    state = replace(state, asks_log=None)
    if command is None or command.code != BrokerResponse.SUCCESS or not command.body:
        return BrokerDone(state)
    try:
        offset = Offset(FieldReader(command.ext_fields).int64("offset"))
    except RequestError:
        return BrokerDone(state)
    if offset != log.max_phy_offset:
        return BrokerDone(state)
    return BrokerDone(state, (AppendLog(offset=offset, data=command.body), FlushLog()))
