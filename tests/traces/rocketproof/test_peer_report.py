"""Reports of rows: what a recorded run of a release shows, with the texts that no run has."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from rocketmq_peer.played_run import Played
from rocketmq_peer.random_walk import draw, scenario_of
from rocketmq_peer.scenarios import about_script
from rocketproof.cli import main
from rocketproof.peer_ledger import read_rows, shown_by
from rocketproof.peer_report import read_texts, report_page
from tests.source_files import ROOT
from tests.traces.rocketproof.test_peer_ledger import run
from tlatrace.errors import ToolError
from tlatrace.judgement.verdict import Conforms
from tlatrace.tools.manifest import read_manifest

SAMPLES: Final = ROOT / "traces" / "samples" / "rocketmq"
PEER: Final = ROOT / "peers" / "rocketmq"


def report(*arguments: str) -> tuple[int, str]:
    files = ["--rows", str(PEER / "ledger.toml"), "--texts", str(PEER / "reports.toml")]
    result = CliRunner().invoke(main, ["peer", "rocketmq", "report", *arguments, *files])
    return result.exit_code, result.output + result.stderr


@pytest.mark.java
def test_a_report_has_what_is_seen_and_the_lines_of_the_specification(tmp_path: Path) -> None:
    runs = [str(SAMPLES / f"early_shrink-{version}") for version in ("5.5.0", "5.3.3")]
    code, output = report("W2", *runs, "--out", str(tmp_path / "W2"))
    assert code == 0, output
    page = (tmp_path / "W2" / "README.md").read_text("utf-8")
    assert "RocketMQ 5.5.0; 1 of 2 runs" in page
    assert "gone, although they were promised: b0, b1, b2" in page
    assert "AckSet(known, proposals) == known \\cup UNION {p.set : p \\in proposals}" in page
    assert re.search(r"```tla\nW2AckSet\(known, proposals\) == .*\n```", page)
    assert "--only sync_state_set/W2_AckedInSSS    # the bug: violates AckedInSSS in" in page
    assert "W2: a master takes a slave out of its own SyncStateSet" in page

    trace = tmp_path / "W2" / "trace.ndjson.gz"
    with gzip.open(trace, "rt", encoding="utf-8") as lines:
        last = lines.readlines()[-1]
    assert '"Acknowledge"' in last
    judged = CliRunner().invoke(main, ["validate", str(trace)])
    assert judged.exit_code == 1, judged.output


@pytest.mark.java
def test_runs_that_do_not_show_a_row_make_no_report(tmp_path: Path) -> None:
    run = str(SAMPLES / "early_shrink-5.3.3")
    code, output = report("W2", run, "--out", str(tmp_path / "W2"))
    assert (code, "none of 1 runs shows W2" in output) == (2, True)
    assert not (tmp_path / "W2").exists()


def test_a_row_of_which_nothing_is_said_is_an_error(tmp_path: Path) -> None:
    run = str(SAMPLES / "early_shrink-5.3.3")
    for row, file in (("W99", "ledger.toml"), ("B14", "reports.toml")):
        code, output = report(row, run, "--out", str(tmp_path / row))
        assert (code, f"{file} says nothing of '{row}'" in output) == (2, True), output


def test_a_script_is_said_by_its_module_and_a_walk_by_what_it_drew() -> None:
    assert about_script("early_shrink").startswith("W2: a master takes a slave out")
    assert about_script("walk_3") == scenario_of(draw(3)).about
    assert about_script("legacy_walk_3") == about_script("nothing") == ""


def test_a_row_that_only_clients_saw_has_the_operators_of_its_mutant() -> None:
    (row,) = [one for one in read_rows(PEER / "ledger.toml") if one.name == "B83"]
    lost = run("lost_log", Conforms(9), played=Played(acknowledged=["a"], read_back=()))
    shown = shown_by(row, lost)
    assert shown is not None
    assert shown.trace is None
    text, manifest = read_texts(PEER / "reports.toml")["B83"], read_manifest(ROOT / "spec")
    page = report_page(row, text, shown, 1, 1, manifest, "about")
    assert re.search(r"```tla\nRecoverEpochs\(", page)
    assert re.search(r"the release does as with\n\n```tla\nB83RecoverEpochs\(", page)


def test_texts_are_of_rows_and_mutants_that_there_are() -> None:
    rows = {row.name for row in read_rows(PEER / "ledger.toml")}
    known = {f"{one.protocol}/{one.name}" for one in read_manifest(ROOT / "spec").mutants}
    texts = read_texts(PEER / "reports.toml")
    assert set(texts) <= rows
    for text in texts.values():
        assert set(text.mutants) <= known, text.row
        assert all((text.expected.strip(), text.java.strip(), text.mend.strip())), text.row


def test_texts_that_are_none_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "texts.toml"
    path.write_text('[[report]]\nrow = "W2"\n')
    with pytest.raises(ToolError, match=r"texts\.toml.*expected"):
        read_texts(path)
