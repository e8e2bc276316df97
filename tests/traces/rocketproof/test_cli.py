"""The command line: lazy commands, unmistakable exit codes, and the commands of the tools."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rocketha.errors import RockethaError
from rocketproof.cli import COMMANDS, EXIT_TERMINATED, LazyGroup, is_ready, main
from tests.traces.rocketproof.counter import CHECKS, MEASURED, write_counter
from tlatrace.errors import TlatraceError, ToolError

READY = [name for name, _ in COMMANDS if is_ready(name)]


def failing(error: BaseException) -> click.Group:
    """Make a group whose only command raises an error."""

    class Failing(LazyGroup):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
            def fail() -> None:
                raise error

            return click.Command(cmd_name, callback=fail)

    return Failing(name="rocketproof")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ToolError("TLC", "is gone"), 2, "rocketproof: TLC: is gone"),
        (TlatraceError("no"), 2, "rocketproof: no"),
        (RockethaError("torn"), 2, "rocketproof: torn"),
        (RuntimeError("oops"), 2, "rocketproof: this is a defect of rocketproof, not a verdict"),
        (KeyboardInterrupt(), 130, "rocketproof: interrupted"),
        (click.UsageError("which?"), 2, "Error: which?"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_an_error_never_looks_like_a_divergence(error: BaseException, code: int, line: str) -> None:
    result = CliRunner().invoke(failing(error), ["anything"])
    assert result.exit_code == code
    assert result.stderr.rstrip().split("\n")[-1] == line
    assert ("Traceback" in result.stderr) == isinstance(error, RuntimeError)
    assert result.stdout == ""


def children_of(pid: int) -> list[int]:
    """Return the processes whose parent is `pid`; those of Linux say so in a file."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(stat.parent.name))
    return found


def alive(processes: Iterable[int]) -> list[int]:
    return [process for process in processes if Path(f"/proc/{process}").exists()]


@pytest.mark.java
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_command_that_is_terminated_takes_tlc_with_it() -> None:
    command = [sys.executable, "-m", "rocketproof", "check", "epoch_truncation", "--model", "full"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        deadline = time.monotonic() + 60
        while not (started := children_of(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.terminate()
        output, _ = process.communicate(timeout=60)

    assert started, output
    assert process.returncode == EXIT_TERMINATED, output
    deadline = time.monotonic() + 30  # what asks for Java's version ends by itself
    while alive(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(started)


def test_nobody_who_reads_is_no_defect() -> None:
    command = [sys.executable, "-m", "rocketproof", "simulate", "epoch_truncation", "--seed", "7"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()

    assert (process.returncode, said) == (2, b"")


def test_the_help_page_lists_what_is_ready_and_imports_none_of_it() -> None:
    program = (
        "import sys\n"
        "from rocketproof.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "heavy = {'pyspark', 'pyarrow', 'z3', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(f"\n  {name} " in done.stdout for name in READY)
    assert {"check", "doctor"} <= set(READY)


@pytest.mark.parametrize("name", READY)
def test_every_command_shows_an_example(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert f"rocketproof {name}" in result.output.partition("Example")[2]


def test_an_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["frobnicate"])
    assert result.exit_code == 2
    assert "No such command" in result.stderr


@pytest.fixture
def spec_root(tmp_path: Path) -> Path:
    """Make a folder of specifications with one small model."""
    write_counter(tmp_path)
    return tmp_path


def check(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["check", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "'nowhere' is no protocol of the manifest (known: counter)"),
        (["counter", "--model", "huge"], "there is no model 'huge' (known: small)"),
        (["counter", "--config", "x.cfg"], "--config goes with a FILE.tla"),
        (["counter", "--no-deadlock"], "--no-deadlock goes with a FILE.tla"),
        (["counter", "--engine", "compiled"], "--engine goes with a FILE.tla"),
        (["none", "--engine", "tlc"], "'none' is no protocol"),
        (["Gone.tla"], "Gone.tla: there is no such module"),
        (["--jar", "no.jar"], "no.jar is not a TLC jar"),
    ],
)
def test_a_wrong_call_is_explained(spec_root: Path, arguments: list[str], says: str) -> None:
    code, out, err = check("--spec-root", spec_root, *arguments)
    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.java
def test_a_check_passes_and_a_changed_count_fails_it(spec_root: Path) -> None:
    code, out, _ = check("counter", "--spec-root", spec_root, "--json")
    rows = json.loads(out)["rows"]
    assert code == 0
    assert [(row["name"], row["ok"], row["distinct"]) for row in rows] == [
        ("small", True, 15),
        ("Low", True, 4),
    ]
    path = spec_root / "counter" / "measured.toml"
    path.write_text(MEASURED.replace("distinct = 15", "distinct = 14"), "utf-8")
    code, out, _ = check("counter", "--spec-root", spec_root, "--model", "small")
    assert code == 1
    assert "14 states" in out
    assert "15 states" in out
    code, _, err = check("counter", "--spec-root", spec_root, "--model", "small", "--record")
    assert (code, "counter/small" in err) == (1, True)
    assert "distinct = 15, depth = 6, " in path.read_text("utf-8")
    code, _, err = check("counter", "--spec-root", spec_root, "--record")
    assert (code, err) == (0, "recorded in measured.toml: counter/Low\n")
    code, _, err = check("counter", "--spec-root", spec_root, "--record")
    assert (code, err) == (0, "recorded in measured.toml: nothing new\n")


@pytest.mark.java
def test_a_model_that_must_fail_is_told_step_by_step(spec_root: Path) -> None:
    failing = CHECKS.partition("[witness]")[0]
    failing = failing.replace('"holds.cfg"', '"invariant.cfg", violates = "Low"')
    (spec_root / "counter" / "checks.toml").write_text(failing, "utf-8")
    found = MEASURED.replace("holds", "violates Low").replace("depth = 6", "length = 3")
    (spec_root / "counter" / "measured.toml").write_text(found, "utf-8")
    code, out, _ = check("--spec-root", spec_root, "--model", "small")
    assert (code, "initial state" in out) == (0, False)
    *_, told, more = out.splitlines()
    assert told.startswith("1 of the manifest: 1 as expected; ")
    assert more == f"more:  rocketproof check --spec-root {spec_root} --model small --verbose"
    code, out, _ = check("--spec-root", spec_root, "--model", "small", "--verbose")
    assert code == 0, out
    line, counterexample, rest = out.partition("    1: initial state\n")
    assert line.startswith("1/1 counter small: violates Low in 3 states, as expected, ")
    assert counterexample
    assert "\n        count[p1] = 1\n    3: Inc\n" in rest
    assert "━" in rest
    assert rest.splitlines()[-1].startswith("1 of the manifest: 1 as expected; ")


@pytest.mark.java
def test_a_violation_that_is_not_expected_is_told_step_by_step_and_named_last(
    spec_root: Path,
) -> None:
    longer = MEASURED.replace("length = 3", "length = 4")
    (spec_root / "counter" / "measured.toml").write_text(longer, "utf-8")
    code, out, _ = check("--spec-root", spec_root, "counter")
    assert code == 1
    begin, counterexample, rest = out.partition("    1: initial state\n")
    first, second, message = begin.splitlines()
    assert message == "    Invariant Low is violated."
    assert first.startswith("1/2 counter small: holds, 15 states, depth 6, as expected, ")
    wrong = "violates Low in 3 states (expected: violates Low in 4 states)"
    assert second.startswith(f"2/2 counter Low: {wrong}, not as expected, ")
    assert counterexample
    *_, again, told, _ = rest.splitlines()
    assert again == f"not as expected: counter Low: {wrong}"
    assert told.startswith("2 of counter: 1 as expected, 1 not as expected; ")


@pytest.mark.java
def test_any_specification_can_be_checked(spec_root: Path) -> None:
    module = spec_root / "counter" / "Counter.tla"
    code, out, _ = check(module, "--config", module.with_name("invariant.cfg"))
    assert code == 1
    assert out.splitlines()[-1].startswith("Counter.tla: invariant violated: Low, ")
    assert "\n3: Inc\n" in out
    code, out, _ = check(module, "--config", module.with_name("holds.cfg"), "--json")
    assert (code, json.loads(out)["distinct"]) == (0, 15)


@pytest.mark.java
def test_the_doctor_finds_everything() -> None:
    result = CliRunner().invoke(main, ["doctor", "--json"])
    findings = {finding["name"]: finding for finding in json.loads(result.stdout)}
    assert result.exit_code == 0
    assert {"Java", "Java for Spark", "TLC", "pyspark", "z3-solver", "hypothesis"} <= set(findings)
    assert findings["TLC"]["version"] == "2.15 (d5b5a7f)"


@pytest.mark.java
def test_the_doctor_says_what_of_a_model_becomes_machine_code() -> None:
    done = CliRunner().invoke(main, ["doctor", "--model", "Workshop", "--json"])
    assert done.exit_code == 0
    why = {one["question"]: one["left_to_python"] for one in json.loads(done.stdout)}
    assert why["next"] == "Enabled (Workshop.tla:35:7)"
    assert why["initial"] == ""
    done = CliRunner().invoke(main, ["doctor", "--model", "lock_quorum:small"])
    assert done.stdout.splitlines()[-1] == "27 of 27 questions become machine code"
    done = CliRunner().invoke(main, ["doctor", "--model", "lock_quorum:none"])
    assert (done.exit_code, "no such model: lock_quorum:none" in done.stderr) == (2, True)


def test_the_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TLA2TOOLS_JAR", "gone.jar")
    monkeypatch.setenv("ROCKETPROOF_JAVA_HOME", "gone")
    result = CliRunner().invoke(main, ["doctor"])
    assert result.exit_code == 2
    assert "gone.jar is not a TLC jar" in result.stdout
    assert "ROCKETPROOF_JAVA_HOME" in result.stdout
