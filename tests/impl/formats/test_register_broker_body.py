"""The body of a registration with a name server, as JSON and compressed: wrong ones."""

from __future__ import annotations

import contextlib
import re
import tracemalloc
import zlib
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.errors import EncodingError, PacketError
from rocketha.formats.name_server_codec import (
    pull_name_server_request,
    push_name_server_request,
)
from rocketha.formats.name_server_codes import (
    RELEASE_5_0_0,
)
from rocketha.formats.name_server_requests import (
    RegisterBroker,
)
from rocketha.formats.register_broker_body import INFLATED_MAX
from rocketha.formats.remoting_command import FRAME_MAX, RemotingCommand
from tests.impl.formats.name_server_frames import (
    REGISTER,
    TOPIC,
    VERSION_JSON,
    with_body,
    wrapper,
)


def sized(data: bytes) -> bytes:
    """Put the length before something."""
    return len(data).to_bytes(4) + data


def deflated(*parts: bytes) -> RemotingCommand:
    """Make a registration with a compressed body of these parts."""
    return with_body(zlib.compress(b"".join(parts), 9), compressed=True)


# ---- bodies as JSON ----

TOPIC_JSON: Final = '{"topicName":"t","readQueueNums":1,"writeQueueNums":1,"perm":6}'
MAPPING_JSON: Final = (
    '{"bname":"b","currIdMap":{0:1},"dirty":false,"epoch":1,"scope":"s","topic":"t",'
    '"totalQueues":1}'
)


def topic_json(**changes: str) -> bytes:
    """Make a body with one topic of which members are changed."""
    members = {"topicName": '"t"', "readQueueNums": "1", "writeQueueNums": "1", "perm": "6"}
    inside = ",".join(f'"{name}":{text}' for name, text in {**members, **changes}.items())
    return wrapper(f'{{"t":{{{inside}}}}}')


def mapping_json(old: str, new: str) -> bytes:
    """Make a body with one static topic in which something is replaced."""
    assert old in MAPPING_JSON
    mapping = MAPPING_JSON.replace(old, new)
    return wrapper("{}", f',"topicQueueMappingInfoMap":{{"t":{mapping}}}')


WRONG_JSON: list[tuple[bytes, str]] = [
    (b"{", "is not JSON"),
    (b"\xff", "is not UTF-8"),
    (b"[]", "is [], not an object"),
    (b"{}", "topicConfigSerializeWrapper at byte 0: is missing or null"),
    (b"[" * 100_000, "is nested too deeply"),
    (wrapper("[]"), "topicConfigTable at byte 0: is [], not an object"),
    (wrapper("null"), "topicConfigTable at byte 0: is missing or null"),
    (wrapper("{}", version="null"), "dataVersion at byte 0: is missing or null"),
    (wrapper("{}", version="{}"), "stateVersion at byte 0: is missing or null"),
    (
        wrapper("{}", version='{"counter":1,"stateVersion":9223372036854775808,"timestamp":1}'),
        "stateVersion at byte 0: is 9223372036854775808",
    ),
    (wrapper('{"t":1}'), "TopicConfig at byte 0: is 1, not an object"),
    (wrapper(f'{{"u":{TOPIC_JSON}}}'), "has 't' under the name 'u'"),
    (wrapper(f'{{"t":{TOPIC_JSON},"t":{TOPIC_JSON}}}'), "has a name twice"),
    (topic_json(readQueueNums="-1"), "readQueueNums at byte 0: is -1"),
    (topic_json(writeQueueNums="2147483648"), "writeQueueNums at byte 0: is 2147483648"),
    (topic_json(perm='"6"'), "perm at byte 0: is '6', not an integer"),
    (topic_json(perm="1.5"), "has the number 1.5"),
    (topic_json(order="1"), "order at byte 0: is not true or false"),
    (topic_json(topicSysFlag="-1"), "topicSysFlag at byte 0: is -1"),
    (topic_json(topicFilterType='"NO_TAG"'), "topicFilterType at byte 0: is 'NO_TAG'"),
    (topic_json(attributes='{"a":1}'), "a at byte 0: is 1, not a text"),
    (topic_json(attributes="[]"), "is [], not an object"),
    (mapping_json('"totalQueues":1', '"totalQueues":-1'), "totalQueues at byte 0: is -1"),
    (mapping_json("{0:1}", "{0:-1}"), "0 at byte 0: is -1"),
    (mapping_json("{0:1}", "{-1:1}"), "currIdMap at byte 0: is -1"),
    (mapping_json("{0:1}", '{"00":1}'), "currIdMap at byte 0: is '00', not an integer"),
    (mapping_json('"epoch":1', '"epoch":"9223372036854775808"'), "epoch at byte 0"),
    (mapping_json('"epoch":1', '"epoch":"x"'), "epoch at byte 0: is 'x', not an integer"),
    (mapping_json('"topic":"t"', '"topic":"u"'), "has 'u' under the name 't'"),
    (b'{"filterServerList":null,' + wrapper("{}")[1:], "filterServerList at byte 0: is missing"),
    (b'{"filterServerList":[1],' + wrapper("{}")[1:], "filter server at byte 0: is 1"),
]


@pytest.mark.parametrize(("body", "said"), WRONG_JSON)
def test_a_wrong_body_of_a_registration_is_a_packet_error(body: bytes, said: str) -> None:
    with pytest.raises(PacketError, match=re.escape(said)):
        pull_name_server_request(with_body(body))


def test_what_rocketmq_has_defaults_for_may_be_missing() -> None:
    request = pull_name_server_request(with_body(wrapper(f'{{"t":{TOPIC_JSON}}}')))
    bare = replace(TOPIC, read_queue_nums=1, write_queue_nums=1)
    assert request == replace(REGISTER, topic_configs={"t": bare})


# ---- compressed bodies ----

VERSION: Final = sized(VERSION_JSON)
NONE: Final = bytes(4)
SERVERS: Final = sized(b"[]")
ONE_TOPIC: Final = (1).to_bytes(4)
MINUS_ONE: Final = b"\xff" * 4
HUGE: Final = b"\x7f" + b"\xff" * 3


def lines(*topics: bytes) -> tuple[bytes, ...]:
    """Make the parts of a compressed body of lines of topics."""
    counted = [len(topics).to_bytes(4), *map(sized, topics)]
    return (VERSION, *counted, SERVERS, NONE)


WRONG_PARTS: list[tuple[tuple[bytes, ...], str]] = [
    ((), "bytes of DataVersion at byte 0: has no number any more"),
    ((MINUS_ONE,), "bytes of DataVersion at byte 0: are -1, 0 bytes follow"),
    ((HUGE,), "bytes of DataVersion at byte 0: are 2147483647, 0 bytes follow"),
    ((sized(b"[]"),), "DataVersion at byte 0: is [], not an object"),
    ((VERSION, MINUS_ONE), "topics at byte 48: are -1"),
    ((VERSION, HUGE, NONE), "topics at byte 48: are 2147483647, 4 bytes follow"),
    ((VERSION, ONE_TOPIC, MINUS_ONE, SERVERS, NONE), "bytes of TopicConfig at byte 52: are -1"),
    (lines(b"t 1 1 6"), "TopicConfig at byte 0: has 4 fields"),
    (lines(b""), "TopicConfig at byte 0: has 1 fields"),
    (lines(b"t -1 1 6 SINGLE_TAG {}"), "TopicConfig at byte 0: has '-1', not an integer in 0"),
    (lines(b"t 1 2147483648 6 SINGLE_TAG {}"), "has '2147483648', not an integer"),
    (lines(b"t 1 +1 6 SINGLE_TAG {}"), "has '+1', not an integer"),
    (lines("t 1 1 ٣ SINGLE_TAG {}".encode()), "not an integer"),
    (lines(b"t 1 1 6 NO_TAG {}"), "topicFilterType at byte 0: is 'NO_TAG'"),
    (lines(b"t 1 1 6 SINGLE_TAG {"), "attributes at byte 1: is not JSON"),
    (lines(b't 1 1 6 SINGLE_TAG {"a":1}'), "a at byte 0: is 1, not a text"),
    (lines(b"\xff 1 1 6 SINGLE_TAG {}"), "TopicConfig at byte 0: is not UTF-8"),
    (lines(*2 * [b"t 1 1 6 SINGLE_TAG {}"]), "has the topic 't' twice"),
    ((VERSION, NONE, sized(b"{}"), NONE), "filterServerList at byte 0: is {}, not an array"),
    ((VERSION, NONE, sized(b"null"), NONE), "filterServerList at byte 0: is missing or null"),
    ((VERSION, NONE, SERVERS), "static topics at byte 58: has no number any more"),
    ((VERSION, NONE, SERVERS, MINUS_ONE), "static topics at byte 58: are -1"),
    (
        (VERSION, NONE, SERVERS, ONE_TOPIC, sized(b"{}")),
        "currIdMap at byte 0: is missing",
    ),
    (
        (VERSION, NONE, SERVERS, (2).to_bytes(4), *2 * [sized(MAPPING_JSON.encode())]),
        "has the topic 't' twice",
    ),
    ((VERSION, NONE, SERVERS, NONE, b"x"), "at byte 62: is followed by more than it has"),
]


@pytest.mark.parametrize(("parts", "said"), WRONG_PARTS)
def test_a_wrong_compressed_body_is_a_packet_error(parts: tuple[bytes, ...], said: str) -> None:
    with pytest.raises(PacketError, match=re.escape(said)):
        pull_name_server_request(deflated(*parts))


def test_a_compressed_body_is_one_whole_stream() -> None:
    whole = zlib.compress(b"".join(lines()))
    for body, said in (
        (b"{}", "does not inflate"),
        (whole[:-1], "ends inside the compressed data"),
        (whole + b"x", f"at byte {len(whole)}: is followed by more than it has"),
        (whole[:-1] + bytes([whole[-1] ^ 1]), "does not inflate"),
    ):
        with pytest.raises(PacketError, match=re.escape(said)):
            pull_name_server_request(with_body(body, compressed=True))


def test_a_compressed_body_that_is_said_to_be_none_is_a_packet_error() -> None:
    """As RocketMQ's brokers with `compressedRegister` send it."""
    with pytest.raises(PacketError, match="RegisterBrokerBody at byte 1: is not UTF-8"):
        pull_name_server_request(with_body(zlib.compress(b"".join(lines()), 9)))


def test_a_small_body_that_stands_for_gigabytes_is_refused_in_little_memory() -> None:
    deflater = zlib.compressobj(9)
    zeros = bytes(1 << 24)
    head, block = (deflater.compress(zeros) + deflater.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    bomb = head + 255 * block  # 4 GiB
    assert len(bomb) < FRAME_MAX
    sent = with_body(bomb, compressed=True)

    tracemalloc.start()
    with pytest.raises(PacketError, match=f"inflates to over {INFLATED_MAX} bytes"):
        pull_name_server_request(sent)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 4 * INFLATED_MAX


def test_as_much_as_is_allowed_is_inflated() -> None:
    size = INFLATED_MAX - len(b"".join(lines())) - 4 - len(b't 1 1 6 SINGLE_TAG {"a":""}')
    topic = b't 1 1 6 SINGLE_TAG {"a":"' + b"x" * size + b'"}'
    request = pull_name_server_request(deflated(*lines(topic)))
    assert isinstance(request, RegisterBroker)
    assert len(request.topic_configs["t"].attributes["a"]) == size
    with pytest.raises(PacketError, match="inflates to over"):
        pull_name_server_request(deflated(*lines(topic + b" ")))


def test_a_compressed_body_of_an_older_release_says_nothing_of_static_topics() -> None:
    body = zlib.compress(b"".join(lines()[:-1]))
    old = with_body(body, compressed=True, version=RELEASE_5_0_0 - 1)
    request = pull_name_server_request(old)
    assert request == replace(REGISTER, compressed=True, topic_configs={})


def test_attributes_may_be_missing_and_may_have_spaces() -> None:
    parts = lines(b"t 4 4 6 SINGLE_TAG ", b"u 4 4 6 SINGLE_TAG", b'v 4 4 6 SINGLE_TAG {"a": "b c"}')
    request = pull_name_server_request(deflated(*parts))
    assert isinstance(request, RegisterBroker)
    attributes = [dict(request.topic_configs[name].attributes) for name in "tuv"]
    assert attributes == [{}, {}, {"a": "b c"}]


@pytest.mark.parametrize("name", ["a b", "\ud800"])
def test_a_name_that_a_compressed_body_cannot_carry_is_refused(name: str) -> None:
    topics = {name: replace(TOPIC, topic_name=name)}
    with pytest.raises(EncodingError, match="topicName"):
        push_name_server_request(replace(REGISTER, compressed=True, topic_configs=topics), opaque=1)


@given(st.lists(st.sampled_from((VERSION, NONE, ONE_TOPIC, SERVERS, HUGE)) | st.binary(max_size=9)))
def test_hostile_compressed_bodies_raise_nothing_else(parts: list[bytes]) -> None:
    with contextlib.suppress(PacketError):
        pull_name_server_request(deflated(*parts))
