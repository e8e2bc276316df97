"""Theorem SnapshotLoading: its steps are those of the compiled model, and bugs are refuted.

Walks go through a finite model. Each step from a state of a running node to the next one must be a
step of the theorem, for a key that is looked at, or change nothing of it. The key is an entry's
own: the entry puts it there, and the one after the next removes it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import pytest
import z3
from click.testing import CliRunner

from rocketproof.commands.prove import command
from rocketproof.theorems.snapshot_loading import (
    RIGHT,
    VARIANTS,
    Rules,
    State,
    Variant,
    any_state,
    false_variant,
    history,
    steps_from,
    theorem,
)
from tlatrace.model import Model, ModelState, load_model
from tlatrace.proofs import prove_induction
from tlatrace.runtime.values import Fcn, RuntimeValue
from tlatrace.tla.config import parse_config

SPEC: Final = Path(__file__).parents[2] / "spec" / "snapshot_loading"
ENTRIES: Final = 3
KEYS: Final = range(1, ENTRIES + 1)
WALKS: Final = 35
LONGEST: Final = 45
FOUND_BY: Final = {
    "B53": ("Install", "SnapExact"),
    "B57": ("LoadNewest", "LoadContiguous"),
    "B68": ("CutLog", "PrefixCovered"),
    "SnapAtApplied": ("Save", "FilesExact"),
}


def test_the_theorem_holds_and_its_premises_can_be_met() -> None:
    proof = prove_induction(theorem())

    assert proof.is_proved, proof
    assert len(proof.lemmas) == 11
    assert all(lemma.example for lemma in proof.lemmas)


@pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
def test_a_variant_that_the_command_shows_is_refuted(variant: Variant) -> None:
    proof = prove_induction(false_variant(variant))

    broken = {(lemma.lemma, name) for lemma in proof.lemmas for name, _ in lemma.broken}
    assert FOUND_BY[variant.name] in broken


def test_the_command_says_what_it_proves() -> None:
    result = CliRunner().invoke(command, ["SnapshotLoading", "--brokers", "5", "--json"])

    assert result.exit_code == 0, result.output
    (told,) = json.loads(result.stdout)
    assert [group["answer"] for group in told["groups"]] == ["proved"]
    assert all(one["refuted"] for one in told["false_variants"])


# ---- Walks through a finite model ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What a state of a running node says of one key; by name."""

    begin: int
    end: int
    applied: int
    sm: int
    best: int
    files: Mapping[int, int]
    """What each whole file has at the key."""


@cache
def walked() -> Model:
    """Return the model without damage by the disk, of which the theorem says nothing."""
    module = SPEC / "MCSnapshotLoading.tla"
    text = (SPEC / "MCSnapshotLoading_small.cfg").read_text("utf-8")
    text = text.replace("MaxDamaged = 1", "MaxDamaged = 0").replace("MaxBad = 0", "MaxBad = 1")
    text = text.replace("MaxCrashes = 1", "MaxCrashes = 2")
    return load_model(module, parse_config(text, module))


def part(value: RuntimeValue, key: RuntimeValue) -> RuntimeValue:
    assert isinstance(value, Fcn)
    return value[key]


def whole(value: RuntimeValue) -> int:
    assert isinstance(value, int)
    return value


def members(value: RuntimeValue) -> list[RuntimeValue]:
    assert isinstance(value, frozenset | Fcn | tuple)
    return list(value)


def node_of(state: ModelState, key: int) -> Node | None:
    """Read a state; None if the node does not run."""
    at = dict(zip(walked().variables, state, strict=True))
    if at["mode"] != "up":
        return None

    def has_key(table: RuntimeValue) -> int:
        return int(any(members(pair)[0] == key for pair in members(table)))

    begin = whole(at["begin"])
    return Node(
        begin=begin,
        end=begin + len(members(at["log"])) - 1,
        applied=whole(at["applied"]),
        sm=has_key(at["sm"]),
        best=whole(at["lastSnap"]),
        files={
            whole(part(file, "idx")): has_key(part(file, "state"))
            for file in members(at["snaps"])
            if part(file, "data") == "good"
        },
    )


def says(state: State, node: Node) -> z3.BoolRef:
    """Say that a state of the theorem is this one."""
    numbers = [
        getattr(state, name) == getattr(node, name)
        for name in ("begin", "end", "applied", "sm", "best")
    ]
    files = []
    for index in range(ENTRIES + 2):
        there = state.has(z3.IntVal(index))
        if index in node.files:
            files += [there, state.content(z3.IntVal(index)) == node.files[index]]
        else:
            files.append(z3.Not(there))
    return z3.And(*numbers, *files)


def steps_between(pre: Node, post: Node, key: int, rules: Rules = RIGHT) -> Iterator[str]:
    """Name the steps of the theorem that lead from one state to the other."""
    state, x = any_state(), z3.Int("x")
    solver = z3.Solver()
    solver.add(history(lambda i: i in (key, key + 2), lambda i: int(i == key), ENTRIES + 1))
    solver.add(says(state, pre))
    for step in steps_from(state, x, rules):
        if solver.check(step.possible, says(step.post, post)) == z3.sat:
            yield step.name


@cache
def transitions() -> tuple[tuple[int, Node, Node], ...]:
    """Walk through the model, and return what changed for a key, from running to running."""
    choice, found = random.Random(5), dict[str, tuple[int, Node, Node]]()
    for _ in range(WALKS):
        state, key = walked().initial_states()[0], choice.choice(KEYS)
        before = node_of(state, key)
        for _ in range(LONGEST):
            ways = walked().successors(state)
            if not ways:
                break
            state = choice.choice(ways).post
            node = node_of(state, key)
            if node is not None:
                assert before is not None
                if node != before:
                    found[repr((key, before, node))] = (key, before, node)
                before = node
    return tuple(found.values())


def test_every_step_of_a_walk_is_a_step_of_the_theorem() -> None:
    seen: set[str] = set()
    for key, pre, post in transitions():
        names = list(steps_between(pre, post, key))
        assert names, (key, pre, post)
        seen.update(names)
    assert seen == {lemma.name for lemma in theorem().lemmas} - {"Init"}


def test_what_is_no_step_is_none_of_the_theorem() -> None:
    """A state with another content, or a log with a gap, comes from nowhere."""
    refused = 0
    for key, pre, post in transitions()[:25]:
        wrong = replace(post, sm=1 - post.sm)
        gap = replace(post, begin=post.applied + 2, end=post.applied + 1)
        refused += not list(steps_between(pre, wrong, key))
        refused += not list(steps_between(pre, gap, key))
    assert refused == 50
