"""Requests and answers as frames: what is none, what is for others, what nobody here does."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from rocketha.dledger.config import DLedgerConfig
from rocketha.dledger.connections import DLedgerCore, peer_number
from rocketha.dledger.node_state import NodeState, NodeStepped
from rocketha.dledger.push_state import DispatchDue, DispatcherState, EntryDispatcher
from rocketha.formats.dledger_codes import DLedgerRequestCode, DLedgerResponseCode, PushType
from rocketha.formats.dledger_request_codec import pull_response, push_request, push_response
from rocketha.formats.dledger_requests import (
    AppendEntryRequest,
    DLedgerRequest,
    DLedgerResponse,
    GetEntriesRequest,
    HeartBeatRequest,
    InstallSnapshotRequest,
    LegacyPushEntryRequest,
    MetadataRequest,
    PullEntriesRequest,
    PushEntryRequest,
    PushEntryResponse,
    VoteRequest,
    VoteResponse,
)
from rocketha.formats.remoting_command import FLAG_RESPONSE, RemotingCommand
from rocketha.runtime.effects import RefuseRequest, Respond, SendRequest
from rocketha.runtime.events import RequestArrived, ResponseArrived
from rocketha.types import LogIndex, Term
from tests.impl.dledger.pusher_scene import NOW, REQUEST, log, push, pusher
from tests.impl.dledger.scene import follower, leader, vote

Code: TypeAlias = DLedgerResponseCode
Asks: TypeAlias = DLedgerRequestCode
LOG = log(2, 3)


def follows() -> NodeState:
    return NodeState(elector=follower(), pusher=pusher(same=1))


def leads() -> NodeState:
    """A leader that is about to compare with n1."""
    one = EntryDispatcher(write_index=LogIndex(2))
    return NodeState(elector=leader(), pusher=pusher().with_dispatcher("n1", one))


def arrive(state: NodeState, message: DLedgerRequest) -> NodeStepped:
    event = RequestArrived(request=REQUEST, command=push_request(message, opaque=1))
    return DLedgerCore().step(state, event, now_ms=NOW, log=LOG)


def answer_of(stepped: NodeStepped, asked: Asks) -> DLedgerResponse:
    (sent,) = [one for one in stepped.effects if isinstance(one, Respond)]
    assert sent.request == REQUEST
    command = RemotingCommand(code=sent.code, body=sent.body, opaque=1, flag=FLAG_RESPONSE)
    return pull_response(command, asked)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (1, b"{}"),
        (Asks.USER_DEFINE_REQUEST, b"{}"),
        (Asks.PUSH, b""),
        (Asks.PUSH, b"[]"),
        (Asks.PUSH, b"{}"),
        (Asks.VOTE, b'{"term":"x"}'),
        (Asks.INSTALL_SNAPSHOT, b'{"data":"?"}'),
    ],
)
def test_what_is_no_request_closes_its_connection(code: int, body: bytes) -> None:
    command = RemotingCommand(code=int(code), body=body, opaque=1)
    event = RequestArrived(request=REQUEST, command=command)
    stepped = DLedgerCore().step(follows(), event, now_ms=NOW, log=LOG)
    assert stepped == NodeStepped(follows(), (RefuseRequest(request=REQUEST),))


def install(group: str, to: str) -> InstallSnapshotRequest:
    return InstallSnapshotRequest(
        group=group,
        local_id="n1",
        remote_id=to,
        leader_id="n1",
        term=Term(3),
        last_included_index=LogIndex(9),
        last_included_term=Term(3),
        data=b"{}",
    )


@pytest.mark.parametrize(
    ("group", "to", "code"),
    [("g", "n2", Code.UNKNOWN_MEMBER), ("h", "n0", Code.UNKNOWN_GROUP)],
)
def test_what_is_for_others_is_refused(group: str, to: str, code: Code) -> None:
    messages: list[tuple[DLedgerRequest, Asks]] = [
        (push(PushType.COMMIT, group=group, remote_id=to), Asks.PUSH),
        (install(group, to), Asks.INSTALL_SNAPSHOT),
        (HeartBeatRequest(group=group, remote_id=to, term=Term(3)), Asks.HEART_BEAT),
        (VoteRequest(group=group, remote_id=to, term=Term(9)), Asks.VOTE),
    ]
    for message, asked in messages:
        stepped = arrive(follows(), message)
        answer = answer_of(stepped, asked)
        assert (answer.response_code, answer.group) == (code, group)
        assert stepped.action is None
        assert stepped.state.pusher == follows().pusher


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        (MetadataRequest(group="g"), Asks.METADATA),
        (AppendEntryRequest(group="g", body=b"x"), Asks.APPEND),
        (GetEntriesRequest(group="g", begin_index=LogIndex(0)), Asks.GET),
        (PullEntriesRequest(group="g", begin_index=LogIndex(0)), Asks.PULL),
        (LegacyPushEntryRequest(group="g", kind=PushType.COMMIT), Asks.PUSH),
    ],
)
def test_what_nobody_does_here_is_unsupported(message: DLedgerRequest, asked: Asks) -> None:
    stepped = arrive(follows(), message)
    assert answer_of(stepped, asked).response_code is Code.UNSUPPORTED
    assert (stepped.state, stepped.action) == (follows(), None)


def test_a_push_is_answered_in_a_frame() -> None:
    answer = answer_of(arrive(follows(), push(PushType.COMMIT)), Asks.PUSH)
    assert isinstance(answer, PushEntryResponse)
    assert (answer.response_code, answer.group) == (Code.SUCCESS, "g")
    answer = answer_of(arrive(follows(), vote(2)), Asks.VOTE)
    assert isinstance(answer, VoteResponse)


def test_members_have_numbers_from_one_on() -> None:
    config = DLedgerConfig(self_id="b", peers=("a", "b", "c"))
    assert [peer_number(config, peer) for peer in config.peers] == [1, 2, 3]


def compared() -> tuple[NodeState, SendRequest]:
    """A leader that has sent a COMPARE to n1."""
    stepped = DLedgerCore().step(leads(), DispatchDue(), now_ms=NOW, log=LOG)
    (sent,) = stepped.effects
    assert isinstance(sent, SendRequest)
    return stepped.state, sent


def heard(state: NodeState, sent: SendRequest, command: RemotingCommand | None) -> NodeState:
    event = ResponseArrived(reference=sent.reference, command=command)
    return DLedgerCore().step(state, event, now_ms=NOW, log=LOG).state


def test_a_push_goes_to_its_member_and_its_answer_comes_back() -> None:
    state, sent = compared()
    assert (sent.peer, sent.code, sent.timeout_ms) == (2, Asks.PUSH, 3_000)
    assert sent.reference == (Asks.PUSH, state.pusher.last_number, 2)
    answer = PushEntryResponse(group="g", term=Term(3), index=LogIndex(1))
    state = heard(state, sent, push_response(answer, opaque=1))
    assert state.pusher.dispatchers["n1"].type is DispatcherState.TRUNCATE


@pytest.mark.parametrize("body", [None, b"", b"[]", b"{}", b'{"code":"x"}', b"\xff"])
def test_an_answer_that_cannot_be_read_is_none(body: bytes | None) -> None:
    state, sent = compared()
    command = (
        None if body is None else RemotingCommand(code=200, body=body, opaque=1, flag=FLAG_RESPONSE)
    )
    one = heard(state, sent, command).pusher.dispatchers["n1"]
    assert (one.type, one.pending) == (DispatcherState.COMPARE, ())
    assert one.retry_ms == NOW + 500


def test_each_answer_draws_a_number() -> None:
    state, sent = compared()
    assert heard(state, sent, None).random != state.random


def test_an_answer_to_an_elector_goes_to_the_elector() -> None:
    state = leads()
    reference = (int(Asks.HEART_BEAT), 99, 2)
    event = ResponseArrived(reference=reference, command=None)
    stepped = DLedgerCore().step(state, event, now_ms=NOW, log=LOG)
    assert stepped.state.pusher == state.pusher


def test_the_kinds_of_pushes_are_read_as_they_are_written() -> None:
    message = push(PushType.COMPARE, pre_log_index=LogIndex(1), pre_log_term=Term(3))
    assert isinstance(message, PushEntryRequest)
    answer = answer_of(arrive(follows(), message), Asks.PUSH)
    assert answer.response_code is Code.SUCCESS
