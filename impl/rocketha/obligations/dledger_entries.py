"""What a member of a DLedger group says that its log has: what it pushes, as it has written it.

| obligation         | when                       | what                                           |
|--------------------|----------------------------|------------------------------------------------|
| entries as written | an entry goes to a follower | term, body and CRC are those of the log; with |
|                    |                            | `legacy_push` it has no channel                |

Source: DLedgerEntryPusher.EntryDispatcher, DLedgerEntry (`equals`)
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocketha.formats.dledger_codes import DLedgerRequestCode
from rocketha.obligations.dledger_turns import Turn

__all__ = ["ENTRIES", "entries_of"]

ENTRIES: Final = "entries as written"


def entries_of(turn: Turn, settings: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield what is due in a turn, and whether it was done."""
    for code, _, body, _ in turn.sent:
        if code != DLedgerRequestCode.PUSH:
            continue
        alone = body.get("entry")
        pushed = body["entries"] if alone is None or body["entries"] else [alone]
        for entry in pushed:
            written = turn.after.item_at(entry["index"])
            if written is not None:
                has_channel = bool(settings["legacy_push"] and entry["channel"])
                yield ENTRIES, not has_channel and _is_same(entry, *written)


def _is_same(entry: Mapping[str, Any], term: int, crc: int) -> bool:
    """Tell whether an entry is that of a log; DLedger's bodyCrc is a signed one, or 0."""
    try:
        body = base64.b64decode(entry["body"], validate=True)
    except binascii.Error:
        return False
    said = entry["bodyCrc"] & 0xFFFFFFFF
    return entry["term"] == term and zlib.crc32(body) == crc and said in (0, crc)
