"""What a member of a DLedger group does with what a client asks for.

| obligation         | when                    | what                                              |
|--------------------|-------------------------|---------------------------------------------------|
| answers to clients | a client asks who leads | who that is for the member, and where all are     |
|                    | or for an entry         | the entry as it is written; or why not            |
|                    | an entry that a client  | its index and its term, and a position if it is   |
|                    | wanted has been applied | in the log; or why not                            |

Source: DLedgerServer (`handleMetadata`, `handleAppend`, `handleGet`, `handleRead`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_data_file import FILLER_MIN
from rocketha.formats.dledger_entry import ENTRY_HEADER_SIZE
from rocketha.obligations.dledger_entries import is_written
from rocketha.obligations.dledger_turns import INQUIRIES, Turn, misdirected

__all__ = ["SAID", "is_taken", "said_of"]

SAID: Final = "answers to clients"
_CODE: Final = DLedgerResponseCode


def said_of(turn: Turn, settings: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield what clients are to be told in a turn, and whether they are."""
    if turn.event in INQUIRIES:
        if misdirected(turn, settings) is None:
            yield SAID, _is_told(turn, settings)
        return
    answer: Mapping[str, Any] | None = None
    for one in turn.answered:
        if one["is"] == "ClientTold":
            yield SAID, answer is not None and _is_said(one["body"], answer, turn, settings)
            answer = None
        else:
            answer = one


def _is_told(turn: Turn, settings: Mapping[str, Any]) -> bool:
    """Tell whether a client hears at once what it asks for, and nothing else has happened."""
    bodies = [one["body"] for one in turn.answered if one["is"] == "OutsiderTold"]
    if len(bodies) != 1 or turn.before != turn.after or turn.sent:
        return False
    said, has = msgspec.json.decode(bodies[0]), turn.after
    if (said.get("group"), said.get("leaderId")) != (settings["group"], has["leader"]):
        return False
    if turn.event == "MetadataRequest":
        peers = said.get("peers") or {}
        return said["code"] == _CODE.SUCCESS and [*peers] == list(settings["peers"])
    if has["role"] != "LEADER":
        return said["code"] == _CODE.NOT_LEADER and not said.get("entries")
    (index,) = [
        one.get("begin_index")
        for one in turn.records[0].heard
        if isinstance(one, dict) and one["is"] == turn.event
    ]
    if index is None or has.item_at(index) is None:
        return said["code"] == _CODE.INDEX_OUT_OF_RANGE and not said.get("entries")
    entries = said.get("entries", ())
    if said["code"] != _CODE.SUCCESS or [one["index"] for one in entries] != [index]:
        return False
    return not entries[0]["channel"] and is_written(entries[0], turn)


def _is_said(body: str, answer: Mapping[str, Any], turn: Turn, settings: Mapping[str, Any]) -> bool:
    """Tell whether a client hears what has become of its entry."""
    said = msgspec.json.decode(body)
    if said.get("group") != settings["group"]:
        return False
    if answer["is"] == "AnswerApplied":
        where = (said["code"], said.get("index"), said.get("term"))
        is_there = turn.after.item_at(answer["index"]) is not None
        expected = (_CODE.SUCCESS, answer["index"], answer["term"])
        return where == expected and (said["pos"] >= 0 or not is_there)
    code = answer["code"]
    if code == _CODE.NOT_LEADER and answer["is_unknown"]:
        code = _CODE.TERM_CHANGED
    return (said["code"], said["index"], said["pos"]) == (code, -1, -1)


def is_taken(
    turn: Turn, asked: Mapping[str, Any], settings: Mapping[str, Any], *, is_full: bool
) -> bool:
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
    elif _is_too_large(asked, settings):
        code = DLedgerResponseCode.DISK_ERROR
    elif after.end != before.end + 1:
        return False
    mine = [one for one in turn.answered if one.get("ticket") == asked["ticket"]]
    if code is None:
        return not any(one["is"] == "RefuseClient" for one in mine)
    said = {"is": "RefuseClient", "code": code, "leader_id": before["leader"]}
    said |= {"is_unknown": False}
    return any(all(one.get(name) == said[name] for name in said) for one in mine)


def _is_too_large(asked: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Tell whether no file has room for an entry; the bytes of its body are counted only."""
    file_size = settings.get("mapped_file_size_for_entry_data")
    if file_size is None:
        return False
    return bool(asked["body"]["size"] > file_size - ENTRY_HEADER_SIZE - FILLER_MIN)
