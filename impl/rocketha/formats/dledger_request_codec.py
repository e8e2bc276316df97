"""Requests and answers of DLedger as frames, both ways (see `rocketha.formats.dledger_requests`).

Bodies are written byte for byte as fastjson does it, in the order of names, null left out. Members
are read in any order, and unknown ones are passed by. What is missing and must be there, is of
another type, or out of range is a `PacketError`: close the connection. fastjson is laxer: it takes
a missing number for its default, texts for numbers, an unknown name for null, and whatever it finds
in base64. In texts it also escapes U+007F .. U+009F, U+2028 and U+2029, which is read and not
written: ids do not have them.

Entries of a push must follow each other, as DLedger's sender makes sure.

Source: DLedgerRpcNettyService; fastjson 1.2.69_noneautotype (up to 0.3.2) and 1.2.83 (0.4.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final, TypedDict, assert_never

from rocketha.errors import EncodingError, PacketError, RequestError
from rocketha.formats.dledger_codes import (
    DLedgerRequestCode,
    DLedgerResponseCode,
    PushType,
    VoteResult,
)
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_entry_json import (
    base64_text,
    bytes_at,
    entries_at,
    entries_json,
    entry_from_json,
    entry_json,
)
from rocketha.formats.dledger_requests import (
    AppendEntryRequest,
    AppendEntryResponse,
    DLedgerRequest,
    DLedgerResponse,
    GetEntriesRequest,
    GetEntriesResponse,
    HeartBeatRequest,
    HeartBeatResponse,
    InstallSnapshotRequest,
    InstallSnapshotResponse,
    LeadershipTransferRequest,
    LeadershipTransferResponse,
    LegacyPushEntryRequest,
    LegacyPushEntryResponse,
    MetadataRequest,
    MetadataResponse,
    PullEntriesRequest,
    PullEntriesResponse,
    PushEntryRequest,
    PushEntryResponse,
    RequestOrResponse,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.json_text import (
    JsonObject,
    JsonValue,
    as_array,
    as_integer,
    as_object,
    as_text,
    integer_at,
    optional_integer_at,
    optional_text_at,
    read_json,
    text_at,
    write_json,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.types import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    LogIndex,
    Offset,
    Term,
)

__all__ = ["pull_request", "pull_response", "push_request", "push_response"]

_PUSH_TYPES: Final = frozenset(PushType.__members__)
_VOTE_RESULTS: Final = frozenset(VoteResult.__members__)


def push_request(request: DLedgerRequest, *, opaque: int) -> RemotingCommand:
    """Write a request as a command. Raises: EncodingError if a number or a text cannot be"""
    code, members = _request_members(request)
    return RemotingCommand(code=code, opaque=opaque, body=_body(request, members))


def push_response(response: DLedgerResponse, *, opaque: int) -> RemotingCommand:
    """Write an answer as a command, whose own code is always 200. Raises: EncodingError"""
    return RemotingCommand(
        code=DLedgerResponseCode.SUCCESS,
        opaque=opaque,
        flag=FLAG_RESPONSE,
        body=_body(response, _response_members(response)),
    )


def pull_request(command: RemotingCommand) -> DLedgerRequest:
    """Read a request. A PUSH with a `batchEntry` is one of the older generation.

    Raises: RequestError if there is no such request, PacketError if its body is not what it must be
    """
    if command.code not in _PULL_REQUEST:
        raise RequestError("request type", reason=f"{command.code} not supported")
    code = DLedgerRequestCode(command.code)
    return _PULL_REQUEST[code](as_object(_json(command), code.name))


def pull_response(command: RemotingCommand, asked: DLedgerRequestCode) -> DLedgerResponse:
    """Read the answer to a request with this code; with `xIndex` it is one of the newer generation.

    Raises: PacketError, also if the frame is no answer or has another code than 200
    """
    if not command.is_response or command.code != DLedgerResponseCode.SUCCESS:
        reason = f"has the code {command.code} and the flag {command.flag}"
        raise PacketError("response", offset=0, reason=reason)
    return _PULL_RESPONSE[asked](as_object(_json(command), asked.name))


def _json(command: RemotingCommand) -> JsonValue:
    return read_json(command.body, "body", bare_names=False)


def _body(message: RequestOrResponse, members: Mapping[str, JsonValue]) -> bytes:
    numbers = [v for v in members.values() if isinstance(v, int)] + [message.term]
    if not all(INT64_MIN <= number <= INT64_MAX for number in numbers):
        raise EncodingError(type(message).__name__, reason="has a number of more than 64 bits")
    if not INT32_MIN <= message.code <= INT32_MAX:
        raise EncodingError("code", reason=f"is {message.code}")
    written: dict[str, JsonValue] = {
        "code": message.code,
        "group": message.group,
        "leaderId": message.leader_id,
        "localId": message.local_id,
        "remoteId": message.remote_id,
        "term": message.term,
        **members,
    }
    try:
        return write_json({name: value for name, value in written.items() if value is not None})
    except (UnicodeEncodeError, OverflowError) as error:
        raise EncodingError(type(message).__name__, reason=str(error)[:60]) from None


def _request_members(
    request: DLedgerRequest,
) -> tuple[DLedgerRequestCode, Mapping[str, JsonValue]]:
    match request:
        case MetadataRequest():
            return DLedgerRequestCode.METADATA, {}
        case AppendEntryRequest(body=body):
            return DLedgerRequestCode.APPEND, {"body": base64_text(body)}
        case GetEntriesRequest():
            return DLedgerRequestCode.GET, {
                "beginIndex": request.begin_index,
                "indexList": request.index_list,
                "maxSize": request.max_size,
            }
        case VoteRequest():
            return DLedgerRequestCode.VOTE, {
                "ledgerEndIndex": request.ledger_end_index,
                "ledgerEndTerm": request.ledger_end_term,
            }
        case HeartBeatRequest():
            return DLedgerRequestCode.HEART_BEAT, {}
        case PullEntriesRequest(begin_index=begin, node_id=node):
            return DLedgerRequestCode.PULL, {"beginIndex": begin, "nodeId": node}
        case PushEntryRequest():
            return DLedgerRequestCode.PUSH, _push_members(request)
        case LegacyPushEntryRequest():
            return DLedgerRequestCode.PUSH, _legacy_push_members(request)
        case LeadershipTransferRequest():
            return DLedgerRequestCode.LEADERSHIP_TRANSFER, {
                "takeLeadershipLedgerIndex": request.take_leadership_ledger_index,
                "transferId": request.transfer_id,
                "transfereeId": request.transferee_id,
            }
        case InstallSnapshotRequest():
            return DLedgerRequestCode.INSTALL_SNAPSHOT, {
                "data": base64_text(request.data),
                "lastIncludedIndex": request.last_included_index,
                "lastIncludedTerm": request.last_included_term,
            }
        case _ as unreachable:
            assert_never(unreachable)


def _push_members(request: PushEntryRequest) -> Mapping[str, JsonValue]:
    entries = request.entries
    return {
        "commitIndex": request.commit_index,
        "count": len(entries),
        "entries": entries_json(entries),
        "firstEntryIndex": entries[0].index if entries else -1,
        "lastEntryIndex": entries[-1].index if entries else -1,
        "lastEntryTerm": entries[-1].term if entries else -1,
        "preLogIndex": request.pre_log_index,
        "preLogTerm": request.pre_log_term,
        "totalSize": sum(entry.size for entry in entries),
        "type": request.kind.value,
    }


def _legacy_push_members(request: LegacyPushEntryRequest) -> Mapping[str, JsonValue]:
    entries = request.entries
    return {
        "batch": bool(request.batch_entry),
        "batchEntry": entries_json(request.batch_entry),
        "commitIndex": request.commit_index,
        "count": len(entries),
        "entry": None if request.entry is None else entry_json(request.entry),
        "firstEntryIndex": entries[0].index if entries else -1,
        "lastEntryIndex": entries[-1].index if entries else -1,
        "totalSize": sum(entry.size for entry in request.batch_entry),
        "type": request.kind.value,
    }


def _response_members(response: DLedgerResponse) -> Mapping[str, JsonValue]:
    match response:
        case MetadataResponse(peers=peers):
            return {"peers": None if peers is None else dict(peers)}
        case AppendEntryResponse(index=index, pos=pos):
            return {"index": index, "pos": pos}
        case GetEntriesResponse(entries=entries) | PullEntriesResponse(entries=entries):
            return {"entries": entries_json(entries)}
        case VoteResponse(vote_result=result):
            return {"voteResult": result.value}
        case PushEntryResponse() | LegacyPushEntryResponse():
            members: dict[str, JsonValue] = {
                "beginIndex": response.begin_index,
                "count": response.count,
                "endIndex": response.end_index,
                "index": response.index,
            }
            if isinstance(response, PushEntryResponse):
                members |= {"xIndex": response.x_index, "xTerm": response.x_term}
            return members
        case HeartBeatResponse() | LeadershipTransferResponse() | InstallSnapshotResponse():
            return {}
        case _ as unreachable:
            assert_never(unreachable)


class _Header(TypedDict):
    group: str | None
    local_id: str | None
    remote_id: str | None
    code: int
    leader_id: str | None
    term: Term


def _header(body: JsonObject) -> _Header:
    return _Header(
        group=optional_text_at(body, "group"),
        local_id=optional_text_at(body, "localId"),
        remote_id=optional_text_at(body, "remoteId"),
        code=integer_at(body, "code", least=INT32_MIN, most=INT32_MAX),
        leader_id=optional_text_at(body, "leaderId"),
        term=_term(body, "term"),
    )


def _index(body: JsonObject, name: str, *, least: int = -1) -> LogIndex:
    return LogIndex(integer_at(body, name, least=least))


def _optional_index(body: JsonObject, name: str) -> LogIndex | None:
    given = optional_integer_at(body, name, least=-1)
    return None if given is None else LogIndex(given)


def _term(body: JsonObject, name: str, *, least: int = -1) -> Term:
    return Term(integer_at(body, name, least=least))


def _int32(body: JsonObject, name: str, *, least: int = INT32_MIN) -> int:
    return integer_at(body, name, least=least, most=INT32_MAX)


def _push_type(body: JsonObject) -> PushType:
    name = text_at(body, "type")
    if name not in _PUSH_TYPES:
        raise PacketError("type", offset=0, reason=f"is {ascii(name)[:60]}, which is none")
    return PushType[name]


def _batch(body: JsonObject, name: str) -> tuple[DLedgerEntry, ...]:
    entries = entries_at(body, name)
    for one, other in pairwise(entries):
        if other.index != one.index + 1:
            reason = f"have the index {other.index} behind {one.index}"
            raise PacketError(name, offset=0, reason=reason)
    return entries


def _pull_metadata(body: JsonObject) -> MetadataRequest:
    return MetadataRequest(**_header(body))


def _pull_append(body: JsonObject) -> AppendEntryRequest:
    return AppendEntryRequest(**_header(body), body=bytes_at(body, "body"))


def _pull_get(body: JsonObject) -> GetEntriesRequest:
    indexes: tuple[LogIndex, ...] | None = None
    if body.get("indexList") is not None:
        values = as_array(body["indexList"], "indexList")
        indexes = tuple([LogIndex(as_integer(v, "indexList", least=-1)) for v in values])
    return GetEntriesRequest(
        **_header(body),
        begin_index=_optional_index(body, "beginIndex"),
        max_size=_int32(body, "maxSize", least=0),
        index_list=indexes,
    )


def _pull_vote(body: JsonObject) -> VoteRequest:
    return VoteRequest(
        **_header(body),
        ledger_end_index=_index(body, "ledgerEndIndex"),
        ledger_end_term=_term(body, "ledgerEndTerm"),
    )


def _pull_heart_beat(body: JsonObject) -> HeartBeatRequest:
    return HeartBeatRequest(**_header(body))


def _pull_pull(body: JsonObject) -> PullEntriesRequest:
    return PullEntriesRequest(
        **_header(body),
        node_id=optional_text_at(body, "nodeId"),
        begin_index=_optional_index(body, "beginIndex"),
    )


def _pull_push(body: JsonObject) -> PushEntryRequest | LegacyPushEntryRequest:
    kind, commit_index = _push_type(body), _index(body, "commitIndex")
    if "batchEntry" in body:
        if kind is PushType.INSTALL_SNAPSHOT:
            raise PacketError("type", offset=0, reason="is INSTALL_SNAPSHOT, with a batchEntry")
        return LegacyPushEntryRequest(
            **_header(body),
            kind=kind,
            commit_index=commit_index,
            entry=None if body.get("entry") is None else entry_from_json(body["entry"]),
            batch_entry=_batch(body, "batchEntry"),
        )
    return PushEntryRequest(
        **_header(body),
        kind=kind,
        commit_index=commit_index,
        pre_log_index=_index(body, "preLogIndex"),
        pre_log_term=_term(body, "preLogTerm"),
        entries=_batch(body, "entries"),
    )


def _pull_transfer(body: JsonObject) -> LeadershipTransferRequest:
    return LeadershipTransferRequest(
        **_header(body),
        transfer_id=optional_text_at(body, "transferId"),
        transferee_id=optional_text_at(body, "transfereeId"),
        take_leadership_ledger_index=_index(body, "takeLeadershipLedgerIndex"),
    )


def _pull_install(body: JsonObject) -> InstallSnapshotRequest:
    return InstallSnapshotRequest(
        **_header(body),
        last_included_index=_index(body, "lastIncludedIndex", least=0),
        last_included_term=_term(body, "lastIncludedTerm", least=0),
        data=bytes_at(body, "data"),
    )


def _pull_peers(body: JsonObject) -> MetadataResponse:
    peers: Mapping[str, str] | None = None
    if body.get("peers") is not None:
        given = as_object(body["peers"], "peers")
        peers = MappingProxyType({name: as_text(given[name], "peers") for name in given})
    return MetadataResponse(**_header(body), peers=peers)


def _pull_appended(body: JsonObject) -> AppendEntryResponse:
    return AppendEntryResponse(
        **_header(body),
        index=_index(body, "index"),
        pos=Offset(integer_at(body, "pos", least=-1)),
    )


def _pull_got(body: JsonObject) -> GetEntriesResponse:
    return GetEntriesResponse(**_header(body), entries=entries_at(body, "entries"))


def _pull_pulled(body: JsonObject) -> PullEntriesResponse:
    return PullEntriesResponse(**_header(body), entries=entries_at(body, "entries"))


def _pull_voted(body: JsonObject) -> VoteResponse:
    name = text_at(body, "voteResult")
    if name not in _VOTE_RESULTS:
        raise PacketError("voteResult", offset=0, reason=f"is {ascii(name)[:60]}, which is none")
    return VoteResponse(**_header(body), vote_result=VoteResult[name])


def _pull_pushed(body: JsonObject) -> PushEntryResponse | LegacyPushEntryResponse:
    index, begin = _optional_index(body, "index"), _index(body, "beginIndex")
    end, count = _index(body, "endIndex"), _int32(body, "count", least=0)
    if "xIndex" not in body:
        return LegacyPushEntryResponse(
            **_header(body), index=index, begin_index=begin, end_index=end, count=count
        )
    return PushEntryResponse(
        **_header(body),
        index=index,
        begin_index=begin,
        end_index=end,
        count=count,
        x_term=_term(body, "xTerm"),
        x_index=_index(body, "xIndex"),
    )


_PULL_REQUEST: Final[Mapping[int, Callable[[JsonObject], DLedgerRequest]]] = MappingProxyType(
    {
        DLedgerRequestCode.METADATA: _pull_metadata,
        DLedgerRequestCode.APPEND: _pull_append,
        DLedgerRequestCode.GET: _pull_get,
        DLedgerRequestCode.VOTE: _pull_vote,
        DLedgerRequestCode.HEART_BEAT: _pull_heart_beat,
        DLedgerRequestCode.PULL: _pull_pull,
        DLedgerRequestCode.PUSH: _pull_push,
        DLedgerRequestCode.LEADERSHIP_TRANSFER: _pull_transfer,
        DLedgerRequestCode.INSTALL_SNAPSHOT: _pull_install,
    }
)
_PULL_RESPONSE: Final[Mapping[int, Callable[[JsonObject], DLedgerResponse]]] = MappingProxyType(
    {
        DLedgerRequestCode.METADATA: _pull_peers,
        DLedgerRequestCode.APPEND: _pull_appended,
        DLedgerRequestCode.GET: _pull_got,
        DLedgerRequestCode.VOTE: _pull_voted,
        DLedgerRequestCode.HEART_BEAT: lambda body: HeartBeatResponse(**_header(body)),
        DLedgerRequestCode.PULL: _pull_pulled,
        DLedgerRequestCode.PUSH: _pull_pushed,
        DLedgerRequestCode.LEADERSHIP_TRANSFER: lambda body: LeadershipTransferResponse(
            **_header(body)
        ),
        DLedgerRequestCode.INSTALL_SNAPSHOT: lambda body: InstallSnapshotResponse(**_header(body)),
    }
)
