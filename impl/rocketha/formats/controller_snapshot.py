"""The snapshot file of a controller: a header and sections, one for each part of its state.

Integers are big-endian without sign. Three versions of the header are read and written:

| at | bytes | version 2 (this project) and 1 (RIP-59) | at | bytes | unmerged branch    |
|---:|------:|------------------------------------------|---:|------:|--------------------|
|  0 |     2 | version                                  |  0 |     4 | magic 0xDAA320A7   |
|  2 |     4 | number of sections                       |  4 |     2 | version, 1         |
|  6 |     4 | magic                                    |  6 |     4 | number of sections |
| 10 |     4 | CRC-32                                   | 10 |     8 | reserved, 0        |
| 14 |     8 | reserved, 0                              |    |       |                    |

and then the sections:

| bytes | field                                                                     |
|------:|---------------------------------------------------------------------------|
|     2 | type                                                                      |
|     4 | n                                                                         |
|     n | body                                                                      |

The checksum of version 2 is over every byte of the file, itself as 0. RIP-59 has a checksum and
does not say of what; here it is that of everything behind the header, and every field of the header
can have one value only, so that a changed bit is seen, too. RIP-59 names no magic; version 1 has
that of the branch. The branch has no checksum: it is read only if the caller asks for it, and then
a damaged body may pass.

The branch ignores the number of sections and does not look behind the last one; here both must fit,
and no type comes twice.

Source: RIP-59, "SnapshotFile"; controller/impl/statemachine `StatemachineSnapshotFileGenerator` of
the branch, which writes the CommitLog's magic
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final

from rocketha.errors import EncodingError, SnapshotError
from rocketha.types import SizeBytes

__all__ = [
    "SNAPSHOT_FILE_MAX",
    "Section",
    "SectionType",
    "SnapshotVersion",
    "decode_snapshot",
    "encode_snapshot",
]

SNAPSHOT_FILE_MAX: Final = SizeBytes(256 << 20)
"""A bound for what is read into memory."""

_MAGIC: Final = 0x524B534E
_MAGIC_OF_BRANCH: Final = 0xDAA320A7
_HEADER: Final = struct.Struct(">HIIIQ")
_HEADER_OF_BRANCH: Final = struct.Struct(">IHIQ")
_SECTION: Final = struct.Struct(">HI")
_CRC_AT: Final = 10
_WHAT: Final = "snapshot"


class SnapshotVersion(Enum):
    """Whose header a file has."""

    UNMERGED = "unmerged branch"
    RIP_59 = "RIP-59"
    CHECKED = "checked"
    """This project's."""


class SectionType(IntEnum):
    """What a section holds. Those from 256 on are this project's."""

    REPLICAS_INFO_MANAGER = 1
    META = 256
    REGISTER = 257


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a snapshot; the type is not always one that this project knows."""

    kind: int
    body: bytes


def encode_snapshot(
    sections: Iterable[Section], version: SnapshotVersion = SnapshotVersion.CHECKED
) -> bytes:
    """Write a file. Raises: EncodingError"""
    kept = tuple(sections)
    if len({section.kind for section in kept}) < len(kept):
        raise EncodingError(_WHAT, reason="has two sections of one type")
    parts: list[bytes] = []
    for section in kept:
        if not 0 <= section.kind <= 0xFFFF:
            raise EncodingError(_WHAT, reason=f"has a section of type {section.kind}")
        parts += (_SECTION.pack(section.kind, len(section.body)), section.body)
    header = _HEADER_OF_BRANCH if version is SnapshotVersion.UNMERGED else _HEADER
    size = header.size + sum(map(len, parts))
    if size > SNAPSHOT_FILE_MAX:
        raise EncodingError(_WHAT, reason=f"would have {size} bytes, over {SNAPSHOT_FILE_MAX}")
    content = b"".join(parts)
    match version:
        case SnapshotVersion.UNMERGED:
            return _HEADER_OF_BRANCH.pack(_MAGIC_OF_BRANCH, 1, len(kept), 0) + content
        case SnapshotVersion.RIP_59:
            checksum = zlib.crc32(content)
            return _HEADER.pack(1, len(kept), _MAGIC_OF_BRANCH, checksum, 0) + content
        case SnapshotVersion.CHECKED:
            checksum = zlib.crc32(content, zlib.crc32(_HEADER.pack(2, len(kept), _MAGIC, 0, 0)))
            return _HEADER.pack(2, len(kept), _MAGIC, checksum, 0) + content


def decode_snapshot(
    data: bytes, *, accept_unchecked: bool = False, accept_damaged: bool = False
) -> tuple[SnapshotVersion, tuple[Section, ...]]:
    """Read a file of any version.

    With `accept_unchecked` also one without a checksum, with `accept_damaged` one whose checksum is
    another one than that of its bytes.

    Raises: SnapshotError
    """
    if len(data) > SNAPSHOT_FILE_MAX:
        raise _refused(0, f"has {len(data)} bytes, over {SNAPSHOT_FILE_MAX}")
    if data[:4] == _MAGIC_OF_BRANCH.to_bytes(4):
        return SnapshotVersion.UNMERGED, _unmerged(data, accept_unchecked=accept_unchecked)
    if len(data) < _HEADER.size:
        raise _refused(len(data), "ends inside of its header")
    number, count, magic, stored, reserved = _HEADER.unpack_from(data)
    content = memoryview(data)[_HEADER.size :]
    match number:
        case 1:
            version, expected, computed = SnapshotVersion.RIP_59, _MAGIC_OF_BRANCH, 0
        case 2:
            unsigned = data[:_CRC_AT] + bytes(4) + data[_CRC_AT + 4 : _HEADER.size]
            version, expected, computed = SnapshotVersion.CHECKED, _MAGIC, zlib.crc32(unsigned)
        case _:
            raise _refused(0, f"has version {number}, which is not known")
    if magic != expected:
        raise _refused(6, f"has the magic 0x{magic:08X}, not 0x{expected:08X}")
    computed = zlib.crc32(content, computed)
    if stored != computed and not accept_damaged:
        raise _refused(_CRC_AT, f"has the checksum 0x{stored:08X}, its bytes have 0x{computed:08X}")
    if reserved:
        raise _refused(14, f"has {reserved} where nothing is")
    return version, _all_sections(data, _HEADER.size, count)


def _unmerged(data: bytes, *, accept_unchecked: bool) -> tuple[Section, ...]:
    if len(data) < _HEADER_OF_BRANCH.size:
        raise _refused(len(data), "ends inside of its header")
    if not accept_unchecked:
        raise _refused(0, "is of the unmerged branch and has no checksum")
    _, number, count, reserved = _HEADER_OF_BRANCH.unpack_from(data)
    if number != 1:
        raise _refused(4, f"has version {number}, which is not known")
    if reserved:
        raise _refused(10, f"has {reserved} where nothing is")
    return _all_sections(data, _HEADER_OF_BRANCH.size, count)


def _all_sections(data: bytes, at: int, count: int) -> tuple[Section, ...]:
    found: dict[int, Section] = {}
    for section in _sections(data, at):
        if section.kind in found:
            raise _refused(at, f"has two sections of type {section.kind}")
        found[section.kind] = section
    if len(found) != count:
        raise _refused(0, f"says that it has {count} sections, and has {len(found)}")
    return tuple(found.values())


def _sections(data: bytes, at: int) -> Iterator[Section]:
    while at < len(data):
        if len(data) - at < _SECTION.size:
            raise _refused(at, "ends inside of a section's header")
        kind, size = _SECTION.unpack_from(data, at)
        begin = at + _SECTION.size
        if size > len(data) - begin:
            raise _refused(at, f"ends inside of a section of {size} bytes")
        at = begin + size
        yield Section(kind, data[begin:at])


def _refused(offset: int, reason: str) -> SnapshotError:
    return SnapshotError(_WHAT, offset=offset, reason=reason)
