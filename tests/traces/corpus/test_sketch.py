"""Counting different things from the smallest ranks, and remembering within bounds."""

from __future__ import annotations

import random

import pytest

from tlatrace.corpus.fingerprint import digest
from tlatrace.corpus.memo import Digests, Memo
from tlatrace.corpus.sketch import Distinct, Ranks, distinct_of, rank_of


def keys(count: int, seed: int = 0) -> list[bytes]:
    rng = random.Random(seed)
    return [rng.randbytes(16) for _ in range(count)]


def ranks_of(some: list[bytes], limit: int) -> bytes:
    ranks = Ranks(limit)
    for key in some:
        ranks.add(rank_of(key, 7))
    return ranks.packed()


def test_few_different_ones_are_counted_exactly() -> None:
    some = keys(500)

    parts = [ranks_of(some[:300] * 3, 1_000), ranks_of(some[200:], 1_000)]

    assert distinct_of(parts, 1_000) == Distinct(500, exact=True)
    assert distinct_of([], 1_000) == Distinct(0, exact=True)


@pytest.mark.parametrize("count", [1_000, 5_000, 60_000])
def test_many_different_ones_are_counted_nearly(count: int) -> None:
    some = keys(count)
    parts = [ranks_of(some[at::3] + some[: count // 2], 1_000) for at in range(3)]

    found = distinct_of(parts, 1_000)

    assert not found.exact
    assert abs(found.count - count) < 0.12 * count


def test_ranks_are_a_permutation_for_each_seed() -> None:
    some = keys(2_000)

    assert len({rank_of(key, 1) for key in some}) == 2_000
    assert all(0 <= rank_of(key, 1) < 1 << 63 for key in some)
    by_one = sorted(some, key=lambda key: rank_of(key, 1))
    assert by_one != sorted(some, key=lambda key: rank_of(key, 2))


def test_a_memo_forgets_what_is_old_and_was_not_asked_for() -> None:
    memo = Memo(size=10)
    transitions = [(None, "A", "[]", key) for key in keys(40)]

    for transition in transitions:
        memo.add(transition)
        assert transitions[0] in memo
        assert len(memo) <= 20

    assert transitions[-1] in memo
    assert transitions[5] not in memo


def test_a_memo_of_no_size_remembers_nothing() -> None:
    memo = Memo(size=0)
    memo.add((None, "A", "[]", b""))

    assert (None, "A", "[]", b"") not in memo


def test_digests_are_right_however_little_is_kept() -> None:
    digests = Digests(characters=50)

    for text in ["a" * 20, "b" * 20, "c" * 20, "a" * 20, "d" * 200, "a" * 20]:
        assert digests.of(text) == digest(text)
