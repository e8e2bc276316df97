"""Tables of offsets that a record says were written to the disk of its node."""

from __future__ import annotations

from base64 import b64decode

import msgspec

from rocketha.errors import PacketError
from rocketha.formats.offset_tables import OffsetTable, TableKind, pull_offsets
from rocketha.recording.record import NodeRecord, RecordError
from rocketproof.record_projection import read_field

__all__ = ["written_tables"]


class _Written(msgspec.Struct, frozen=True):
    path: str
    data: str


def written_tables(record: NodeRecord) -> dict[TableKind, OffsetTable]:
    """Return the tables that a step has written, the last one of each. Raises: RecordError"""
    tables = {}
    for operation in record.stored:
        if operation["is"] == "Written":
            written = read_field(operation, _Written, "stored")
            kind = TableKind(written.path)
            try:
                tables[kind] = pull_offsets(kind, b64decode(written.data))
            except (PacketError, ValueError) as error:
                raise RecordError(f"a table that is none: {error}") from error
    return tables
