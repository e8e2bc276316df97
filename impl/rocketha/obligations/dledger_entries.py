"""What a member of a DLedger group says that its log has: what it pushes, as it has written it.

| obligation         | when                        | what                                          |
|--------------------|-----------------------------|-----------------------------------------------|
| entries as written | an entry goes to a follower | it is in the log, with this term, body and    |
|                    |                             | CRC; with `legacy_push` it has no channel     |

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

__all__ = ["ENTRIES", "entries_of", "is_written"]

ENTRIES: Final = "entries as written"


def entries_of(turn: Turn, settings: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield what is due in a turn, and whether it was done."""
    for code, _, body, _ in turn.sent:
        if code != DLedgerRequestCode.PUSH:
            continue
        alone = body.get("entry")
        pushed = body["entries"] if alone is None or body["entries"] else [alone]
        for entry in pushed:
            if entry["index"] > turn.after["begin"]:  # else it was cut in this turn
                has_channel = bool(settings["legacy_push"] and entry["channel"])
                yield ENTRIES, not has_channel and is_written(entry, turn)


def is_written(entry: Mapping[str, Any], turn: Turn) -> bool:
    """Tell whether an entry is in the log of who sends it; bodyCrc is a signed number."""
    try:
        body = base64.b64decode(entry["body"], validate=True)
    except binascii.Error:
        return False
    crc = zlib.crc32(body)
    same_crc = entry["bodyCrc"] & 0xFFFFFFFF == crc
    return same_crc and turn.after.item_at(entry["index"]) == (entry["term"], crc)
