r"""No order that a specification cannot see decides: TLC's of strings, Python's of sets.

What TLC's order does decide is compared with TLC in the module `OrderExpressions` of the selfcheck.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.source_files import ROOT
from tlatrace.errors import EvaluationError
from tlatrace.oracle import Model, load_model
from tlatrace.oracle.checker import Checker
from tlatrace.values import ModelValue, fcn

pytestmark = pytest.mark.java

MODULE: Final = r"""---- MODULE Orders ----
EXTENDS Integers
CONSTANT Node
VARIABLES x, held
vars == <<x, held>>
One(n, d) == IF n = d THEN TRUE ELSE held[n] > 0
Init == x = 0 /\ held = [n \in Node |-> 0]
Words(w) == (\E s \in {"pear", "plum", "fig"} : IF s = w THEN TRUE ELSE 1 \div 0 = 1) /\ x' = 1
Nodes(d) == (\E n \in Node : One(n, d)) /\ x' = 1
Every(d) == ~(\A n \in Node : ~One(n, d)) /\ x' = 1
Known(d) == (\E n \in DOMAIN held : One(n, d)) /\ x' = 1
Fields == [a |-> 1, b |-> 2] # [a |-> x, b |-> "2"] /\ x' = 1
Sets == held \in [Node -> Int] /\ x' = 1
Can(d) == ENABLED (\E n \in Node : One(n, d) /\ x' = 2) /\ x' = 1
Nested(d) == ENABLED (\E n \in Node : ENABLED (x' = 2) /\ One(n, d) /\ x' = 2) /\ x' = 1
Order == x \in 0..1 /\ \A n \in Node : held[n] >= 0
Next == (\E w \in STRING : Words(w)) \/ \E d \in Node : \/ Nodes(d) \/ Every(d) \/ Known(d)
   \/ Fields \/ Sets \/ Can(d) \/ Nested(d)
====
"""
CONFIG: Final = "INIT Init\nNEXT Next\nCONSTANT Node = {n1, n2, n3}\nINVARIANT Order\n"

ASK: Final = """
import pickle, sys
from tlatrace.oracle import Model
from tlatrace.oracle.checker import Checker
model = Model(pickle.loads(sys.stdin.buffer.read()))
checker = Checker(model)
before = checker.state('{"held":{"n1":0,"n2":"0","n3":{"#set":[1]}},"x":0}')
after = checker.state('{"held":{"n1":0,"n2":"0","n3":{"#set":[1]}},"x":1}')
for action, arity in sorted(model.actions.items()):
    for name in ("n1", "n2", "n3", "pear", "fig"):
        print(action, checker.step(before, action, f'["{name}"]' if arity else "[]", after))
print(checker.step(before, None, "[]", after), checker.invariants(after))
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("orders")
    (folder / "Orders.tla").write_text(MODULE)
    (folder / "Orders.cfg").write_text(CONFIG)
    return load_model(folder / "Orders.tla", folder / "Orders.cfg")


@pytest.mark.parametrize("action", ["Nodes", "Every", "Known", "Can"])
@pytest.mark.parametrize("node", ["n1", "n2", "n3"])
def test_an_element_without_a_value_leaves_the_whole_without(
    model: Model, action: str, node: str
) -> None:
    checker = Checker(model)
    param = model.adopt({"held": (), "x": ModelValue(node)})[model.variables.index("x")]
    held = {name: '"wrong"' for name in ("n1", "n2", "n3") if name != node} | {node: "0"}
    inside = ",".join([f'"{name}":{held[name]}' for name in sorted(held)])
    before = checker.state(f'{{"held":{{{inside}}},"x":0}}')
    after = checker.state(f'{{"held":{{{inside}}},"x":1}}')
    with pytest.raises(EvaluationError, match=r"has no value|is not an integer"):
        model.allows(action, (param,), before, after)


def test_enabled_inside_enabled_is_asked_for_itself(model: Model) -> None:
    held = dict.fromkeys(("n1", "n2", "n3"), 1)
    before, after = (
        model.adopt({"x": x, "held": fcn([(ModelValue(n), h) for n, h in held.items()])})
        for x in (0, 1)
    )
    assert model.allows("Nested", (model.adopt_value(ModelValue("n1")),), before, after)


@pytest.mark.parametrize("word", ["pear", "plum", "fig"])
def test_nobody_knows_the_order_of_strings(model: Model, word: str) -> None:
    before, after = (model.adopt({"x": x, "held": ()}) for x in (0, 1))
    with pytest.raises(EvaluationError, match="div 0"):
        model.allows("Words", (word,), before, after)


@pytest.mark.parametrize("x", [0, 1])
def test_records_that_differ_are_comparable_in_every_field(model: Model, x: int) -> None:
    before, after = (model.adopt({"x": x, "held": ()}) for x in (x, 1))
    with pytest.raises(EvaluationError, match="cannot be compared"):
        model.allows("Fields", (), before, after)


def test_the_hash_seed_changes_no_word(model: Model) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "traces")}
    texts = {
        subprocess.run(
            [sys.executable, "-c", ASK],
            input=pickle.dumps(model.source),
            env={**environment, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3, 4)
    }
    assert len(texts) == 1
    assert texts.pop().count(b"Failed") > 10


def test_a_function_is_the_same_whether_or_not_its_set_is_gone_through_in_order(
    tmp_path: Path,
) -> None:
    (tmp_path / "Mirror.tla").write_text(
        "---- MODULE Mirror ----\nVARIABLE x\nInit == x = 0\n"
        'Next == x\' = [s \\in {"pear", "plum", "fig", "kiwi", "date"} |-> s]\n====\n'
    )
    (tmp_path / "Mirror.cfg").write_text("INIT Init\nNEXT Next\n")
    mirror = load_model(tmp_path / "Mirror.tla", tmp_path / "Mirror.cfg")
    found: list[tuple[str, tuple[object, ...], tuple[object, ...]]] = []
    mirror.in_order("steps")((0,), found)
    assert [step.post for step in mirror.successors((0,))] == [found[0][2]]
