"""One rule, three texts: TLC, z3 and the core find the same consistent point.

TLC evaluates the operator of the specification for all pairs of small caches in one run; the
formula that the theorem is about and the function of the implementation must answer the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest
import z3

from model_tests.agreement.evaluating import evaluate
from rocketha.epoch.cache import EpochCache
from rocketha.epoch.consistent_point import consistent_point
from rocketha.types import Epoch, Offset, chain_epochs
from rocketproof.theorems.consistent_point import opened
from tlatrace.symbolic.shapes import INTEGER, SequenceAtMost, constant_of, record
from tlatrace.tla_text import parse_tla
from tlatrace.values import Fcn, TlaSet, Value

ENTRIES: Final = 3
pytestmark = [pytest.mark.java, pytest.mark.xdist_group("consistent point by TLC")]

SPEC: Final = Path(__file__).parents[2] / "spec" / "epoch_truncation"

# Caches that grow; some entries begin behind the log end, and some first ones behind 0.
MODULE: Final = """\
Growing == {q \\in UNION {[1..n -> [e : 1..3, s : 0..2]] : n \\in 0..3} :
              \\A i \\in 1..(Len(q) - 1) : q[i].e < q[i + 1].e /\\ q[i].s < q[i + 1].s}
Answer(own, others, x, y) == ConsistentPoint(own, x, others, y)
Answers == {<<own, x, others, y, Answer(own, others, x, y)>> :
              own \\in Growing, x \\in 0..3, others \\in Growing, y \\in 0..3}
Stop == UNCHANGED vars
"""


class Case(NamedTuple):
    """Two caches as (epoch, start) pairs, and the answer of TLC."""

    own: tuple[tuple[int, int], ...]
    own_end: int
    others: tuple[tuple[int, int], ...]
    others_end: int
    point: int


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    # As a string, since TLC takes ten seconds to break the lines of so large a set.
    (text,) = evaluate(
        ["ToString(Answers)"],
        definitions=MODULE,
        extends="EpochTruncation, TLC",
        config="CONSTANTS Broker = {b1}  None = None\nINIT Init\nNEXT Stop\n",
        libraries=[SPEC],
        folder=tmp_path_factory.mktemp("consistent_point"),
    )
    assert isinstance(text, str)
    answers = parse_tla(text)
    assert isinstance(answers, TlaSet)
    return [case_of(row) for row in answers]


def test_the_core_finds_the_consistent_point_of_the_specification(cases: list[Case]) -> None:
    assert len(cases) == 6_400
    for case in cases:
        found = consistent_point(
            cache_of(case.own), Offset(case.own_end), cache_of(case.others), Offset(case.others_end)
        )
        assert case.point == found, case


def test_the_formula_of_the_theorem_is_the_operator_of_the_specification(cases: list[Case]) -> None:
    own, others = (constant_of(SequenceAtMost(ENTRIES, START), n) for n in ("own", "others"))
    ends = z3.Ints("own_end others_end")
    point = opened(ENTRIES).applied("ConsistentPoint", [own, ends[0], others, ends[1]])
    assert isinstance(point, z3.ArithRef)

    for case in cases:
        given = [*leaves("own", case.own), *leaves("others", case.others)]
        given += zip(ends, map(z3.IntVal, (case.own_end, case.others_end)), strict=True)
        value = z3.simplify(z3.substitute(point, *given))
        assert isinstance(value, z3.IntNumRef), case
        assert case.point == value.as_long(), case


START: Final = record({"e": INTEGER, "s": INTEGER})


def leaves(
    name: str, starts: tuple[tuple[int, int], ...]
) -> Iterator[tuple[z3.ArithRef, z3.ArithRef]]:
    """Say which number each leaf of a cache has; entries that are not there have any."""
    filled = [*starts, *[(1, 1)] * (ENTRIES - len(starts))]
    numbers = [len(starts), *(number for entry in filled for number in entry)]
    paths = [path for path, _ in SequenceAtMost(ENTRIES, START).sorts()]
    for path, number in zip(paths, numbers, strict=True):
        yield z3.Int(f"{name}{path}"), z3.IntVal(number)


def cache_of(starts: tuple[tuple[int, int], ...]) -> EpochCache:
    return EpochCache(chain_epochs([(Epoch(epoch), Offset(start)) for epoch, start in starts]))


def case_of(row: Value) -> Case:
    assert isinstance(row, tuple)
    own, own_end, others, others_end, point = row
    return Case(
        starts_of(own), number(own_end), starts_of(others), number(others_end), number(point)
    )


def starts_of(cache: Value) -> tuple[tuple[int, int], ...]:
    assert isinstance(cache, tuple)
    return tuple((number(field(entry, "e")), number(field(entry, "s"))) for entry in cache)


def field(entry: Value, name: str) -> Value:
    assert isinstance(entry, Fcn)
    return entry[name]


def number(value: Value) -> int:
    assert isinstance(value, int)
    return value
