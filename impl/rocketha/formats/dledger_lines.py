"""The small files of a DLedger node: lines `key=value`, each key once, in any order.

Every line ends with LF. DLedger writes them in the order of a Java hash table, and reads them as
Java properties: it passes by keys that it does not know. So ours end with one line more:

| line               | value                                                                  |
|--------------------|------------------------------------------------------------------------|
| `crc32=dddddddddd` | CRC-32 of the bytes before this line, ten decimal digits               |

Source: IOUtils (`properties2String`, `string2Properties`, `string2File`)
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Final

__all__ = ["LINES_MAX", "BadLineError", "decode_lines", "decode_number", "encode_lines"]

LINES_MAX: Final = 4096
"""More bytes than these are read by nobody."""

_CRC_KEY: Final = b"crc32="
_LINE: Final = re.compile(rb"([A-Za-z]+)=([\x21-\x5B\x5D-\x7E]*)\Z")
_NUMBER: Final = re.compile(r"(?:0|-1|[1-9][0-9]{0,18})\Z", re.ASCII)
_SHOWN: Final = 60


@dataclass(slots=True)
class BadLineError(Exception):
    """Why bytes are not such lines; the reader of a file says which file it was."""

    offset: int
    reason: str


def encode_lines(values: Mapping[str, str], *, checked: bool = True) -> bytes:
    """Write lines in this order; unchecked ones as DLedger does. Raises: BadLineError"""
    lines = [f"{key}={value}".encode() for key, value in values.items()]
    for line in lines:
        if not _LINE.match(line):
            raise BadLineError(0, f"cannot have {ascii(line)[:_SHOWN]}")
    content = b"".join(line + b"\n" for line in lines)
    return content + _crc_line(content) if checked else content


def decode_lines(
    data: bytes,
    keys: Set[str],
    *,
    accept_unchecked: bool,
    optional: Set[str] = frozenset(),
) -> Mapping[str, str]:
    """Read lines that have these keys, all but the optional ones. Raises: BadLineError"""
    if len(data) > LINES_MAX:
        raise BadLineError(0, f"has {len(data)} bytes, over {LINES_MAX}")
    if not data.endswith(b"\n"):
        raise BadLineError(len(data), "the last line has no end")
    crc_at = data.rfind(b"\n", 0, -1) + 1
    content = data
    if data.startswith(_CRC_KEY, crc_at):
        content = data[:crc_at]
        if data[crc_at:] != _crc_line(content):
            reason = f"{ascii(data[crc_at:-1])[:_SHOWN]} is not the checksum of what is before it"
            raise BadLineError(crc_at, reason)
    elif not accept_unchecked:
        raise BadLineError(len(data), "has no checksum")
    values: dict[str, str] = {}
    at = 0
    for line in content.split(b"\n")[:-1]:
        matched = _LINE.match(line)
        key = matched[1].decode() if matched else ""
        if matched is None or key not in keys | optional or key in values:
            raise BadLineError(at, f"{ascii(line)[:_SHOWN]} is none of its lines")
        values[key] = matched[2].decode()
        at += len(line) + 1
    if not keys <= values.keys():
        missing = ", ".join(sorted(keys - values.keys()))
        raise BadLineError(len(content), f"has no {missing}")
    return values


def decode_number(text: str, key: str, *, least: int, most: int) -> int:
    """Read a number in its one spelling. Raises: BadLineError"""
    if not _NUMBER.match(text) or not least <= int(text) <= most:
        raise BadLineError(0, f"{key} is {ascii(text)[:_SHOWN]}, not in {least} .. {most}")
    return int(text)


def _crc_line(content: bytes) -> bytes:
    return b"%s%010d\n" % (_CRC_KEY, zlib.crc32(content))
