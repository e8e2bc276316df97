"""Frames in, frames out or "close": what a controller does with what it hears."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_tests.controller_strategies import requests
from model_tests.format_strategies import remoting_commands
from rocketha.controller.dispatch import Arrival, ControllerOptions
from rocketha.controller.machine import apply
from rocketha.controller.node import ControllerNode
from rocketha.controller.state import ControllerState, Group, Replica
from rocketha.errors import DiskError, PowerCutError
from rocketha.formats.controller_bodies import SyncStateSet
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import has_request, push_request
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    ControllerRequest,
    ElectMaster,
    GetMetadataInfo,
    GetNextBrokerId,
    GetReplicaInfo,
    GetSyncStateData,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.controller_responses import Elected, Reply, SyncStateData, pull_reply
from rocketha.formats.remoting_command import RemotingCommand, Serialization
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.storage.cut_disk import CutDisk
from rocketha.storage.memory_disk import MemoryDisk
from rocketha.types import BrokerId, ConnectionId, Epoch, SyncStateSetEpoch, TimestampMs
from tests.golden.generate import golden_frames
from tests.impl.controller.scene import CLUSTER, GROUP, METADATA, ids, with_master
from tests.impl.controller.serving import Front, Served, serve

OPTIONS = ControllerOptions(metadata=METADATA)
ARRIVAL = Arrival(at_ms=TimestampMs(1_000), channel=ConnectionId(1))
GOOD = push_command(push_request(GetReplicaInfo(broker_name=GROUP), opaque=5))


def served(data: bytes, state: ControllerState | None = None) -> Served:
    """Hand a frame to a controller."""
    return serve(state or ControllerState(), data, arrival=ARRIVAL, options=OPTIONS)


def reply_in(out: bytes | None, asked: RequestCode) -> tuple[RemotingCommand, Reply]:
    """Read an answer."""
    assert out is not None
    pulled = pull_command(out)
    assert pulled is not None
    assert pulled[1] == len(out)
    return pulled[0], pull_reply(pulled[0], asked)


def _apply(number: int) -> ApplyBrokerId:
    return ApplyBrokerId(
        cluster_name=CLUSTER,
        broker_name=GROUP,
        applied_broker_id=BrokerId(number),
        register_check_code=f"h{number}:1;17",
    )


def _register(number: int) -> RegisterBroker:
    return RegisterBroker(
        cluster_name=CLUSTER,
        broker_name=GROUP,
        broker_id=BrokerId(number),
        broker_address=f"h{number}:1",
    )


def _heartbeat(number: int) -> Heartbeat:
    return Heartbeat(
        cluster_name=CLUSTER,
        broker_name=GROUP,
        broker_id=BrokerId(number),
        broker_address=f"h{number}:1",
    )


@pytest.mark.parametrize("serialization", Serialization)
def test_a_group_gets_a_master_and_a_set_in_frames(serialization: Serialization) -> None:
    node = Front(ControllerNode.open(MemoryDisk(), OPTIONS)[0], OPTIONS)
    talk: list[ControllerRequest] = [GetNextBrokerId(cluster_name=CLUSTER, broker_name=GROUP)]
    for number in (1, 2):
        talk += [_apply(number), _register(number), _heartbeat(number)]
    wanted = SyncStateSet(ids(1, 2), SyncStateSetEpoch(1))
    alter = AlterSyncStateSet(
        broker_name=GROUP,
        master_broker_id=BrokerId(1),
        master_epoch=Epoch(1),
        sync_state_set=wanted,
    )
    talk += [ElectMaster(broker_name=GROUP, broker_id=BrokerId(1)), alter]
    talk += [GetReplicaInfo(broker_name=GROUP), GetSyncStateData(broker_names=(GROUP,))]
    talk += [GetMetadataInfo()]
    for opaque, request in enumerate(talk):
        command = push_request(request, opaque=opaque, serialization=serialization)
        out = node.serve(push_command(command), ARRIVAL)
        answer, reply = reply_in(out, RequestCode(command.code))
        assert reply.code is ResponseCode.SUCCESS
        assert (answer.opaque, answer.is_response) == (opaque, True)
        assert answer.serialization is serialization
    assert node.node.state.groups[GROUP].members == ids(1, 2)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "frame"),
        (GOOD[:-1], "frame"),
        (GOOD + b"\0", "frame"),
        (b"\0\0\0\0", "frame length"),
        (b"GET / HTTP/1.1\r\n\r\n", "frame length"),
        (GOOD[:4] + b"\x07" + GOOD[5:], "serialisation"),
        (GOOD[:5] + b"\xff" + GOOD[6:], "header length"),
        (GOOD[:8] + b"[" + GOOD[9:], "header"),
        (push_command(RemotingCommand(code=1001, opaque=1, body=b"{")), "broken SyncStateSet"),
        (push_command(RemotingCommand(code=1006, opaque=1, body=b"{}")), "broker names"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_frame_or_no_json_closes_the_connection(data: bytes, what: str) -> None:
    if what == "broken SyncStateSet":
        fields = {"brokerName": "b", "masterBrokerId": "1", "masterEpoch": "1"}
        data = push_command(RemotingCommand(code=1001, opaque=1, ext_fields=fields, body=b"{"))
        what = "SyncStateSet"
    outcome = served(data)
    assert outcome.out is None
    assert outcome.close is not None
    assert outcome.close.what == what


def test_a_wrong_field_is_answered_and_the_connection_stays() -> None:
    outcome = served(push_command(RemotingCommand(code=1004, opaque=5)))
    answer, reply = reply_in(outcome.out, RequestCode.GET_REPLICA_INFO)
    assert outcome.close is None
    assert (answer.opaque, reply.code) == (5, ResponseCode.INVALID_REQUEST)
    assert reply.remark == "brokerName is missing"


@pytest.mark.parametrize("code", sorted(set(RequestCode) | {0, 10, 30_000, -1}))
def test_a_request_without_an_answer_is_said_to_be_none(code: int) -> None:
    outcome = served(push_command(RemotingCommand(code=code, opaque=5, body=b"[]")))
    if not has_request(code):
        _, reply = reply_in(outcome.out, RequestCode.GET_REPLICA_INFO)
        assert reply.code is ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    assert outcome.state == ControllerState()


def test_a_response_is_ignored() -> None:
    outcome = served(golden_frames()["response.json"])
    assert (outcome.out, outcome.close, outcome.entry) == (None, None, None)


def test_a_one_way_request_is_done_and_not_answered() -> None:
    scene = with_master(1, 2)
    command = push_request(_heartbeat(2), opaque=1)
    oneway = push_command(
        RemotingCommand(code=command.code, opaque=1, flag=2, ext_fields=command.ext_fields)
    )
    outcome = served(oneway, scene.state)
    assert outcome.out is None
    assert outcome.entry is not None
    assert outcome.state == apply(scene.state, outcome.entry).state


def test_an_answer_that_is_too_large_is_an_error_and_no_exception() -> None:
    replica = Replica(address="a" * 1000, check_code="")
    group = Group(
        cluster_name=CLUSTER,
        broker_name=GROUP,
        replicas={BrokerId(number): replica for number in range(17_000)},
    )
    asked = push_request(GetSyncStateData(broker_names=(GROUP,)), opaque=1)

    outcome = served(push_command(asked), ControllerState(groups={GROUP: group}))

    _, reply = reply_in(outcome.out, RequestCode.GET_SYNC_STATE_DATA)
    assert reply.code is ResponseCode.SYSTEM_ERROR
    assert reply.remark is not None
    assert "over 16777216" in reply.remark


def test_a_failed_disk_answers_nobody_and_the_outcome_is_what_the_disk_has() -> None:
    disk = MemoryDisk()
    first = push_command(push_request(_apply(1), opaque=1))
    # Three operations make the log, one writes the record, one synchronizes it.
    node = Front(ControllerNode.open(CutDisk(disk, cut_before=4), OPTIONS)[0], OPTIONS)
    with pytest.raises(PowerCutError):
        node.serve(first, ARRIVAL)
    assert node.answers == []
    assert node.node.state == ControllerState()
    with pytest.raises(DiskError):
        node.serve(first, ARRIVAL)
    disk.lose_unsynced()
    again = Front(ControllerNode.open(disk, OPTIONS)[0], OPTIONS)
    assert again.node.state == ControllerState()
    assert again.serve(first, ARRIVAL) is not None


def test_the_answer_of_an_election_has_the_group() -> None:
    scene = with_master(1, 2)
    scene.silence(2)
    command = push_request(ElectMaster(broker_name=GROUP, broker_id=BrokerId(2)), opaque=1)
    arrival = Arrival(at_ms=TimestampMs(scene.now_ms), channel=ConnectionId(2))
    outcome = serve(scene.state, push_command(command), arrival=arrival, options=OPTIONS)
    _, reply = reply_in(outcome.out, RequestCode.ELECT_MASTER)
    assert isinstance(reply.content, Elected)
    assert reply.content.master.epoch == 2
    assert len(outcome.effects) == 1


def test_the_entry_of_a_request_says_when_where_and_whether_unclean_elections_are_allowed() -> None:
    options = replace(OPTIONS, elect_unclean=True)
    frame = push_command(push_request(ElectMaster(broker_name=GROUP), opaque=1))
    entry = serve(ControllerState(), frame, arrival=ARRIVAL, options=options).entry
    assert entry is not None
    assert (entry.at_ms, entry.channel, entry.elect_unclean) == (1_000, 1, True)


def test_a_query_is_not_answered_for_a_time_before_the_last_entry() -> None:
    scene = with_master(1, 2)
    scene.silence(2)
    query = push_request(GetSyncStateData(broker_names=(GROUP,)), opaque=1)
    outcome = served(push_command(query), scene.state)
    _, reply = reply_in(outcome.out, RequestCode.GET_SYNC_STATE_DATA)
    assert isinstance(reply.content, SyncStateData)
    assert [replica.alive for replica in reply.content.groups[GROUP].in_sync] == [False, True]


@given(requests(), st.sampled_from(Serialization))
def test_every_request_is_answered(
    request_: ControllerRequest, serialization: Serialization
) -> None:
    command = push_request(request_, opaque=3, serialization=serialization)
    outcome = served(push_command(command), with_master(1, 2).state)
    answer, _ = reply_in(outcome.out, RequestCode(command.code))
    assert answer.opaque == 3
    assert outcome.close is None


@given(remoting_commands())
def test_any_command_is_answered_ignored_or_closes(command: RemotingCommand) -> None:
    outcome = served(push_command(command), with_master(1, 2).state)
    assert outcome.close is None or outcome.out is None


@given(st.sampled_from(sorted(set(RequestCode))), remoting_commands())
def test_any_fields_and_body_of_a_known_request_are_answered_or_close(
    code: RequestCode, command: RemotingCommand
) -> None:
    asked = RemotingCommand(code=code, opaque=1, ext_fields=command.ext_fields, body=command.body)
    outcome = served(push_command(asked))
    assert (outcome.out is None) != (outcome.close is None)


@given(st.data())
@settings(max_examples=40)
def test_a_flipped_bit_is_answered_ignored_or_closes_and_the_node_agrees(
    data: st.DataObject,
) -> None:
    request = data.draw(requests())
    frame = bytearray(push_command(push_request(request, opaque=1)))
    bit = data.draw(st.integers(0, len(frame) * 8 - 1))
    frame[bit // 8] ^= 1 << bit % 8
    node = Front(ControllerNode.open(MemoryDisk(), OPTIONS)[0], OPTIONS)

    outcome = served(bytes(frame))

    out = node.serve(bytes(frame), ARRIVAL)
    closed = [] if outcome.close is None else [ARRIVAL.channel]
    assert (out, node.node.state, node.closed) == (outcome.out, outcome.state, closed)
