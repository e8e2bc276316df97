"""The frame of a RemotingCommand, and the stream that frames come out of.

Frame, 8 + h + b bytes; integers are big-endian

| at  | bytes | field                                                              |
|----:|------:|--------------------------------------------------------------------|
|   0 |     4 | length of what follows = 4 + h + b; the whole frame is <= 16777216 |
|   4 |     1 | serialisation of the header: 0 JSON, 1 ROCKETMQ                    |
|   5 |     3 | length h of the header, without sign                               |
|   8 |     h | header, see `rocketha.formats.remoting_header`                     |
| 8+h |     b | body; what it is depends on the code                               |

`pull_command` reads the first frame of a buffer: `None` means that more bytes are needed, a
`PacketError` that no more bytes can help. A wrong length or serialisation is refused before the
header has arrived, a header that is too long as well. RocketMQ closes the connection, too, but on
whatever exception its decoder happens to run into.

Source: remoting/netty `NettyDecoder`, remoting/protocol `RemotingCommand` (`encode`, `decode`)
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import lru_cache
from typing import Final

from rocketha.errors import EncodingError, PacketError
from rocketha.formats.ha_packets import Expecting
from rocketha.formats.packet_stream import PacketStream
from rocketha.formats.remoting_command import (
    FRAME_MAX,
    HEADER_MAX,
    NO_FIELDS,
    RemotingCommand,
    Serialization,
)
from rocketha.formats.remoting_header import pull_header, push_header
from rocketha.types import SizeBytes

__all__ = [
    "FRAME_PREFIX_SIZE",
    "command_stream",
    "frame_stream",
    "pull_command",
    "pull_frame",
    "push_answer",
    "push_command",
]

_PREFIX: Final = struct.Struct(">iI")
_LENGTH: Final = struct.Struct(">i")
_SERIALIZATIONS: Final = frozenset(Serialization)
_SMALL_FRAME: Final = 2_048
_FRAMES_KEPT: Final = 256

FRAME_PREFIX_SIZE: Final = SizeBytes(_PREFIX.size)
"""The two words before the header."""


def push_command(command: RemotingCommand) -> bytes:
    """Write a command as a frame.

    Raises: EncodingError if it is too large, or the binary header cannot carry it.
    """
    header = push_header(command)
    if len(header) > HEADER_MAX:
        raise EncodingError("header", reason=f"has {len(header)} bytes, over {HEADER_MAX}")
    size = FRAME_PREFIX_SIZE + len(header) + len(command.body)
    if size > FRAME_MAX:
        raise EncodingError("frame", reason=f"has {size} bytes, over {FRAME_MAX}")
    prefix = _PREFIX.pack(size - _LENGTH.size, command.serialization << 24 | len(header))
    return prefix + header + command.body


def push_answer(answer: RemotingCommand, *, refusal: int) -> bytes:
    """Write an answer as a frame; of one that no frame can carry, with this code why not.

    Raises: EncodingError as `push_command` does, if not even that can be written
    """
    try:
        return push_command(answer)
    except EncodingError as error:
        left = replace(answer, code=refusal, remark=str(error), ext_fields=NO_FIELDS, body=b"")
        return push_command(left)


def pull_command(data: bytes | bytearray) -> tuple[RemotingCommand, SizeBytes] | None:
    """Read the first frame, and its size.

    Raises: PacketError
    """
    pulled = pull_frame(data)
    if pulled is None:
        return None
    frame, size = pulled
    return (_small_command(frame) if size <= _SMALL_FRAME else _command(frame)), size


def _command(frame: bytes) -> RemotingCommand:
    """Read a whole frame of which the prefix is right. Raises: PacketError"""
    _, word = _PREFIX.unpack_from(frame)
    body_at = FRAME_PREFIX_SIZE + (word & 0xFFFFFF)
    header, body = frame[FRAME_PREFIX_SIZE:body_at], frame[body_at:]
    try:
        return pull_header(header, Serialization(word >> 24), body)
    except PacketError as error:
        at = FRAME_PREFIX_SIZE + error.offset
        raise PacketError(error.what, offset=at, reason=error.reason) from None


_small_command = lru_cache(maxsize=_FRAMES_KEPT)(_command)
"""Read such a frame once, and not again whoever looks at it on its way; commands do not change."""


def pull_frame(data: bytes | bytearray) -> tuple[bytes, SizeBytes] | None:
    """Cut off the first frame, of which only the prefix was read.

    Raises: PacketError
    """
    if len(data) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(data)
    if length < _LENGTH.size:
        raise PacketError("frame length", offset=0, reason=f"is {length}, below {_LENGTH.size}")
    size = SizeBytes(_LENGTH.size + length)
    if size > FRAME_MAX:
        most = FRAME_MAX - _LENGTH.size
        raise PacketError("frame length", offset=0, reason=f"is {length}, over {most}")
    if len(data) < FRAME_PREFIX_SIZE:
        return None
    _, word = _PREFIX.unpack_from(data)
    serialization, header_size = word >> 24, word & 0xFFFFFF
    if serialization not in _SERIALIZATIONS:
        raise PacketError("serialisation", offset=4, reason=f"is {serialization}, which is none")
    room = size - FRAME_PREFIX_SIZE
    if header_size > room:
        reason = f"is {header_size}, {room} bytes follow"
        raise PacketError("header length", offset=5, reason=reason)
    if header_size > HEADER_MAX:
        reason = f"is {header_size}, over {HEADER_MAX}"
        raise PacketError("header length", offset=5, reason=reason)
    if len(data) < size:
        return None
    return bytes(data[:size]), size


def command_stream() -> PacketStream[RemotingCommand]:
    """Make the stream in which a peer hears commands."""

    def pull(data: bytes | bytearray, _: Expecting) -> tuple[RemotingCommand, SizeBytes] | None:
        return pull_command(data)

    return PacketStream(pull, packet_max=FRAME_MAX, expecting=Expecting.TRANSFER)


def frame_stream() -> PacketStream[bytes]:
    """Make the stream in which a server hears frames that its core reads."""

    def pull(data: bytes | bytearray, _: Expecting) -> tuple[bytes, SizeBytes] | None:
        return pull_frame(data)

    return PacketStream(pull, packet_max=FRAME_MAX, expecting=Expecting.TRANSFER)
