"""The header of a RemotingCommand, in both of its serialisations.

JSON: an object in UTF-8

| name                     | value                                                       |
|--------------------------|-------------------------------------------------------------|
| code                     | integer, 32 bits                                            |
| extFields                | object of texts; left out, or empty, if there is none       |
| flag                     | integer, 32 bits                                            |
| language                 | name of a language code, "JAVA", "PYTHON", ...              |
| opaque                   | integer, 32 bits                                            |
| remark                   | text; left out if there is none                             |
| serializeTypeCurrentRPC  | "JSON"; may be left out                                     |
| version                  | integer, 32 bits                                            |

Other names are ignored, as RocketMQ does.

ROCKETMQ: 21 bytes, the remark and the fields; integers are big-endian two's complement

| at       | bytes | field                                                         |
|---------:|------:|---------------------------------------------------------------|
|        0 |     2 | code                                                          |
|        2 |     1 | language code                                                 |
|        3 |     2 | version                                                       |
|        5 |     4 | opaque                                                        |
|        9 |     4 | flag                                                          |
|       13 |     4 | length r of the remark; 0: none                               |
|       17 |     r | remark, UTF-8                                                 |
|     17+r |     4 | length e of all fields                                        |
|     21+r |     e | fields, one after the other:                                  |
|       +0 |     2 | length k of the name, 1 or more                               |
|       +2 |     k | name, UTF-8                                                   |
|     +2+k |     4 | length v of the value                                         |
|     +6+k |     v | value, UTF-8                                                  |

The header ends with the fields, in any order: Java writes that of a hash table, or of a class.
They are read and written in the order of the command's. RocketMQ checks less: it reads a name
twice, takes an unknown language for none, gives an empty value as null, and begins the body in the
rest of a header that is too long.

Source: remoting/protocol `RemotingCommand` (`headerDecode`, `headerEncode`),
`RocketMQSerializable` (`rocketMQProtocolEncode`, `rocketMQProtocolDecode`, `mapDeserialize`);
`RemotingCommand.makeCustomHeaderToNet` for the empty object
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, assert_never

from rocketha.errors import EncodingError, PacketError
from rocketha.formats.json_text import (
    JsonObject,
    JsonValue,
    as_object,
    as_text,
    integer_at,
    optional_text_at,
    read_json,
    text_at,
    write_json,
)
from rocketha.formats.remoting_command import (
    EXT_FIELDS_MAX,
    Language,
    RemotingCommand,
    Serialization,
)
from rocketha.types import INT32_MAX, INT32_MIN

__all__ = ["pull_header", "push_header"]

_FIXED: Final = struct.Struct(">hbhii")
_INT: Final = struct.Struct(">i")
_SHORT: Final = struct.Struct(">h")
_SHORT_MAX: Final = 2**15 - 1


def push_header(command: RemotingCommand) -> bytes:
    """Write the header of a command.

    Raises: EncodingError if the binary header cannot carry it.
    """
    match command.serialization:
        case Serialization.JSON:
            return _push_json(command)
        case Serialization.ROCKETMQ:
            return _push_binary(command)
        case _ as unreachable:
            assert_never(unreachable)


def pull_header(data: bytes, serialization: Serialization, body: bytes = b"") -> RemotingCommand:
    """Read the header of a command with this body. The error's offset counts in the header.

    Raises: PacketError
    """
    match serialization:
        case Serialization.JSON:
            return _pull_json(data, body)
        case Serialization.ROCKETMQ:
            return _pull_binary(data, body)
        case _ as unreachable:
            assert_never(unreachable)


def _push_json(command: RemotingCommand) -> bytes:
    header: dict[str, JsonValue] = {
        "code": command.code,
        "flag": command.flag,
        "language": command.language.name,
        "opaque": command.opaque,
        "serializeTypeCurrentRPC": command.serialization.name,
        "version": command.version,
    }
    if command.remark is not None:
        header["remark"] = command.remark
    if command.ext_fields or command.empty_fields:
        header["extFields"] = dict(command.ext_fields)
    try:
        return write_json(header)
    except UnicodeEncodeError:
        raise EncodingError("header", reason="has half a surrogate pair") from None


def _pull_json(data: bytes, body: bytes) -> RemotingCommand:
    header = as_object(read_json(data, "header"), "header")
    serialization = optional_text_at(header, "serializeTypeCurrentRPC")
    if serialization not in (None, Serialization.JSON.name):
        reason = f"is {ascii(serialization)[:60]} in a JSON header"
        raise PacketError("serializeTypeCurrentRPC", offset=0, reason=reason)
    language = text_at(header, "language")
    if language not in Language.__members__:
        raise PacketError("language", offset=0, reason=f"is {ascii(language)[:60]}, which is none")
    return RemotingCommand(
        code=_int32(header, "code"),
        opaque=_int32(header, "opaque"),
        flag=_int32(header, "flag"),
        language=Language[language],
        version=_int32(header, "version"),
        remark=optional_text_at(header, "remark") or None,
        ext_fields=_json_fields(header.get("extFields")),
        body=body,
        serialization=Serialization.JSON,
        empty_fields=header.get("extFields") == {},
    )


def _int32(header: JsonObject, name: str) -> int:
    return integer_at(header, name, least=INT32_MIN, most=INT32_MAX)


def _json_fields(value: JsonValue) -> Mapping[str, str]:
    if value is None:
        return MappingProxyType({})
    fields = as_object(value, "extFields")
    if len(fields) > EXT_FIELDS_MAX:
        raise PacketError("extFields", offset=0, reason=f"are {len(fields)} fields")
    if "" in fields:
        raise PacketError("extFields", offset=0, reason="have a field without a name")
    return MappingProxyType({name: as_text(text, name) for name, text in fields.items()})


def _push_binary(command: RemotingCommand) -> bytes:
    for name, number in (("code", command.code), ("version", command.version)):
        if not -_SHORT_MAX - 1 <= number <= _SHORT_MAX:
            raise EncodingError(name, reason=f"is {number}, which has no 16 bits")
    fixed = _FIXED.pack(
        command.code, command.language, command.version, command.opaque, command.flag
    )
    remark = _utf8("remark", command.remark or "")
    fields = b"".join(_push_field(*field) for field in command.ext_fields.items())
    return b"".join((fixed, _INT.pack(len(remark)), remark, _INT.pack(len(fields)), fields))


def _push_field(name: str, value: str) -> bytes:
    name_bytes, value_bytes = _utf8("field name", name), _utf8(name, value)
    if not 0 < len(name_bytes) <= _SHORT_MAX:
        raise EncodingError("field name", reason=f"has {len(name_bytes)} bytes")
    lengths = _SHORT.pack(len(name_bytes)), _INT.pack(len(value_bytes))
    return lengths[0] + name_bytes + lengths[1] + value_bytes


def _utf8(what: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise EncodingError(what, reason="has half a surrogate pair") from None


def _pull_binary(data: bytes, body: bytes) -> RemotingCommand:
    _require(len(data) >= _FIXED.size, "header", 0, f"has {len(data)} bytes, under {_FIXED.size}")
    code, language, version, opaque, flag = _FIXED.unpack_from(data)
    _require(language in set(Language), "language", 2, f"is {language}, which is none")
    remark, at = _pull_text(data, _FIXED.size, _INT, "remark")
    size, at = _pull_length(data, at, _INT, "extFields")
    _require(at + size == len(data), "extFields", at, f"have {size} bytes, {len(data) - at} follow")
    return RemotingCommand(
        code=code,
        opaque=opaque,
        flag=flag,
        language=Language(language),
        version=version,
        remark=remark or None,
        ext_fields=_pull_fields(data, at),
        body=body,
        serialization=Serialization.ROCKETMQ,
    )


def _pull_fields(data: bytes, at: int) -> Mapping[str, str]:
    fields: dict[str, str] = {}
    while at < len(data):
        _require(len(fields) < EXT_FIELDS_MAX, "extFields", at, f"are over {EXT_FIELDS_MAX} fields")
        begin = at
        name, at = _pull_text(data, at, _SHORT, "field name")
        _require(name != "", "field name", begin, "is empty")
        _require(name not in fields, "field name", begin, f"{ascii(name)[:60]} is there twice")
        fields[name], at = _pull_text(data, at, _INT, "field value")
    return MappingProxyType(fields)


def _pull_text(data: bytes, at: int, length: struct.Struct, what: str) -> tuple[str, int]:
    """Read a text behind its length; return it and where it ends."""
    size, at = _pull_length(data, at, length, what)
    try:
        return data[at : at + size].decode("utf-8"), at + size
    except UnicodeDecodeError as error:
        raise PacketError(what, offset=at + error.start, reason="is not UTF-8") from None


def _pull_length(data: bytes, at: int, length: struct.Struct, what: str) -> tuple[int, int]:
    """Read a length that the rest of the header has room for; return it and where it ends."""
    _require(at + length.size <= len(data), what, at, "has no length any more")
    (size,) = length.unpack_from(data, at)
    at += length.size
    _require(0 <= size <= len(data) - at, what, at, f"has {size} bytes, {len(data) - at} follow")
    return size, at


def _require(holds: bool, what: str, offset: int, reason: str) -> None:
    if not holds:
        raise PacketError(what, offset=offset, reason=reason)
