"""The controller's requests and answers in frames, both ways, and wrong ones."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.controller_strategies import contents, notices, refusals, requests
from rocketha.errors import PacketError, RequestError
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.controller_bodies import (
    SyncStateSet,
    pull_elected,
    pull_replicas_info,
    pull_sync_state_set,
    push_elected,
    push_sync_state_set,
)
from rocketha.formats.controller_codes import RequestCode, ResponseCode
from rocketha.formats.controller_request_codec import (
    pull_request,
    pull_role_changed,
    push_request,
    push_role_changed,
)
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    ApplyBrokerId,
    CleanBrokerData,
    ControllerRequest,
    ElectMaster,
    GetControllerConfig,
    GetMetadataInfo,
    GetNextBrokerId,
    GetReplicaInfo,
    GetSyncStateData,
    Heartbeat,
    Incarnation,
    RegisterBroker,
    RoleChanged,
    UpdateControllerConfig,
)
from rocketha.formats.controller_responses import (
    MetadataInfo,
    Reply,
    ReplyContent,
    pull_reply,
    push_reply,
)
from rocketha.formats.remoting_command import RemotingCommand, Serialization
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import BrokerId, Epoch, Offset, SyncStateSetEpoch

ONE, TWO = BrokerId(1), BrokerId(2)
SET: Final = SyncStateSet(frozenset({TWO, ONE}), SyncStateSetEpoch(5))
SET_JSON: Final = b'{"syncStateSet":[1,2],"syncStateSetEpoch":5}'

# request, code, fields, body: what RocketMQ's own headers and bodies have
WIRE: list[tuple[ControllerRequest, int, dict[str, str], bytes]] = [
    (
        Heartbeat(
            cluster_name="c",
            broker_name="b",
            broker_address="h:1",
            broker_id=ONE,
            epoch=Epoch(3),
            max_offset=Offset(100),
            confirm_offset=Offset(90),
            timeout_ms=10_000,
            election_priority=5,
        ),
        904,
        {
            "clusterName": "c",
            "brokerName": "b",
            "brokerAddr": "h:1",
            "brokerId": "1",
            "epoch": "3",
            "maxOffset": "100",
            "confirmOffset": "90",
            "heartbeatTimeoutMills": "10000",
            "electionPriority": "5",
        },
        b"",
    ),
    (
        AlterSyncStateSet(
            broker_name="b",
            master_broker_id=ONE,
            master_epoch=Epoch(3),
            sync_state_set=SET,
            joining={TWO: Incarnation(7)},
        ),
        1001,
        {
            "brokerName": "b",
            "masterBrokerId": "1",
            "masterEpoch": "3",
            "joiningIncarnations": "2:7",
        },
        SET_JSON,
    ),
    (
        ElectMaster(broker_name="b"),
        1002,
        {"clusterName": "", "brokerName": "b", "brokerId": "-1", "designateElect": "false"},
        b"",
    ),
    (
        RegisterBroker(
            cluster_name="c",
            broker_name="b",
            broker_id=ONE,
            broker_address="h:1",
            incarnation=Incarnation(4),
            log_torn=True,
        ),
        1003,
        {
            "clusterName": "c",
            "brokerName": "b",
            "brokerId": "1",
            "brokerAddress": "h:1",
            "incarnation": "4",
            "logTorn": "true",
        },
        b"",
    ),
    (GetReplicaInfo(broker_name="b"), 1004, {"brokerName": "b"}, b""),
    (GetMetadataInfo(), 1005, {}, b""),
    (GetSyncStateData(broker_names=("b", "ü")), 1006, {}, '["b","ü"]'.encode()),
    (
        CleanBrokerData(broker_name="b", ids_to_clean="1;2"),
        1011,
        {"brokerName": "b", "brokerControllerIdsToClean": "1;2", "isCleanLivingBroker": "false"},
        b"",
    ),
    (
        GetNextBrokerId(cluster_name="c", broker_name="b"),
        1012,
        {"clusterName": "c", "brokerName": "b"},
        b"",
    ),
    (
        ApplyBrokerId(
            cluster_name="c",
            broker_name="b",
            applied_broker_id=ONE,
            register_check_code="h:1;1700000000000",
        ),
        1013,
        {
            "clusterName": "c",
            "brokerName": "b",
            "appliedBrokerId": "1",
            "registerCheckCode": "h:1;1700000000000",
        },
        b"",
    ),
    (GetControllerConfig(), 1010, {}, b""),
    (UpdateControllerConfig(settings={"a": "b", "c": ""}), 1009, {}, b"a=b\nc=\n"),
]

FIELDS: Final = {code: fields for _, code, fields, _ in WIRE}
BODIES: Final = {code: body for _, code, _, body in WIRE}


def command(
    code: int, changes: Mapping[str, str | None] | None = None, body: bytes | None = None
) -> RemotingCommand:
    """Make a good request of this code with some fields changed or left out."""
    fields = {**FIELDS[code], **(changes or {})}
    return RemotingCommand(
        code=code,
        opaque=1,
        ext_fields={name: value for name, value in fields.items() if value is not None},
        body=BODIES[code] if body is None else body,
    )


# code, field, its wrong value, what the error says
WRONG_FIELDS: list[tuple[int, str, str | None, str]] = [
    (904, "brokerName", None, "brokerName is missing"),
    (904, "brokerName", " ", "brokerName is blank"),
    (904, "brokerAddr", "", "brokerAddr is blank"),
    (904, "brokerAddr", "a" * 1025, "brokerAddr has 1025 characters, over 1024"),
    (1011, "brokerControllerIdsToClean", "1;" * 40_000, "has 80000 characters, over 65536"),
    (904, "clusterName", None, "clusterName is missing"),
    (904, "brokerId", None, "brokerId is missing"),
    (904, "brokerId", "-1", "brokerId is '-1', not an integer in 0"),
    (904, "brokerId", "9223372036854775808", "not an integer in 0 .. 9223372036854775807"),
    (904, "epoch", "2147483648", "epoch is '2147483648'"),
    (904, "epoch", "-2", "epoch is '-2'"),
    (904, "maxOffset", "1e3", "maxOffset is '1e3'"),
    (904, "confirmOffset", "", "confirmOffset is ''"),
    (904, "heartbeatTimeoutMills", "0", "heartbeatTimeoutMills is '0'"),
    (904, "electionPriority", "+5", "electionPriority is '+5'"),
    (904, "incarnation", "-1", "incarnation is '-1'"),
    (1001, "brokerName", None, "brokerName is missing"),
    (1001, "masterBrokerId", "", "masterBrokerId is ''"),
    (1001, "masterEpoch", "-1", "masterEpoch is '-1'"),
    (1001, "masterEpoch", "03", "masterEpoch is '03'"),
    (1001, "masterEpoch", "٣", r"masterEpoch is '\u0663'"),
    (1001, "masterEpoch", "3\n", r"masterEpoch is '3\n'"),
    (1001, "joiningIncarnations", "2", "joiningIncarnations have '2', not id:incarnation"),
    (1001, "joiningIncarnations", "2:7;", "joiningIncarnations have ''"),
    (1001, "joiningIncarnations", "2:7;2:8", "joiningIncarnations have 2 twice"),
    (1001, "joiningIncarnations", "9223372036854775808:1", "have '9223372036854775808:1'"),
    (1001, "invokeTime", "now", "invokeTime is 'now'"),
    (1002, "brokerName", "", "brokerName is blank"),
    (1002, "brokerId", None, "brokerId is missing"),
    (1002, "brokerId", "-2", "brokerId is '-2'"),
    (1002, "designateElect", None, "designateElect is missing"),
    (1002, "designateElect", "TRUE", "designateElect is 'TRUE', not true or false"),
    (1003, "brokerAddress", None, "brokerAddress is missing"),
    (1003, "brokerId", "one", "brokerId is 'one'"),
    (1003, "logTorn", "1", "logTorn is '1', not true or false"),
    (1004, "brokerName", None, "brokerName is missing"),
    (1011, "brokerName", None, "brokerName is missing"),
    (1011, "isCleanLivingBroker", "yes", "isCleanLivingBroker is 'yes'"),
    (1012, "clusterName", None, "clusterName is missing"),
    (1013, "appliedBrokerId", None, "appliedBrokerId is missing"),
    (1013, "registerCheckCode", None, "registerCheckCode is missing"),
    (1013, "registerCheckCode", ";17", "registerCheckCode begins with no address"),
]

# code, body, what the error says
WRONG_BODIES: list[tuple[int, bytes, str]] = [
    (1001, b"", "SyncStateSet at byte 0: is not JSON"),
    (1001, b"\xff", "SyncStateSet at byte 0: is not UTF-8"),
    (1001, b"[]", "is [], not an object"),
    (1001, b'{"syncStateSetEpoch":5}', "syncStateSet at byte 0: is missing or null"),
    (1001, b'{"syncStateSet":"12","syncStateSetEpoch":5}', "is '12', not an array"),
    (1001, b'{"syncStateSet":["1"],"syncStateSetEpoch":5}', "member at byte 0: is '1'"),
    (1001, b'{"syncStateSet":[1,1],"syncStateSetEpoch":5}', "has a member twice"),
    (
        1001,
        b'{"syncStateSet":['
        + ",".join(map(str, range(1025))).encode()
        + b'],"syncStateSetEpoch":1}',
        "syncStateSet at byte 0: has 1025 members",
    ),
    (1001, b'{"syncStateSet":[1]}', "syncStateSetEpoch at byte 0: is missing or null"),
    (1001, b'{"syncStateSet":[1],"syncStateSetEpoch":-1}', "is -1, not in 0 .. 2147483647"),
    (1001, b'{"syncStateSet":[9223372036854775808],"syncStateSetEpoch":1}', "not in -9223"),
    (1006, b"", "broker names at byte 0: is not JSON"),
    (1006, b"{}", "is {}, not an array"),
    (1006, b"[1]", "broker name at byte 0: is 1, not a text"),
    (1006, b"[" * 100_000, "is nested too deeply"),
    (1009, b"a", "property at byte 0: 'a' is not name=value"),
]


@pytest.mark.parametrize(
    ("request_", "code", "fields", "body"), WIRE, ids=[type(row[0]).__name__ for row in WIRE]
)
def test_a_request_has_rocketmqs_fields_and_body(
    request_: ControllerRequest, code: int, fields: dict[str, str], body: bytes
) -> None:
    sent = push_request(request_, opaque=9)

    assert (sent.code, dict(sent.ext_fields), sent.body) == (code, fields, body)
    assert (sent.opaque, sent.is_response) == (9, False)
    assert pull_request(sent) == request_


def test_every_request_of_a_controller_is_in_the_table() -> None:
    elsewhere = {
        RequestCode.GET_BROKER_EPOCH_CACHE,
        RequestCode.NOTIFY_BROKER_ROLE_CHANGED,
        RequestCode.BROKER_CLOSE_CHANNEL,
        RequestCode.CHECK_NOT_ACTIVE_BROKER,
    }
    assert {row[1] for row in WIRE} == set(RequestCode) - elsewhere


@pytest.mark.parametrize(("code", "field", "value", "said"), WRONG_FIELDS)
def test_a_wrong_field_is_a_request_error(
    code: int, field: str, value: str | None, said: str
) -> None:
    with pytest.raises(RequestError, match=re.escape(said)) as caught:
        pull_request(command(code, {field: value}))
    assert caught.value.field == field


@pytest.mark.parametrize(("code", "body", "said"), WRONG_BODIES)
def test_a_wrong_body_is_a_packet_error(code: int, body: bytes, said: str) -> None:
    with pytest.raises(PacketError, match=re.escape(said)):
        pull_request(command(code, body=body))


@pytest.mark.parametrize("code", [0, 1007, 1008, 1014, 1015, -1, 10])
def test_a_request_that_no_controller_answers_is_refused(code: int) -> None:
    with pytest.raises(RequestError, match=f"request type {code} not supported"):
        pull_request(RemotingCommand(code=code, opaque=1))


def test_fields_of_others_do_not_matter() -> None:
    signed = command(1004, {"AccessKey": "k", "Signature": "s"})
    assert pull_request(signed) == GetReplicaInfo(broker_name="b")


def test_a_heartbeat_of_rocketmq_may_leave_out_what_it_does_not_know() -> None:
    optional = ("epoch", "maxOffset", "confirmOffset", "heartbeatTimeoutMills", "electionPriority")
    bare = pull_request(command(904, dict.fromkeys(optional)))

    assert bare == Heartbeat(cluster_name="c", broker_name="b", broker_address="h:1", broker_id=ONE)


def test_a_registration_of_rocketmq_says_no_incarnation_and_ours_says_the_first_one() -> None:
    bare = pull_request(command(1003, {"incarnation": None, "logTorn": None}))
    ours = pull_request(command(1003, {"incarnation": "0"}))
    assert isinstance(bare, RegisterBroker)
    assert isinstance(ours, RegisterBroker)
    assert (bare.incarnation, ours.incarnation) == (None, 0)
    assert "incarnation" not in push_request(bare, opaque=1).ext_fields
    assert push_request(ours, opaque=1).ext_fields["incarnation"] == "0"


def test_the_addresses_of_a_group_are_written_as_rocketmq_does_and_read_in_both_ways() -> None:
    group = BrokerMemberGroup(
        cluster_name="c", broker_name='b"{1:', addresses={TWO: "h:2", ONE: "h:1"}
    )
    body = push_elected(frozenset({ONE}), group)

    assert body == (
        b'{"brokerMemberGroup":{"brokerAddrs":{1:"h:1",2:"h:2"},"brokerName":"b\\"{1:",'
        b'"cluster":"c"},"syncStateSet":[1]}'
    )
    assert pull_elected(body) == (frozenset({ONE}), group)
    quoted = body.replace(b'1:"h', b'"1":"h').replace(b'2:"h', b'"2":"h')
    assert pull_elected(quoted) == (frozenset({ONE}), group)


@pytest.mark.parametrize(
    "body",
    [
        b'{"brokerMemberGroup":{"brokerAddrs":{"x":"a"},"brokerName":"b","cluster":"c"},'
        b'"syncStateSet":[1]}',
        b'{"brokerMemberGroup":{"brokerAddrs":{1.5:"a"},"brokerName":"b","cluster":"c"},'
        b'"syncStateSet":[1]}',
        b'{"brokerMemberGroup":[],"syncStateSet":[1]}',
        b'{"replicasInfoTable":{"b":1}}',
        b'{"replicasInfoTable":{"b":{"inSyncReplicas":[{"alive":"no"}],"masterEpoch":1,'
        b'"notInSyncReplicas":[],"syncStateSetEpoch":1}}}',
    ],
)
def test_a_wrong_body_of_an_answer_is_a_packet_error(body: bytes) -> None:
    with pytest.raises(PacketError):
        pull_elected(body)
    with pytest.raises(PacketError):
        pull_replicas_info(body)


def test_a_set_is_written_in_order() -> None:
    assert push_sync_state_set(SET) == SET_JSON
    assert pull_sync_state_set(SET_JSON) == SET


def test_a_notice_is_one_way_and_says_the_version_twice() -> None:
    notice = RoleChanged(
        master_broker_id=ONE, master_address="h:1", master_epoch=Epoch(3), sync_state_set=SET
    )
    sent = push_role_changed(notice, opaque=3)

    assert (sent.code, sent.is_oneway, sent.body) == (1008, True, SET_JSON)
    assert sent.ext_fields == {
        "masterAddress": "h:1",
        "masterBrokerId": "1",
        "masterEpoch": "3",
        "syncStateSetEpoch": "5",
    }
    other = {**sent.ext_fields, "syncStateSetEpoch": "6"}
    with pytest.raises(RequestError, match="syncStateSetEpoch is 6, in the body 5"):
        pull_role_changed(replace(sent, ext_fields=other))


def test_an_unknown_response_code_is_refused() -> None:
    with pytest.raises(RequestError, match="response code is 2999"):
        pull_reply(RemotingCommand(code=2999, opaque=1, flag=1), RequestCode.ELECT_MASTER)


# controller, its frame without a leader (opaque 7), the leader's id, the peers
LEADERLESS: list[tuple[str, str, str | None, str]] = [
    (
        "DLedger",
        "0000004a01000046 0000 00 0000 00000007 00000001 00000000 00000031"
        "0008 69734c6561646572 00000005 66616c7365"
        "0005 7065657273 00000007 6e302d683a313b 0005 67726f7570 00000001 67",
        None,
        "n0-h:1;",
    ),
    (
        "JRaft",
        "0000005f0100005b 0000 00 0000 00000007 00000001 00000000 00000046"
        "0012 636f6e74726f6c6c65724c65616465724964 00000000"
        "0008 69734c6561646572 00000005 66616c7365"
        "0005 7065657273 00000004 683a313b 0005 67726f7570 00000001 67",
        "",
        "h:1;",
    ),
]


@pytest.mark.parametrize(
    ("frame", "leader", "peers"), [row[1:] for row in LEADERLESS], ids=[r[0] for r in LEADERLESS]
)
def test_controllers_without_a_leader_name_none(frame: str, leader: str | None, peers: str) -> None:
    """Frames that `RemotingCommand.encode` of 5.3.3 and 5.5.0 wrote."""
    pulled = pull_command(bytes.fromhex(frame))
    assert pulled is not None

    reply = pull_reply(pulled[0], RequestCode.GET_METADATA_INFO)

    info = MetadataInfo(
        group="g", leader_id=leader, leader_address=None, is_leader=False, peers=peers
    )
    assert reply == Reply(content=info)
    asked = RemotingCommand(code=1005, opaque=7, serialization=Serialization.ROCKETMQ)
    assert push_reply(reply, asked).ext_fields == pulled[0].ext_fields


@pytest.mark.parametrize("field", ["controllerLeaderId", "controllerLeaderAddress"])
def test_the_name_of_a_leader_has_a_bound(field: str) -> None:
    fields = {"group": "g", "isLeader": "true", "peers": "", field: "a" * 1025}
    answer = RemotingCommand(code=0, opaque=1, flag=1, ext_fields=fields)
    with pytest.raises(RequestError, match=f"{field} has 1025 characters, over 1024"):
        pull_reply(answer, RequestCode.GET_METADATA_INFO)


def through_a_frame(sent: RemotingCommand) -> RemotingCommand:
    """Write a command and read it again."""
    pulled = pull_command(push_command(sent))
    assert pulled is not None
    return pulled[0]


@given(requests(), st.sampled_from(Serialization))
def test_requests_survive_a_frame(
    request_: ControllerRequest, serialization: Serialization
) -> None:
    sent = push_request(request_, opaque=1, serialization=serialization)
    assert pull_request(through_a_frame(sent)) == request_


@given(notices(), st.sampled_from(Serialization))
def test_notices_survive_a_frame(notice: RoleChanged, serialization: Serialization) -> None:
    sent = push_role_changed(notice, opaque=1, serialization=serialization)
    assert pull_role_changed(through_a_frame(sent)) == notice


@given(contents(), st.sampled_from(Serialization))
def test_answers_survive_a_frame(
    content: tuple[RequestCode, ReplyContent], serialization: Serialization
) -> None:
    asked = RemotingCommand(code=content[0], opaque=7, serialization=serialization)
    reply = Reply(content=content[1])

    sent = push_reply(reply, asked)

    assert (sent.opaque, sent.is_response, sent.serialization) == (7, True, serialization)
    assert pull_reply(through_a_frame(sent), content[0]) == reply


@given(refusals(), st.sampled_from(RequestCode))
def test_refusals_survive_a_frame(code: ResponseCode, asked: RequestCode) -> None:
    reply = Reply(code=code, remark="no")
    sent = push_reply(reply, RemotingCommand(code=asked, opaque=7))
    if (code, asked) != (ResponseCode.MASTER_STILL_EXIST, RequestCode.ELECT_MASTER):
        assert pull_reply(through_a_frame(sent), asked) == reply


@given(st.sampled_from(sorted(FIELDS)), st.data())
def test_hostile_fields_and_bodies_raise_nothing_else(code: int, data: st.DataObject) -> None:
    text = st.none() | st.text(max_size=6) | st.sampled_from(("1", "-1", "true", "1:2", "a;1"))
    changes = {name: data.draw(text) for name in FIELDS[code]}
    body = data.draw(st.binary(max_size=40) | st.sampled_from((SET_JSON, b"[]", b"{}", b"null")))
    with contextlib.suppress(RequestError, PacketError):
        pull_request(command(code, changes, body))
