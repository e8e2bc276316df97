"""TLC's answers are told apart, and nothing but an answer is taken for one."""

from __future__ import annotations

import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.traces.tools.endings import ENDINGS, OUTPUTS, Ending, run_ending, seen_as
from tlatrace.errors import SpecError
from tlatrace.tools.tlc import Outcome, Stop, TlcProgress, run_tlc
from tlatrace.tools.tlc_config import (
    properties_of,
    with_only,
    with_only_invariant,
    with_overrides,
    without_sections,
)
from tlatrace.tools.tlc_output import progress
from tlatrace.tools.tlc_run import TlcRun, read_run
from tlatrace.values import canonical

BY_NAME = {ending.name: ending for ending in ENDINGS}

ENDLESS = """\
---- MODULE Endless ----
EXTENDS Naturals
VARIABLE x
Spec == x = 0 /\\ [][x' = x + 1]_x
====
"""


def output_of(name: str) -> str:
    return (OUTPUTS / f"{name}.out").read_text("utf-8")


def read(name: str) -> TlcRun:
    return read_run(output_of(name), exit_code=BY_NAME[name].exit_code, seconds=1.0)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.name)
def test_a_recorded_output_is_read(ending: Ending) -> None:
    expected = ending
    if ending.outcome is Outcome.TEMPORAL:
        # Its name is in the configuration only, which `run_tlc` reads.
        expected = Ending(**{f: getattr(ending, f) for f in Ending.__slots__} | {"violated": None})
    assert seen_as(ending, read(ending.name)) == expected


@pytest.mark.java
@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.name)
def test_a_run_ends_as_it_was_recorded(ending: Ending) -> None:
    assert seen_as(ending, run_ending(ending)) == ending


def test_the_states_of_a_counterexample_are_values() -> None:
    last = read("invariant").states[-1]
    assert last.values is not None
    texts = {name: canonical(value) for name, value in last.values.items()}
    assert set(texts) == {"count", "last"}
    assert '"a\\"b"' in texts["last"]


def test_what_the_specification_prints_is_kept() -> None:
    assert read("holds").printed == ('<<"reset", (p1 :> 2 @@ p2 :> 2)>>',) * 2


@pytest.mark.parametrize("code", [0, 1, 2, 10, 11, 12, 13, 14, 137, 153, 255])
def test_an_exit_code_without_its_message_is_a_crash(code: int) -> None:
    run = read_run("Error occurred during initialization of VM\n", exit_code=code, seconds=1.0)
    assert run.outcome is Outcome.CRASH
    assert not run.is_verdict
    assert "initialization of VM" in run.message


def test_a_torn_output_is_no_success() -> None:
    torn = output_of("holds").partition("@!@!@STARTMSG 2193")[0]
    assert read_run(torn, exit_code=0, seconds=1.0).outcome is Outcome.CRASH


def test_a_message_of_another_outcome_is_not_believed() -> None:
    run = read_run(output_of("invariant"), exit_code=13, seconds=1.0)
    assert run.outcome is Outcome.CRASH


@pytest.mark.parametrize("cut", range(0, 4000, 97))
def test_no_cut_output_raises(cut: int) -> None:
    read_run(output_of("lasso")[:cut], exit_code=13, seconds=1.0)


def test_progress_is_read_with_and_without_rates() -> None:
    line = (
        "Progress(23) at 2026-11-21 05:23:54: 1,234,567 states generated (1,113 s/min), "
        "15,000 distinct states found (726 ds/min), 12 states left on queue."
    )
    seen = TlcProgress(depth=23, generated=1234567, distinct=15000, queue=12)
    assert progress(line) == seen
    assert progress(line.replace(" (1,113 s/min)", "").replace(" (726 ds/min)", "")) == seen
    assert progress("Finished") is None


CONFIG = """\
\\* PROPERTY Commented
SPECIFICATION Spec
CONSTANTS
  Broker = {b1} (* INVARIANT Hidden *)
INVARIANTS
  TypeOK
  Low
PROPERTIES Rises Stays
CONSTRAINT Bounds
"""


def test_configurations_are_derived() -> None:
    assert properties_of(CONFIG) == ("Rises", "Stays")
    witness = with_only_invariant(CONFIG, "NoReset").split()
    assert witness[-2:] == ["INVARIANT", "NoReset"]
    assert "CONSTRAINT" in witness
    assert not {"TypeOK", "Low", "Rises", "Commented", "Hidden"} & set(witness)
    assert with_only(CONFIG, "Rises").endswith("\nPROPERTY Rises\n")
    assert with_only(CONFIG, "Low").endswith("\nINVARIANT Low\n")
    assert "TypeOK" not in with_only(CONFIG, "Low")
    assert with_overrides(CONFIG, ["A <- B"]).endswith("Bounds\nCONSTANT A <- B\n")
    both = with_overrides(CONFIG, ["A <- B", "C <- D"])
    assert both.endswith("Bounds\nCONSTANT A <- B\nCONSTANT C <- D\n")


def test_a_missing_configuration_is_the_authors_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"nothing\.cfg"):
        run_tlc(BY_NAME["holds"].module, tmp_path / "nothing.cfg")


@pytest.mark.java
def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "Endless.tla").write_text(ENDLESS, "utf-8")
    (tmp_path / "Endless.cfg").write_text("SPECIFICATION Spec\n", "utf-8")
    started = time.monotonic()
    run = run_tlc(tmp_path / "Endless.tla", tmp_path / "Endless.cfg", timeout_s=4.0)
    assert run.outcome is Outcome.TIMEOUT
    assert not run.is_verdict
    assert re.fullmatch(r"TLC was ended after \d+ s", run.message)
    assert time.monotonic() - started < 30


@pytest.mark.java
@pytest.mark.parametrize("before", [True, False])
def test_another_thread_may_end_a_run(tmp_path: Path, before: bool) -> None:
    (tmp_path / "Endless.tla").write_text(ENDLESS, "utf-8")
    (tmp_path / "Endless.cfg").write_text("SPECIFICATION Spec\n", "utf-8")
    stop = Stop()
    with ThreadPoolExecutor() as pool:
        if before:
            stop.now()
        files = (tmp_path / "Endless.tla", tmp_path / "Endless.cfg")
        running = pool.submit(run_tlc, *files, timeout_s=600.0, stop=stop)
        if not before:
            time.sleep(1.0)
        stop.now()
        run = running.result(timeout=60)
    assert run.outcome is Outcome.TIMEOUT
    assert run.seconds < 60


@pytest.mark.java
def test_modules_are_found_in_libraries_and_nothing_is_left_behind(tmp_path: Path) -> None:
    library, folder = tmp_path / "library", tmp_path / "own folder"
    library.mkdir()
    folder.mkdir()
    shutil.copy(BY_NAME["holds"].module, library)
    shutil.copy(BY_NAME["holds"].config, folder)
    (folder / "Mine.tla").write_text("---- MODULE Mine ----\nEXTENDS Counter\n====\n", "utf-8")
    run = run_tlc(folder / "Mine.tla", folder / "holds.cfg", libraries=[library])
    assert (run.outcome, run.distinct) == (Outcome.SUCCESS, 15)
    assert sorted(path.name for path in folder.iterdir()) == ["Mine.tla", "holds.cfg"]


@pytest.mark.java
def test_a_part_of_a_refinement_has_the_name_of_the_property(tmp_path: Path) -> None:
    (tmp_path / "Rest.tla").write_text(
        "---- MODULE Rest ----\nVARIABLE y\nSpec == y = 0 /\\ [][UNCHANGED y]_y\n====\n", "utf-8"
    )
    (tmp_path / "Move.tla").write_text(
        "---- MODULE Move ----\nEXTENDS Naturals\nVARIABLE x\n"
        "R == INSTANCE Rest WITH y <- x \\div 2\n"
        "Spec == x = 0 /\\ [][x < 2 /\\ x' = x + 1]_x\nRests == R!Spec\n====\n",
        "utf-8",
    )
    (tmp_path / "Move.cfg").write_text("SPECIFICATION Spec\nPROPERTY Rests\n", "utf-8")
    run = run_tlc(tmp_path / "Move.tla", tmp_path / "Move.cfg")
    assert (run.outcome, run.violated, run.length) == (Outcome.ACTION_PROPERTY, "Rests", 3)


def test_sections_are_left_out_of_a_configuration() -> None:
    kept = without_sections(f"{CONFIG}\nSYMMETRY Perms\nCONSTANT N = 3\n", {"SYMMETRY"})
    assert "Perms" not in kept
    assert "CONSTANT N = 3" in kept
