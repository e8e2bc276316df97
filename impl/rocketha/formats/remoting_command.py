"""A RemotingCommand: what peers other than replication connections say to each other.

A command is a request or the response to one. Both carry a code, an opaque number that the response
repeats, flags, a remark, text fields (`ext_fields`, where the fields of a request's own header go)
and a body. `rocketha.formats.remoting_frame` has the frame and its stream,
`rocketha.formats.remoting_header` the two ways to write the header.

Flags

| bit | meaning                                                        |
|----:|----------------------------------------------------------------|
|   0 | 1: response, 0: request                                        |
|   1 | 1: one way, the sender waits for no response                   |

Source: remoting/protocol `RemotingCommand`, `LanguageCode`, `SerializeType`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from rocketha.types import INT32_MAX, INT32_MIN, SizeBytes

__all__ = [
    "EXT_FIELDS_MAX",
    "FLAG_ONEWAY",
    "FLAG_RESPONSE",
    "FRAME_MAX",
    "HEADER_MAX",
    "NO_FIELDS",
    "Language",
    "RemotingCommand",
    "Serialization",
]

FRAME_MAX: Final = SizeBytes(16_777_216)
"""A whole frame with its length field, as Netty counts it in RocketMQ (`FRAME_MAX_LENGTH`)."""

HEADER_MAX: Final = SizeBytes(1 << 20)
"""The format allows 16 MiB; the longest text that RocketMQ puts into one field has 32 KiB."""

EXT_FIELDS_MAX: Final = 512
"""No bound in RocketMQ; its largest header has about twenty fields."""

NO_FIELDS: Final[Mapping[str, str]] = MappingProxyType({})

FLAG_RESPONSE: Final = 1
FLAG_ONEWAY: Final = 2


class Serialization(IntEnum):
    """How the header is written; the value is the byte in the frame."""

    JSON = 0
    ROCKETMQ = 1


class Language(IntEnum):
    """What the sender is written in; the value is the byte of the binary header."""

    JAVA = 0
    CPP = 1
    DOTNET = 2
    PYTHON = 3
    DELPHI = 4
    ERLANG = 5
    RUBY = 6
    OTHER = 7
    HTTP = 8
    GO = 9
    PHP = 10
    OMS = 11
    RUST = 12
    NODE_JS = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotingCommand:
    """One request or response.

    Numbers are 32 bits with a sign; the binary header has only 16 for `code` and `version`. A
    missing remark and an empty one mean the same, and so do no fields and an empty map of them:
    here the former is `None`, the latter an empty map.
    """

    code: int
    """Of a request: what is asked. Of a response: 0 for success, or why not."""
    opaque: int
    """Chosen by the sender of a request, repeated in its response."""
    flag: int = 0
    language: Language = Language.PYTHON
    version: int = 0
    """Of the sender: the ordinal of a RocketMQ release."""
    remark: str | None = None
    ext_fields: Mapping[str, str] = field(default_factory=lambda: NO_FIELDS)
    body: bytes = b""
    serialization: Serialization = Serialization.JSON
    """How the header arrived, or is to be sent. A response is sent as its request arrived."""
    empty_fields: bool = field(default=False, compare=False)
    """The JSON header says `"extFields":{}`, as RocketMQ does for a header of its own of which no
    field is set. It means what a missing one does, and is kept so that the frame is written back
    as it came; it says nothing where there are fields."""

    def __post_init__(self) -> None:
        for number in (self.code, self.opaque, self.flag, self.version):
            assert INT32_MIN <= number <= INT32_MAX, number
        assert self.remark != "", "an empty remark is none"

    @property
    def is_response(self) -> bool:
        """Tell whether this answers a request."""
        return self.flag & FLAG_RESPONSE != 0

    @property
    def is_oneway(self) -> bool:
        """Tell whether the sender waits for no response."""
        return self.flag & FLAG_ONEWAY != 0
