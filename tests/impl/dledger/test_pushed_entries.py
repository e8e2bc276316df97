"""Entries that a follower must not write, whoever sends them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.dledger.entry_handler import handle_push
from rocketha.dledger.push_state import PusherAction
from rocketha.formats.dledger_codes import DLedgerResponseCode, PushType
from rocketha.formats.dledger_entry import DLedgerEntry
from rocketha.formats.dledger_requests import PushEntryResponse
from tests.impl.dledger.pusher_scene import answer_of, around, entry, log, push, pushed, pusher


@pytest.mark.parametrize(
    "wrong",
    [
        replace(entry(2, 2), body_crc=1),
        replace(entry(2, 2), body=b"another body"),
        entry(2, 1),
        entry(2, 4),
    ],
    ids=["bodyCrc", "body", "a term before the last one", "a term after the leader's"],
)
def test_an_entry_that_no_leader_of_the_term_can_have_is_refused(wrong: DLedgerEntry) -> None:
    message = push(PushType.APPEND, entries=(wrong,))
    stepped = handle_push(pusher(same=1), pushed(message), around(log(1, 2)))
    answer = answer_of(stepped)
    assert isinstance(answer, PushEntryResponse)
    assert answer.response_code is DLedgerResponseCode.UNEXPECTED_ARGUMENT
    assert (stepped.state, stepped.action) == (pusher(same=1), None)


def test_an_entry_without_a_body_crc_is_taken() -> None:
    message = push(PushType.APPEND, entries=(replace(entry(2, 2), body_crc=0),))
    stepped = handle_push(pusher(same=1), pushed(message), around(log(1, 2)))
    assert stepped.action is PusherAction.APPEND_AS_FOLLOWER
