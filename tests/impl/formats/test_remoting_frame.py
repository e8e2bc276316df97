"""RemotingCommand frames byte by byte, in both header serialisations, and hostile ones."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.format_strategies import cuts, remoting_commands
from rocketha.errors import EncodingError, PacketError
from rocketha.formats.packet_stream import PacketStream
from rocketha.formats.remoting_command import (
    EXT_FIELDS_MAX,
    FLAG_RESPONSE,
    FRAME_MAX,
    HEADER_MAX,
    Language,
    RemotingCommand,
    Serialization,
)
from rocketha.formats.remoting_frame import (
    command_stream,
    frame_stream,
    pull_command,
    push_answer,
    push_command,
)
from tests.golden.generate import COMMANDS, golden_frames
from tests.source_files import ROOT

GOLDEN: Final = {
    path.name: path.read_bytes() for path in (ROOT / "tests/golden/remoting").iterdir()
}

JSON, ROCKETMQ = Serialization.JSON, Serialization.ROCKETMQ

# By hand, after the tables; RocketMQ's own test says 35 bytes for this header.
BY_HAND: Final = bytes.fromhex(
    "00000029 01 000023"  # 4 + 35 + 2, ROCKETMQ, 35
    "0067 00 091D 00000007 00000002"  # code 103, JAVA, 2333, opaque 7, one way
    "00000000 0000000E 0003 6B6579 00000005 76616C7565"  # no remark; key = value
    "6869"
)
BY_HAND_COMMAND: Final = RemotingCommand(
    code=103,
    opaque=7,
    flag=2,
    language=Language.JAVA,
    version=2333,
    ext_fields={"key": "value"},
    body=b"hi",
    serialization=ROCKETMQ,
)


def framed(header: bytes, serialization: int = JSON, body: bytes = b"") -> bytes:
    """Put any header into a frame."""
    word = serialization << 24 | len(header)
    return struct.pack(">II", 4 + len(header) + len(body), word) + header + body


def json_frame(changes: str = "", text: str = "") -> bytes:
    """Make a frame of a good JSON header with one name changed, or of any text."""
    name, _, value = changes.partition("=")
    header = {
        "code": "1001",
        "flag": "0",
        "language": '"JAVA"',
        "opaque": "1",
        "version": "0",
    } | ({name: value} if name else {})
    members = ",".join(f'"{key}":{value}' for key, value in header.items() if value)
    return framed((text or "{" + members + "}").encode())


def binary_frame(rest: str, fixed: str = "03E9 00 0000 00000001 00000000") -> bytes:
    """Make a frame of a binary header from hexadecimal digits."""
    return framed(bytes.fromhex(fixed + rest), ROCKETMQ)


# name, the bytes, what the error says
REFUSED: list[tuple[str, bytes, str]] = [
    ("length 0", bytes(4), "frame length at byte 0: is 0, below 4"),
    ("length 3", bytes.fromhex("00000003"), "frame length at byte 0: is 3"),
    ("negative length", bytes.fromhex("FFFFFFFF"), "frame length at byte 0: is -1"),
    ("length over the bound", bytes.fromhex("00FFFFFD"), "over 16777212"),
    ("a protocol of others", b"GET / HTTP/1.1\r\n", "frame length at byte 0: is 1195725856"),
    ("serialisation 2", bytes.fromhex("00000010 02000004"), "serialisation at byte 4: is 2"),
    ("serialisation 255", bytes.fromhex("00000010 FF000004"), "serialisation at byte 4: is 255"),
    ("header over the frame", bytes.fromhex("00000010 0000000D"), "byte 5: is 13, 12 bytes follow"),
    (
        "header over the bound",
        struct.pack(">II", FRAME_MAX - 4, HEADER_MAX + 1),
        "header length at byte 5: is 1048577, over 1048576",
    ),
    ("no header", bytes.fromhex("00000004 00000000"), "header at byte 8: is not JSON"),
    ("JSON that ends early", json_frame(text='{"code":1'), "header at byte 17: is not JSON"),
    ("two JSON texts", json_frame(text="{}{}"), "is not JSON: Extra data"),
    ("an array", json_frame(text="[]"), "header at byte 8: is [], not an object"),
    ("JSON null", json_frame(text="null"), "header at byte 8: is missing or null"),
    ("JSON in Latin-1", framed(b'{"remark":"\xfc"}'), "header at byte 19: is not UTF-8"),
    ("a name twice", json_frame(text='{"code":1,"code":1}'), "has a name twice"),
    ("deep nesting", json_frame(text="[" * 100_000), "header at byte 8: is nested too deeply"),
    ("quotes without end", json_frame(text='"' + '\\"' * 400_000), "is not JSON: Unterminated"),
    ("a backslash at the end", json_frame(text='{"a\\'), "is not JSON"),
    ("half a surrogate pair", json_frame('remark="\\ud800"'), "half a surrogate pair"),
    ("NaN", json_frame("code=NaN"), "the number NaN"),
    ("a fraction", json_frame("code=1.0"), "the number 1.0"),
    ("a long integer", json_frame("code=" + "9" * 5000), "an integer of 5000 digits"),
    ("no code", json_frame("code="), "code at byte 8: is missing or null"),
    ("no opaque", json_frame("opaque=null"), "opaque at byte 8: is missing or null"),
    ("a code as text", json_frame('code="1"'), "code at byte 8: is '1', not an integer"),
    ("a code as truth", json_frame("code=true"), "code at byte 8: is True, not an integer"),
    ("a code of 33 bits", json_frame("code=2147483648"), "code at byte 8: is 2147483648, not in"),
    ("unknown language", json_frame('language="COBOL"'), "language at byte 8: is 'COBOL'"),
    ("language as number", json_frame("language=0"), "language at byte 8: is 0, not a text"),
    ("fields as array", json_frame("extFields=[]"), "extFields at byte 8: is [], not an object"),
    ("a field as number", json_frame('extFields={"a":1}'), "a at byte 8: is 1, not a text"),
    ("a field without name", json_frame('extFields={"":"a"}'), "a field without a name"),
    (
        "too many fields",
        json_frame("extFields={" + ",".join(f'"{n}":"a"' for n in range(513)) + "}"),
        "are 513 fields",
    ),
    (
        "ROCKETMQ in a JSON header",
        json_frame('serializeTypeCurrentRPC="ROCKETMQ"'),
        "is 'ROCKETMQ' in a JSON header",
    ),
    ("short binary header", binary_frame("", fixed="03E9"), "header at byte 8: has 2 bytes"),
    (
        "unknown language code",
        binary_frame("0000000000000000", fixed="03E9 0E 0000 00000001 00000000"),
        "language at byte 10: is 14",
    ),
    ("no remark length", binary_frame("000000"), "remark at byte 21: has no length"),
    ("negative remark", binary_frame("FFFFFFFF 00000000"), "remark at byte 25: has -1 bytes"),
    ("remark too long", binary_frame("00000005 00000000"), "has 5 bytes, 4 follow"),
    ("remark in Latin-1", binary_frame("00000001 FC 00000000"), "remark at byte 25: is not UTF-8"),
    ("no field length", binary_frame("00000000"), "extFields at byte 25: has no length"),
    ("negative fields", binary_frame("00000000 FFFFFFFF"), "extFields at byte 29: has -1 bytes"),
    ("fields end early", binary_frame("00000000 00000007 0001"), "has 7 bytes, 2 follow"),
    ("bytes behind them", binary_frame("00000000 00000000 00"), "have 0 bytes, 1 follow"),
    ("field without name", binary_frame("00000000 00000006 0000 00000000"), "byte 29: is empty"),
    ("negative name", binary_frame("00000000 00000006 FFFF 00000000"), "has -1 bytes"),
    ("no value", binary_frame("00000000 00000003 0001 61"), "field value at byte 32: has no"),
    ("negative value", binary_frame("00000000 00000007 0001 61 80000000"), "has -2147483648"),
    ("value too long", binary_frame("00000000 00000007 0001 61 00000001"), "has 1 bytes, 0 follow"),
    (
        "a field twice",
        binary_frame("00000000 0000000E 0001 61 00000000 0001 61 00000000"),
        "field name at byte 36: 'a' is there twice",
    ),
    (
        "too many binary fields",
        binary_frame(
            f"00000000 {9 * (EXT_FIELDS_MAX + 1):08X}"
            + "".join(f"0003 {f'{n:03d}'.encode().hex()} 00000000" for n in range(513))
        ),
        "are over 512 fields",
    ),
]


def _outcome(pieces: Sequence[bytes]) -> tuple[list[RemotingCommand], str | None]:
    """Feed pieces one after the other; return the commands and how it failed."""
    stream: PacketStream[RemotingCommand] = command_stream()
    commands: list[RemotingCommand] = []
    for piece in pieces:
        stream.feed(piece)
        try:
            while (command := stream.next_packet()) is not None:
                commands.append(command)
        except PacketError:
            break
    return commands, str(stream.failure) if stream.failure else None


def _bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def test_a_frame_that_was_assembled_by_hand_is_read_and_written() -> None:
    assert pull_command(BY_HAND) == (BY_HAND_COMMAND, len(BY_HAND))
    assert push_command(BY_HAND_COMMAND) == BY_HAND


def test_a_small_frame_that_is_looked_at_again_is_read_once() -> None:
    first, again = pull_command(BY_HAND), pull_command(bytearray(BY_HAND + b"more"))

    assert first is not None
    assert again is not None
    assert again[0] is first[0]


def test_a_json_frame_has_the_names_in_order_and_no_spaces() -> None:
    command = replace(BY_HAND_COMMAND, serialization=JSON, remark="r")
    header = (
        b'{"code":103,"extFields":{"key":"value"},"flag":2,"language":"JAVA","opaque":7,'
        b'"remark":"r","serializeTypeCurrentRPC":"JSON","version":2333}'
    )

    assert push_command(command) == framed(header, JSON, b"hi")
    assert pull_command(framed(header, JSON, b"hi")) == (command, 8 + len(header) + 2)


def test_headers_without_remark_and_fields_have_rocketmqs_sizes() -> None:
    """Source: RocketMQSerializableTest, 21 bytes for neither, 34 for a remark of 13."""
    bare = replace(BY_HAND_COMMAND, ext_fields={}, body=b"")

    assert len(push_command(bare)) == 8 + 21
    assert len(push_command(replace(bare, remark="Sample Remark"))) == 8 + 34


def test_what_rocketmqs_other_clients_leave_out_may_be_missing() -> None:
    text = '{"code":1004,"language":"GO","version":317,"opaque":3,"flag":0,"remark":"","new":[1]}'

    pulled = pull_command(framed(text.encode()))

    assert pulled is not None
    assert pulled[0] == RemotingCommand(code=1004, language=Language.GO, version=317, opaque=3)


@pytest.mark.parametrize("fields", ["", '"extFields":{},'], ids=["none", "empty"])
def test_a_header_with_an_empty_map_of_fields_is_written_back_as_it_came(fields: str) -> None:
    """Both texts are what `RemotingCommand.encode` of 5.3.3 and 5.5.0 wrote."""
    header = (
        f'{{"code":1005,{fields}"flag":0,"language":"JAVA","opaque":8,'
        '"serializeTypeCurrentRPC":"JSON","version":0}'
    )
    frame = framed(header.encode(), JSON)

    pulled = pull_command(frame)

    assert pulled is not None
    assert pulled[0] == RemotingCommand(code=1005, opaque=8, language=Language.JAVA)
    assert push_command(pulled[0]) == frame
    binary = replace(pulled[0], serialization=ROCKETMQ)
    assert push_command(binary) == push_command(replace(binary, empty_fields=False))


def test_fields_of_a_binary_header_are_written_back_in_the_order_they_came() -> None:
    """The order is that of RocketMQ 5.5.0, which asks for an id so."""
    fields = {"clusterName": "rocketproof", "brokerName": "g"}
    sizes = [(struct.pack(">h", len(n)), struct.pack(">i", len(v))) for n, v in fields.items()]
    parts = [
        name_size + name.encode() + value_size + value.encode()
        for (name_size, value_size), (name, value) in zip(sizes, fields.items(), strict=True)
    ]
    fixed = struct.pack(">hbhiiii", 1012, Language.JAVA, 511, 2, 0, 0, sum(map(len, parts)))
    frame = framed(fixed + b"".join(parts), ROCKETMQ)

    pulled = pull_command(frame)

    assert pulled is not None
    assert pulled[0].ext_fields == fields
    assert push_command(pulled[0]) == frame
    in_json = replace(pulled[0], serialization=JSON)
    assert b'{"brokerName":"g","clusterName":"rocketproof"}' in push_command(in_json)


@given(
    st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=5), max_size=2) | st.none(),
    st.text(min_size=1, max_size=5) | st.none(),
    st.integers(0, 3),
)
def test_a_json_header_has_the_same_values_when_it_is_written_back(
    fields: dict[str, str] | None, remark: str | None, flag: int
) -> None:
    values = {
        "code": 1005,
        "flag": flag,
        "language": "JAVA",
        "opaque": 8,
        "version": 479,
        **({} if fields is None else {"extFields": fields}),
        **({} if remark is None else {"remark": remark}),
        "serializeTypeCurrentRPC": "JSON",
    }

    pulled = pull_command(framed(json.dumps(values).encode(), JSON))

    assert pulled is not None
    assert json.loads(push_command(pulled[0])[8:]) == values


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_golden_frames_are_what_we_write_and_read(name: str) -> None:
    assert set(GOLDEN) == set(COMMANDS)
    assert golden_frames()[name] == GOLDEN[name]
    assert pull_command(GOLDEN[name]) == (COMMANDS[name], len(GOLDEN[name]))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_cut_golden_frame_waits_for_more(name: str) -> None:
    for size in range(len(GOLDEN[name])):
        assert pull_command(GOLDEN[name][:size]) is None


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_flipped_bit_of_a_golden_frame_gives_a_command_a_wait_or_the_error(
    name: str,
) -> None:
    refused = 0
    for bit in range(len(GOLDEN[name]) * 8):
        data = bytearray(GOLDEN[name])
        data[bit // 8] ^= 1 << bit % 8
        try:
            pulled = pull_command(data)
        except PacketError:
            refused += 1
        else:
            # A frame that became shorter or longer is the one outcome with another size.
            assert pulled is None or bit < 32 or pulled[1] == len(GOLDEN[name])
    assert refused > 30


@pytest.mark.parametrize(
    ("data", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_wrong_frame_is_one_typed_error_and_the_stream_stays_failed(
    data: bytes, said: str
) -> None:
    stream = command_stream()

    stream.feed(data)
    with pytest.raises(PacketError, match=re.escape(said)):
        stream.next_packet()

    stream.feed(BY_HAND)
    with pytest.raises(PacketError, match=re.escape(said)):
        stream.next_packet()
    assert stream.buffered == 0


def test_frames_are_cut_off_whole_whatever_their_headers_say() -> None:
    no_header = framed(b"no header", JSON, b"hi")
    stream = frame_stream()
    for piece in _bytewise(BY_HAND + no_header + BY_HAND[:9]):
        stream.feed(piece)
    assert [stream.next_packet() for _ in range(3)] == [BY_HAND, no_header, None]
    with pytest.raises(PacketError, match="header"):
        pull_command(no_header)


def test_a_stream_of_frames_fails_at_a_wrong_prefix() -> None:
    stream = frame_stream()
    stream.feed(BY_HAND + struct.pack(">I", FRAME_MAX - 3))
    assert stream.next_packet() == BY_HAND
    with pytest.raises(PacketError, match="frame length"):
        stream.next_packet()


def test_a_frame_that_is_too_large_is_refused_before_it_arrives() -> None:
    with pytest.raises(PacketError, match="frame length"):
        pull_command(struct.pack(">I", FRAME_MAX - 3))


def test_the_largest_frame_passes() -> None:
    header = len(push_command(replace(BY_HAND_COMMAND, body=b"")))
    largest = replace(BY_HAND_COMMAND, body=bytes(FRAME_MAX - header))

    assert pull_command(push_command(largest)) == (largest, FRAME_MAX)
    with pytest.raises(EncodingError, match="16777217 bytes"):
        push_command(replace(largest, body=largest.body + b"\0"))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (replace(BY_HAND_COMMAND, code=50000), "code: is 50000, which has no 16 bits"),
        (replace(BY_HAND_COMMAND, version=-40000), "version: is -40000"),
        (replace(BY_HAND_COMMAND, ext_fields={"": "a"}), "field name: has 0 bytes"),
        (replace(BY_HAND_COMMAND, ext_fields={"a" * 32768: ""}), "field name: has 32768 bytes"),
        (replace(BY_HAND_COMMAND, remark="\ud800"), "remark: has half a surrogate pair"),
        (replace(BY_HAND_COMMAND, remark="\ud800", serialization=JSON), "half a surrogate pair"),
        (replace(BY_HAND_COMMAND, remark="a" * HEADER_MAX), "header: has 1048611 bytes"),
    ],
)
def test_what_a_frame_cannot_carry_is_refused(command: RemotingCommand, said: str) -> None:
    with pytest.raises(EncodingError, match=said):
        push_command(command)


def test_the_flags_tell_requests_from_responses() -> None:
    assert [replace(BY_HAND_COMMAND, flag=flag).is_response for flag in range(4)] == [
        False,
        True,
        False,
        True,
    ]
    assert BY_HAND_COMMAND.is_oneway


@given(st.data())
def test_commands_survive_any_fragmentation(data: st.DataObject) -> None:
    commands = data.draw(st.lists(remoting_commands(), max_size=3))
    sent = b"".join(push_command(command) for command in commands)

    expected: tuple[list[RemotingCommand], str | None] = (commands, None)
    assert _outcome([sent]) == expected
    assert _outcome(_bytewise(sent)) == expected
    assert _outcome(data.draw(cuts(sent))) == expected


@given(st.data(), st.sampled_from(Serialization))
def test_garbage_raises_nothing_else_and_does_so_at_the_same_byte_in_any_fragmentation(
    data: st.DataObject, serialization: Serialization
) -> None:
    header = data.draw(st.binary(max_size=60))
    garbage = data.draw(st.sampled_from((framed(header, serialization), header)))
    pieces = data.draw(cuts(garbage))

    at_once = _outcome([garbage])

    assert _outcome(_bytewise(garbage)) == at_once
    assert _outcome(pieces) == at_once


@given(st.data())
def test_a_flipped_bit_gives_commands_or_the_typed_error(data: st.DataObject) -> None:
    sent = bytearray(push_command(data.draw(remoting_commands())))
    bit = data.draw(st.integers(0, len(sent) * 8 - 1))
    sent[bit // 8] ^= 1 << bit % 8

    at_once = _outcome([bytes(sent)])

    assert _outcome(_bytewise(bytes(sent))) == at_once


def test_an_answer_that_no_frame_has_room_for_says_so() -> None:
    large = RemotingCommand(code=0, opaque=7, flag=FLAG_RESPONSE, body=bytes(FRAME_MAX))
    small = replace(large, body=b"body")

    assert push_answer(small, refusal=1) == push_command(small)
    pulled = pull_command(push_answer(large, refusal=1))
    assert pulled is not None
    answer, _ = pulled
    assert (answer.code, answer.opaque, answer.flag, answer.body) == (1, 7, FLAG_RESPONSE, b"")
    assert "over 16777216" in str(answer.remark)
