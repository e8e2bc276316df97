"""DefaultHA packets, the ones that replicas exchange without a controller.

All integers are big-endian two's complement. There is no state, no identity and no epoch.

Report, slave to master, 8 bytes

| at | bytes | field                                      |
|---:|------:|--------------------------------------------|
|  0 |     8 | maxPhyOffset of the slave                  |

Transfer, master to slave, 12 + n bytes

| at | bytes | field                                      |
|---:|------:|--------------------------------------------|
|  0 |     8 | offset of the body in the CommitLog        |
|  8 |     4 | body size n; 0 is a heartbeat              |
| 12 |     n | CommitLog bytes, not aligned to records    |

Reports follow each other without gaps, and only the newest one counts: the master skips to the
last complete group of 8 bytes.

Source: store/ha `DefaultHAClient`, `DefaultHAConnection`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Final

from rocketha.errors import PacketError
from rocketha.types import INT64_MAX, Offset, SizeBytes

__all__ = [
    "LEGACY_BODY_MAX",
    "LEGACY_HEADER_SIZE",
    "REPORT_SIZE",
    "LegacyReports",
    "LegacyTransfer",
    "feed_reports",
    "pull_legacy_transfer",
    "push_legacy_transfer",
    "push_report",
]

_REPORT: Final = struct.Struct(">q")
_HEADER: Final = struct.Struct(">qi")

REPORT_SIZE: Final = SizeBytes(_REPORT.size)
LEGACY_HEADER_SIZE: Final = SizeBytes(_HEADER.size)
LEGACY_BODY_MAX: Final = SizeBytes(4 << 20)
"""The slave's read buffer in RocketMQ; its batches have 32 KiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyTransfer:
    """A batch of CommitLog bytes; an empty one is a heartbeat."""

    offset: Offset
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyReports:
    """What a master knows of a slave's reports: the newest one, and the bytes of the next."""

    newest: Offset | None = None
    partial: bytes = b""


def push_report(max_phy_offset: Offset) -> bytes:
    """Write the slave's report."""
    return _REPORT.pack(max_phy_offset)


def feed_reports(reports: LegacyReports, data: bytes) -> LegacyReports:
    """Add bytes that arrived; the last complete group of 8 is the newest report.

    Raises: PacketError, also for a report that a newer one in `data` would hide.
    """
    pending = reports.partial + data
    end = len(pending) - len(pending) % REPORT_SIZE
    for at in range(0, end, REPORT_SIZE):
        (offset,) = _REPORT.unpack_from(pending, at)
        if offset < 0:
            raise PacketError("slave maxPhyOffset", offset=at, reason=f"is {offset}, below 0")
        reports = replace(reports, newest=Offset(offset))
    return replace(reports, partial=pending[end:])


def push_legacy_transfer(packet: LegacyTransfer) -> bytes:
    """Write a batch or a heartbeat."""
    assert len(packet.body) <= LEGACY_BODY_MAX
    return _HEADER.pack(packet.offset, len(packet.body)) + packet.body


def pull_legacy_transfer(data: bytes | bytearray) -> tuple[LegacyTransfer, SizeBytes] | None:
    """Read the first packet that a master sent, and its size; `None` if it is not complete.

    Raises: PacketError
    """
    if len(data) < LEGACY_HEADER_SIZE:
        return None
    offset, body_size = _HEADER.unpack_from(data)
    if offset < 0:
        raise PacketError("offset", offset=0, reason=f"is {offset}, below 0")
    if not 0 <= body_size <= LEGACY_BODY_MAX:
        reason = f"is {body_size}, not between 0 and {LEGACY_BODY_MAX}"
        raise PacketError("body size", offset=8, reason=reason)
    if offset + body_size > INT64_MAX:
        raise PacketError("offset", offset=0, reason=f"is {offset}, and {body_size} bytes follow")
    size = SizeBytes(LEGACY_HEADER_SIZE + body_size)
    if len(data) < size:
        return None
    return LegacyTransfer(offset=Offset(offset), body=bytes(data[LEGACY_HEADER_SIZE:size])), size
