"""What members of a DLedger group wrote to each other, whatever is above their log.

A controller of a group writes records as a member does, and hears and tells brokers in the same
steps. Who looks at the group alone looks at what its members say to each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from rocketha.recording.dledger_parts import MEMBER
from rocketha.recording.record import RESPONSE, NodeHeader, NodeRecord

__all__ = ["STOOD_STILL", "is_member", "said_between"]

STOOD_STILL: Final = "StoodStill"
"""What a member hears that nobody says: its process stood still, and goes on."""


def is_member(header: NodeHeader) -> bool:
    """Tell whether a node has a log of DLedger: it says so of itself."""
    return header.settings.get("kind") == MEMBER


def said_between(
    members: Iterable[str], records: Iterable[NodeRecord]
) -> Callable[[NodeRecord], NodeRecord]:
    """Return what leaves of a member's record what it says to members, and hears of them.

    `records` are all that members wrote.
    """
    names = set(members)
    asked = {one.id for record in records for one in record.sent if one.to in names}

    def is_said(message: str) -> bool:
        return message.removesuffix(RESPONSE) in asked

    def of_member(record: NodeRecord) -> NodeRecord:
        return msgspec.structs.replace(
            record,
            sent=tuple([one for one in record.sent if is_said(one.id)]),
            received=tuple([one for one in record.received if is_said(one)]),
            heard=tuple([one for one in record.heard if one["is"] == STOOD_STILL]),
            answered=(),
        )

    return of_member
