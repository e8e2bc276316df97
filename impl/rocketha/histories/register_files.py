"""Registers, logs and snapshots of a node, read once more by somebody who shares no code with it.

Whoever judges a node must not ask the node: what entries make of registers is folded here, and what
is in the bytes of its files is read here, by the tables of `rocketha.replicated_log.log` and
`rocketha.formats.controller_snapshot`.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["ScannedLog", "ScannedSnapshot", "fold", "fold_one", "scan_log", "scan_snapshot"]

_LOG: Final = b"RKCTLOG2"
_LOG_HEADER: Final = struct.Struct(">8sQQI")
_SNAPSHOT_HEADER: Final = struct.Struct(">HIIIQ")
_BRANCH: Final = bytes.fromhex("DAA320A7")
_BRANCH_HEADER_SIZE: Final = 18
_SECTION: Final = struct.Struct(">HI")
_META, _REGISTER = 256, 257
_CRC_AT: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedLog:
    """The whole records of a log, up to the first that is none."""

    first: int
    """Index of the first record, or of the one that will be."""
    boundary: int
    """Term of the entry before it."""
    records: tuple[tuple[int, bytes], ...]
    """Term and entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedSnapshot:
    """What is in a snapshot."""

    index: int
    term: int
    registers: Mapping[str, int] | None
    """None: the file is whole, and no registers are in it."""
    is_checked: bool
    """It has a checksum; those of the unmerged branch have none."""


def fold_one(registers: Mapping[str, int], entry: bytes) -> dict[str, int]:
    """Return the registers after one more entry. Raises: ValueError if it is none"""
    said = json.loads(entry)
    after = {name: value for name, value in registers.items() if name != said["key"]}
    if "value" in said:
        after[said["key"]] = said["value"]
    return after


def fold(entries: Iterable[bytes]) -> Iterator[Mapping[str, int]]:
    """Yield the registers after no entry, and after each. Raises: ValueError if one is none"""
    registers: dict[str, int] = {}
    yield registers
    for entry in entries:
        registers = fold_one(registers, entry)
        yield registers


def scan_log(data: bytes) -> ScannedLog | None:
    """Read the file of a log; None: its header is damaged."""
    at, first, boundary, has_terms = len(_LOG), 1, 0, data.startswith(_LOG)
    if has_terms:
        at = _LOG_HEADER.size
        if len(data) < at or zlib.crc32(data[: at - 4]) != int.from_bytes(data[at - 4 : at]):
            return None
        _, first, boundary, _ = _LOG_HEADER.unpack_from(data)
    records = []
    head = 16 if has_terms else 8
    while at + head <= len(data):
        size, checksum = struct.unpack_from(">II", data, at)
        entry = data[at + head : at + head + size]
        told = struct.pack(">QI", at, size) + data[at + 8 : at + head] + entry
        if not size or len(entry) < size or zlib.crc32(told) != checksum:
            break
        records.append((int.from_bytes(data[at + 8 : at + head]), entry))
        at += head + size
    return ScannedLog(first=first, boundary=boundary, records=tuple(records))


def scan_snapshot(data: bytes) -> ScannedSnapshot | None:
    """Read the file of a snapshot, checked or of the unmerged branch; None: it is not whole."""
    begin = _SNAPSHOT_HEADER.size
    is_checked = not data.startswith(_BRANCH)
    if not is_checked:
        begin = _BRANCH_HEADER_SIZE
    elif len(data) < begin or not _is_checked(data):
        return None
    sections: dict[int, bytes] = {}
    while begin + _SECTION.size <= len(data):
        kind, size = _SECTION.unpack_from(data, begin)
        begin += _SECTION.size
        sections[kind] = data[begin : begin + size]
        begin += size
    if begin != len(data):
        return None
    try:
        meta = json.loads(sections[_META])
        index, term = meta["lastIncludedIndex"], meta["lastIncludedTerm"]
    except (KeyError, TypeError, ValueError):
        return None
    registers = _registers(sections.get(_REGISTER, b""))
    return ScannedSnapshot(index=index, term=term, registers=registers, is_checked=is_checked)


def _registers(body: bytes) -> Mapping[str, int] | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    if not isinstance(found, dict) or not all(type(value) is int for value in found.values()):
        return None
    return found


def _is_checked(data: bytes) -> bool:
    """Tell whether the checksum of a file, over all of it with 0 in its place, is the right one."""
    stored = int.from_bytes(data[_CRC_AT : _CRC_AT + 4])
    return zlib.crc32(data[:_CRC_AT] + bytes(4) + data[_CRC_AT + 4 :]) == stored
