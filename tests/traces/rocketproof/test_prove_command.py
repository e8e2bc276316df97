"""What `rocketproof prove` prints: a line for a theorem, why it is not proved, and a summary."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from rocketproof.commands import prove
from rocketproof.theorems import THEOREMS
from rocketproof.theorems.snapshot_loading import VARIANTS, false_variant

NAME = "SnapshotLoading"


def proved(*words: str) -> tuple[int, list[str], str]:
    result = CliRunner().invoke(main, ["prove", *words])
    return result.exit_code, result.stdout.splitlines(), result.stderr


def test_a_theorem_that_is_proved_is_a_line() -> None:
    code, (told, summary, more), err = proved(NAME)

    assert (code, err) == (0, "")
    assert re.fullmatch(
        rf"1/1 {NAME}: proved: 55 of 55 claims, 4 of 4 false variants refuted, [0-9.]+ s", told
    )
    assert re.fullmatch("1 theorem: 1 proved; [0-9]+ s", summary)
    assert more == f"more:  rocketproof prove {NAME} --verbose"


def test_all_of_it_is_printed_where_it_is_asked_for() -> None:
    code, lines, _ = proved(NAME, "--verbose")

    assert code == 0
    assert lines[0].startswith(f"Theorem {NAME}: ")
    assert "    REFUTED: Install does not keep SnapExact:" in lines
    assert len(lines) > 40
    assert re.fullmatch("1 theorem: 1 proved; [0-9]+ s", lines[-1])


def test_json_is_alone_on_standard_output() -> None:
    code, lines, err = proved(NAME, "--json")

    (theorem,) = json.loads("\n".join(lines))
    assert (code, theorem["theorem"]) == (0, NAME)
    assert err.startswith(f"1/1 {NAME}: proved: ")


@pytest.mark.parametrize("verbose", [False, True])
def test_an_induction_that_is_false_is_told_with_its_counterexample(
    verbose: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(THEOREMS[NAME], state=lambda _: false_variant(VARIANTS[0]))
    monkeypatch.setattr(prove, "THEOREMS", {NAME: wrong})

    code, lines, _ = proved(NAME, *(["--verbose"] if verbose else []))

    assert code == 1
    assert lines[0].startswith("Theorem SnapshotLoading: ")
    begin = lines.index("    REFUTED: Install does not keep SnapExact:")
    assert lines[begin + 1].startswith("      begin = ")
    assert lines[begin - 1].startswith("  Install: 4 of 5 claims proved, ")
    assert (begin < 4) is not verbose
    summary = lines if verbose else lines[:-1]
    assert re.match(f"{NAME}: refuted: [0-9]+ of 55 claims, 4 of 4 false variants", summary[-2])
    assert re.fullmatch("1 theorem: 1 refuted; [0-9]+ s", summary[-1])
    assert any(line.startswith("  LoadNewest: ") for line in lines) is verbose


def test_what_z3_does_not_answer_is_told_and_is_no_pass() -> None:
    code, lines, _ = proved(NAME, "--rlimit", "1")

    assert code == 3
    undecided = [line for line in lines if "; UNDECIDED: z3 gives no answer" in line]
    assert len(undecided) > 10
    assert "  false variant B53: a snapshot is added to the state that is there" in lines
    assert "    UNDECIDED: it is not refuted, so the proof says nothing" in lines
    assert lines[-3].startswith(f"{NAME}: undecided: 0 of 55 claims, 0 of 4 false variants")
    assert re.fullmatch("1 theorem: 1 undecided; [0-9]+ s", lines[-2])
