"""What `rocketproof prove` prints: a line for a theorem, why it is not proved, and a summary.

The theorem is a small one: a counter that is positive takes steps up or, in a false variant, down.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import z3
from click.testing import CliRunner

from rocketproof.cli import main
from rocketproof.commands import prove
from rocketproof.theorems import THEOREMS, FalseTheorem, Theorem
from tlatrace.proofs import Claim, Induction, Lemma

NAME = "SnapshotLoading"
"""The command takes names of theorems; this one is the counter here."""


def step(by: int) -> Lemma:
    x, after = z3.Ints("x after")
    return Lemma(
        name="Step",
        premises=(x >= 1, x * x >= x, after == x + by),
        claims=(
            Claim(name="Positive", description="It is positive.", formula=after >= 1),
            Claim(name="Moves", description="It changes.", formula=after != x),
        ),
        readable=x <= 3,
        describe=lambda model: f"x = {model[x]}\n-- Step -->\nx' = {model[after]}",
    )


def counter(*by: int) -> Induction:
    return Induction(
        name=NAME,
        statement="A counter is positive.",
        lemmas=tuple([replace(step(n), name=f"Step{n}") for n in by]),
        not_shown="That it counts anything.",
    )


THEOREM = Theorem(
    state=lambda _: counter(1, 2),
    variants=(
        FalseTheorem(name="Down", description="it goes down", state=lambda _: counter(1, -1)),
        FalseTheorem(name="Stays", description="it stays", state=lambda _: counter(0)),
    ),
    unit=None,
    smallest=1,
    largest=1,
)


@pytest.fixture(autouse=True)
def of_a_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert NAME in THEOREMS
    monkeypatch.setattr(prove, "THEOREMS", {NAME: THEOREM})


def proved(*words: str) -> tuple[int, list[str], str]:
    result = CliRunner().invoke(main, ["prove", NAME, *words])
    return result.exit_code, result.stdout.splitlines(), result.stderr


def test_a_theorem_that_is_proved_is_a_line() -> None:
    code, (line, summary, more), err = proved()

    assert (code, err) == (0, "")
    assert re.fullmatch(
        rf"1/1 {NAME}: proved: 4 of 4 claims, 2 of 2 false variants refuted, [0-9.]+ s", line
    )
    assert re.fullmatch("1 theorem: 1 proved; [0-9]+ s", summary)
    assert more == f"more:  rocketproof prove {NAME} --verbose"


def test_all_of_it_is_printed_where_it_is_asked_for() -> None:
    code, lines, _ = proved("--verbose")

    assert code == 0
    assert lines[0].startswith(f"Theorem {NAME}: ")
    assert lines[1] == "  claim Positive: It is positive."
    assert "    REFUTED: Step-1 does not keep Positive:" in lines
    assert re.fullmatch("1 theorem: 1 proved; [0-9]+ s", lines[-1])


def test_json_is_alone_on_standard_output() -> None:
    code, lines, err = proved("--json")

    (theorem,) = json.loads("\n".join(lines))
    assert (code, theorem["theorem"]) == (0, NAME)
    assert err.startswith(f"1/1 {NAME}: proved: ")


@pytest.mark.parametrize("verbose", [False, True])
def test_a_theorem_that_is_false_is_shown_with_its_counterexample(
    verbose: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(THEOREM, state=lambda _: counter(1, -1))
    monkeypatch.setattr(prove, "THEOREMS", {NAME: wrong})

    code, lines, _ = proved(*(["--verbose"] if verbose else []))

    assert code == 1
    assert lines[0].startswith(f"Theorem {NAME}: ")
    begin = lines.index("    REFUTED: Step-1 does not keep Positive:")
    assert lines[begin + 1 : begin + 4] == ["      x = 1", "      -- Step -->", "      x' = 0"]
    assert lines[begin - 1].startswith("  Step-1: 1 of 2 claims proved, ")
    summary = lines if verbose else lines[:-1]
    assert re.match(f"{NAME}: refuted: 3 of 4 claims, 2 of 2 false variants", summary[-2])
    assert re.fullmatch("1 theorem: 1 refuted; [0-9]+ s", summary[-1])
    assert any(line.startswith("  Step1: ") for line in lines) is verbose


def test_what_z3_does_not_answer_is_no_pass() -> None:
    code, lines, _ = proved("--rlimit", "1")

    assert code == 3
    undecided = [line for line in lines if "; UNDECIDED: z3 gives no answer" in line]
    assert len(undecided) == 2
    assert "  false variant Down: it goes down" in lines
    assert "    UNDECIDED: it is not refuted, so the proof says nothing" in lines
    assert lines[-3].startswith(f"{NAME}: undecided: 0 of 4 claims, 0 of 2 false variants")
    assert re.fullmatch("1 theorem: 1 undecided; [0-9]+ s", lines[-2])
