"""Machine code accepts what Python allows; an emitter that errs is seen to accept more."""

from __future__ import annotations

import inspect
import json
import random
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from tlatrace.compiler.emit_native import elements, expressions, roles
from tlatrace.explore import explore
from tlatrace.oracle import load_model, native
from tlatrace.runtime.words import flat_text
from tlatrace.selfcheck.agreement import Agreement
from tlatrace.selfcheck.corruption import corruptions
from tlatrace.selfcheck.examine import right_steps
from tlatrace.selfcheck.native import compare_native, opened
from tlatrace.selfcheck.random_steps.examine import draw_machine, examine_random_steps
from tlatrace.selfcheck.random_steps.judges import ENGINES, NATIVE, Tally, examine_machine
from tlatrace.selfcheck.random_steps.machine import draw_states
from tlatrace.selfcheck.subjects import packaged_subjects

pytestmark = pytest.mark.java

SUBJECTS: Final = {subject.name: subject for subject in packaged_subjects()}
COUNT: Final = 800

PLANTED: Final[list[tuple[ModuleType, str, str, str]]] = [
    (expressions, 'is_and = node.operator == "and"', "is_and = True", "Circuit"),
    (expressions, 'asked = f"(1 - {asked})"', "pass", "Branches"),
    (
        expressions,
        'return f"(1 - {self.condition(operands[0], env)})"',
        "return self.condition(operands[0], env)",
        "Parcels",
    ),
    (
        expressions,
        "return f\"(1 - {self.condition(Apply('=', operands, node.place), env)})\"",
        "return self.condition(Apply('=', operands, node.place), env)",
        "Lockers",
    ),
    (expressions, "'t' if node.primed else 's'", "'s'", "Lockers"),
    (expressions, '    "<=": "less_equal",', '    "<=": "less",', "Sieve"),
    (expressions, '_MIRRORED: Final = {">": "<"', '_MIRRORED: Final = {">": "<="', "Branches"),
    (expressions, 'return f"({left} == {right})"', 'return f"({left} | {right})"', "Circuit"),
    (expressions, 'return "(" + " & ".join(answers) + ")"', "return answers[0]", "Parcels"),
    (expressions, "return str(int(known is TRUE))", 'return "1"', "Circuit"),
    (expressions, 'self._w.emit("return 0")', "pass", "Lockers"),
    (
        expressions,
        'return self._w.answer(f"member({word}, {self.value(among, env)})")',
        'return "1"',
        "Lockers",
    ),
    (elements, 'w.emit(f"{name} = {int(not exists)}")', 'w.emit(f"{name} = 1")', "Lockers"),
    (elements, 'if exists else f"if not {asked}:"', 'if exists else f"if {asked}:"', "Branches"),
    (
        elements,
        'with w.block(f"while {index} <= {high}:"):',
        'with w.block(f"while {index} < {high}:"):',
        "Lockers",
    ),
    (
        elements,
        'f"while {index} < 1 << size({collection}):"',
        'f"while {index} < size({collection}):"',
        "Sieve",
    ),
    (
        elements,
        'count, part = f"size({collection})"',
        'count, part = f"size({collection}) - 1"',
        "Lockers",
    ),
    (elements, "'key_at' if operator == 'DOMAIN' else 'image_at'", "'key_at'", "Circuit"),
    (
        native,
        "return number((left >> 3) - (right >> 3))",
        "return number((left >> 3) + (right >> 3))",
        "Thermostat",
    ),
    (native, "return left <= right", "return left < right", "Sieve"),
    (native, "mem[base + (argument >> 3) - 1] = image", "mem[base] = image", "Lockers"),
    (native, "mem[base + place] = image", "mem[base + 1] = image", "Lockers"),
    (
        native,
        "return low < size(collection) and at(collection, low) == word",
        "return low < size(collection)",
        "Lockers",
    ),
    (native, "return chosen(left, right, 0)", "return chosen(left, right, 1)", "Workforce"),
    (native, "mem[kept - 1] != word", "mem[kept - 1] == word", "Lockers"),
    (native, "    if tag != other:\n        return 2\n", "", "TwoQueues"),
    (
        native,
        "return number((left >> 3) % (right >> 3))",
        "return number((right >> 3) % (left >> 3 | 1))",
        "Branches",
    ),
    (
        native,
        "return sub_sequence(sequence, 16, size",
        "return sub_sequence(sequence, 8, size",
        "Words",
    ),
]
"""(module, what its text says, what it is made to say, the specification that notices it)."""


def examined(name: str, count: int = COUNT) -> Agreement:
    subject = SUBJECTS[name]
    model = load_model(subject.module, subject.config, native=True, kept=False)
    steps, initial = right_steps(model, explore(model, check_invariants=False))
    drawn = corruptions(steps, initial, count=count, seed=name)
    return compare_native(name, model, opened(model), steps, [item.transition for item in drawn])


def changed(module: ModuleType, old: str, new: str) -> ModuleType:
    """Return a copy of a module whose text says something else at one place."""
    text = inspect.getsource(module)
    assert text.count(old) == 1, (module.__name__, old, text.count(old))
    copy = ModuleType(module.__name__)
    exec(compile(text.replace(old, new), module.__name__, "exec"), copy.__dict__)
    return copy


def plant(patch: pytest.MonkeyPatch, module: ModuleType, old: str, new: str) -> None:
    if module is native:
        text = flat_text()
        assert text.count(old) == 1, old
        patch.setattr(native, "flat_text", lambda: text.replace(old, new))
        return
    copy = changed(module, old, new)
    if module is elements:
        patch.setattr(expressions, "Elements", copy.Elements)
    else:
        patch.setattr(roles, "Expressions", copy.Expressions)


@pytest.mark.usefixtures("compiled_soon")
@pytest.mark.parametrize(("module", "old", "new", "name"), PLANTED)
def test_an_error_of_the_emitter_is_noticed(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, old: str, new: str, name: str
) -> None:
    plant(monkeypatch, module, old, new)
    found = examined(name)
    assert found.disagreements or not found.examined


@pytest.mark.parametrize("name", ["Lockers", "Sieve", "Parcels"])
def test_without_one_both_agree_and_all_right_steps_are_accepted(name: str) -> None:
    found = examined(name)
    assert found.disagreements == ()
    assert found.facts["of them accepted"] == found.facts["right steps"] > 0
    assert found.examined > COUNT
    assert found.facts["rows accepted"] > 0


@pytest.mark.usefixtures("compiled_soon")
def test_rows_of_which_none_is_accepted_have_not_been_examined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = flat_text()
    for old, new in (
        ("    if at != end - 1 or byte_at(at) != RIGHT_BRACE:\n", "    if at != end:\n"),
        ("        if number < 0:\n", "        if number < MANY:\n"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    monkeypatch.setattr(native, "flat_text", lambda: text)
    assert not examined("Lockers", 50).examined


def test_what_is_not_lowered_is_named_and_asked_of_python() -> None:
    found = examined("Shop", 200)
    assert found.facts["questions left to Python"] == 7
    assert found.disagreements == ()


def test_the_command_has_machine_code_examined() -> None:
    done = CliRunner().invoke(
        main, ["selfcheck", "--only", "native", "--spec", "TwoQueues", "--native", "300", "--json"]
    )
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)
    assert found["comparison"] == "native"
    assert found["found"]["of them accepted"] > 500


def test_machine_code_agrees_with_random_steps() -> None:
    found = examine_random_steps(600, seed=3, engines={NATIVE: ENGINES[NATIVE]})
    assert found.disagreements == ()
    assert found.facts["right"] > 100


def asked_at_random(folder: Path) -> Tally:
    draw = random.Random("3/0")
    machine = draw_machine(draw, "Machine", 2)
    engines = {NATIVE: ENGINES[NATIVE]}
    return examine_machine(machine, draw_states(draw, 8), draw=draw, folder=folder, engines=engines)


@pytest.mark.usefixtures("compiled_soon")
def test_machine_code_that_errs_is_seen_by_random_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = asked_at_random(tmp_path)
    assert found.wrong == []
    assert found.counts["right"] > 50
    assert found.counts[NATIVE] == found.counts["claims"]
    plant(monkeypatch, expressions, 'self._w.emit("return 0")', "pass")
    assert asked_at_random(tmp_path).wrong
