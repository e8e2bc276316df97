"""Settings as RocketMQ writes them: lines `name=value`, in UTF-8.

That is what the files behind `-c` have, and the bodies of GET_CONTROLLER_CONFIG and
UPDATE_CONTROLLER_CONFIG. Blank lines and lines that begin with `#` are passed by; spaces around
names and values do not count. RocketMQ reads them as Java does: a name may also end with a colon or
a space, and a backslash escapes what follows. Here such lines are refused, and so is a name that is
there twice.

Source: common `MixAll` (`properties2String`, `string2Properties`)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rocketha.errors import EncodingError, PacketError

__all__ = ["pull_properties", "push_properties"]

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*\Z", re.ASCII)
_SIZE_MAX: Final = 1 << 16
_SHOWN: Final = 60


def push_properties(values: Mapping[str, str]) -> bytes:
    """Write settings, in their order. Raises: EncodingError"""
    lines = []
    for name, value in values.items():
        if not _NAME.match(name):
            raise EncodingError("property", reason=f"{ascii(name)[:_SHOWN]} is no name")
        if value != value.strip() or any(bad in value for bad in "\r\n\\"):
            raise EncodingError("property", reason=f"{name} cannot be {ascii(value)[:_SHOWN]}")
        lines.append(f"{name}={value}\n")
    return "".join(lines).encode()


def pull_properties(data: bytes) -> Mapping[str, str]:
    """Read settings. Raises: PacketError"""
    if len(data) > _SIZE_MAX:
        raise PacketError(
            "properties", offset=0, reason=f"have {len(data)} bytes, over {_SIZE_MAX}"
        )
    values: dict[str, str] = {}
    offset = 0
    for line in data.split(b"\n"):
        begin, offset = offset, offset + len(line) + 1
        try:
            text = line.decode().strip()
        except UnicodeDecodeError as error:
            raise PacketError(
                "property", offset=begin + error.start, reason="is not UTF-8"
            ) from None
        if not text or text.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not _NAME.match(name) or "\\" in value or "\r" in value:
            reason = f"{ascii(text)[:_SHOWN]} is not name=value"
            raise PacketError("property", offset=begin, reason=reason)
        if name in values:
            raise PacketError("property", offset=begin, reason=f"{name} is there twice")
        values[name] = value
    return MappingProxyType(values)
