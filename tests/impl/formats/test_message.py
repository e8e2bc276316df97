"""CommitLog records, byte by byte."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.format_strategies import messages, offsets
from rocketha.errors import CommitLogError, EncodingError, IncompleteRecordError
from rocketha.formats.message import (
    BODY_MAX,
    Blank,
    Host,
    Message,
    Record,
    RecordCheck,
    properties_of,
    properties_text,
    pull_record,
    push_blank,
    push_record,
)
from rocketha.types import INT64_MAX, Offset, SizeBytes, TimestampMs
from tests.golden.generate import MESSAGES

ROOM = SizeBytes(1 << 20)
WHOLE, BODY = RecordCheck.WHOLE, RecordCheck.BODY

# The first golden message, field by field as the byte table has them.
HEAD = (
    "00000086"  # TOTALSIZE 134
    "DAA320A7"  # MAGIC, version 1
    "{body_crc}"
    "00000003"  # QUEUEID
    "00000000"  # FLAG
    "0000000000000007"  # QUEUEOFFSET
    "0000000000000000"  # PHYSICALOFFSET
    "00000000"  # SYSFLAG
    "0000018BCFE56800"  # BORNTIMESTAMP 1700000000000
    "0A000007 0000C822"  # BORNHOST 10.0.0.7:51234
    "0000018BCFE56805"  # STORETIMESTAMP
    "C0A80001 00002A9F"  # STOREHOST 192.168.0.1:10911
    "00000000"  # RECONSUMETIMES
    "0000000000000000"  # PREPAREDTXOFFSET
    "0000000E 48656C6C6F20526F636B65744D51"  # BODY "Hello RocketMQ"
    "09 546F70696354657374"  # TOPIC "TopicTest"
    "0014"  # PROPERTIES, 20 bytes
)


def _crc32(data: bytes) -> int:
    """Compute RocketMQ's CRC-32 bit by bit: not the code under test."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xEDB88320 if crc & 1 else 0)
    return (crc ^ 0xFFFFFFFF) & 0x7FFFFFFF


def _pull(
    raw: bytes, *, offset: int = 0, room: int = ROOM, check: RecordCheck = WHOLE
) -> Record | Blank:
    return pull_record(raw, offset=Offset(offset), room=SizeBytes(room), check=check)


def _patched(raw: bytes, at: int, new: bytes, *, whole_crc: bool = True) -> bytes:
    """Change bytes of a record and make its checksum right again."""
    changed = raw[:at] + new + raw[at + len(new) :]
    if not whole_crc:
        return changed
    digits = str(_crc32(changed[:-20])).zfill(10)[::-1]
    return changed[:-20] + b"__CRC32#\x01" + digits.encode() + b"\x02"


def test_a_record_is_what_the_byte_table_says() -> None:
    covered = bytes.fromhex(HEAD.format(body_crc=f"{_crc32(b'Hello RocketMQ'):08X}"))
    lowest_digit_first = "".join(reversed(f"{_crc32(covered):010}"))

    raw = push_record(MESSAGES[0], Offset(0))

    assert raw == covered + b"__CRC32#\x01" + lowest_digit_first.encode() + b"\x02"


@pytest.mark.parametrize(
    ("message", "magic", "size"),
    [
        (Message(topic="t" * 127), "DAA320A7", 91 + 127),
        (Message(topic="t" * 128), "DAA320AB", 92 + 128),
        (Message(topic="t", born_host=Host(bytes(16), 1)), "DAA320A7", 91 + 1 + 12),
        (Message(topic="t", store_host=Host(bytes(16), 1)), "DAA320A7", 91 + 1 + 12),
        (Message(topic="t", body=b"12345"), "DAA320A7", 91 + 1 + 5),
        (Message(topic="t", properties="a\x01b\x02"), "DAA320A7", 91 + 1 + 4),
    ],
    ids=["version 1", "version 2", "IPv6 client", "IPv6 broker", "body", "properties"],
)
def test_the_size_and_the_magic_follow_from_the_fields(
    message: Message, magic: str, size: int
) -> None:
    """`MessageExtEncoder.calMsgLength`."""
    raw = push_record(message, Offset(0), whole_crc=False)

    assert len(raw) == int.from_bytes(raw[:4]) == size
    assert raw[4:8] == bytes.fromhex(magic)
    assert len(push_record(message, Offset(0))) == size + 20


@pytest.mark.parametrize(
    ("born", "store", "bits"), [(4, 4, 0), (16, 4, 1 << 4), (4, 16, 1 << 5), (16, 16, 3 << 4)]
)
def test_the_families_of_hosts_are_in_the_sysflag(born: int, store: int, bits: int) -> None:
    """`MessageSysFlag.BORNHOST_V6_FLAG`, `STOREHOSTADDRESS_V6_FLAG`."""
    message = Message(
        topic="t", sys_flag=1, born_host=Host(bytes(born), 1), store_host=Host(bytes(store), 2)
    )
    raw = push_record(message, Offset(0))

    record = _pull(raw)

    assert int.from_bytes(raw[36:40]) == 1 | bits
    assert isinstance(record, Record)
    assert record.message == message


def test_the_reserved_checksum_takes_a_separator_before_it() -> None:
    """`MessageExtEncoder`: needAppendLastPropertySeparator."""
    raw = push_record(Message(topic="t", properties="TAGS\x01A"), Offset(0))

    record = _pull(raw)

    assert isinstance(record, Record)
    assert record.message.properties == "TAGS\x01A\x02"
    assert properties_of(record.message.properties) == {"TAGS": "A"}


def test_a_record_without_the_reserved_checksum_is_read_only_on_demand() -> None:
    raw = push_record(MESSAGES[1], Offset(0), whole_crc=False)

    record = _pull(raw, check=BODY)

    assert isinstance(record, Record)
    assert record.message == MESSAGES[1]
    with pytest.raises(CommitLogError, match="reserved checksum is missing"):
        _pull(raw)


RAW = push_record(MESSAGES[0], Offset(0))
PLAIN = push_record(MESSAGES[0], Offset(0), whole_crc=False)

# name, record, offset and room it is read with, check, what the error says
REFUSED: list[tuple[str, bytes, int, int, RecordCheck, str]] = [
    ("another offset", RAW, 134, ROOM, WHOLE, "PHYSICALOFFSET at byte 134: is 0"),
    ("nothing written", bytes(200), 0, ROOM, WHOLE, "MAGIC at byte 4: is 0x00000000"),
    ("another magic", b"\0\0\0\x86\xda\xa3\x20\xa8" + RAW[8:], 0, ROOM, WHOLE, "0xDAA320A8"),
    ("no room for the filler", RAW, 0, 141, WHOLE, "TOTALSIZE at byte 0: is 134"),
    ("smaller than any record", b"\0\0\0\x50" + RAW[4:], 0, ROOM, WHOLE, "TOTALSIZE"),
    ("negative size", b"\xff\0\0\x86" + RAW[4:], 0, ROOM, WHOLE, "TOTALSIZE"),
    ("flag changed", _patched(RAW, 19, b"\1", whole_crc=False), 0, ROOM, WHOLE, "disagrees"),
    ("flag changed too", _patched(RAW, 19, b"\1", whole_crc=False), 0, ROOM, BODY, "disagrees"),
    ("body changed", _patched(RAW, 88, b"J"), 0, ROOM, WHOLE, "BODYCRC"),
    ("body changed too", _patched(PLAIN, 88, b"J", whole_crc=False), 0, ROOM, BODY, "BODYCRC"),
    ("client's port", _patched(RAW, 52, b"\0\1\0\0"), 0, ROOM, WHOLE, "the port 65536"),
    ("broker's port", _patched(RAW, 68, b"\xff" * 4), 0, ROOM, WHOLE, "STOREHOST"),
    ("negative body", _patched(RAW, 84, b"\xff" * 4), 0, ROOM, WHOLE, "BODY at byte 88: has -1"),
    ("body over the record", _patched(RAW, 84, b"\0\0\1\0"), 0, ROOM, WHOLE, "BODY"),
    ("negative topic", _patched(RAW, 102, b"\xff"), 0, ROOM, WHOLE, "TOPIC at byte 103: has -1"),
    ("topic over the record", _patched(RAW, 102, b"\x7f"), 0, ROOM, WHOLE, "TOPIC"),
    ("topic not UTF-8", _patched(RAW, 103, b"\xff"), 0, ROOM, WHOLE, "TOPIC"),
    ("properties too long", _patched(RAW, 112, b"\0\x15"), 0, ROOM, WHOLE, "PROPERTIES"),
    ("properties too short", _patched(RAW, 112, b"\0\x13"), 0, ROOM, WHOLE, "PROPERTIES"),
    ("bytes left over", PLAIN[:3] + b"\x73" + PLAIN[4:] + b"\0", 0, ROOM, BODY, "TOTALSIZE"),
    ("filler of another size", push_blank(SizeBytes(40)), 0, 41, WHOLE, "TOTALSIZE"),
]


@pytest.mark.parametrize(
    ("raw", "offset", "room", "check", "said"),
    [row[1:] for row in REFUSED],
    ids=[row[0] for row in REFUSED],
)
def test_a_damaged_record_is_refused(
    raw: bytes, offset: int, room: int, check: RecordCheck, said: str
) -> None:
    with pytest.raises(CommitLogError, match=re.escape(said)) as caught:
        _pull(raw, offset=offset, room=room, check=check)

    assert not isinstance(caught.value, IncompleteRecordError)


@pytest.mark.parametrize("size", range(134))
def test_a_part_of_a_record_is_incomplete(size: int) -> None:
    with pytest.raises(IncompleteRecordError):
        _pull(RAW[:size])


def test_the_smallest_record_needs_eight_bytes_behind_it() -> None:
    raw = push_record(Message(topic=""), Offset(0))

    assert isinstance(_pull(raw, room=len(raw) + 8), Record)
    with pytest.raises(CommitLogError, match="TOTALSIZE"):
        _pull(raw, room=len(raw) + 7)


def test_a_filler_has_a_size_and_a_magic_and_fills_up() -> None:
    raw = push_blank(SizeBytes(20))

    assert raw == bytes.fromhex("00000014 CBD43194") + bytes(12)
    assert _pull(raw, offset=100, room=20) == Blank(offset=Offset(100), size=SizeBytes(20))


def test_a_part_of_a_filler_is_incomplete() -> None:
    with pytest.raises(IncompleteRecordError):
        _pull(push_blank(SizeBytes(20))[:19], room=20)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (Message(topic="t" * 32768), "topic: has 32768 bytes"),
        (Message(topic="\ud800"), "topic: cannot be UTF-8"),
        (Message(topic="t", body=bytes(BODY_MAX + 1)), "body: has 4194305 bytes"),
        (Message(topic="t", properties="p" * 32750), "properties: has"),
        (Message(topic="t", properties="__CRC32#\x011\x02"), "is reserved"),
        (Message(topic="t", sys_flag=1 << 4), "sys_flag"),
        (Message(topic="t", queue_id=1 << 31), "message"),
        (Message(topic="t", born_timestamp_ms=TimestampMs(INT64_MAX + 1)), "message"),
    ],
    ids=["topic", "surrogate", "body", "properties", "reserved", "sysflag", "queue", "time"],
)
def test_a_message_that_does_not_fit_is_the_callers_error(message: Message, said: str) -> None:
    with pytest.raises(EncodingError, match=re.escape(said)):
        push_record(message, Offset(0))


def test_properties_with_a_separator_are_the_callers_error() -> None:
    with pytest.raises(EncodingError, match="separator"):
        properties_text({"a": "b\x02c"})


def test_properties_without_a_value_are_passed_over() -> None:
    """`MessageDecoder.string2messageProperties`."""
    assert properties_of("a\x01b\x02junk\x02c\x01d") == {"a": "b", "c": "d"}


def test_hosts_are_shown_as_people_write_them() -> None:
    assert str(MESSAGES[0].store_host) == "192.168.0.1:10911"
    assert str(MESSAGES[1].store_host) == "[2001:db8::1]:10911"


@given(messages(), offsets(), st.sampled_from(RecordCheck))
def test_what_is_written_is_read(message: Message, offset: Offset, check: RecordCheck) -> None:
    raw = push_record(message, offset, whole_crc=check is WHOLE)

    record = pull_record(raw + b"next", offset=offset, room=ROOM, check=check)

    assert record == Record(offset=offset, size=SizeBytes(len(raw)), message=message)


@given(messages(), st.data())
def test_a_flipped_bit_is_refused(message: Message, data: st.DataObject) -> None:
    raw = bytearray(push_record(message, Offset(0)))
    bit = data.draw(st.integers(0, len(raw) * 8 - 1))
    raw[bit // 8] ^= 1 << bit % 8

    with pytest.raises(CommitLogError):
        _pull(bytes(raw))


@given(messages(), st.data(), st.sampled_from(RecordCheck))
def test_garbage_raises_nothing_but_the_typed_error(
    message: Message, data: st.DataObject, check: RecordCheck
) -> None:
    raw = bytearray(push_record(message, Offset(0), whole_crc=data.draw(st.booleans())))
    for at, new in data.draw(st.lists(st.tuples(st.integers(0, len(raw) - 1), st.binary()))):
        raw[at : at + len(new)] = new

    try:
        span = _pull(bytes(raw), check=check)
    except CommitLogError:
        return
    assert 0 < span.size <= len(raw)


def test_the_message_of_a_record_does_not_depend_on_its_place() -> None:
    here, there = push_record(MESSAGES[0], Offset(0)), push_record(MESSAGES[0], Offset(9000))

    moved = _pull(there, offset=9000)

    assert isinstance(moved, Record)
    assert moved == replace(moved, message=MESSAGES[0])
    assert len(here) == len(there)
