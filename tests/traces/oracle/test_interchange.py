"""Which values a compiled specification mixes up, and that it does: steps of renamed states."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest

from tlatrace.compiler.compile import compile_tree
from tlatrace.compiler.job import Job
from tlatrace.compiler.lower.scope import Redirect
from tlatrace.oracle import Model, ModelState
from tlatrace.oracle.interchange import BLIND, renamed, split_by
from tlatrace.runtime import operators
from tlatrace.runtime.values import RuntimeValue, model_value
from tlatrace.tla.sany_tree import read_sany

MODULE: Final = r"""---- MODULE Mixed ----
EXTENDS Naturals, Sequences, FiniteSets, TLC
CONSTANTS Node, Word, Leader, Pair
VARIABLES seen, said
Init == seen = {} /\ said = <<>>
See(n) == seen' = seen \cup {n} /\ said' = said
Say(w) == said' = Append(said, w) /\ seen' = seen

Extra == {}
Words == Word
Named == {"bb"} \cap Word
Fields == {[a |-> w] : w \in Word}
Led == {Leader}
Paired == Pair
Computed == {n \in Node : n # Leader}
Chosen == {CHOOSE n \in Node : n \notin seen}
AnyOne == {CHOOSE n \in Node : n \notin seen} \* CHOOSE ANY
Measured == {w \in Word : Len(w) > 1}
Joined == {w \o "!" : w \in Word}
Functions == [Node -> 1..2]

Next == \/ \E n \in Node : Cardinality(seen) < 3 /\ See(n)
        \/ \E w \in Word : said = <<>> /\ Say(w)
        \/ \E x \in Extra : Say(x)
====
"""
NODES: Final = tuple([model_value(name) for name in ("n1", "n2", "n3", "n4")])
WORDS: Final = ("a", "b", "bb", "cc")
ALL: Final = [set(WORDS), set(NODES)]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("mixed")
    module = folder / "Mixed.tla"
    module.write_text(MODULE)
    return Job(
        tree=read_sany(module),
        folders=(folder,),
        overrides={
            "Node": frozenset(NODES),
            "Word": frozenset(WORDS),
            "Leader": NODES[3],
            "Pair": frozenset(NODES[:2]),
        },
        module_overrides={},
        specification=None,
        init="Init",
        next="Next",
        constraints=(),
        action_constraints=(),
    )


def model_of(job: Job, extra: str, **overrides: RuntimeValue) -> Model:
    given = {**job.overrides, **overrides, "Extra": Redirect(extra)}
    return Model(compile_tree(replace(job, overrides=given)))


def reachable(model: Model, limit: int = 60) -> list[ModelState]:
    states = dict.fromkeys(model.initial_states())
    for state in (waiting := list(states)):
        for step in model.successors(state):
            if step.post not in states and len(states) < limit:
                states[step.post] = None
                waiting.append(step.post)
    return list(states)


@pytest.mark.java
@pytest.mark.parametrize(
    ("extra", "classes"),
    [
        ("Words", ALL),
        ("Named", [{"a", "b", "cc"}, set(NODES)]),
        ("Fields", [{"b", "bb", "cc"}, set(NODES)]),
        ("Chosen", ALL),
        ("AnyOne", []),
        ("Measured", [{"a", "b"}, {"bb", "cc"}, set(NODES)]),
        ("Joined", [set(NODES)]),
        ("Functions", ALL),
    ],
)
def test_what_nothing_tells_apart_is_found(
    job: Job, extra: str, classes: list[set[RuntimeValue]]
) -> None:
    """Leader and Pair have no part in it: they are nodes that nobody asks for."""
    model = model_of(job, extra, Leader="x", Pair=frozenset())
    assert [set(some) for some in model.interchangeable()] == classes


@pytest.mark.java
@pytest.mark.parametrize(
    ("overrides", "classes"),
    [
        ({}, [NODES[:2]]),
        ({"Pair": frozenset()}, [NODES[:3]]),
        ({"Leader": "x"}, [NODES[:2], NODES[2:]]),
        ({"Leader": "x", "Pair": frozenset([(one,) for one in NODES])}, [NODES]),
    ],
)
def test_constants_tell_values_apart(
    job: Job, overrides: dict[str, RuntimeValue], classes: list[tuple[RuntimeValue, ...]]
) -> None:
    model = model_of(job, "Led", **overrides)
    assert [
        some for some in model.interchangeable() if NODES[1] in some or NODES[2] in some
    ] == classes


@pytest.mark.java
@pytest.mark.parametrize("extra", ["Words", "Named", "Led", "Paired", "Measured", "Functions"])
def test_renamed_states_have_renamed_steps(job: Job, extra: str) -> None:
    model = model_of(job, extra)
    compared = 0
    for state in reachable(model):
        for values in model.interchangeable():
            for one, other in pairwise(values):
                swap = {one: other, other: one}
                mirrored = tuple([renamed(value, swap) for value in state])
                steps = {tuple([renamed(v, swap) for v in s.post]) for s in model.successors(state)}
                assert {step.post for step in model.successors(mirrored)} == steps
                compared += len(steps)
    assert compared > 100


def test_of_each_operator_it_is_known_whether_it_looks_into_values() -> None:
    looking = {"choose_first", "is_prefix", "order", "replace_all", "replace_first"}
    not_called = {"Broken", "applied", "definer", "of_length", "reason_of", "seen"}

    assert set(operators.__all__) - BLIND == looking | not_called


def test_elements_stay_together_that_every_value_keeps_together() -> None:
    values: list[RuntimeValue] = [frozenset("abcd"), (frozenset("ab"), frozenset("cd")), "d"]

    assert split_by([tuple("abcd")], values[:1]) == (tuple("abcd"),)
    assert split_by([tuple("abcd")], values[:2]) == (tuple("ab"), tuple("cd"))
    assert split_by([tuple("abcd")], values) == (tuple("ab"),)
    assert split_by([tuple("abcd")], [tuple("abcd")]) == ()
