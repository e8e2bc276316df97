"""Histories by hand: what is right, each classic error, and what is no verdict."""

from __future__ import annotations

import pytest

from rocketha.histories import AllKept, Broken, Undecided
from rocketha.histories.linearizability import (
    Exhausted,
    Linearizable,
    Method,
    NotLinearizable,
    check_linearizability,
)
from rocketha.histories.linearizability.wing_gong import Spent, search
from rocketha.histories.verdicts import Promise
from tests.impl.histories.linearizability import brute_force, textbook
from tests.impl.histories.linearizability.words import history, operation

GOOD = {
    "one after the other": "0:w1@1-2 0:r1@3-4 0:w2@5-6 0:r2@7-8",
    "nothing is written": "0:r@1-2 1:r@1-2",
    "a read during a write sees the old value": "0:w1@1-2 0:w2@3-9 1:r1@4-5",
    "a read during a write sees the new value": "0:w1@1-2 0:w2@3-9 1:r2@4-5",
    "old, then new, during one write": "0:w1@1-2 0:w2@3-9 1:r1@4-5 1:r2@6-7",
    "two writes at once, in either order": "0:w1@1-5 1:w2@1-5 2:r2@6-7 2:r2@8-9",
    "the one that returned first is last": "0:w1@1-5 1:w2@1-9 2:r2@2-3 2:r1@4-6",
    "at equal times a call is not after a return": "0:w1@1-2 0:w2@3-4 1:r1@4-5",
    "an unknown write happened": "0:w1@1-2? 1:r1@3-4",
    "an unknown write never happened": "0:w1@1-2? 1:r@3-4 1:r@5-6",
    "an unknown write happens late": "0:w1@1-2? 1:r@3-4 1:w2@5-6 1:r2@7-8 1:r1@9-10",
    "a write that never returns happens late": "0:w1@1-? 1:r@3-4 1:w2@5-6 1:r1@9-10",
    "a refused write is not seen": "0:w1@1-2! 1:r@3-4",
    "a read that failed says nothing": "0:w1@1-2 1:r7@3-4! 1:r1@5-6",
    "a CAS finds what was written": "0:w1@1-2 0:c1>2@3-4 1:r2@5-6",
    "a CAS does not find what was overwritten": "0:w1@1-2 0:w2@3-4 1:n1>3@5-6 1:r2@7-8",
    "of two CAS at once one finds it": "0:w1@1-2 0:c1>2@3-9 1:n1>3@3-9 2:r2@10-11",
    "an unknown CAS happens late": "0:w1@1-2 1:c1>2@1-3? 0:r1@4-5 0:r2@6-7 0:r2@8-9",
    "an unknown write explains why a CAS did not find": "0:w1@1-2 1:w2@3-4? 0:n1>3@5-6 2:r2@7-8",
    "each key for itself": "0:w1/a@1-2 1:w1/b@1-2 0:r1/b@3-4 1:r1/a@3-4",
    "a value twice": "0:w1@1-2 0:w2@3-4 0:w1@5-6 1:r1@7-8",
}

BAD = {
    "stale read": ("0:w1@1-2 0:w2@3-4 1:r1@5-6", "1:r1@5-6"),
    "lost write": ("0:w1@1-2 1:r@3-4", "1:r@3-4"),
    "read of the future": ("0:r1@1-2 1:w1@3-4", "0:r1@1-2"),
    "read of what nobody wrote": ("0:w1@1-2 1:r7@3-4", "1:r7@3-4"),
    "read of what was refused": ("0:w1@1-2! 1:r1@3-4", "1:r1@3-4"),
    "new, then old": ("0:w1@1-2 0:w2@3-9 1:r2@4-5 2:r1@6-7", "2:r1@6-7"),
    "two readers see two orders": (
        "0:w1@1-5 1:w2@1-5 2:r1@6-7 3:r2@8-9",
        "3:r2@8-9",
    ),
    "back and forth": ("0:w1@1-20 1:w2@1-20 2:r1@2-3 2:r2@4-5 2:r1@6-7", "2:r1@6-7"),
    "an unknown write happens twice": (
        "0:w1@1-2? 1:r1@3-4 1:w2@5-6 1:r2@7-8 1:r1@9-10",
        "1:r1@9-10",
    ),
    "an unknown write is seen before it is called": ("0:r1@1-2 1:w1@3-4?", "0:r1@1-2"),
    "forgotten": ("0:w1@1-2 0:r1@3-4 0:r@5-6", "0:r@5-6"),
    "a CAS finds what was overwritten": ("0:w1@1-2 0:w2@3-4 1:c1>3@5-6", "1:c1>3@5-6"),
    "a CAS does not find what is there": ("0:w1@1-2 1:n1>3@3-4", "1:n1>3@3-4"),
    "two CAS find the same": ("0:w1@1-2 0:c1>2@3-9 1:c1>3@3-9", None),
    "a lost CAS": ("0:w1@1-2 0:c1>2@3-4 1:r1@5-6", "1:r1@5-6"),
    "one key of two": ("0:w1/a@1-2 1:w1@1-2 0:r/a@3-4 1:r1@3-4", "0:r/a@3-4"),
    "a value twice, and an older one": ("0:w1@1-2 0:w2@3-4 0:w1@5-6 1:r2@7-8", "1:r2@7-8"),
}


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("name", GOOD)
def test_a_good_history_is_linearizable(name: str, method: Method) -> None:
    one = history(GOOD[name])
    answers = sum(word[2] in "rcn" and word[-1] not in "?!" for word in GOOD[name].split())

    verdict = check_linearizability(one, method=method)

    assert isinstance(verdict, Linearizable), verdict.in_words()
    assert verdict.counted == answers
    assert verdict.operations == sum(map(len, one.by_key().values()))
    assert brute_force.is_linearizable(one)
    assert all(textbook.is_linearizable(of_key, 1000) for of_key in one.by_key().values())


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("name", BAD)
def test_each_classic_error_is_found_where_it_shows(name: str, method: Method) -> None:
    words, stuck = BAD[name]
    one = history(words)

    verdict = check_linearizability(one, method=method)

    assert isinstance(verdict, NotLinearizable), verdict.in_words()
    assert verdict.promise is Promise.LINEARIZABLE
    if stuck is not None:
        assert verdict.stuck == operation(stuck)
    assert verdict.stuck in verdict.operations
    assert verdict.stuck not in verdict.prefix
    assert not brute_force.is_linearizable(one)
    assert not all(textbook.is_linearizable(of_key, 1000) for of_key in one.by_key().values())


def test_a_verdict_says_what_is_wrong() -> None:
    by_zones = check_linearizability(history("0:w1@1-2 0:w2@3-4 1:r1@5-6"))
    by_search = check_linearizability(history("0:w1@1-2 0:w2@3-4 1:r1@5-6"), method=Method.SEARCH)
    future = check_linearizability(history("0:r1@1-2 1:w1@3-4"))

    assert isinstance(by_zones, Broken)
    assert by_zones.reason == (
        "key 'x': 1 was held from 2 to 5, and 2 was held at some time from 3 to 4"
    )
    assert isinstance(by_search, NotLinearizable)
    assert by_search.reason == (
        "key 'x': client 1, 5 to 6: read 1: 2 operations before it have an order, none with it"
    )
    assert by_search.prefix == by_search.operations[:2]
    assert isinstance(future, Broken)
    assert future.reason == "key 'x': 1 was read until 2, and was written from 3 on"


def test_what_examined_nothing_is_no_pass() -> None:
    for words in ("", "0:w1@1-2 1:w2@1-2", "0:r@1-2?", "0:r1@1-2!", "0:c1>2@1-2?"):
        verdict = check_linearizability(history(words))
        assert isinstance(verdict, Undecided)
        assert not isinstance(verdict, AllKept | Exhausted)
        assert verdict.reason == "no read and no CAS was answered"


def test_a_budget_that_ends_is_no_verdict() -> None:
    one = history(" ".join(f"{client}:c{client}>{client + 1}@1-9" for client in range(9)))
    operations = one.by_key()["x"]

    assert search(operations, budget=0) == Spent(steps=0)
    verdict = check_linearizability(one, budget=0)

    assert isinstance(verdict, Exhausted)
    assert (verdict.keys, verdict.budget) == (("x",), 0)
    assert "0 choices were not enough for 1 keys: 'x'" in verdict.in_words()
    assert isinstance(check_linearizability(one), NotLinearizable)


@pytest.mark.parametrize("words", [*GOOD.values(), *[words for words, _ in BAD.values()]])
def test_a_smaller_budget_never_gives_another_verdict(words: str) -> None:
    one = history(words)
    full = check_linearizability(one, method=Method.SEARCH)
    kinds = set()
    for budget in range(12):
        verdict = check_linearizability(one, budget=budget, method=Method.SEARCH)
        kinds.add(type(verdict))
        assert isinstance(verdict, Exhausted) or verdict == full
    assert type(full) in kinds


def test_a_wrong_key_counts_though_the_budget_ended_in_another() -> None:
    hard = "0:w1@1-2 0:w1@3-4 1:c1>1@1-9 2:c1>1@1-9 3:r1@1-9 "

    verdict = check_linearizability(history(f"{hard} 9:w1/y@1-2 9:r/y@3-4"), budget=0)

    assert isinstance(verdict, NotLinearizable)
    assert verdict.key == "y"
    assert isinstance(check_linearizability(history(hard), budget=0), Exhausted)
