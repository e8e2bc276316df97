"""The smallest wrong part of a history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

import pytest

from rocketha.histories import Outcome
from rocketha.histories.linearizability import (
    Method,
    NotLinearizable,
    Operation,
    RegisterHistory,
    check_linearizability,
    shrink,
)
from rocketha.histories.linearizability.shrinking import (
    Rests,
    Smallest,
    known_to,
    rests_by_overwriting,
    rests_by_value,
    without,
)
from tests.impl.histories.linearizability import brute_force
from tests.impl.histories.linearizability.agreement import drawn
from tests.impl.histories.linearizability.random_histories import Shape, draw_history, mutate
from tests.impl.histories.linearizability.words import history, operation


def smallest(one: RegisterHistory, method: Method = Method.SEARCH) -> Smallest:
    verdict = check_linearizability(one, method=method)
    assert isinstance(verdict, NotLinearizable)
    return shrink(verdict)


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("0:w1@1-2 0:w2@3-4 1:r1@5-6", "0:w1@1-2 0:w2@3-4 1:r1@5-6"),
        ("0:w3@1-2 1:r3@3-4 0:w1@5-6 2:r1@7-8 0:w2@9-10 1:r1@11-12 0:w1@13-14", None),
        ("0:w1@1-2 1:r1@3-4 1:w2@5-6 0:r2@7-8 2:r1/y@1-2", "2:r1/y@1-2"),
        ("0:w2/y@1-2 1:w5@1-2 0:r1@3-4 1:w1@5-6 0:w1@7-8", "0:r1@3-4 1:w1@5-6"),
        ("0:w1@1-2 0:n2>3@3-4 1:n1>3@5-6 1:w4@7-8", "0:w1@1-2 1:n1>3@5-6"),
        ("0:w1@1-2 1:c1>2@3-4 0:c2>3@5-6 0:r2@7-8 1:w9@9-10", None),
    ],
)
def test_what_is_not_needed_is_left_out(words: str, left: str | None) -> None:
    found = smallest(history(words))

    assert found.is_minimal
    if left is not None:
        assert set(found.verdict.operations) == {operation(word) for word in left.split()}
    assert len(found.verdict.operations) < len(words.split()) or left == words
    assert found.verdict.stuck in found.verdict.operations


def parts(operations: tuple[Operation, ...]) -> set[tuple[Operation, ...]]:
    """List all smaller parts."""
    found = set()
    rests = rests_by_value(operations)
    for mask in range(1, 1 << len(operations)):
        places = frozenset(at for at in range(len(operations)) if mask >> at & 1)
        found.add(without(operations, places, rests))
    return found


def test_every_smaller_part_is_linearizable() -> None:
    shrunk = smaller = 0
    for seed in range(500):
        one, _ = drawn(seed)
        for method in Method:
            verdict = check_linearizability(one, method=method)
            if isinstance(verdict, NotLinearizable):
                found = shrink(verdict)
                left = found.verdict.operations
                assert found.is_minimal
                assert {named(o) for o in left} <= {named(o) for o in one.operations}
                assert not brute_force.is_linearizable(RegisterHistory(left))
                for part in parts(left):
                    smaller += 1
                    assert brute_force.is_linearizable(RegisterHistory(part)), (seed, part)
                shrunk += 1
    assert shrunk > 100
    assert smaller > 400


def named(one: Operation) -> tuple[object, ...]:
    return one.client, one.key, one.kind, one.value, one.expected, one.called_at


def nothing_rests(operations: Sequence[Operation]) -> Rests:
    return [()] * len(operations)


def wrong_parts(rule: Callable[[Sequence[Operation]], Rests]) -> Counter[bool]:
    """Count parts of good histories that are right, and wrong ones."""
    counts: Counter[bool] = Counter()
    for seed in range(1500):
        one, _ = drawn(seed)
        rng = Random(seed)
        for of_key in one.by_key().values():
            if brute_force.is_linearizable(RegisterHistory(tuple(of_key))):
                places = frozenset(rng.sample(range(len(of_key)), rng.randint(1, len(of_key))))
                part = without(of_key, places, rule(of_key))
                counts[brute_force.is_linearizable(RegisterHistory(part))] += 1
    return counts


@pytest.mark.parametrize("rule", [rests_by_overwriting, rests_by_value])
def test_a_part_of_a_good_history_is_good(rule: Callable[[Sequence[Operation]], Rests]) -> None:
    counts = wrong_parts(rule)

    assert counts[True] > 700
    assert counts[False] == 0


def test_a_part_that_a_rule_should_not_make_is_seen() -> None:
    assert wrong_parts(nothing_rests)[False] > 60


def test_what_was_known_of_a_good_history_is_good() -> None:
    looked_at = 0
    for seed in range(300):
        one, is_good = drawn(seed)
        for of_key in one.by_key().values() if is_good else []:
            for stuck in of_key:
                if stuck.outcome is Outcome.OK:
                    known = RegisterHistory(tuple(known_to(stuck, of_key)))
                    assert brute_force.is_linearizable(known), (seed, stuck)
                    looked_at += 1
    assert looked_at > 200


def test_a_long_history_becomes_a_few_operations() -> None:
    sizes = []
    for seed in range(12):
        rng = Random(seed)
        shape = Shape(clients=4, operations=150, values=rng.choice([None, 4]), unknown=0.02)
        one = draw_history(rng, shape)
        while not isinstance(check_linearizability(one), NotLinearizable):
            one = mutate(rng, one)
        found = smallest(one)
        assert found.is_minimal
        sizes.append(len(found.verdict.operations))
    assert sorted(sizes)[len(sizes) // 2] <= 8


def test_a_budget_that_ends_makes_it_not_minimal() -> None:
    verdict = check_linearizability(history("0:w1@1-2 0:c1>2@3-4 1:r1@5-6"))
    assert isinstance(verdict, NotLinearizable)

    found = shrink(verdict, budget=0)

    assert not found.is_minimal
    assert found.verdict == verdict
