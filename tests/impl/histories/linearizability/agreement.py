"""Do both checkers, a textbook's search and brute force say the same of random histories?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from rocketha.histories import Outcome
from rocketha.histories.linearizability import Operation, RegisterHistory
from rocketha.histories.linearizability.wing_gong import Found, Search, search
from rocketha.histories.linearizability.zones import Conflict, are_unique, find_conflict
from tests.impl.histories.linearizability import brute_force, textbook
from tests.impl.histories.linearizability.random_histories import Shape, draw_history, mutate

BUDGET: Final = 1_000_000


class DisagreementError(Exception):
    """Two judges differ on a history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkers:
    """Who is held against brute force."""

    search: Callable[..., Search] = search
    find_conflict: Callable[[Sequence[Operation]], Conflict | None] = find_conflict


def drawn(seed: int) -> tuple[RegisterHistory, bool]:
    """Draw a small history; return it, and whether it was not mutated and so surely is good."""
    rng = Random(seed)
    shape = Shape(
        clients=rng.randint(2, 5),
        operations=rng.randint(3, 9),
        keys=rng.choice([1, 1, 2]),
        values=rng.choice([None, None, 1, 2, 3]),
        unknown=rng.choice([0.0, 0.1, 0.4]),
        coarse=rng.choice([1, 1, 3, 5]),
    )
    history = draw_history(rng, shape)
    mutations = rng.randint(0, 3)
    for _ in range(mutations):
        history = mutate(rng, history)
    operations = list(history.operations)
    rng.shuffle(operations)
    return RegisterHistory(tuple(operations)), mutations == 0


def compare(seeds: Iterable[int], checkers: Checkers | None = None) -> Counter[str]:
    """Draw histories, and count what they are. Raises: DisagreementError"""
    counts: Counter[str] = Counter()
    for seed in seeds:
        history, is_good = drawn(seed)
        expected = brute_force.is_linearizable(history)
        if is_good and not expected:
            raise DisagreementError(f"seed {seed}: brute force refuses what a register did")
        counts["good" if expected else "bad"] += 1
        found = _by_checkers(seed, history, checkers or Checkers(), counts)
        if found != expected:
            raise DisagreementError(f"seed {seed}: {found}, brute force says {expected}")
    return counts


def _by_checkers(
    seed: int, history: RegisterHistory, checkers: Checkers, counts: Counter[str]
) -> bool:
    """Check each key by all checkers that can. Raises: DisagreementError"""
    answers = []
    for key, operations in history.by_key().items():
        found = checkers.search(operations, budget=BUDGET)
        says = {isinstance(found, Found), textbook.is_linearizable(operations, BUDGET)}
        if are_unique(operations):
            counts["keys by zones, too"] += 1
            says.add(checkers.find_conflict(operations) is None)
        if len(says) != 1:
            raise DisagreementError(f"seed {seed}, {key}: checkers differ")
        if isinstance(found, Found) and not is_an_order(found.order, operations):
            raise DisagreementError(f"seed {seed}, {key}: the order explains nothing")
        answers.append(isinstance(found, Found))
    return all(answers)


def is_an_order(order: Sequence[Operation], operations: Sequence[Operation]) -> bool:
    """Tell whether an order has all answered operations, in time, and explains each."""
    left = list(operations)
    history = [one for one in operations if one.outcome is Outcome.OK]
    if not all(any(one is other for other in order) for one in history):
        return False
    holds = None
    for number, one in enumerate(order):
        places = [at for at, other in enumerate(left) if other is one]
        if not places:
            return False
        del left[places[0]]
        if any(brute_force.precedes(later, one) for later in order[number + 1 :]):
            return False
        explained, holds = brute_force.apply(one, holds)
        if not explained:
            return False
    return True
