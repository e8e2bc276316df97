"""`rocketproof check --itf`: counterexamples as files that other tools and `validate` read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main
from rocketproof.counterexample_files import ItfFiles, loop_of, trace_of
from tests.traces.rocketproof.counter import write_counter
from tests.traces.tools.endings import OUTPUTS, SPECS
from tests.traces.tools.test_check import run
from tlatrace.errors import ValueFormatError
from tlatrace.tools.tlc_output import TlcState
from tlatrace.tools.tlc_run import read_run
from tlatrace.trace.itf import itf_text, read_itf
from tlatrace.values import ModelValue

COUNTER: Final = SPECS / "Counter.tla"


def call(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def state(number: int, action: str | None, **values: int) -> TlcState:
    return TlcState(number=number, action=action, text="", values=values)


@pytest.mark.java
@pytest.mark.parametrize("engine", ["tlc", "compiled"])
def test_validate_finds_in_the_file_what_check_found(engine: str, tmp_path: Path) -> None:
    config = SPECS / "invariant.cfg"
    target = tmp_path / "new" / "low.itf.json"

    found = call("check", COUNTER, "--config", config, "--engine", engine, "--itf", target)

    assert found.exit_code == 1, found.output
    assert found.stderr == f"written to {target}\n"
    judged = call("validate", target, "--spec", COUNTER, "--config", config)
    assert judged.exit_code == 1
    assert "diverges at step 2, Inc: expected a state in which Low holds" in judged.stdout
    judged = call("validate", target, "--spec", COUNTER, "--config", SPECS / "holds.cfg")
    assert (judged.exit_code, "conforms, 3 events" in judged.stdout) == (0, True)
    params = [event.arguments for event in read_itf(target).events]
    assert params[0] == ()
    if engine == "compiled":
        known = [one for event in params[1:] if event is not None for one in event]
        assert len(known) == 2
        assert {type(one) for one in known} == {ModelValue}


@pytest.mark.java
def test_a_folder_gets_a_file_for_each_expected_or_not(tmp_path: Path) -> None:
    write_counter(tmp_path)
    out = tmp_path / "out"

    found = call("check", "counter", "--spec-root", tmp_path, "--itf", out)

    assert found.exit_code == 0, found.output
    (written,) = out.iterdir()
    assert written.name == "counter-Low.itf.json"
    assert f"    written to {written}\n" in found.stdout
    assert found.stderr == ""
    header = read_itf(written).header
    assert header is not None
    assert (header.spec, header.meta) == (
        "Counter",
        {"counterexample": "violates Low in 3 states"},
    )

    nothing = call(
        *("check", "counter", "--model", "small", "--spec-root", tmp_path),
        *("--itf", tmp_path / "one.itf.json", "--json"),
    )
    assert nothing.exit_code == 0
    assert json.loads(nothing.stdout)["rows"][0]["ok"]
    assert "no counterexample: nothing is written to" in nothing.stderr
    several = call("check", "counter", "--spec-root", tmp_path, "--itf", tmp_path / "x.itf.json")
    assert (several.exit_code, "name one model, or a folder" in several.stderr) == (2, True)


def test_what_goes_on_for_ever_has_a_loop(tmp_path: Path) -> None:
    lasso = run("lasso")
    recorded = (OUTPUTS / "temporal.out").read_text("utf-8")
    stutters = read_run(recorded, exit_code=13, seconds=1.0)

    assert lasso.loop_to is not None
    assert loop_of(lasso) == lasso.loop_to - 1
    assert stutters.stutters
    assert loop_of(stutters) == len(stutters.states) - 1
    assert loop_of(run("invariant")) is None
    target = tmp_path / "lasso.itf.json"
    assert ItfFiles(target, several=False).write(lasso, "", "Counter", "Stays falls")
    document = json.loads(target.read_text("utf-8"))
    assert document["loop"] == lasso.loop_to - 1
    assert len(document["states"]) == len(lasso.states)
    assert read_itf(target) == trace_of(lasso.states, "Counter", "Stays falls")
    assert '"loop"' not in itf_text(read_itf(target))


@pytest.mark.parametrize(
    ("text", "action", "arguments"),
    [
        ("Inc", "Inc", None),
        ("Inc(p1, 2)", "Inc", (ModelValue("p1"), 2)),
        ('Send(<<1>>, "a,b")', "Send", ((1,), "a,b")),
        ("Send([a |-> 1, ...", "Send", None),
        ("Send(...)", "Send", None),
        ("Next", None, ()),
        ("an unnamed step", None, ()),
        (None, None, ()),
    ],
)
def test_an_action_is_what_is_told_of_it(
    text: str | None, action: str | None, arguments: object
) -> None:
    trace = trace_of([state(1, None, x=0), state(2, text, x=1)], "Spec", "")

    assert trace.events[0].action == "Init"
    assert trace.events[1].action == action
    assert trace.events[1].arguments == arguments


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    strange = TlcState(number=2, action="Inc", text="x = SUBSET S", values=None)
    with pytest.raises(ValueFormatError, match="state 2 holds a value"):
        trace_of([state(1, None, x=0), strange], "Spec", "")

    files = ItfFiles(tmp_path / "f", several=True)
    found = run("invariant")
    told = files.write(found, "a-b", "not a name", "Low")
    assert told.startswith("not written as ITF: ")
    assert files.summary().startswith("no counterexample")


@pytest.mark.parametrize("name", ["out.json", "log.txt"])
def test_a_file_has_a_name_that_says_what_it_is(name: str, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("precious")

    refused = call("check", COUNTER, "--config", SPECS / "holds.cfg", "--itf", tmp_path / name)

    assert (refused.exit_code, "has to be named *.itf.json" in refused.stderr) == (2, True)
    assert (tmp_path / "log.txt").read_text() == "precious"
