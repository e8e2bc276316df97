"""A step that names no action and changes nothing is one of [Next]_v, and none of Next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from tlatrace.judgement.specification import load_spec
from tlatrace.judgement.transition import Transition
from tlatrace.matching import match_traces
from tlatrace.oracle import Model, load_model
from tlatrace.tla.config import TlcConfig, parse_config
from tlatrace.tlc.judge import judge
from tlatrace.trace.ndjson import read_trace

MODULE: Final = Path(__file__).with_name("specs") / "Rests.tla"

pytestmark = pytest.mark.java

A, B, C = (0, 0), (0, 7), (1, 0)

CASES: Final = [
    ("SPECIFICATION Spec", True, {(A, A), (A, C)}),
    ("SPECIFICATION Spec", False, {(A, C)}),
    ("SPECIFICATION Named", True, {(A, A), (A, C)}),
    ("SPECIFICATION Half", True, {(A, A), (A, B), (A, C)}),
    ("SPECIFICATION Half", False, {(A, C)}),
    ("INIT Init NEXT Next", True, {(A, C)}),
]
IDS: Final = [f"{text}, {stuttering}" for text, stuttering, _ in CASES]


def config(text: str) -> TlcConfig:
    return parse_config(text, MODULE.with_suffix(".cfg"))


def steps(action: str | None = None) -> list[Transition]:
    return [
        Transition({"x": a[0], "y": a[1]}, action, (), {"x": b[0], "y": b[1]})
        for a in (A, (2, 0))
        for b in (A, B, C, (2, 0), (2, 7))
    ]


def allowed(model: Model, step: Transition) -> bool:
    assert step.pre is not None
    return model.allows(step.action, (), model.adopt(step.pre), model.adopt(step.post))


@pytest.mark.parametrize(("text", "stuttering", "first"), CASES, ids=IDS)
def test_what_may_stay_is_what_the_specification_says(
    text: str, stuttering: bool, first: set[tuple[tuple[int, int], tuple[int, int]]]
) -> None:
    spec = load_spec(MODULE, config=config(text), stuttering=stuttering)
    model = load_model(MODULE, config(text), stuttering=stuttering)

    judged = judge(spec, steps())

    by_tlc = [type(one.step).__name__ == "Allowed" for one in judged]
    assert by_tlc == [allowed(model, step) for step in steps()]
    found = [
        ((step.pre["x"], step.pre["y"]), (step.post["x"], step.post["y"]))
        for step, yes in zip(steps(), by_tlc, strict=True)
        if yes and step.pre is not None and step.pre["x"] == 0
    ]
    assert set(found) == first


def test_a_step_that_names_an_action_is_that_actions_question() -> None:
    spec = load_spec(MODULE, config=config("SPECIFICATION Spec"))
    model = load_model(MODULE, config("SPECIFICATION Spec"))

    for action, wanted in (("Up", []), ("Idle", [(2, 0)])):
        judged = judge(spec, steps(action))
        same = [
            (step.post["x"], step.post["y"])
            for step, one in zip(steps(action), judged, strict=True)
            if type(one.step).__name__ == "Allowed" and step.pre == step.post
        ]
        assert same == wanted
        assert [type(one.step).__name__ == "Allowed" for one in judged] == [
            allowed(model, step) for step in steps(action)
        ]


def write(path: Path, key: str) -> Path:
    header = {"format": "rocketproof-trace", "version": 1, "spec": "Rests"}
    rows: list[tuple[str | None, int]] = [("Init", 0), (None, 0), ("Up", 1), (None, 1), (None, 2)]
    whole = {"y": 0} if key == "state" else {}
    events: list[dict[str, object]] = [
        {"step": at, "action": action, "params": [], key: {"x": x} | whole}
        for at, (action, x) in enumerate(rows)
    ]
    path.write_text("".join([json.dumps(line) + "\n" for line in [header, *events]]), "utf-8")
    return path


@pytest.mark.parametrize("key", ["state", "observed"])
def test_a_search_takes_a_step_that_changes_nothing_where_it_may(tmp_path: Path, key: str) -> None:
    trace = read_trace(write(tmp_path / "t.ndjson", key))
    boxed = load_model(MODULE, config("SPECIFICATION Spec"))
    bare = load_model(MODULE, config("SPECIFICATION Spec"), stuttering=False)

    (yes,), (no,) = match_traces(boxed, [trace]), match_traces(bare, [trace])

    assert (type(yes).__name__, type(no).__name__) == ("Conforms", "Diverges")


def test_what_may_change_with_a_part_of_the_state_is_not_guessed(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path / "t.ndjson", "observed"))
    half = load_model(MODULE, config("SPECIFICATION Half"))

    (verdict,) = match_traces(half, [trace])

    assert type(verdict).__name__ == "Undecided"
    assert "does not mention" in str(verdict)


@pytest.mark.parametrize("engine", ["compiled", "tlc"])
def test_the_command_has_a_flag_that_forbids_it(tmp_path: Path, engine: str) -> None:
    trace = write(tmp_path / "t.ndjson", "state")
    settings = tmp_path / "Rests.cfg"
    settings.write_text("SPECIFICATION Spec\n", "utf-8")
    command = ["validate", "--spec", str(MODULE), "--config", str(settings), "--engine", engine]

    free = CliRunner().invoke(main, [*command, str(trace)])
    bound = CliRunner().invoke(main, [*command, "--no-stuttering", str(trace)])

    assert (free.exit_code, bound.exit_code) == (0, 1)
    assert "diverges at step 1" in bound.output


def test_traces_in_itf_name_no_action(tmp_path: Path) -> None:
    states = [{"x": {"#bigint": str(x)}, "y": {"#bigint": "0"}} for x in (0, 0, 1, 1, 2)]
    document = {
        "#meta": {"source": "Rests.tla"},
        "vars": ["x", "y"],
        "states": [{"#meta": {"index": at}} | state for at, state in enumerate(states)],
    }
    trace, settings = tmp_path / "t.itf.json", tmp_path / "Rests.cfg"
    trace.write_text(json.dumps(document), "utf-8")
    settings.write_text("SPECIFICATION Spec\n", "utf-8")
    command = ["validate", "--spec", str(MODULE), "--config", str(settings), str(trace)]

    assert CliRunner().invoke(main, command).exit_code == 0
    assert CliRunner().invoke(main, [*command, "--no-stuttering"]).exit_code == 1


def test_corpora_are_judged_in_the_same_way(tmp_path: Path) -> None:
    traces, corpus, settings = tmp_path / "traces", tmp_path / "corpus", tmp_path / "Rests.cfg"
    traces.mkdir()
    write(traces / "t.ndjson", "state")
    settings.write_text("SPECIFICATION Spec\n", "utf-8")
    made = CliRunner().invoke(main, ["corpus", "import", str(traces), "--out", str(corpus)])
    assert made.exit_code == 0, made.output
    command = ["corpus", "validate", str(corpus), "--spec", str(MODULE)]
    command += ["--config", str(settings)]

    free = CliRunner().invoke(main, command)
    bound = CliRunner().invoke(main, [*command, "--no-stuttering"])

    assert (free.exit_code, bound.exit_code) == (0, 1), free.output + bound.output
