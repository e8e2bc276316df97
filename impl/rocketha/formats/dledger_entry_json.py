"""Entries and bytes in the JSON of DLedger's requests and answers.

An entry is an object with body (base64), bodyCrc, chainCrc, channel, index, magic, pos, size and
term, all but the first one integers (see `dledger_entry`). A bodyCrc of 0 is DLedger's and checks
nothing; another one must be that of its body. The size must be that of the entry. Whether a
chainCrc is right only its receiver knows, who has what is before it.

Source: DLedgerEntry; fastjson, which writes byte arrays in base64
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Final

from rocketha.errors import PacketError
from rocketha.formats.dledger_codes import DLedgerEntryType
from rocketha.formats.dledger_entry import (
    ENTRY_HEADER_SIZE,
    DLedgerEntry,
    body_crc,
    check_numbers,
)
from rocketha.formats.json_text import (
    JsonObject,
    JsonValue,
    as_array,
    as_object,
    integer_at,
    text_at,
)
from rocketha.formats.remoting_command import FRAME_MAX
from rocketha.types import INT32_MAX, INT32_MIN, LogIndex, Offset, Term

__all__ = [
    "PUSHED_BODY_MAX",
    "PUSHED_MAX",
    "base64_text",
    "bytes_at",
    "entries_at",
    "entries_json",
    "entry_from_json",
    "entry_json",
    "pushed_size",
]

_TYPES: Final = frozenset(DLedgerEntryType)

PUSHED_MAX: Final = FRAME_MAX - 65_536
"""Bytes of all entries of a push, as they are in its frame: 64 KiB are left for all else."""
_NUMBERS_MAX: Final = 384
"""Bytes of an entry in a frame without its body."""
PUSHED_BODY_MAX: Final = 3 * ((PUSHED_MAX - _NUMBERS_MAX) // 4)
"""Bytes of the body of an entry that a push has room for."""


def pushed_size(entry: DLedgerEntry) -> int:
    """Return how many bytes an entry has in a frame, or a few more."""
    return 4 * ((len(entry.body) + 2) // 3) + _NUMBERS_MAX


def base64_text(data: bytes) -> str:
    """Write bytes."""
    return base64.b64encode(data).decode()


def bytes_at(body: JsonObject, name: str) -> bytes:
    """Read bytes that must be there, in the one spelling of base64. Raises: PacketError"""
    text = text_at(body, name)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise PacketError(name, offset=0, reason="is not base64") from None
    if base64_text(data) != text:
        raise PacketError(name, offset=0, reason="is base64 in another spelling")
    return data


def entries_json(entries: Sequence[DLedgerEntry]) -> JsonValue:
    """Write entries. Raises: EncodingError"""
    return [entry_json(entry) for entry in entries]


def entry_json(entry: DLedgerEntry) -> JsonValue:
    """Write an entry. Raises: EncodingError"""
    check_numbers(entry)
    return {
        "body": base64_text(entry.body),
        "bodyCrc": entry.body_crc,
        "chainCrc": entry.chain_crc,
        "channel": entry.channel,
        "index": entry.index,
        "magic": int(entry.kind),
        "pos": entry.pos,
        "size": entry.size,
        "term": entry.term,
    }


def entry_from_json(value: JsonValue) -> DLedgerEntry:
    """Read an entry. Raises: PacketError"""
    entry = as_object(value, "entry")
    magic = _int32(entry, "magic")
    if magic not in _TYPES:
        raise PacketError("magic", offset=0, reason=f"is {magic}, which is none")
    body, size, summed = bytes_at(entry, "body"), _int32(entry, "size"), _int32(entry, "bodyCrc")
    if size != ENTRY_HEADER_SIZE + len(body):
        raise PacketError("size", offset=0, reason=f"is {size}, the body has {len(body)} bytes")
    if summed not in (0, body_crc(body)):
        reason = f"is {summed}, the body has {body_crc(body)}"
        raise PacketError("bodyCrc", offset=0, reason=reason)
    return DLedgerEntry(
        kind=DLedgerEntryType(magic),
        index=LogIndex(integer_at(entry, "index", least=0)),
        term=Term(integer_at(entry, "term", least=0)),
        pos=Offset(integer_at(entry, "pos", least=0)),
        channel=_int32(entry, "channel"),
        chain_crc=_int32(entry, "chainCrc"),
        body_crc=summed,
        body=body,
    )


def entries_at(body: JsonObject, name: str) -> tuple[DLedgerEntry, ...]:
    """Read an array of entries that must be there. Raises: PacketError"""
    return tuple([entry_from_json(value) for value in as_array(body.get(name), name)])


def _int32(body: JsonObject, name: str) -> int:
    return integer_at(body, name, least=INT32_MIN, most=INT32_MAX)
