"""A name server's frames as released RocketMQ writes them: read, and written again as they were."""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rocketha.errors import PacketError, RequestError
from rocketha.formats.broker_member_group import BrokerMemberGroup
from rocketha.formats.name_server_codec import (
    pull_name_server_reply,
    pull_name_server_request,
    pull_notification,
    push_name_server_reply,
    push_name_server_request,
    push_notification,
)
from rocketha.formats.name_server_codes import (
    CRC_REMARK,
    NOT_SET_REMARK,
    REGISTER_FAILED_REMARK,
    NameServerCode,
    NameServerResponse,
    no_route_remark,
)
from rocketha.formats.name_server_requests import (
    BrokerData,
    BrokerHeartbeat,
    DataVersion,
    GetBrokerMemberGroup,
    GetRouteInfo,
    NameServerReply,
    NameServerRequest,
    NotifyMinBrokerIdChange,
    QueryDataVersion,
    QueryDataVersionResult,
    QueueData,
    RegisterBroker,
    RegisterBrokerResult,
    TopicConfig,
    TopicFilterType,
    TopicQueueMappingInfo,
    TopicRouteData,
    UnregisterBroker,
)
from rocketha.formats.remoting_command import Language, RemotingCommand
from rocketha.formats.remoting_frame import pull_command, push_command
from rocketha.types import INT32_MAX, INT64_MAX, INT64_MIN, BrokerId, TimestampMs

FOLDER: Final = Path(__file__).parents[2] / "golden" / "name_server"
RELEASES: Final = ("5.3.3", "5.5.0")
NEWEST: Final = RELEASES[-1]

T: Final = TimestampMs(1_700_000_000_000)
A, B, D = "127.0.0.1:10911", "127.0.0.1:10912", "127.0.0.1:10913"
ZERO, ONE, TWO, TWELVE, MOST = (BrokerId(number) for number in (0, 1, 2, 12, INT64_MAX))


def frames(release: str) -> dict[str, bytes]:
    """Read the frames of a release by name: > is a request, < its answer, ! a notice."""
    lines = (FOLDER / f"frames-{release}.tsv").read_text("ascii").splitlines()
    named = dict(line.split("\t") for line in lines)
    assert len(named) == len(lines)
    return {name: bytes.fromhex(digits) for name, digits in named.items()}


FRAMES: Final = {release: frames(release) for release in RELEASES}
NAMES: Final = tuple(FRAMES[NEWEST])
REQUESTS: Final = tuple(name for name in NAMES if name.endswith(">"))
ANSWERS: Final = tuple(name for name in NAMES if name.endswith("<"))
NOTICES: Final = tuple(name for name in NAMES if name.endswith("!"))

REFUSED: Final = {"wrong_checksum>": "crc32 not match", "not_supported>": "99999 not supported"}
WITHOUT_BODY: Final = "without_body>"


def command(release: str, name: str) -> RemotingCommand:
    """Read one golden frame."""
    pulled = pull_command(FRAMES[release][name])
    assert pulled is not None
    read, size = pulled
    assert size == len(FRAMES[release][name])
    return read


def question(release: str, answer: str) -> RemotingCommand:
    """Read the frame that a golden answer belongs to."""
    return command(release, answer.replace("<", ">"))


def as_java(written: RemotingCommand, original: RemotingCommand) -> RemotingCommand:
    """Let a command say that it is of the release that wrote the other one."""
    return replace(written, language=Language.JAVA, version=original.version)


def characters() -> str:
    """Give each character that a JSON writer may treat in its own way, as Frames.java does."""
    single = (0xD7FF, 0xE000, 0xFEFF, 0xFFFD, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF)
    return "".join(map(chr, (*range(0x180), *range(0x2000, 0x2070), *single)))


def test_both_releases_say_the_same() -> None:
    assert [tuple(FRAMES[release]) for release in RELEASES] == [NAMES, NAMES]
    assert set(REQUESTS) | set(ANSWERS) | set(NOTICES) == set(NAMES)
    asked = {command(NEWEST, name).code for name in (*REQUESTS, *NOTICES)} - {99999}
    assert asked == set(NameServerCode)
    answered = {command(NEWEST, name).code for name in ANSWERS}
    assert answered == set(NameServerResponse)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", [name for name in REQUESTS if name not in REFUSED])
def test_a_request_is_read_and_written_as_it_was(release: str, name: str) -> None:
    original = command(release, name)
    request = pull_name_server_request(original)

    written = push_name_server_request(
        request, opaque=original.opaque, serialization=original.serialization
    )

    again = as_java(written, original)
    if name == WITHOUT_BODY:
        assert pull_name_server_request(written) == request
        return
    if isinstance(request, RegisterBroker) and request.compressed:
        # Other builds of zlib may write other bytes for the same.
        assert zlib.decompress(again.body) == zlib.decompress(original.body)
        again = replace(again, body=original.body, ext_fields=original.ext_fields)
    if original.ext_fields.get("bodyCrc32") == "0":
        again = replace(again, ext_fields={**again.ext_fields, "bodyCrc32": "0"})
    assert again == original


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("name", "said"), REFUSED.items())
def test_what_a_name_server_refuses_is_refused(release: str, name: str, said: str) -> None:
    with pytest.raises(RequestError, match=said) as caught:
        pull_name_server_request(command(release, name))
    answer = command(release, name.replace(">", "<"))
    assert (answer.remark or "").strip() == str(caught.value)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", [name for name in ANSWERS if name != "not_supported<"])
def test_an_answer_is_read_and_its_frame_is_written_as_it_was(release: str, name: str) -> None:
    original, asked = command(release, name), question(release, name)
    reply = pull_name_server_reply(original, NameServerCode(asked.code))

    written = as_java(push_name_server_reply(reply, asked), original)

    if release != NEWEST and name.startswith("characters"):  # it escapes more of them
        assert reply == pull_name_server_reply(command(NEWEST, name), NameServerCode(asked.code))
        assert replace(written, body=b"") == replace(original, body=b"")
    else:
        assert push_command(written) == FRAMES[release][name]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", NOTICES)
def test_a_notice_is_read_and_written_as_it_was(release: str, name: str) -> None:
    original = command(release, name)
    notice = pull_notification(original)
    assert as_java(push_notification(notice, opaque=original.opaque), original) == original


# ---- what they say ----

PLAIN: Final = TopicConfig(topic_name="t", read_queue_nums=4, write_queue_nums=5, perm=6)
ORDERED: Final = TopicConfig(
    topic_name="u",
    read_queue_nums=8,
    write_queue_nums=9,
    perm=7,
    topic_filter_type=TopicFilterType.MULTI_TAG,
    topic_sys_flag=3,
    order=True,
    attributes={"message.type": "FIFO", "k": 'a "b"/ü'},
)
THIRD: Final = TopicConfig(
    topic_name="topic-of-ours_%|", read_queue_nums=1, write_queue_nums=2, perm=4
)
MASTER: Final = RegisterBroker(
    cluster_name="c",
    broker_name="g",
    broker_address=A,
    broker_id=ZERO,
    ha_server_address="127.0.0.1:10921",
    heartbeat_timeout_ms=10_000,
    enable_acting_master=True,
    data_version=DataVersion(3, 5, T),
    topic_configs={"t": PLAIN, "u": ORDERED, THIRD.topic_name: THIRD},
    filter_servers=("127.0.0.1:1", "h:2"),
    mapping_data_version=DataVersion(0, 0, TimestampMs(T + 1)),
)
STATIC: Final = {
    "t": TopicQueueMappingInfo(
        topic="t",
        scope="__global__",
        total_queues=4,
        broker_name="g",
        epoch=2**53 + 1,
        queue_ids={0: 2, 1: 1, 2: 0},
    ),
    "u": TopicQueueMappingInfo(
        topic="u", scope="__global__", total_queues=1, broker_name="g", epoch=2**53 - 1
    ),
}
COMPRESSED: Final = replace(
    MASTER,
    compressed=True,
    topic_configs={**MASTER.topic_configs, "u": replace(ORDERED, order=False, topic_sys_flag=0)},
    mapping_data_version=None,
)

SAID: dict[str, NameServerRequest] = {
    "master>": MASTER,
    "compressed>": COMPRESSED,
    "static_topic>": replace(
        MASTER,
        data_version=DataVersion(4, 5, T),
        topic_configs={"t": PLAIN, "u": ORDERED},
        filter_servers=(),
        topic_queue_mappings=STATIC,
    ),
    "old_broker>": replace(
        MASTER,
        broker_id=ONE,
        broker_address=D,
        ha_server_address="127.0.0.1:10923",
        heartbeat_timeout_ms=None,
        enable_acting_master=None,
        data_version=DataVersion(0, 5, T),
        topic_configs={"t": PLAIN, "u": ORDERED},
        filter_servers=(),
    ),
    WITHOUT_BODY: replace(
        MASTER,
        broker_id=ONE,
        broker_address=D,
        ha_server_address="127.0.0.1:10923",
        data_version=DataVersion(0, 0, TimestampMs(0)),
        topic_configs={},
        filter_servers=(),
        mapping_data_version=None,
    ),
    "other_version>": QueryDataVersion(
        cluster_name="c",
        broker_name="g",
        broker_address=A,
        broker_id=ZERO,
        data_version=DataVersion(-1, INT64_MAX, TimestampMs(INT64_MIN)),
    ),
    "route>": GetRouteInfo(topic="u"),
    "route_for_an_old_client>": GetRouteInfo(topic="t", accept_standard_json_only=False),
    "members_binary>": GetBrokerMemberGroup(cluster_name="c", broker_name="g"),
    "characters_members>": GetBrokerMemberGroup(cluster_name="c", broker_name=characters()),
    "heartbeat>": BrokerHeartbeat(cluster_name="c", broker_name="g", broker_address=A),
    "unregister>": UnregisterBroker(
        cluster_name="c", broker_name="g", broker_address=A, broker_id=ZERO
    ),
}

KV: Final = {"u": "g:8"}
QUEUES: Final = QueueData(
    broker_name="g", read_queue_nums=8, write_queue_nums=9, perm=7, topic_sys_flag=3
)
FULL: Final = TopicRouteData(
    queue_datas=(QUEUES,),
    broker_datas=(
        BrokerData(
            cluster="c",
            broker_name="g",
            addresses={ZERO: A, ONE: D, TWO: B, TWELVE: "a:1"},
            enable_acting_master=True,
        ),
    ),
    filter_server_table={A: ("127.0.0.1:1", "h:2"), "a:1": ("h:3",)},
    order_topic_conf="g:8",
)
ANSWERED: dict[str, NameServerReply] = {
    "first_with_one_topic<": NameServerReply(
        code=NameServerResponse.SYSTEM_ERROR, remark=REGISTER_FAILED_REMARK
    ),
    "wrong_checksum<": NameServerReply(code=NameServerResponse.SYSTEM_ERROR, remark=CRC_REMARK),
    "empty_group<": NameServerReply(
        remark=NOT_SET_REMARK,
        answer=BrokerMemberGroup(cluster_name="c", broker_name="g", addresses={}),
    ),
    "characters_members<": NameServerReply(
        remark=NOT_SET_REMARK,
        answer=BrokerMemberGroup(
            cluster_name="c",
            broker_name=characters(),
            addresses={BrokerId(3): "h:3", MOST: f"h:{INT64_MAX}"},
        ),
    ),
    "no_version<": NameServerReply(answer=QueryDataVersionResult(changed=True)),
    "same_version<": NameServerReply(
        answer=QueryDataVersionResult(changed=False, data_version=DataVersion(4, 5, T))
    ),
    "slave_again<": NameServerReply(
        answer=RegisterBrokerResult(
            ha_server_address="127.0.0.1:10921", master_address=A, kv_table=KV
        )
    ),
    "loser<": NameServerReply(answer=RegisterBrokerResult(kv_table=KV)),
    "characters_3<": NameServerReply(answer=RegisterBrokerResult()),
    "no_route<": NameServerReply(
        code=NameServerResponse.TOPIC_NOT_EXIST, remark=no_route_remark("v")
    ),
    "route_with_filter_servers<": NameServerReply(answer=FULL),
    "acting_master<": NameServerReply(
        answer=replace(
            FULL,
            queue_datas=(replace(QUEUES, perm=5),),
            broker_datas=(
                BrokerData(
                    cluster="c",
                    broker_name="g",
                    addresses={ZERO: B, TWELVE: "a:1"},
                    enable_acting_master=True,
                ),
            ),
            filter_server_table={"a:1": ("h:3",)},
            topic_queue_mappings={"g": STATIC["u"]},
        )
    ),
    "heartbeat<": NameServerReply(),
    "unregister<": NameServerReply(),
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", SAID)
def test_a_request_says_what_was_asked(release: str, name: str) -> None:
    assert pull_name_server_request(command(release, name)) == SAID[name]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", ANSWERED)
def test_an_answer_says_what_was_answered(release: str, name: str) -> None:
    asked = NameServerCode(question(release, name).code)
    assert pull_name_server_reply(command(release, name), asked) == ANSWERED[name]


@pytest.mark.parametrize("release", RELEASES)
def test_notices_say_who_came_and_who_went(release: str) -> None:
    come, gone = (pull_notification(command(release, name)) for name in NOTICES)
    assert come == NotifyMinBrokerIdChange(
        min_broker_id=ZERO,
        min_broker_address=A,
        offline_broker_address=None,
        ha_broker_address="127.0.0.1:10921",
    )
    assert gone == NotifyMinBrokerIdChange(
        min_broker_id=TWO,
        min_broker_address=B,
        offline_broker_address=A,
        ha_broker_address=None,
    )


def test_the_route_of_a_group_with_the_greatest_id_is_read_in_both_spellings() -> None:
    queues = QueueData(
        broker_name=characters(),
        read_queue_nums=INT32_MAX - 1,
        write_queue_nums=INT32_MAX,
        perm=4,
        topic_sys_flag=0,
    )
    for name in ("characters_route<", "characters_route_for_an_old_client<"):
        route = pull_name_server_reply(
            command(NEWEST, name), NameServerCode.GET_ROUTEINFO_BY_TOPIC
        ).answer
        assert isinstance(route, TopicRouteData)
        assert route.queue_datas == (queues,)
        assert route.broker_datas[0].addresses == {ZERO: "h:3", MOST: f"h:{INT64_MAX}"}


# ---- damaged ----


def read(name: str, damaged: RemotingCommand) -> None:
    """Read a request or an answer."""
    if name in REQUESTS:
        pull_name_server_request(damaged)
    else:
        pull_name_server_reply(damaged, NameServerCode(question(NEWEST, name).code))


DAMAGED: Final = [
    name
    for name in (*REQUESTS, *ANSWERS)
    if not name.startswith(("characters", "not_supported")) and command(NEWEST, name).body
]


@pytest.mark.parametrize("name", DAMAGED)
def test_a_body_that_ends_too_early_is_refused(name: str) -> None:
    whole = command(NEWEST, name)
    fields = {**whole.ext_fields, "bodyCrc32": "0"}
    for size in range(1, len(whole.body)):
        cut = replace(whole, body=whole.body[:size], ext_fields=fields)
        with pytest.raises(PacketError):
            read(name, cut)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_flipped_bit_is_refused_or_other_data(name: str) -> None:
    whole = command(NEWEST, name)
    fields = {**whole.ext_fields, "bodyCrc32": "0"}
    for at in range(len(whole.body)):
        body = bytearray(whole.body)
        body[at] ^= 1 << at % 8
        with contextlib.suppress(RequestError, PacketError):
            read(name, replace(whole, body=bytes(body), ext_fields=fields))


CHECKED: Final = [
    name
    for name in DAMAGED
    if command(NEWEST, name).ext_fields.get("bodyCrc32", "0") != "0" and name not in REFUSED
]


@pytest.mark.parametrize("name", CHECKED)
def test_a_flipped_bit_of_a_registration_is_seen_by_its_checksum(name: str) -> None:
    whole = command(NEWEST, name)
    for at in range(len(whole.body)):
        body = bytearray(whole.body)
        body[at] ^= 1 << at % 8
        with pytest.raises(RequestError, match=CRC_REMARK):
            pull_name_server_request(replace(whole, body=bytes(body)))
