"""The snapshots of a DLedger node: names of folders, and what is in them.

| name in `snapshot/`           | what                                                            |
|-------------------------------|-----------------------------------------------------------------|
| `snapshot_i/snapshot_meta`    | what entry i, the last one of which the effect is in it, was    |
| `snapshot_i/data`             | bytes of the state machine                                      |
| `tmp/`                        | one that is being written, renamed when it is whole             |
| `install_tmp/`                | likewise one that the leader sent; since 0.4.0                  |

`snapshot_meta` is one JSON object without spaces; integers

| member               | value                                                                    |
|----------------------|--------------------------------------------------------------------------|
| lastIncludedIndex    | i, 0 or more                                                             |
| lastIncludedTerm     | its term, 0 or more                                                      |
| crc32                | ours: CRC-32 of the object without this member, members in order of name |
| dataCrc32            | ours: CRC-32 of `data`                                                   |
| dataSize             | ours: bytes of `data`                                                    |
| lastIncludedChainCrc | ours: chainCrc of the entry, see `dledger_entry`                         |

DLedger has the first two, checks nothing, and does not mind ours. A snapshot of its own is read
only if the caller asks for it; then a changed bit in a digit or in `data` is not noticed. It
synchronizes nothing; here all files and the new name must be, before the log loses what they stand
for.

Source: SnapshotManager, FileSnapshotStore, FileSnapshotWriter, FileSnapshotReader, SnapshotMeta
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Final

from rocketha.errors import EncodingError, PacketError, SnapshotError
from rocketha.formats.dledger_entry import ChainCrc, LogPoint
from rocketha.formats.json_text import as_object, integer_at, read_json, write_json
from rocketha.types import INT32_MAX, INT32_MIN, INT64_MAX, LogIndex, SizeBytes, Term

__all__ = [
    "SNAPSHOT_DATA_FILE",
    "SNAPSHOT_INSTALL_TEMP_DIR",
    "SNAPSHOT_META_FILE",
    "SNAPSHOT_TEMP_DIR",
    "DataSum",
    "SnapshotMeta",
    "check_snapshot_data",
    "data_sum",
    "decode_snapshot_meta",
    "encode_snapshot_meta",
    "snapshot_dir",
    "snapshot_dir_index",
]

SNAPSHOT_META_FILE: Final = "snapshot_meta"
SNAPSHOT_DATA_FILE: Final = "data"
SNAPSHOT_TEMP_DIR: Final = "tmp"
SNAPSHOT_INSTALL_TEMP_DIR: Final = "install_tmp"

_DIR: Final = re.compile(r"snapshot_(0|[1-9][0-9]{0,18})\Z", re.ASCII)
_META_MAX: Final = 4096
_UINT32_MAX: Final = 2**32 - 1
_INDEX: Final = "lastIncludedIndex"
_TERM: Final = "lastIncludedTerm"
_CHAIN: Final = "lastIncludedChainCrc"
_DATA_SIZE: Final = "dataSize"
_DATA_CRC: Final = "dataCrc32"
_CRC: Final = "crc32"


@dataclass(frozen=True, slots=True)
class DataSum:
    """What `data` must be."""

    size: SizeBytes
    crc32: int
    """Without a sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotMeta:
    """What a snapshot stands for; one of DLedger's has neither `chain_crc` nor `data`."""

    last_included_index: LogIndex
    last_included_term: Term
    chain_crc: ChainCrc | None = None
    data: DataSum | None = None

    @property
    def point(self) -> LogPoint:
        """Where a log goes on behind it."""
        return LogPoint(self.last_included_index, self.last_included_term, self.chain_crc)


def snapshot_dir(index: LogIndex) -> str:
    """Return the name of the folder of a snapshot."""
    return f"snapshot_{index}"


def snapshot_dir_index(name: str) -> LogIndex | None:
    """Return the entry that a folder's name stands for; `None` if it is not that of a snapshot."""
    matched = _DIR.match(name)
    index = int(matched[1]) if matched else -1
    return LogIndex(index) if 0 <= index <= INT64_MAX else None


def data_sum(data: bytes) -> DataSum:
    """Compute what a snapshot with this data says of it."""
    return DataSum(SizeBytes(len(data)), zlib.crc32(data))


def encode_snapshot_meta(meta: SnapshotMeta) -> bytes:
    """Write a `snapshot_meta`; without both of `chain_crc` and `data` as DLedger does.

    Raises: EncodingError
    """
    index, term = meta.last_included_index, meta.last_included_term
    if not (0 <= index <= INT64_MAX and 0 <= term <= INT64_MAX):
        raise EncodingError(SNAPSHOT_META_FILE, reason=f"has the entry {index} of term {term}")
    members = {_INDEX: int(index), _TERM: int(term)}
    if meta.data is None and meta.chain_crc is None:
        return write_json(members)
    if meta.data is None or meta.chain_crc is None:
        raise EncodingError(SNAPSHOT_META_FILE, reason="has only one of its checksums")
    members |= {
        _CHAIN: meta.chain_crc,
        _DATA_SIZE: meta.data.size,
        _DATA_CRC: meta.data.crc32,
    }
    return write_json(members | {_CRC: zlib.crc32(write_json(members))})


def decode_snapshot_meta(
    data: bytes, *, index: LogIndex, accept_unchecked: bool = False
) -> SnapshotMeta:
    """Read the `snapshot_meta` of the folder that is named by this entry.

    Raises: SnapshotError
    """
    if len(data) > _META_MAX:
        raise _refused(f"has {len(data)} bytes, over {_META_MAX}")
    try:
        members = as_object(read_json(data, SNAPSHOT_META_FILE), SNAPSHOT_META_FILE)
        said = integer_at(members, _INDEX, least=0)
        term = integer_at(members, _TERM, least=0)
        chain: int | None = None
        summed: DataSum | None = None
        if not accept_unchecked or _CRC in members:
            chain = integer_at(members, _CHAIN, least=INT32_MIN, most=INT32_MAX)
            size = integer_at(members, _DATA_SIZE, least=0)
            summed = DataSum(
                SizeBytes(size), integer_at(members, _DATA_CRC, least=0, most=_UINT32_MAX)
            )
    except PacketError as error:
        raise SnapshotError(error.what, offset=error.offset, reason=error.reason) from None
    meta = SnapshotMeta(
        last_included_index=LogIndex(said),
        last_included_term=Term(term),
        chain_crc=chain,
        data=summed,
    )
    if said != index:
        raise _refused(f"has the entry {said} in the folder of {index}")
    if summed is not None and encode_snapshot_meta(meta) != data:
        raise _refused("has another checksum than its members, or is written in another way")
    return meta


def check_snapshot_data(meta: SnapshotMeta, data: bytes) -> None:
    """Compare the data of a snapshot with what its meta says. Raises: SnapshotError"""
    if meta.data is None:
        return
    if meta.data != data_sum(data):
        reason = f"has {len(data)} bytes with the CRC-32 {zlib.crc32(data):#010x}"
        raise SnapshotError(SNAPSHOT_DATA_FILE, offset=0, reason=reason)


def _refused(reason: str) -> SnapshotError:
    return SnapshotError(SNAPSHOT_META_FILE, offset=0, reason=reason)
