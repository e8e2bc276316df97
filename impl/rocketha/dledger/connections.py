"""A DLedger node, as its host sees it: what requests and answers carry.

A request that is none closes its connection; an answer that is none is no answer. Each request is
waited for three seconds, as by DLedger's remoting, and then its connection is closed.

Source: DLedgerRpcNettyService, DLedgerServer
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Final, TypeAlias, assert_never, get_args

from rocketha.dledger import node
from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.ledger import LedgerView
from rocketha.dledger.legacy_push import (
    heard_answer,
    heard_request,
    said_answer,
    said_request,
)
from rocketha.dledger.node_state import (
    AnswerApplied,
    AnswerRead,
    NodeAction,
    NodeHears,
    NodeState,
    NodeStepped,
    RefuseClient,
)
from rocketha.dledger.push_state import (
    AppendPushed,
    ApplyCommitted,
    DeleteBefore,
    InstallSnapshot,
    PushAnswered,
    PushArrived,
    SaveSnapshot,
    SendPush,
    SendPushAnswer,
    SendSnapshot,
    SnapshotArrived,
    SyncLedger,
    TruncateLedger,
    WriteEntry,
)
from rocketha.dledger.state import (
    NO_MARKS,
    Answered,
    Asked,
    KeepTermAndVote,
    RequestNumber,
    RoleChanged,
    SendElectorAnswer,
    SendElectorRequest,
)
from rocketha.errors import PacketError, RequestError
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode
from rocketha.formats.dledger_request_codec import (
    pull_request,
    pull_response,
    push_request,
    push_response,
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
    VoteRequest,
    VoteResponse,
)
from rocketha.runtime.core import Core
from rocketha.runtime.effects import (
    After,
    Effect,
    RefuseRequest,
    Respond,
    SendRequest,
    Then,
)
from rocketha.runtime.events import RequestArrived, RequestEvent, ResponseArrived
from rocketha.types import BrokerId, RequestId, Term, TimestampMs

__all__ = ["DLedgerCore", "install_request", "peer_number"]

_Does: TypeAlias = (
    KeepTermAndVote
    | RoleChanged
    | WriteEntry
    | AppendPushed
    | SyncLedger
    | TruncateLedger
    | DeleteBefore
    | ApplyCommitted
    | SaveSnapshot
    | InstallSnapshot
    | SendSnapshot
    | AnswerApplied
    | AnswerRead
    | RefuseClient
    | SendRequest
    | Respond
    | RefuseRequest
    | After[NodeHears]
)

_Says: TypeAlias = Effect | Then[NodeHears | RequestEvent] | After[NodeHears | RequestEvent]


def peer_number(config: DLedgerConfig, peer: str) -> BrokerId:
    """Return what hosts call a member: its place in the list of members, from 1 on."""
    return BrokerId(config.peers.index(peer) + 1)


class DLedgerCore(Core[NodeState, NodeHears | RequestEvent, NodeAction, LedgerView]):
    """The core of a DLedger node."""

    effects = get_args(_Does)

    def step(
        self,
        state: NodeState,
        event: NodeHears | RequestEvent,
        *,
        now_ms: TimestampMs,
        log: LedgerView,
    ) -> NodeStepped:
        """Take one event."""
        match event:
            case RequestArrived(request=request, command=command):
                try:
                    message = pull_request(command)
                except (PacketError, RequestError):
                    return NodeStepped(state, (RefuseRequest(request=request),))
                return self._asked(state, request, message, now_ms=now_ms, log=log)
            case ResponseArrived():
                state, drawn = node.draw(state)
                heard = _heard(state.elector.config, event, drawn)
                return _written(node.step(state, heard, now_ms=now_ms, log=log), log)
            case _:
                return _written(node.step(state, event, now_ms=now_ms, log=log), log)

    def next_timer_ms(self, state: NodeState) -> TimestampMs | None:
        """Return when `TimerFired` is due."""
        return node.next_timer_ms(state)

    def _asked(
        self,
        state: NodeState,
        request: RequestId,
        message: DLedgerRequest,
        *,
        now_ms: TimestampMs,
        log: LedgerView,
    ) -> NodeStepped:
        event: NodeHears
        match message:
            case VoteRequest() | HeartBeatRequest():
                event = Asked(request=request, message=message)
            case LeadershipTransferRequest():
                leads = state.elector.member.is_leader
                marks = state.pusher.water_marks if leads else NO_MARKS
                event = Asked(request=request, message=message, water_marks=marks)
            case PushEntryRequest() | InstallSnapshotRequest():
                refused = _misdirected(state, message)
                if refused is not None:
                    return _respond(state, request, refused)
                if isinstance(message, PushEntryRequest):
                    event = PushArrived(request=request, message=message)
                else:
                    event = SnapshotArrived(request=request, message=message)
            case LegacyPushEntryRequest() if state.elector.config.legacy_push:
                refused = _misdirected(state, message)
                if refused is not None:
                    return _respond(state, request, refused)
                asked = MappingProxyType({**state.legacy_pushes, request: message})
                state = replace(state, legacy_pushes=asked)
                event = PushArrived(
                    request=request, message=heard_request(message, log, state.pusher.same_index)
                )
            case (
                LegacyPushEntryRequest()
                | MetadataRequest()
                | AppendEntryRequest()
                | GetEntriesRequest()
                | PullEntriesRequest()
            ):
                answer = replace(_EMPTY[type(message)], code=int(DLedgerResponseCode.UNSUPPORTED))
                return _respond(state, request, answer)
            case _ as unreachable:
                assert_never(unreachable)
        return _written(node.step(state, event, now_ms=now_ms, log=log), log)


_EMPTY: Final[dict[type[DLedgerRequest], DLedgerResponse]] = {
    MetadataRequest: MetadataResponse(),
    AppendEntryRequest: AppendEntryResponse(),
    GetEntriesRequest: GetEntriesResponse(),
    VoteRequest: VoteResponse(),
    HeartBeatRequest: HeartBeatResponse(),
    PullEntriesRequest: PullEntriesResponse(),
    PushEntryRequest: PushEntryResponse(),
    LegacyPushEntryRequest: PushEntryResponse(),
    LeadershipTransferRequest: LeadershipTransferResponse(),
    InstallSnapshotRequest: InstallSnapshotResponse(),
}


def _misdirected(state: NodeState, message: DLedgerRequest) -> DLedgerResponse | None:
    """Refuse what is for another member or group. Source: DLedgerServer.handlePush"""
    config = state.elector.config
    code = None
    if message.remote_id != config.self_id:
        code = DLedgerResponseCode.UNKNOWN_MEMBER
    elif message.group != config.group:
        code = DLedgerResponseCode.UNKNOWN_GROUP
    if code is None:
        return None
    return replace(_EMPTY[type(message)], group=message.group, term=message.term, code=int(code))


# ---- answers that come ----


def _heard(config: DLedgerConfig, event: ResponseArrived, drawn: int) -> NodeHears:
    """Read an answer; what cannot be read is none."""
    code, number, peer = event.reference
    message: DLedgerResponse | None = None
    if event.command is not None:
        try:
            message = pull_response(event.command, DLedgerRequestCode(code))
        except PacketError:
            message = None
    if isinstance(message, LegacyPushEntryResponse):
        message = heard_answer(message)
    name = config.peers[peer - 1]
    if code in (DLedgerRequestCode.PUSH, DLedgerRequestCode.INSTALL_SNAPSHOT):
        pushed = isinstance(message, PushEntryResponse | InstallSnapshotResponse)
        return PushAnswered(
            number=RequestNumber(number),
            peer=name,
            message=message if pushed else None,  # type: ignore[arg-type]
        )
    voted = isinstance(message, VoteResponse | HeartBeatResponse | LeadershipTransferResponse)
    return Answered(
        number=RequestNumber(number),
        peer=name,
        message=message if voted else None,  # type: ignore[arg-type]
        drawn=drawn,
    )


# ---- what is sent ----


def _written(stepped: NodeStepped, log: LedgerView) -> NodeStepped:
    """Write what a node says as frames."""
    state, effects = stepped.state, list[_Says]()
    for effect in stepped.effects:
        if isinstance(effect, SendPushAnswer) and effect.request in state.legacy_pushes:
            state, said = _legacy_answer(state, effect, log)
            effects.append(said)
        else:
            effects.append(_frame(state.elector.config, effect, log))
    return replace(stepped, state=state, effects=tuple(effects))


def _legacy_answer(
    state: NodeState, effect: SendPushAnswer, log: LedgerView
) -> tuple[NodeState, Respond | Then[NodeHears | RequestEvent]]:
    """Answer a push of the older generation, or do what is still to be done before."""
    request = effect.request
    said = said_answer(state.legacy_pushes[request], effect, log)
    if not isinstance(said, LegacyPushEntryResponse):
        return state, Then(event=said)
    left = {one: asked for one, asked in state.legacy_pushes.items() if one != request}
    state = replace(state, legacy_pushes=MappingProxyType(left))
    command = push_response(said, opaque=0)
    return state, Respond(request=request, code=command.code, body=command.body)


def _frame(config: DLedgerConfig, effect: _Says, log: LedgerView) -> _Says:
    match effect:
        case SendPush(number=number, peer=peer, message=message) if config.legacy_push:
            said = said_request(message, log)
            if isinstance(said, PushEntryResponse):
                return Then(event=PushAnswered(number=number, peer=peer, message=said))
            return _request(config, number, peer, said)
        case (
            SendElectorRequest(number=number, peer=peer, message=message)
            | SendPush(number=number, peer=peer, message=message)
        ):
            return _request(config, number, peer, message)
        case (
            SendElectorAnswer(request=request, message=answer)
            | SendPushAnswer(request=request, message=answer)
        ):
            command = push_response(answer, opaque=0)
            return Respond(request=request, code=command.code, body=command.body)
        case _:
            return effect


def _request(
    config: DLedgerConfig, number: RequestNumber, peer: str, message: DLedgerRequest
) -> SendRequest:
    command = push_request(message, opaque=0)
    receiver = peer_number(config, peer)
    return SendRequest(
        peer=receiver,
        code=command.code,
        body=command.body,
        reference=(command.code, number, receiver),
        timeout_ms=config.rpc_timeout_ms,
    )


def install_request(
    config: DLedgerConfig, effect: SendSnapshot, included_term: Term, data: bytes
) -> SendRequest:
    """Return the request for a snapshot that a performer has read."""
    message = InstallSnapshotRequest(
        group=config.group,
        local_id=config.self_id,
        remote_id=effect.peer,
        leader_id=config.self_id,
        term=effect.term,
        last_included_index=effect.index,
        last_included_term=included_term,
        data=data,
    )
    return _request(config, effect.number, effect.peer, message)


def _respond(state: NodeState, request: RequestId, answer: DLedgerResponse) -> NodeStepped:
    command = push_response(answer, opaque=0)
    return NodeStepped(state, (Respond(request=request, code=command.code, body=command.body),))
