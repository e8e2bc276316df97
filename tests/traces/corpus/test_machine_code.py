"""Corpora that machine code judges first: the same verdicts, and every step counted as before."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from tests.traces.corpus.toy import HEADER, SPEC, Row, Rows, batches_of, record, rows_of
from tlatrace.corpus.findings import MACHINE_CODE, Findings
from tlatrace.corpus.generate import generate_corpus, make_here
from tlatrace.corpus.kernel import Kernel, KernelOptions
from tlatrace.corpus.local import LocalDriver
from tlatrace.corpus.manifest import read_manifest
from tlatrace.corpus.model_source import ModelCheckerSource
from tlatrace.corpus.result import CorpusResult
from tlatrace.corpus.sample import texts_of
from tlatrace.corpus.sketch import rank_of
from tlatrace.corpus.validate import Driver, Subject, validate_corpus
from tlatrace.corpus.worker import Work
from tlatrace.oracle import Model, load_model
from tlatrace.report.corpus_text import corpus_text
from tlatrace.trace import Event, Trace

pytestmark = pytest.mark.java

CHUNK: Final = 1 << 16


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(SPEC, constants=HEADER.constants, invariants=["Low"], native=True)


def subject(model: Model, *, native: bool = True) -> Subject:
    source = ModelCheckerSource(model.source)
    return Subject(
        module=model.module,
        fingerprint=model.fingerprint,
        source=source,
        rows=source if native else None,
        actions=model.next_actions,
        variables=model.variables,
    )


def kernel(model: Model, **options: bool | int | range) -> Kernel[object]:
    source = ModelCheckerSource(model.source)
    chosen = replace(KernelOptions(chunk_steps=CHUNK), **options)  # type: ignore[arg-type] # names
    return Work(source=source, rows=source, options=chosen).fresh()


def found_in(judge: Kernel[object], rows: Rows, size: int = 100) -> Findings:
    findings = Findings()
    for batch in judge(batches_of(rows, size)):
        findings.add(batch)
    return findings


def same_verdicts(one: CorpusResult, other: CorpusResult) -> bool:
    return (one.verdicts, one.actions, one.logged) == (other.verdicts, other.actions, other.logged)


def test_every_driver_gives_the_verdicts_of_python(
    mixed: Path, model: Model, driver: Driver
) -> None:
    fast = validate_corpus(mixed, subject(model), driver)
    plain = validate_corpus(mixed, subject(model, native=False), LocalDriver(1))

    assert same_verdicts(fast, plain)
    assert fast.count("diverges") > 0
    assert fast.figures.accounted == plain.figures.accounted
    assert fast.figures.skipped == plain.figures.skipped
    assert fast.figures.distinct == plain.figures.distinct
    assert 0 < fast.figures.by_machine_code < fast.figures.steps
    assert plain.figures.by_machine_code == 0


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_where_a_batch_ends_makes_no_difference(model: Model, size: int) -> None:
    rows = rows_of("a", record(1)) + rows_of("b", record(2)) + rows_of("c", record(1))

    found = found_in(kernel(model), rows, size)

    assert [(piece.trace_id, piece.steps, piece.step) for piece in found.pieces] == [
        ("a", 12, None),
        ("b", 12, None),
        ("c", 12, None),
    ]
    assert found.counts[MACHINE_CODE] == found.counts["rows"] == 36
    assert found.counts["initial"] == 3
    assert found.counts["remembered"] >= 11
    assert sum(found.actions.values()) == 36


DAMAGES: Final[tuple[Row, ...]] = (
    {"state": None},
    {"state": '{"last":"up","x":-3}'},
    {"step": 40},
    {"step": 0},
    {"action": "Never"},
    {"action": "Init"},
    {"params": None},
    {"chunk": 1},
    {"trace_id": None},
    {"trace_id": "t2"},
)


def damaged(seed: int) -> Rows:
    """Draw rows of a few traces, some of which are equal, with up to three wrong rows."""
    draw = Random(seed)
    traces = [record(draw.randrange(3), draw.randrange(1, 9)) for _ in range(6)]
    rows = [row for at, trace in enumerate(traces) for row in rows_of(f"t{at}", trace)]
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(rows))
        rows[at] = {**rows[at], **draw.choice(DAMAGES)}
        if draw.random() < 0.2:
            rows.insert(at, rows.pop(draw.randrange(len(rows))))
    return rows


def test_whole_traces_that_are_counted_together_are_counted_as_one_by_one(model: Model) -> None:
    together, single = kernel(model), kernel(model)
    bad = 0
    for seed in range(150):
        rows = damaged(seed)
        found, expected = (found_in(together, rows, 1000), found_in(single, rows, 1))

        assert found.counts == expected.counts, seed
        assert found.pieces == expected.pieces, seed
        assert found.actions == expected.actions, seed
        assert found.distinct() == expected.distinct(), seed
        bad += any(piece.step is not None for piece in found.pieces)
    assert 75 < bad < 140


def test_a_step_that_is_not_sure_is_judged_by_python_and_the_rest_by_machine_code(
    model: Model,
) -> None:
    rows = rows_of("a", record(1))
    at = next(at for at, row in enumerate(rows) if at > 3 and row["action"] == "Up")
    spaced = [*rows[:at], {**rows[at], "params": "[ ]"}, *rows[at + 1 :]]
    wrong = [*rows[:at], {**rows[at], "action": "Jump"}, *rows[at + 1 :]]

    assert found_in(kernel(model), rows).counts[MACHINE_CODE] == 12
    for damaged in (spaced, wrong):
        found = found_in(kernel(model), damaged)
        assert found.counts[MACHINE_CODE] == at
        assert found.counts["skipped"] == 12 - at - 1
        assert found.pieces[0].step == at


def test_what_an_earlier_run_has_accepted_is_recalled(
    good: Path, model: Model, tmp_path: Path
) -> None:
    first, second = (
        validate_corpus(good, subject(model), LocalDriver(1), store=tmp_path) for _ in range(2)
    )
    third = validate_corpus(good, subject(model, native=False), LocalDriver(1), store=tmp_path)

    assert first.figures.recalled == 0
    assert second.figures.evaluated == 0
    assert second.figures.recalled == first.figures.evaluated > 0
    assert third.figures.recalled == first.figures.evaluated, "Python has the same fingerprints"


def test_the_transitions_of_a_sample_are_found_again(good: Path, model: Model) -> None:
    source = ModelCheckerSource(model.source)
    options = KernelOptions(chunk_steps=read_manifest(good).chunk_steps, sample=50, seed=4)
    findings = Findings()
    for batch in LocalDriver(1)(good, Work(source=source, rows=source, options=options)):
        findings.add(batch)
    ranks = findings.chosen(50)

    (texts,) = texts_of(good, LocalDriver(1), options, ranks, rows=source)

    assert len(texts) == len({text.key for text in texts}) == 50
    assert all(text.post.startswith('{"last"') for text in texts)
    assert [rank_of(text.key, 4) for text in texts] != ranks, "they are machine code's"


@pytest.mark.parametrize("engine", ["native", "auto", "compiled"])
def test_the_command_says_who_has_judged(good: Path, engine: str) -> None:
    arguments = ["corpus", "validate", str(good), "--spec", str(SPEC), "--invariant", "Low"]
    arguments += ["--driver", "local"]
    if engine == "auto":  # it takes machine code that is there
        assert CliRunner().invoke(main, [*arguments, "--engine", "native"]).exit_code == 0
    arguments += ["--engine", engine]

    told = CliRunner().invoke(main, arguments)
    data = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)

    assert told.exit_code == 0
    steps = data["steps"]
    by_machine_code = steps["by_machine_code"]
    assert by_machine_code == (0 if engine == "compiled" else steps["total"])
    assert ("by machine code, 0 by Python" in told.stdout) is (by_machine_code > 0)


def test_a_specification_without_machine_code_is_judged_by_python(
    good: Path, tmp_path: Path
) -> None:
    spec = tmp_path / "Toy.tla"
    text = SPEC.read_text("utf-8")
    assert "Next ==" in text
    spec.write_text(text.replace("====", "Rest == ~ENABLED (FALSE /\\ x' = x)\n====", 1), "utf-8")
    arguments = ["corpus", "validate", str(good), "--spec", str(spec), "--invariant", "Rest"]

    told = CliRunner().invoke(main, [*arguments, "--driver", "local", "--engine", "native"])

    assert told.exit_code == 0, told.output
    assert "there is no machine code, Python has judged all" in told.stdout


def test_machine_code_that_has_accepted_nothing_is_said_to_have(
    tmp_path: Path, model: Model
) -> None:
    corpus = tmp_path / "c"
    event = Event(step=0, action="Init", params=(), state={"x": 1, "last": "none"})
    bad = Trace(header=record(1).header, events=(event,))
    generate_corpus(make_here(1), corpus, lambda _: bad, first_seed=0, runs=1, source={})

    found = [
        validate_corpus(corpus, subject(model, native=native), LocalDriver(1))
        for native in (True, False)
    ]
    texts = [corpus_text(result, limit=5) for result in found]

    assert "0 by machine code, 1 by Python" in texts[0]
    assert "machine code" not in texts[1]
