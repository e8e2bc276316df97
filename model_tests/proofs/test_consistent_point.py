"""Theorem ConsistentPoint: what it needs, and that the prover refutes its false neighbours.

The caches have at most three entries here, so that each question takes a second.
"""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
import z3
from click.testing import CliRunner

from rocketproof.commands.prove import command
from rocketproof.theorems.consistent_point import (
    Cache,
    Instance,
    Nearer,
    Same,
    cache_constants,
    consistent_point,
    instance_of,
    nearer_end,
    same_epoch,
    same_start,
    theorem,
)
from tlatrace.proofs import Proof, Proved, Refuted, prove
from tlatrace.proofs.theorem import Example

ENTRIES = 3


def farther_end(a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    return z3.If(a <= b, b, a)


def own_end(a: z3.ArithRef, _b: z3.ArithRef) -> z3.ArithRef:
    return a


def others_end(_a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    return b


def one_less(a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    return nearer_end(a, b) - 1


def same_start_only(own: Cache, i: int, others: Cache, j: int) -> z3.BoolRef:
    return z3.And(own.has(i), others.has(j), own.starts[i] == others.starts[j])


def same_entry(own: Cache, i: int, others: Cache, j: int) -> z3.BoolRef:
    return z3.And(same_start(own, i, others, j), own.end_at(i) == others.end_at(j))


def without(*names: str) -> frozenset[str]:
    return frozenset(names)


def answers(proof: Proof) -> dict[str, bool]:
    """Tell of each claim whether it is proved; it must be refuted otherwise."""
    assert all(isinstance(c.answer, Proved | Refuted) for c in proof.claims), proof
    return {c.claim: isinstance(c.answer, Proved) for c in proof.claims}


def test_the_theorem_holds_and_has_an_example() -> None:
    proof = prove(theorem(ENTRIES))

    assert proof.is_proved
    assert proof.example is not None
    found = logs(instance_of(proof.example))
    assert 0 < common_prefix(*found) < min(map(len, found))


RULES: list[tuple[str, Same, Nearer, str]] = [
    ("farther end", same_start, farther_end, "sound"),
    ("own end, as MinEnd", same_start, own_end, "sound"),
    ("others' end", same_start, others_end, "sound"),
    ("one record less", same_start, one_less, "maximal"),
    ("entries with their ends", same_entry, nearer_end, "maximal"),
    ("starts without epochs", same_start_only, nearer_end, "sound"),
]


@pytest.mark.parametrize(
    ("same", "nearer", "false"), [r[1:] for r in RULES], ids=[r[0] for r in RULES]
)
def test_a_wrong_rule_is_refuted_by_two_logs_that_it_treats_wrongly(
    same: Same, nearer: Nearer, false: str
) -> None:
    proof = prove(theorem(ENTRIES, same=same, nearer=nearer))

    assert {"sound": false != "sound", "maximal": false != "maximal"} == answers(proof)
    for counterexample in counterexamples(proof):
        found = instance_of(counterexample)
        assert is_assumed(found), found
        point = point_of(found, counterexample, same, nearer)
        exact = common_prefix(*logs(found))
        assert (point > exact) if false == "sound" else (point < exact), found


NEEDED = [
    ("EpochWellFormed", {"sound": True, "maximal": False}),
    ("EpochLeLog", {"sound": False, "maximal": True}),
    ("ReignHistory", {"sound": False, "maximal": True}),
]


@pytest.mark.parametrize(("name", "left"), NEEDED, ids=[name for name, _ in NEEDED])
def test_without_an_assumption_a_claim_is_refuted(name: str, left: dict[str, bool]) -> None:
    proof = prove(theorem(ENTRIES, without=without(name)))

    assert left == answers(proof)


def test_starts_must_be_compared_or_be_unique() -> None:
    compared = prove(theorem(ENTRIES, without=without("EpochStartUnique")))
    unique = prove(theorem(ENTRIES, same=same_epoch))
    neither = prove(theorem(ENTRIES, same=same_epoch, without=without("EpochStartUnique")))

    assert compared.is_proved
    assert unique.is_proved
    left = {"sound": False, "maximal": True}
    assert left == answers(neither)


def test_too_little_time_is_undecided() -> None:
    done = CliRunner().invoke(command, ["ConsistentPoint", "--entries", "5", "--timeout", "0.001"])

    assert done.exit_code == 3, done.output
    assert "UNDECIDED" in done.output


def test_the_command_proves_and_says_what_is_assumed() -> None:
    done = CliRunner().invoke(command, ["ConsistentPoint", "--entries", "2", "--verbose"])

    assert done.exit_code == 0, done.output
    for word in ("ReignHistory", "sound", "maximal", "proved", "not shown", "REFUTED: own"):
        assert word in done.output


def test_the_command_answers_in_json() -> None:
    done = CliRunner().invoke(command, ["ConsistentPoint", "--entries", "2", "--json"])

    (answer,) = json.loads(done.stdout)
    both = [claim["answer"] for claim in answer["claims"]]
    assert both == ["proved"] * 2
    assert [one["refuted"] for one in answer["false_variants"]] == [True]


# ---- The same in plain Python, for the numbers that z3 found ----


def counterexamples(proof: Proof) -> list[Example]:
    return [c.answer.counterexample for c in proof.claims if isinstance(c.answer, Refuted)]


def log_of(starts: tuple[tuple[int, int], ...], end: int) -> list[int]:
    """Write the log that a cache describes: the epoch of each record."""
    ends = [start for _, start in starts[1:]] + [end]
    return [
        epoch for (epoch, start), stop in zip(starts, ends, strict=True) for _ in range(start, stop)
    ]


def logs(instance: Instance) -> tuple[list[int], list[int]]:
    return (
        log_of(instance.own, instance.own_end),
        log_of(instance.others, instance.others_end),
    )


def common_prefix(a: list[int], b: list[int]) -> int:
    return next(
        (o for o, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def is_assumed(instance: Instance) -> bool:
    own, others = dict(instance.own), dict(instance.others)
    own_log, others_log = logs(instance)
    return (
        all(
            all(e < f and s < t for (e, s), (f, t) in pairwise(cache))
            and all(s <= end for _, s in cache)
            and (cache[0][1] == 0 if cache else end == 0)
            for cache, end in (
                (instance.own, instance.own_end),
                (instance.others, instance.others_end),
            )
        )
        and all(own[e] == others[e] for e in own.keys() & others.keys())
        and all(own_log[: own[e]] == others_log[: own[e]] for e in own.keys() & others.keys())
    )


def point_of(instance: Instance, example: Example, same: Same, nearer: Nearer) -> int:
    """Evaluate a rule for the numbers of an example."""
    own, others = cache_constants("own", ENTRIES), cache_constants("others", ENTRIES)
    point = consistent_point(own, others, same=same, nearer=nearer)
    numbers = [
        (constant, z3.IntVal(example.get(constant.decl().name(), 0)))
        for cache in (own, others)
        for constant in (*cache.epochs, *cache.starts, cache.length, cache.log_end)
    ]
    value = z3.simplify(z3.substitute(point, *numbers))
    assert isinstance(value, z3.IntNumRef), instance
    return int(value.as_long())
