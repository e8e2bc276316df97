"""What a member of a DLedger group does with what a client asks for.

Source: DLedgerServer (`handleAppend`, `handleRead`)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.obligations.dledger_turns import Turn

__all__ = ["is_taken"]


def is_taken(turn: Turn, asked: Mapping[str, Any], *, is_full: bool) -> bool:
    """Tell whether a client is refused for the first reason that there is, or taken if none is.

    `is_full`: so many wait for their entries as may.
    """
    before, after = turn.before, turn.after
    code = None
    if before["role"] != "LEADER":
        code = DLedgerResponseCode.NOT_LEADER
    elif asked["is"] == "ReadAsked":
        if before.term_at(before["committed"]) != before["curr_term"]:
            code = DLedgerResponseCode.LEADER_NOT_READY
    elif before["transferee"] is not None:
        code = DLedgerResponseCode.LEADER_TRANSFERRING
    elif is_full:
        code = DLedgerResponseCode.LEADER_PENDING_FULL
    elif after.end != before.end + 1:
        return False
    mine = [one for one in turn.answered if one.get("ticket") == asked["ticket"]]
    if code is None:
        return not any(one["is"] == "RefuseClient" for one in mine)
    said = {"is": "RefuseClient", "code": code, "leader_id": before["leader"]}
    said |= {"is_unknown": False}
    return any(all(one.get(name) == said[name] for name in said) for one in mine)
