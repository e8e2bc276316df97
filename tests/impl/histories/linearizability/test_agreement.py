"""Both checkers against each other, a textbook's search and brute force; and wrong checkers."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocketha.histories import Outcome
from rocketha.histories.linearizability import (
    Linearizable,
    Method,
    NotLinearizable,
    Operation,
    RegisterHistory,
    check_linearizability,
    wing_gong,
    zones,
)
from rocketha.histories.linearizability.wing_gong import Found, Stuck, search
from tests.impl.histories.linearizability import brute_force
from tests.impl.histories.linearizability.agreement import (
    BUDGET,
    Checkers,
    DisagreementError,
    compare,
    drawn,
    is_an_order,
)
from tests.impl.histories.linearizability.random_histories import Shape, draw_history, mutate
from tests.impl.histories.linearizability.words import history

SEEDS = range(1500)

WRONG_SEARCHES = {
    "takes what is called after the return": ("calls[called] <= end", "calls[called] <= end + 3"),
    "remembers no value": (
        "configuration = (done, mask, holds)",
        "configuration = (done, mask, 0)",
    ),
    "remembers no mask": (
        "configuration = (done, mask, holds)",
        "configuration = (done, 0, holds)",
    ),
    "remembers no return": (
        "configuration = (done, mask, holds)",
        "configuration = (0, mask, holds)",
    ),
    "takes no unknown operation": ("if unknown_by[done]:", "if False:"),
    "takes unknown operations before they are called": (
        "self.unknown[: self.unknown_by[done]]",
        "self.unknown",
    ),
    "takes an unknown operation twice": (
        "not mask & self.bits[number] and put != holds",
        "put != holds",
    ),
    "takes an unknown CAS whatever there is": ("need in (_ANY, holds)", "True"),
    "drops unknown writes that only a CAS can tell of": (
        "not self.is_direct or self.puts[number]",
        "self.puts[number]",
    ),
    "gives up where a CAS can help": ("return [] if self.is_direct else choices", "return []"),
    "believes a CAS that did not find": ("need != _OTHER_THAN - holds", "need"),
    "believes a CAS that found": ("if need < 0 or need == holds:", "if True:"),
    "believes reads": ("elif needs[number] == holds and puts", "elif puts"),
    "forgets no bit at a return": ("mask ^= bit", "pass"),
    "gives a bit to two calls": ("bits[called] = free.pop()", "bits[called] = free[-1]"),
    "keeps the order of what led nowhere": ("del order[length:]", "pass"),
    "never goes back": ("if not chosen:", "if True:"),
    "never chooses again": ("if choices:\n", "if False:\n"),
}

WRONG_ZONES = {
    "forward zones may not touch": (
        "forward[index].first_return < forward[index - 1].last_call",
        "forward[index].first_return <= forward[index - 1].last_call",
    ),
    "forward zones may overlap": ("range(1, len(forward))", "range(2, len(forward))"),
    "forward zones are not sorted": ('forward.sort(key=attrgetter("first_return"))', "pass"),
    "backward zones may be anywhere": ("if index >= 0 and", "if False and"),
    "backward zones may not touch": (
        "other.first_return < forward[index].last_call",
        "other.first_return <= forward[index].last_call",
    ),
    "backward zones may not begin together": ("bisect_left(begins", "bisect.bisect_right(begins"),
    "a zone before is taken": ("other.last_call) - 1", "other.last_call) - 2"),
    "reads may be of the future": ("if cluster.first_read < cluster.written_at:", "if False:"),
    "reads may not be of a write that is called then": (
        "cluster.first_read < cluster.written_at:",
        "cluster.first_read <= cluster.written_at:",
    ),
    "what was never written can be read": ("written_at: float = math.inf", "written_at: float = 0"),
    "unknown writes have returned": (
        "                continue\n            returned = one.returned_at",
        "                pass\n            returned = one.returned_at or called",
    ),
    "None is held from nowhere on": (
        "first_return=-math.inf",
        "first_return=math.inf",
    ),
    "writes are no part of a zone": (
        "if returned < cluster.first_return:",
        "if one.kind is not write:",
    ),
    "the first call counts": ("if called > cluster.last_call:", "if called < cluster.last_call:"),
}


def wrong(module: ModuleType, old: str, new: str) -> ModuleType:
    """Load a module with an error."""
    assert module.__file__ is not None
    text = Path(module.__file__).read_text("utf-8")
    assert text.count(old) == 1, old
    made = ModuleType(f"{module.__name__}_wrong")
    sys.modules[made.__name__] = made  # dataclasses look there
    try:
        exec(
            compile(f"{text}\nimport bisect\n".replace(old, new), made.__name__, "exec"), vars(made)
        )
    finally:
        del sys.modules[made.__name__]
    return made


def test_all_judges_agree() -> None:
    counts = compare(SEEDS)

    assert counts["good"] + counts["bad"] == len(SEEDS)
    assert min(counts["good"], counts["bad"], counts["keys by zones, too"]) > 300


@pytest.mark.parametrize("error", WRONG_SEARCHES)
def test_a_wrong_search_is_noticed(error: str) -> None:
    made = wrong(wing_gong, *WRONG_SEARCHES[error])

    def judged(operations: list[Operation], *, budget: int) -> wing_gong.Search:
        found = made.search(operations, budget=budget)
        if isinstance(found, made.Found):
            return Found(order=found.order, steps=found.steps)
        return Stuck(order=(), operation=operations[0], steps=0)

    with pytest.raises((DisagreementError, AssertionError, IndexError)):
        compare(SEEDS, Checkers(search=judged))


@pytest.mark.parametrize("error", WRONG_ZONES)
def test_wrong_zones_are_noticed(error: str) -> None:
    made = wrong(zones, *WRONG_ZONES[error])

    with pytest.raises(DisagreementError):
        compare(SEEDS, Checkers(find_conflict=made.find_conflict))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    clients=st.integers(1, 8),
    operations=st.integers(1, 60),
    values=st.none() | st.integers(1, 5),
    unknown=st.sampled_from([0.0, 0.1]),
    coarse=st.integers(1, 4),
)
def test_what_a_register_did_is_linearizable(
    seed: int, clients: int, operations: int, values: int | None, unknown: float, coarse: int
) -> None:
    shape = Shape(
        clients=clients,
        operations=operations,
        keys=2,
        values=values,
        unknown=unknown,
        coarse=coarse,
    )

    one = draw_history(Random(seed), shape)

    for method in Method:
        assert not isinstance(check_linearizability(one, method=method), NotLinearizable)
    for of_key in one.by_key().values():
        found = search(of_key, budget=BUDGET)
        assert isinstance(found, Found)
        assert is_an_order(found.order, of_key)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), operations=st.integers(4, 60), mutations=st.integers(1, 4))
def test_both_methods_say_the_same_of_longer_histories(
    seed: int, operations: int, mutations: int
) -> None:
    rng = Random(seed)
    one = draw_history(rng, Shape(clients=5, operations=operations, coarse=rng.randint(1, 3)))
    for _ in range(mutations):
        one = mutate(rng, one)

    by_zones = check_linearizability(one)
    by_search = check_linearizability(one, method=Method.SEARCH)

    assert type(by_zones) is type(by_search)
    if isinstance(by_zones, Linearizable):
        assert by_zones.by_zones == by_zones.keys


def test_a_stuck_operation_is_the_first_that_nothing_explains() -> None:
    looked_at = 0
    for seed in range(600):
        one, _ = drawn(seed)
        times = [other.returned_at for other in one.operations if other.returned_at is not None]
        if len(set(times)) < len(times):
            continue  # what returned first is not known
        for of_key in one.by_key().values():
            found = search(of_key, budget=BUDGET)
            if isinstance(found, Stuck):
                looked_at += 1
                end = found.operation.returned_at
                assert end is not None
                assert not brute_force.is_linearizable(until(of_key, end))
                before = until(of_key, end - 1)
                assert brute_force.is_linearizable(before)
                answered = [other for other in before.operations if other.outcome is Outcome.OK]
                order = [other for other in found.order if other in of_key]
                assert is_an_order(as_known(order, end - 1), before.operations)
                assert len(answered) <= len(order)
    assert looked_at > 50


def until(operations: list[Operation], end: int) -> RegisterHistory:
    """Cut a history: what returns later is unknown then, and what is called later is not there."""
    return RegisterHistory(tuple(as_known([o for o in operations if o.called_at <= end], end)))


def as_known(operations: list[Operation], end: int) -> list[Operation]:
    """Give what is known of operations at a time, in their order, each the same object again."""
    return [_known(one, end) for one in operations]


_CUT: dict[tuple[int, int], tuple[Operation, Operation]] = {}


def _known(one: Operation, end: int) -> Operation:
    if one.returned_at is None or one.returned_at <= end:
        return one
    cut = replace(one, returned_at=None, outcome=Outcome.UNKNOWN)
    return _CUT.setdefault((id(one), end), (one, cut))[1]


def test_the_order_of_one_history_does_not_explain_another() -> None:
    operations = history("0:w1@1-2 0:w2@3-4 1:r2@5-6").operations

    assert is_an_order(operations, operations)
    assert not is_an_order(operations[:2], operations)
    assert not is_an_order(operations[::-1], operations)
    assert not is_an_order((*operations, operations[0]), operations)
