"""The leader's search for the last entry that a follower has, too, against brute force."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

import pytest

from rocketha.dledger.entry_dispatcher import count_push, dispatch
from rocketha.dledger.entry_handler import handle_push
from rocketha.dledger.member_state import Role
from rocketha.dledger.push_rules import PUSHER_RULES, PusherRules
from rocketha.dledger.push_state import (
    DispatcherState,
    EntryDispatcher,
    PushAnswered,
    SendPush,
)
from rocketha.formats.dledger_codes import DLedgerResponseCode
from rocketha.formats.dledger_requests import PushEntryResponse
from rocketha.known_bugs import Bug
from rocketha.known_bugs.dledger import pusher_rules
from rocketha.types import LogIndex
from tests.impl.dledger.pusher_scene import ListLog, answer_of, around, pushed, pusher

PAIRS: Final = 3_000


def history(rng: random.Random, term: int) -> list[int]:
    """Terms from `term` on that never fall."""
    terms: list[int] = []
    while len(terms) < 12 and rng.random() < 0.85:
        term += rng.random() < 0.4
        terms.append(term)
    return terms


def drawn(seed: int, *, cut: bool) -> tuple[ListLog, ListLog]:
    """A leader's log and a follower's: one up to some entry; behind it no entry is in both.

    A term has one leader, so what is of one term at one place is one entry, with all before it.
    """
    rng = random.Random(f"last match {seed}")
    common = history(rng, 0)
    last = common[-1] if common else 0
    leader, follower = common + history(rng, last), common + history(rng, last)
    # Each term behind the common part is one of them's alone, but for the one that goes on there.
    free = len(common)
    while free < min(len(leader), len(follower)) and leader[free] == follower[free]:
        del leader[free], follower[free]
    seen = set(leader[free:]) - {last}
    follower = follower[:free] + [term for term in follower[free:] if term not in seen]
    if leader[free : free + 1] == [last] and follower[free : free + 1] == [last]:
        del follower[free:]
    before = rng.randrange(-1, free) if cut else -1
    return ListLog(tuple(leader)), ListLog(tuple(follower), before)


def last_match(leader: ListLog, follower: ListLog) -> int:
    """By brute force."""
    same = -1
    for index in range(min(len(leader.terms), len(follower.terms))):
        if leader.terms[: index + 1] == follower.terms[: index + 1]:
            same = index
    return same


def searched(leader: ListLog, follower: ListLog, rules: PusherRules) -> tuple[int, list[int]]:
    """Let both cores search; return what was found, and what was compared for it."""
    one = EntryDispatcher(write_index=LogIndex(leader.end_index + 1))
    state, compared = pusher().with_dispatcher("n1", one), list[int]()
    answer = PushEntryResponse()
    leads = around(leader, Role.LEADER, push_rules=rules)
    while state.dispatchers["n1"].type is DispatcherState.COMPARE:
        assert len(compared) < 40, compared
        stepped = dispatch(state, leads)
        (sent,) = [one for one in stepped.effects if isinstance(one, SendPush)]
        compared.append(sent.message.pre_log_index)
        message = replace(sent.message, leader_id="n1")
        told = answer_of(handle_push(pusher(), pushed(message), around(follower)))
        assert isinstance(told, PushEntryResponse)
        answer = told
        event = PushAnswered(number=sent.number, peer="n1", message=answer)
        state = count_push(stepped.state, event, leads).state
    assert answer.response_code is DLedgerResponseCode.SUCCESS
    return state.dispatchers["n1"].match_index, compared


@pytest.mark.parametrize("cut", [False, True])
def test_the_last_common_entry_is_found(cut: bool) -> None:
    most = 0
    for seed in range(PAIRS):
        leader, follower = drawn(seed, cut=cut)
        found, compared = searched(leader, follower, PUSHER_RULES)
        assert found == last_match(leader, follower), (leader, follower)
        assert len(set(compared)) == len(compared), "never again what was compared"
        # One for the end, one for each term of the follower that is not the leader's, and so on.
        terms = len(set(follower.terms) | set(leader.terms))
        assert len(compared) <= terms + 2, (leader, follower, compared)
        most = max(most, len(compared))
    assert most >= 4


def test_with_the_bug_it_goes_before_entries_that_both_have() -> None:
    rules = pusher_rules(frozenset({Bug.FAST_BACKUP}))
    wrong = 0
    for seed in range(PAIRS):
        leader, follower = drawn(seed, cut=False)
        found, _ = searched(leader, follower, rules)
        assert found <= last_match(leader, follower)
        wrong += found < last_match(leader, follower)
    assert wrong > 0
