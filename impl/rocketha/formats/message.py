"""CommitLog records: one message each, or the filler at the end of a segment.

All integers are big-endian two's complement. A host is its address (4 bytes, or 16 for IPv6) and a
4-byte port.

| at  | bytes  | field                                                                 |
|----:|-------:|-----------------------------------------------------------------------|
|  0  |      4 | TOTALSIZE of the record                                               |
|  4  |      4 | MAGIC 0xDAA320A7 (V1), or 0xDAA320AB (V2: a topic of over 127 bytes)  |
|  8  |      4 | BODYCRC: CRC-32 of the body & 0x7FFFFFFF                              |
| 12  |      4 | QUEUEID                                                               |
| 16  |      4 | FLAG, the producer's                                                  |
| 20  |      8 | QUEUEOFFSET                                                           |
| 28  |      8 | PHYSICALOFFSET: where in the CommitLog this record begins             |
| 36  |      4 | SYSFLAG; bit 4: BORNHOST is IPv6, bit 5: STOREHOST is IPv6            |
| 40  |      8 | BORNTIMESTAMP, ms                                                     |
| 48  | 8 (20) | BORNHOST                                                              |
| 56  |      8 | STORETIMESTAMP, ms (from here on `at` moves by 12 for an IPv6 host)   |
| 64  | 8 (20) | STOREHOST                                                             |
| 72  |      4 | RECONSUMETIMES                                                        |
| 76  |      8 | PREPAREDTXOFFSET                                                      |
| 84  |  4 + n | BODY with its length                                                  |
| 88+n| 1 (2)+t| TOPIC, UTF-8, with its length (V2: 2 bytes)                           |
| ... |  2 + p | PROPERTIES, UTF-8, with their length: name 0x01 value 0x02 ...        |

The last 20 bytes of the properties may be a reserved one that covers the record before it:
`__CRC32#` 0x01, CRC-32 & 0x7FFFFFFF as ten decimal digits *with the lowest first*, 0x02. RocketMQ
writes it with `enabledAppendPropCRC`. We always write it: without it a changed bit in the header,
the topic or the properties can pass for data. `RecordCheck` says whether a reader demands it.

The filler is TOTALSIZE (all bytes to the end of the segment), MAGIC 0xCBD43194 and anything. A
record leaves room for it: at least 8 bytes of a segment stay behind the last record.

Source: store `MessageExtEncoder`, `CommitLog.checkMessageAndReturnSize`; common `MessageDecoder`
(`createCrc32`), `MessageVersion`, `MessageSysFlag`.
"""

from __future__ import annotations

import ipaddress
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from rocketha.errors import CommitLogError, EncodingError, IncompleteRecordError
from rocketha.types import Offset, SizeBytes, TimestampMs

__all__ = [
    "BLANK_MIN",
    "BODY_MAX",
    "CRC_PROPERTY",
    "LOOPBACK",
    "Blank",
    "Host",
    "Message",
    "Record",
    "RecordCheck",
    "Span",
    "properties_of",
    "properties_text",
    "pull_record",
    "push_blank",
    "push_record",
]

MAGIC_V1: Final = 0xDAA320A7
MAGIC_V2: Final = 0xDAA320AB
MAGIC_BLANK: Final = 0xCBD43194

BLANK_MIN: Final = SizeBytes(8)
"""Bytes of a segment that no record may take. Source: CommitLog `END_FILE_MIN_BLANK_LENGTH`."""

BODY_MAX: Final = SizeBytes(4 << 20)
"""Source: `MessageStoreConfig.maxMessageSize`."""

_V1_TOPIC_MAX: Final = 127
_SHORT_MAX: Final = 32767
_BORN_HOST_V6: Final = 1 << 4
_STORE_HOST_V6: Final = 1 << 5

_PREFIX: Final = struct.Struct(">iI")
_HEAD: Final = struct.Struct(">iIiiiqqiq")
_LONG: Final = struct.Struct(">q")
_INT: Final = struct.Struct(">i")
_TAIL: Final = struct.Struct(">iqi")
_SHORT: Final = struct.Struct(">h")
_BYTE: Final = struct.Struct(">b")

_NAME_END: Final = "\x01"
_VALUE_END: Final = "\x02"
CRC_PROPERTY: Final = "__CRC32#"
"""The name of a property that no message may have: it ends every record."""
_CRC_SIZE: Final = len(CRC_PROPERTY) + 1 + 10 + 1
_CRC_MARK: Final = f"{CRC_PROPERTY}{_NAME_END}".encode()
_RECORD_MIN: Final = _HEAD.size + 8 + 8 + 8 + _TAIL.size + 1 + 2


class RecordCheck(Enum):
    """What a reader demands of a record."""

    WHOLE = "whole"
    """The reserved checksum of the whole record must be there and agree."""
    BODY = "body"
    """The reserved checksum may be missing, as in most files that RocketMQ wrote."""


@dataclass(frozen=True, slots=True)
class Host:
    """An address of 4 or 16 bytes, and a port."""

    address: bytes
    port: int

    def __post_init__(self) -> None:
        assert len(self.address) in (4, 16), self.address
        assert 0 <= self.port <= 65535, self.port

    def __str__(self) -> str:
        address = ipaddress.ip_address(self.address)
        return f"[{address}]:{self.port}" if address.version == 6 else f"{address}:{self.port}"


LOOPBACK: Final = Host(bytes([127, 0, 0, 1]), 0)
_UNIX_START: Final = TimestampMs(0)
_NO_OFFSET: Final = Offset(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a record carries.

    `sys_flag` is without the two bits that tell the family of a host. `properties` is RocketMQ's
    text of them (see `properties_text`), without the reserved checksum.
    """

    topic: str
    body: bytes = b""
    queue_id: int = 0
    queue_offset: int = 0
    flag: int = 0
    sys_flag: int = 0
    born_timestamp_ms: TimestampMs = _UNIX_START
    born_host: Host = LOOPBACK
    store_timestamp_ms: TimestampMs = _UNIX_START
    store_host: Host = LOOPBACK
    reconsume_times: int = 0
    prepared_transaction_offset: Offset = _NO_OFFSET
    properties: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A message in the CommitLog."""

    offset: Offset
    size: SizeBytes
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Blank:
    """The filler from the last record of a segment to its end."""

    offset: Offset
    size: SizeBytes


Span: TypeAlias = Record | Blank


def properties_text(properties: Mapping[str, str]) -> str:
    """Write properties as RocketMQ keeps them.

    Raises: EncodingError for a name or value with a separator in it.
    """
    for text in (*properties, *properties.values()):
        if _NAME_END in text or _VALUE_END in text:
            raise EncodingError("property", reason=f"{text!r} contains a separator")
    return "".join(f"{n}{_NAME_END}{v}{_VALUE_END}" for n, v in properties.items())


def properties_of(text: str) -> dict[str, str]:
    """Read properties; like RocketMQ, pass over what is not a name and a value."""
    pairs = (item.split(_NAME_END, 1) for item in text.split(_VALUE_END))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def push_record(message: Message, offset: Offset, *, whole_crc: bool = True) -> bytes:
    """Write the record of a message that begins at `offset`.

    With `whole_crc` it ends with the reserved checksum of the whole record.

    Raises: EncodingError if a field does not fit.
    """
    reserved = _CRC_SIZE if whole_crc else 0
    topic = _utf8("topic", message.topic)
    properties = _utf8("properties", message.properties)
    if whole_crc and properties and not properties.endswith(_VALUE_END.encode()):
        properties += _VALUE_END.encode()
    if CRC_PROPERTY in message.properties:
        raise EncodingError("properties", reason=f"{CRC_PROPERTY} is reserved")
    _fits("body", len(message.body), BODY_MAX)
    _fits("topic", len(topic), _SHORT_MAX)
    _fits("properties", len(properties) + reserved, _SHORT_MAX)
    if message.sys_flag & (_BORN_HOST_V6 | _STORE_HOST_V6):
        raise EncodingError("sys_flag", reason="the bits of host families are not the caller's")
    short_topic = len(topic) <= _V1_TOPIC_MAX
    try:
        middle = _middle(message)
        rest = (_BYTE if short_topic else _SHORT).pack(len(topic)) + topic
        rest += _SHORT.pack(len(properties) + reserved) + properties
        head = _HEAD.pack(
            _HEAD.size + len(middle) + len(rest) + reserved,
            MAGIC_V1 if short_topic else MAGIC_V2,
            _crc(message.body),
            message.queue_id,
            message.flag,
            message.queue_offset,
            offset,
            _sys_flag(message),
            message.born_timestamp_ms,
        )
    except struct.error as error:
        raise EncodingError("message", reason=str(error)) from None
    covered = head + middle + rest
    return covered + _reserved_crc(covered) if whole_crc else covered


def _middle(message: Message) -> bytes:
    """Write the part from BORNHOST to BODY."""
    fields = (
        message.born_host.address,
        _INT.pack(message.born_host.port),
        _LONG.pack(message.store_timestamp_ms),
        message.store_host.address,
        _INT.pack(message.store_host.port),
        _TAIL.pack(message.reconsume_times, message.prepared_transaction_offset, len(message.body)),
        message.body,
    )
    return b"".join(fields)


def _sys_flag(message: Message) -> int:
    born = _BORN_HOST_V6 if len(message.born_host.address) == 16 else 0
    store = _STORE_HOST_V6 if len(message.store_host.address) == 16 else 0
    return message.sys_flag | born | store


def _utf8(what: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise EncodingError(what, reason=f"cannot be UTF-8: {error.reason}") from None


def _fits(what: str, size: int, limit: int) -> None:
    if size > limit:
        raise EncodingError(what, reason=f"has {size} bytes, over {limit}")


def _crc(data: bytes) -> int:
    """Return CRC-32 without its highest bit, as Java's signed int wants it."""
    return zlib.crc32(data) & 0x7FFFFFFF


def _reserved_crc(covered: bytes) -> bytes:
    digits = f"{_crc(covered):010d}"[::-1]
    return f"{CRC_PROPERTY}{_NAME_END}{digits}{_VALUE_END}".encode()


def push_blank(room: SizeBytes) -> bytes:
    """Write the filler for the `room` bytes that a segment has left; the unused ones are zero."""
    assert room >= BLANK_MIN
    return _PREFIX.pack(room, MAGIC_BLANK).ljust(room, b"\x00")


def pull_record(
    data: bytes,
    *,
    offset: Offset,
    room: SizeBytes,
    check: RecordCheck = RecordCheck.WHOLE,
    at: int = 0,
) -> Span:
    """Read the record that begins at `data[at]`.

    `offset` is where it lies in the CommitLog, `room` how many bytes the segment has from there on.

    Raises: IncompleteRecordError if `data` ends inside the record; CommitLogError
    """
    left = len(data) - at
    if left < _PREFIX.size:
        raise IncompleteRecordError("record", offset=offset, reason="its header is cut off")
    size, magic = _PREFIX.unpack_from(data, at)
    if magic == MAGIC_BLANK:
        return _pull_blank(left, offset, room, size)
    if magic not in (MAGIC_V1, MAGIC_V2):
        raise CommitLogError("MAGIC", offset=offset + 4, reason=f"is 0x{magic:08X}")
    if size < _RECORD_MIN or size > room - BLANK_MIN:
        reason = f"is {size}, not between {_RECORD_MIN} and {room - BLANK_MIN}"
        raise CommitLogError("TOTALSIZE", offset=offset, reason=reason)
    if left < size:
        reason = f"{left} of its {size} bytes are there"
        raise IncompleteRecordError("record", offset=offset, reason=reason)
    message = _read_message(
        data[at : at + size], offset, topic_size=_BYTE if magic == MAGIC_V1 else _SHORT, check=check
    )
    return Record(offset=offset, size=SizeBytes(size), message=message)


def _pull_blank(left: int, offset: Offset, room: SizeBytes, size: int) -> Blank:
    if size != room:
        reason = f"is {size}, but the segment has {room} bytes left to fill"
        raise CommitLogError("TOTALSIZE", offset=offset, reason=reason)
    if left < size:
        reason = f"{left} of its {size} bytes are there"
        raise IncompleteRecordError("filler", offset=offset, reason=reason)
    return Blank(offset=offset, size=SizeBytes(size))


class _Cursor:
    """The bytes of one record, taken from the front."""

    __slots__ = ("_offset", "_raw", "at")

    def __init__(self, raw: bytes, offset: Offset, at: int) -> None:
        self._raw = raw
        self._offset = offset
        self.at = at

    def take(self, what: str, size: int) -> bytes:
        """Take `size` bytes. Raises: CommitLogError if the record has less."""
        left = len(self._raw) - self.at
        if not 0 <= size <= left:
            reason = f"has {size} bytes, but the record has {left} left"
            raise self.error(what, reason)
        self.at += size
        return self._raw[self.at - size : self.at]

    def number(self, what: str, kind: struct.Struct) -> int:
        """Take one integer. Raises: CommitLogError"""
        value: int = kind.unpack(self.take(what, kind.size))[0]
        return value

    def host(self, what: str, *, ipv6: bool) -> Host:
        """Take an address and a port. Raises: CommitLogError"""
        address = self.take(what, 16 if ipv6 else 4)
        port = self.number(what, _INT)
        if not 0 <= port <= 65535:
            raise self.error(what, f"has the port {port}")
        return Host(address, port)

    def text(self, what: str, size: int) -> str:
        """Take UTF-8. Raises: CommitLogError"""
        try:
            return self.take(what, size).decode()
        except UnicodeDecodeError as error:
            raise self.error(what, f"is not UTF-8: {error.reason}") from None

    def error(self, what: str, reason: str) -> CommitLogError:
        """Make the error for the field that was taken last."""
        return CommitLogError(what, offset=self._offset + self.at, reason=reason)


def _read_message(
    raw: bytes, offset: Offset, *, topic_size: struct.Struct, check: RecordCheck
) -> Message:
    """Read a complete record; `raw` has exactly TOTALSIZE bytes.

    Raises: CommitLogError
    """
    whole_crc = raw[-_CRC_SIZE:].startswith(_CRC_MARK)
    if check is RecordCheck.WHOLE and not whole_crc:
        raise CommitLogError("record", offset=offset, reason="its reserved checksum is missing")
    if whole_crc and raw[-_CRC_SIZE:] != _reserved_crc(raw[:-_CRC_SIZE]):
        raise CommitLogError("record", offset=offset, reason="its reserved checksum disagrees")
    _, _, body_crc, queue_id, flag, queue_offset, own_offset, sys_flag, born = _HEAD.unpack_from(
        raw
    )
    if own_offset != offset:
        raise CommitLogError("PHYSICALOFFSET", offset=offset, reason=f"is {own_offset}")
    cursor = _Cursor(raw, offset, _HEAD.size)
    born_host = cursor.host("BORNHOST", ipv6=bool(sys_flag & _BORN_HOST_V6))
    stored = cursor.number("STORETIMESTAMP", _LONG)
    store_host = cursor.host("STOREHOST", ipv6=bool(sys_flag & _STORE_HOST_V6))
    reconsume_times = cursor.number("RECONSUMETIMES", _INT)
    prepared_offset = cursor.number("PREPAREDTXOFFSET", _LONG)
    body = cursor.take("BODY", cursor.number("BODY", _INT))
    # RocketMQ does not look at the checksum of an empty body; ours is always right.
    if _crc(body) != body_crc and (body or check is RecordCheck.WHOLE):
        raise CommitLogError("BODYCRC", offset=offset + 8, reason=f"is {body_crc}")
    topic = cursor.text("TOPIC", cursor.number("TOPIC", topic_size))
    properties_size = cursor.number("PROPERTIES", _SHORT)
    reserved = _CRC_SIZE if whole_crc else 0
    properties = cursor.text("PROPERTIES", properties_size - reserved)
    cursor.take("PROPERTIES", reserved)
    if len(raw) != cursor.at:
        reason = f"is {len(raw)}, but the fields have {cursor.at} bytes"
        raise CommitLogError("TOTALSIZE", offset=offset, reason=reason)
    return Message(
        topic=topic,
        body=body,
        queue_id=queue_id,
        queue_offset=queue_offset,
        flag=flag,
        sys_flag=sys_flag & ~(_BORN_HOST_V6 | _STORE_HOST_V6),
        born_timestamp_ms=TimestampMs(born),
        born_host=born_host,
        store_timestamp_ms=TimestampMs(stored),
        store_host=store_host,
        reconsume_times=reconsume_times,
        prepared_transaction_offset=Offset(prepared_offset),
        properties=properties,
    )
