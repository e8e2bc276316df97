"""`rocketproof selfcheck`, with comparisons of our own in the place of TLC."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocketproof.commands import selfcheck
from tlatrace.judgement.transition import Transition
from tlatrace.selfcheck.agreement import Agreement, Disagreement, Part
from tlatrace.selfcheck.corruption import Corrupted
from tlatrace.selfcheck.examine import Effort
from tlatrace.selfcheck.hash_seeds import Seeded
from tlatrace.selfcheck.subjects import SPECS, Subject, packaged_subjects

WRONG = Disagreement(question="the step x = 1  --Up-->  x = 2", tlc="has it", model="lacks it")


def agreement(part: Part, subject: str, *wrong: Disagreement, examined: int = 7) -> Agreement:
    return Agreement(
        part=part,
        subject=subject,
        examined=examined,
        facts={"states": 3},
        disagreements=wrong,
        seconds=0.5,
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[Part, ...], Effort]]:
    """Note what is examined; the specification Tally disagrees."""
    seen: list[tuple[str, tuple[Part, ...], Effort]] = []

    def examine_subject(
        subject: Subject,
        *,
        parts: Collection[Part],
        effort: Effort,
        on_stage: Callable[[str], None] | None = None,
        on_corrupted: Callable[[Sequence[Corrupted]], None] | None = None,
    ) -> Iterator[Agreement]:
        assert on_stage is not None
        on_stage("working")
        if on_corrupted is not None:
            on_corrupted([Corrupted(Transition({"x": 0}, None, (), {"x": 1}), "part")])
        seen.append((subject.name, tuple(parts), effort))
        wrong = [WRONG] if subject.name == "Tally" else []
        for part in parts:
            if part in ("graphs", "corrupted"):
                yield agreement(part, subject.name, *wrong)

    def examine_expressions(on_stage: Callable[[str], None] | None = None) -> Agreement:
        assert on_stage is not None
        return agreement("expressions", "constant expressions")

    def examine_random_steps(
        steps: int, *, seed: int, reproducers: Path, on_stage: Callable[[str], None]
    ) -> Agreement:
        on_stage("drawing")
        seen.append((f"{steps} steps of {seed}, {reproducers}", ("random-steps",), Effort()))
        return agreement("random-steps", "random machines")

    def examine_random_expressions(
        count: int, *, seed: int, reproducers: Path, on_stage: Callable[[str], None]
    ) -> Agreement:
        on_stage("drawing")
        asked_for = f"{count} expressions of {seed}, {reproducers}"
        return agreement("random-expressions", asked_for, examined=count)

    def examine_hash_seeds(
        jobs: Sequence[Seeded], seeds: int, *, on_stage: Callable[[str], None]
    ) -> Agreement:
        on_stage("judging")
        steps = sum(len(job.steps) for job in jobs)
        return agreement("hash-seeds", f"{len(jobs)} specifications", examined=steps * seeds)

    def examine_hostile(
        cases: int, *, seed: int, on_stage: Callable[[str], None]
    ) -> Iterator[Agreement]:
        on_stage("changing")
        yield agreement("hostile", f"{cases} cases of {seed}", examined=cases)

    def examine_flips(cases: int, *, seed: int, on_stage: Callable[[str], None]) -> Agreement:
        on_stage("flipping")
        return agreement("flips", f"{cases} bits of {seed}", examined=cases)

    monkeypatch.setattr("tlatrace.selfcheck.hostile.examine.examine_hostile", examine_hostile)
    monkeypatch.setattr("tlatrace.selfcheck.hostile.flips.examine_flips", examine_flips)
    monkeypatch.setattr(selfcheck, "examine_random_steps", examine_random_steps)
    monkeypatch.setattr(selfcheck, "examine_random_expressions", examine_random_expressions)
    monkeypatch.setattr(selfcheck, "examine_hash_seeds", examine_hash_seeds)
    monkeypatch.setattr(selfcheck, "examine_subject", examine_subject)
    monkeypatch.setattr(selfcheck, "examine_expressions", examine_expressions)
    return seen


def run(*arguments: str) -> Result:
    return CliRunner().invoke(selfcheck.command, list(arguments))


def test_agreement_exits_with_0(asked: list[tuple[str, tuple[Part, ...], Effort]]) -> None:
    result = run("--spec", "Board", "--spec", "Dice", "--corrupted", "5", "--failed", "0")
    assert result.exit_code == 0, result.output
    assert [name for name, _, _ in asked] == ["Board", "Dice"]
    assert asked[0][2] == Effort(corrupted=5, failed=0)
    assert "0 disagreements" in result.output


@pytest.mark.usefixtures("asked")
def test_a_disagreement_is_shown_and_exits_with_1() -> None:
    result = run("--spec", "Tally", "--only", "graphs")
    assert result.exit_code == 1
    assert WRONG.question in result.output
    assert "lacks it" in result.output


@pytest.mark.usefixtures("asked")
def test_nothing_examined_exits_with_3() -> None:
    assert run("--spec", "Tally", "--only", "expressions").exit_code == 3


@pytest.mark.usefixtures("asked")
def test_json_is_the_only_output() -> None:
    result = run("--spec", "Tally", "--only", "graphs", "--json")
    (found,) = json.loads(result.stdout)
    assert found["verdict"] == "diverges"
    assert found["disagreements"] == [
        {"question": WRONG.question, "tlc": "has it", "model": "lacks it"}
    ]


def test_everything_is_examined_by_default(
    asked: list[tuple[str, tuple[Part, ...], Effort]],
) -> None:
    result = run()
    assert result.exit_code == 1  # Tally
    names = [name for name, parts, _ in asked if parts != ("random-steps",)]
    assert len(names) == len(asked) - 1
    packaged = [subject.name for subject in packaged_subjects()]
    assert names[: len(packaged)] == packaged
    assert "epoch_truncation:small" in names[len(packaged) :]
    assert all(name.endswith(":small") for name in names[len(packaged) :])
    assert "7 expressions" in result.output


def test_the_size_of_what_is_drawn_is_an_option(
    asked: list[tuple[str, tuple[Part, ...], Effort]], tmp_path: Path
) -> None:
    folder = str(tmp_path)
    result = run("--only", "random-steps", "--steps", "9", "--seed", "4", "--reproducers", folder)
    assert result.exit_code == 0, result.output
    assert [name for name, _, _ in asked] == [f"9 steps of 4, {folder}"]
    assert "7 random steps" in result.output
    result = run("--only", "random-expressions", "--expressions", "11", "--seed", "4")
    assert "11 random expressions" in result.output


@pytest.mark.usefixtures("asked")
def test_the_corrupted_steps_are_judged_under_hash_seeds() -> None:
    result = run("--spec", "Board", "--spec", "Dice", "--only", "hash-seeds", "--hash-seeds", "9")
    assert result.exit_code == 0, result.output
    assert "18 judgements under hash seeds" in result.output


@pytest.mark.usefixtures("asked")
def test_the_numbers_of_hostile_cases_and_bits_are_options() -> None:
    wanted = ["--only", "hostile", "--only", "flips", "--cases", "1234", "--flips", "77"]
    result = run(*wanted, "--seed", "5")
    assert result.exit_code == 0, result.output
    assert "1234 cases of 5" in result.output
    assert "77 bits of 5" in result.output
    assert "1,234 hostile inputs, 77 flipped bits" in result.output


@pytest.mark.usefixtures("asked")
def test_an_unknown_specification_is_a_usage_error(tmp_path: Path) -> None:
    result = run("--spec", "Nowhere")
    assert result.exit_code == 2
    assert "epoch_truncation:three" in result.output
    assert run("--spec-root", str(tmp_path)).exit_code == 1  # an error that the main command shows


def test_every_configuration_has_its_module() -> None:
    subjects = packaged_subjects()
    assert len(subjects) >= 27
    assert [subject.name for subject in subjects if not subject.module.is_file()] == []
    assert {path.suffix for path in SPECS.iterdir()} == {".tla", ".cfg"}
