"""The commands validate and explain, from the outside."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from rocketproof.cli import main
from rocketproof.commands import validate
from tlatrace.heartbeat import heartbeat

HEADER: Final = (
    '{"format":"rocketproof-trace","version":1,"spec":"EpochTruncation","constants":{}}\n'
)
SAMPLES: Final = Path(__file__).parents[3] / "traces" / "samples" / "epoch_truncation"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def trace(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "trace.ndjson"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("command", ["validate", "explain"])
@pytest.mark.parametrize("text", ["", HEADER], ids=["empty", "header"])
def test_a_trace_without_events_is_undecided(command: str, text: str, tmp_path: Path) -> None:
    result = run(command, trace(tmp_path, text))

    assert result.exit_code == 3
    assert "undecided" in result.stdout


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"\x7fELF garbage", 1),
        (HEADER + '{"step":0,"action":"Init","params":[],"params":[],"state":{}}\n', 2),
        (HEADER + '{"step":0,"action":"Init","params":[' + "[" * 100_000, 2),
        (HEADER + '{"step":0,"action":"Init","params":[NaN],"state":{}}\n', 2),
        (HEADER + '{"step":1,"action":"Inc","params":[],"state":{}}\n', 2),
    ],
    ids=["garbage", "duplicate key", "deep", "NaN", "first step missing"],
)
@pytest.mark.parametrize("command", ["validate", "explain"])
def test_a_file_that_is_no_trace_is_an_error_with_file_and_line(
    command: str, text: str | bytes, line: int, tmp_path: Path
) -> None:
    path = trace(tmp_path, text)

    result = run(command, path)

    assert result.exit_code == 2
    assert f"{path}:{line}:" in result.stderr


def test_a_line_of_100_megabytes_is_an_error_that_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "long.ndjson"
    with path.open("wb") as file:
        file.write(HEADER.encode())
        file.truncate(len(HEADER) + 100 * 2**20)  # a hole: no disk, and no line end either

    result = run("validate", path)

    assert result.exit_code == 2
    assert f"{path}:2:" in result.stderr


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    result = run("validate", tmp_path / "nowhere.ndjson")

    assert result.exit_code == 2
    assert "nowhere.ndjson" in result.stderr


def test_a_folder_without_traces_is_an_error(tmp_path: Path) -> None:
    assert run("validate", tmp_path).exit_code == 2


def test_another_engine_is_a_usage_error(tmp_path: Path) -> None:
    result = run("validate", "--engine", "other", trace(tmp_path, ""))

    assert result.exit_code == 2


def test_an_unreadable_file_outweighs_the_verdicts_beside_it(tmp_path: Path) -> None:
    bad = tmp_path / "bad.ndjson"
    bad.write_text("garbage")

    result = run("validate", trace(tmp_path, HEADER), bad)

    assert result.exit_code == 2
    assert "undecided" in result.stdout


def test_reports_are_written_for_undecided_traces_too(tmp_path: Path) -> None:
    junit, sarif, summary = tmp_path / "j.xml", tmp_path / "s.sarif", tmp_path / "s.md"
    summary.write_text("before\n")

    path = trace(tmp_path, HEADER)
    run("validate", path, "--junit", junit, "--sarif", sarif, "--summary", summary)

    assert ElementTree.parse(junit).getroot()[0].get("errors") == "1"
    assert len(json.loads(sarif.read_text())["runs"][0]["results"]) == 1
    assert summary.read_text().startswith("before\n## ")


def test_an_unknown_specification_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    header = HEADER.replace("EpochTruncation", "Nowhere")
    event = '{"step":0,"action":"Init","params":[],"state":{}}\n'

    result = run("validate", trace(tmp_path, header + event))

    assert result.exit_code == 2
    assert "--spec" in result.stderr


@pytest.mark.java
def test_a_conforming_trace_prints_the_number_of_its_events() -> None:
    result = run("validate", SAMPLES / "seed_7.ndjson")

    assert result.exit_code == 0
    logged = "12 of 12 variables, 9 of 22 actions logged"
    assert result.stdout.endswith(f"seed_7.ndjson: conforms, 19 events; {logged}\n")


@pytest.mark.java
def test_a_trace_of_another_text_of_the_specification_is_a_warning_or_with_strict_an_error(
    tmp_path: Path,
) -> None:
    lines = (SAMPLES / "seed_7.ndjson").read_text().splitlines(keepends=True)
    header = lines[0].replace('"spec_sha256":null', f'"spec_sha256":"{"0" * 64}"')
    path = trace(tmp_path, header + "".join(lines[1:3]))

    warned, refused = run("validate", path), run("validate", "--strict", path)

    assert (warned.exit_code, refused.exit_code) == (0, 2)
    assert "another text" in warned.stderr
    assert "another text" in refused.stderr


@pytest.mark.java
def test_a_users_own_specification_is_validated_with_its_configuration(tmp_path: Path) -> None:
    specs = Path(__file__).parents[1] / "tlc" / "specs"
    header = HEADER.replace("EpochTruncation", "Mailbox")
    first = '{"step":0,"action":"Init","params":[],"state":{"sent":{"n1":0,"n2":0},"queue":[],'
    second = (
        '{"step":1,"action":"Send","params":["n1",2],"state":{"sent":{"n1":2,"n2":0},'
        '"queue":[{"from":"n1","by":2}],"total":0}}\n'
    )
    path = trace(tmp_path, header + first + '"total":0}}\n' + second)

    result = run(
        "validate", path, "--spec", specs / "Mailbox.tla", "--config", specs / "Mailbox.cfg"
    )

    assert result.exit_code == 0, result.output
    assert "conforms, 2 events" in result.stdout


@pytest.mark.java
def test_explain_shows_the_difference_and_the_possible_actions() -> None:
    result = run("explain", SAMPLES / "one_number_changed.ndjson")

    assert result.exit_code == 1
    assert "known.b1" in result.stdout
    assert "Actions possible before this step" in result.stdout


@pytest.mark.parametrize("command", ["validate", "explain"])
@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (".", "this is a folder, not a module (say which FILE.tla)"),
        ("run.log", "this is no FILE.tla"),
        ("Gone.tla", "there is no such module"),
    ],
)
def test_a_spec_that_is_no_module_is_told_in_a_line(
    command: str, spec: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.log").touch()
    event = '{"step":0,"action":"Init","params":[],"state":{"x":0}}\n'

    result = run(command, trace(tmp_path, HEADER + event), "--spec", spec)

    assert result.exit_code == 2
    assert result.stderr == f"rocketproof: {spec}: {reason}\n"


@pytest.mark.parametrize("command", ["validate", "explain", "check"])
def test_a_library_that_does_not_exist_is_refused(command: str, tmp_path: Path) -> None:
    missing = tmp_path / "modules"
    target = tmp_path / "Any.tla" if command == "check" else SAMPLES / "seed_7.ndjson"

    result = run(command, target, "--library", missing)

    assert result.exit_code == 2
    assert "--library" in result.stderr
    assert "does not exist" in result.stderr


@pytest.mark.java
def test_a_log_is_told_how_many_steps_are_judged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(validate, "heartbeat", partial(heartbeat, every_s=0.005))

    with pytest.raises(SystemExit) as ended:
        main.main(["validate", str(SAMPLES / "seed_7.ndjson")])

    assert ended.value.code == 0
    assert "steps are judged (" in capsys.readouterr().err


@pytest.mark.java
@pytest.mark.parametrize("engine", ["compiled", "tlc"])
def test_explain_says_what_of_the_specification_the_trace_has_logged(engine: str) -> None:
    good = run("explain", SAMPLES / "seed_7.ndjson", "--engine", engine)
    bad = run("explain", SAMPLES / "bug_B05_seed_21.ndjson", "--engine", engine)
    data = run("explain", SAMPLES / "bug_B05_seed_21.ndjson", "--engine", engine, "--json")

    assert good.stdout.endswith("conforms, 19 events; 12 of 12 variables, 9 of 22 actions logged\n")
    assert "\n  the trace shows   12 of 12 variables, 10 of 22 actions\n" in bad.stdout
    assert json.loads(data.stdout)["logged"]["actions"]["Restart"] == 0
