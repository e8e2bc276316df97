"""A name server's requests and answers in frames, both ways, and wrong ones."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.controller_strategies import texts
from model_tests.name_server_strategies import (
    data_versions,
    name_server_answers,
    name_server_requests,
    notifications,
    registrations,
)
from rocketha.errors import EncodingError, PacketError, RequestError
from rocketha.formats.fastjson_text import write_fastjson
from rocketha.formats.json_text import read_json
from rocketha.formats.name_server_codec import (
    pull_name_server_reply,
    pull_name_server_request,
    pull_notification,
    push_name_server_reply,
    push_name_server_request,
    push_notification,
)
from rocketha.formats.name_server_codes import (
    RELEASE_4_9_4,
    RELEASE_5_3_3,
    NameServerCode,
    NameServerResponse,
)
from rocketha.formats.name_server_requests import (
    BrokerData,
    DataVersion,
    GetRouteInfo,
    NameServerAnswer,
    NameServerReply,
    NameServerRequest,
    NotifyMinBrokerIdChange,
    RegisterBroker,
    TopicRouteData,
)
from rocketha.formats.remoting_command import RemotingCommand, Serialization
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import INT64_MAX, INT64_MIN, BrokerId, TimestampMs
from tests.impl.formats.name_server_frames import (
    BROKER,
    GOOD,
    REGISTER,
    VERSION_JSON,
    changed,
    wrapper,
)

# ---- fields ----

WRONG_FIELDS: list[tuple[int, str, str | None, str]] = [
    *((code, name, None, f"{name} is missing") for code in (103, 104, 322) for name in BROKER),
    *((code, "brokerName", " ", "brokerName is blank") for code in GOOD if code != 105),
    (103, "brokerAddr", "a" * 1025, "brokerAddr has 1025 characters, over 1024"),
    (103, "haServerAddr", None, "haServerAddr is missing"),
    (103, "brokerId", "-1", "brokerId is '-1', not an integer in 0"),
    (103, "brokerId", "9223372036854775808", "not an integer in 0 .. 9223372036854775807"),
    (103, "brokerId", "one", "brokerId is 'one'"),
    (103, "heartbeatTimeoutMillis", "0", "heartbeatTimeoutMillis is '0'"),
    (103, "heartbeatTimeoutMillis", "1e3", "heartbeatTimeoutMillis is '1e3'"),
    (103, "enableActingMaster", "TRUE", "enableActingMaster is 'TRUE', not true or false"),
    (103, "compressed", "1", "compressed is '1', not true or false"),
    (103, "bodyCrc32", "1", "crc32 not match"),
    (103, "bodyCrc32", "-1", "crc32 not match"),
    (103, "bodyCrc32", "4294967295", "bodyCrc32 is '4294967295'"),
    (103, "bodyCrc32", "", "bodyCrc32 is ''"),
    (103, "__ZONE_NAME", "z" * 1025, "__ZONE_NAME has 1025 characters"),
    (105, "topic", None, "topic is missing"),
    (105, "topic", "", "topic is blank"),
    (105, "acceptStandardJsonOnly", "yes", "acceptStandardJsonOnly is 'yes'"),
    (901, "clusterName", None, "clusterName is missing"),
    (904, "brokerAddr", None, "brokerAddr is missing"),
]


@pytest.mark.parametrize(("code", "field", "value", "said"), WRONG_FIELDS)
def test_a_wrong_field_is_a_request_error(
    code: int, field: str, value: str | None, said: str
) -> None:
    with pytest.raises(RequestError, match=re.escape(said)):
        pull_name_server_request(changed(code, {field: value}))


@pytest.mark.parametrize("code", [0, 106, 905, 1003, -1])
def test_a_request_that_no_name_server_answers_is_refused(code: int) -> None:
    with pytest.raises(RequestError, match=f"request type {code} not supported"):
        pull_name_server_request(RemotingCommand(code=code, opaque=1))


def test_a_registration_of_an_ancient_release_is_refused() -> None:
    with pytest.raises(RequestError, match=re.escape("version is 36, before 3.0.11")):
        pull_name_server_request(replace(GOOD[103], version=36))


def test_a_checksum_of_zero_or_none_is_not_looked_at() -> None:
    for unchecked in ("0", None):
        assert pull_name_server_request(changed(103, {"bodyCrc32": unchecked})) == REGISTER


def test_what_a_heartbeat_to_a_controller_says_more_does_not_matter() -> None:
    more = {"epoch": "3", "maxOffset": "x", "heartbeatTimeoutMills": "1"}
    assert pull_name_server_request(changed(904, more)) == pull_name_server_request(GOOD[904])


@pytest.mark.parametrize("least", ["-1", "", "9223372036854775808"])
def test_a_notice_with_a_wrong_id_is_refused(least: str) -> None:
    with pytest.raises(RequestError, match="minBrokerId is"):
        pull_notification(RemotingCommand(code=905, opaque=1, ext_fields={"minBrokerId": least}))


# ---- bodies ----


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'{"counter":"1","stateVersion":1,"timestamp":1}']
)
def test_a_wrong_version_that_is_asked_for_is_a_packet_error(body: bytes) -> None:
    with pytest.raises(PacketError):
        pull_name_server_request(changed(322, {}, body))


ROUTE: Final = '{"brokerDatas":[BROKER],"filterServerTable":{},"queueDatas":[]}'
BROKER_JSON: Final = '{"brokerAddrs":{0:"h:1"},"brokerName":"b","cluster":"c"}'
QUEUE_JSON: Final = (
    '{"brokerName":"b","perm":6,"readQueueNums":1,"topicSysFlag":0,"writeQueueNums":1}'
)


@pytest.mark.parametrize(
    ("code", "body", "said"),
    [
        (105, b"", "TopicRouteData at byte 0: is not JSON"),
        (105, b"{}", "brokerDatas at byte 0: is missing"),
        (105, ROUTE.replace("BROKER", "1").encode(), "BrokerData at byte 0: is 1"),
        (105, ROUTE.replace("BROKER", '{"brokerAddrs":{}}').encode(), "cluster at byte 0"),
        (
            105,
            ROUTE.replace("BROKER", BROKER_JSON.replace("0:", "-1:")).encode(),
            "brokerAddrs at byte 0: have the key '-1'",
        ),
        (
            105,
            ROUTE.replace("BROKER", BROKER_JSON.replace("0:", '"00":')).encode(),
            "brokerAddrs at byte 0: have the key '00'",
        ),
        (
            105,
            ROUTE.replace("BROKER", BROKER_JSON)
            .replace('"queueDatas":[', '"queueDatas":[' + QUEUE_JSON.replace("6", "-6"))
            .encode(),
            "perm at byte 0: is -6",
        ),
        (
            105,
            b'{"brokerDatas":[],"filterServerTable":{"a":"b"},"queueDatas":[]}',
            "filter servers at byte 0: is 'b', not an array",
        ),
        (901, b"{}", "brokerMemberGroup at byte 0: is missing"),
        (901, b'{"brokerMemberGroup":{"cluster":"c","brokerName":"b"}}', "brokerAddrs"),
        (103, b"{}", "table at byte 0: is missing"),
        (103, b'{"table":{"a":1}}', "a at byte 0: is 1"),
    ],
)
def test_a_wrong_body_of_an_answer_is_a_packet_error(code: int, body: bytes, said: str) -> None:
    answer = RemotingCommand(code=0, opaque=1, flag=1, body=body)
    with pytest.raises(PacketError, match=re.escape(said)):
        pull_name_server_reply(answer, NameServerCode(code))


def test_a_wrong_field_of_an_answer_is_a_request_error() -> None:
    for fields in ({}, {"changed": "1"}):
        answer = RemotingCommand(code=0, opaque=1, flag=1, ext_fields=fields)
        with pytest.raises(RequestError, match="changed is"):
            pull_name_server_reply(answer, NameServerCode.QUERY_DATA_VERSION)
    with pytest.raises(RequestError, match="response code is 2, which is none"):
        pull_name_server_reply(
            RemotingCommand(code=2, opaque=1, flag=1), NameServerCode.BROKER_HEARTBEAT
        )


# ---- what is written ----


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(EncodingError, match="half a surrogate pair"):
        write_fastjson({"a": "\ud800"})


def test_a_client_gets_standard_json_if_it_is_new_or_asks_for_it() -> None:
    route = TopicRouteData(
        queue_datas=(),
        broker_datas=(
            BrokerData(
                cluster="c", broker_name="b", addresses={BrokerId(10): "h", BrokerId(9): "i"}
            ),
        ),
    )
    bodies = [
        push_name_server_reply(
            NameServerReply(answer=route),
            push_name_server_request(
                GetRouteInfo(topic="t", accept_standard_json_only=asks), opaque=1, version=version
            ),
        ).body
        for version, asks in (
            (RELEASE_4_9_4 - 1, None),
            (RELEASE_4_9_4 - 1, False),
            (RELEASE_4_9_4 - 1, True),
            (RELEASE_4_9_4, None),
        )
    ]
    standard = [b'{"9":"i","10":"h"}' in body for body in bodies]
    bare = [b'{10:"h",9:"i"}' in body for body in bodies]
    assert standard == [False, False, True, True]
    assert bare == [True, True, False, False]


@given(data_versions(), data_versions())
def test_versions_are_ordered_by_state_then_counter_then_time(
    one: DataVersion, other: DataVersion
) -> None:
    keys = [(v.state_version, v.counter, v.timestamp_ms) for v in (one, other)]
    assert (one < other, one == other) == (keys[0] < keys[1], keys[0] == keys[1])


def test_the_counter_decides_before_the_time() -> None:
    assert DataVersion(1, 2, TimestampMs(9)) < DataVersion(1, 3, TimestampMs(0))
    assert DataVersion(1, 9, TimestampMs(9)) < DataVersion(2, 0, TimestampMs(0))


@given(
    st.recursive(
        st.booleans() | st.integers(INT64_MIN, INT64_MAX) | texts(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
    )
)
def test_what_is_written_is_json(value: object) -> None:
    assert read_json(write_fastjson(value), "value") == value  # type: ignore[arg-type]


# ---- both ways ----


def through_a_frame(sent: RemotingCommand) -> RemotingCommand:
    """Write a command and read it again."""
    pulled = pull_command(push_command(sent))
    assert pulled is not None
    return pulled[0]


@given(name_server_requests(), st.sampled_from(Serialization))
def test_requests_survive_a_frame(
    request_: NameServerRequest, serialization: Serialization
) -> None:
    sent = push_name_server_request(request_, opaque=1, serialization=serialization)
    assert pull_name_server_request(through_a_frame(sent)) == request_


@given(registrations())
def test_registrations_survive_a_frame(request_: RegisterBroker) -> None:
    sent = push_name_server_request(request_, opaque=1)
    assert pull_name_server_request(through_a_frame(sent)) == request_


@given(notifications(), st.sampled_from(Serialization))
def test_notices_survive_a_frame(
    notice: NotifyMinBrokerIdChange, serialization: Serialization
) -> None:
    sent = push_notification(notice, opaque=1, serialization=serialization)
    assert sent.is_oneway
    assert pull_notification(through_a_frame(sent)) == notice


@given(
    name_server_answers(),
    st.sampled_from(Serialization),
    st.sampled_from((0, RELEASE_4_9_4, RELEASE_5_3_3)),
)
def test_answers_survive_a_frame(
    answer: tuple[NameServerCode, NameServerAnswer], serialization: Serialization, version: int
) -> None:
    asked = RemotingCommand(code=answer[0], opaque=7, version=version, serialization=serialization)
    reply = NameServerReply(answer=answer[1])

    sent = push_name_server_reply(reply, asked)

    assert (sent.opaque, sent.is_response, sent.serialization) == (7, True, serialization)
    assert pull_name_server_reply(through_a_frame(sent), answer[0]) == reply


@given(st.sampled_from(sorted(set(NameServerResponse) - {0})), st.sampled_from(NameServerCode))
def test_refusals_survive_a_frame(code: NameServerResponse, asked: NameServerCode) -> None:
    reply = NameServerReply(code=NameServerResponse(code), remark="no")
    sent = push_name_server_reply(reply, RemotingCommand(code=asked, opaque=7))
    assert pull_name_server_reply(through_a_frame(sent), asked) == reply


@given(st.sampled_from(sorted(GOOD)), st.data())
def test_hostile_fields_and_bodies_raise_nothing_else(code: int, data: st.DataObject) -> None:
    text = st.none() | st.text(max_size=6) | st.sampled_from(("1", "-1", "true", "0"))
    changes = {name: data.draw(text) for name in GOOD[code].ext_fields}
    json_like = st.sampled_from((VERSION_JSON, wrapper("{}"), b"[]", b"null"))
    body = data.draw(st.binary(max_size=60) | json_like)
    with contextlib.suppress(RequestError, PacketError):
        pull_name_server_request(changed(code, changes, body))


@given(st.sampled_from(NameServerCode), st.binary(max_size=60) | texts().map(str.encode))
def test_hostile_answers_raise_nothing_else(code: NameServerCode, body: bytes) -> None:
    answer = RemotingCommand(code=0, opaque=1, flag=1, ext_fields={"changed": "true"}, body=body)
    with contextlib.suppress(PacketError):
        pull_name_server_reply(answer, code)
