"""The checkpoint of a DLedger node up to release 0.3.2; 0.4.0 has none.

`checkpoint`, lines as in `dledger_lines`

| key            | value                                                                    |
|----------------|--------------------------------------------------------------------------|
| endIndex       | index of the last entry when it was written, -1: none                    |
| committedIndex | index of the last committed entry, -1: none                              |

DLedger writes it every few seconds, without synchronizing it or the entries that it names, and
believes a committedIndex that is behind its log. Here both are hints, and there is a checksum;
without one a changed bit in a digit is not noticed. A committedIndex above endIndex is refused,
although DLedger may write one: it reads the two at different times.
RocketMQ's store has another file of this name (see `store_checkpoint`).

Source: DLedgerMmapFileStore (`persistCheckPoint`, `loadCheckPoint`, `recover`) of 0.3.1.2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rocketha.errors import CheckpointError, EncodingError
from rocketha.formats.dledger_lines import BadLineError, decode_lines, decode_number, encode_lines
from rocketha.types import INT64_MAX, LogIndex

__all__ = ["CHECKPOINT_FILE", "Checkpoint", "decode_checkpoint", "encode_checkpoint"]

CHECKPOINT_FILE: Final = "checkpoint"
"""The name of the file in the folder of its node."""

_END: Final = "endIndex"
_COMMITTED: Final = "committedIndex"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """How far a log was, and how far committed."""

    end_index: LogIndex
    committed_index: LogIndex


def encode_checkpoint(checkpoint: Checkpoint, *, checked: bool = True) -> bytes:
    """Write the file; unchecked as DLedger does. Raises: EncodingError"""
    if not -1 <= checkpoint.committed_index <= checkpoint.end_index <= INT64_MAX:
        reason = f"has {checkpoint.committed_index} of {checkpoint.end_index} entries committed"
        raise EncodingError(CHECKPOINT_FILE, reason=reason)
    lines = {_COMMITTED: str(checkpoint.committed_index), _END: str(checkpoint.end_index)}
    return encode_lines(lines, checked=checked)


def decode_checkpoint(data: bytes, *, accept_unchecked: bool = False) -> Checkpoint:
    """Read the file, with `accept_unchecked` also DLedger's. Raises: CheckpointError"""
    try:
        lines = decode_lines(data, {_END, _COMMITTED}, accept_unchecked=accept_unchecked)
        end = decode_number(lines[_END], _END, least=-1, most=INT64_MAX)
        committed = decode_number(lines[_COMMITTED], _COMMITTED, least=-1, most=end)
    except BadLineError as error:
        raise CheckpointError(CHECKPOINT_FILE, offset=error.offset, reason=error.reason) from None
    return Checkpoint(end_index=LogIndex(end), committed_index=LogIndex(committed))
