"""What runs of releases show of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rocketmq_peer.acting_history import Seen
from rocketmq_peer.played_run import Played, PlayedRun
from rocketmq_peer.scenarios import SCENARIOS
from rocketproof.peer_ledger import Row, ledger_page, read_rows
from rocketproof.peer_runs import JudgedRun, JudgedTrace
from tests.source_files import ROOT
from tlatrace.errors import ToolError
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.report.results import TraceResult
from tlatrace.tools.manifest import read_manifest
from tlatrace.trace import Event, Trace

W2 = Row(name="W2", title="early", shown_by="explained", scenarios=("early_shrink",))
LOST = Row(name="default", title="gone", shown_by="lost", scenarios=("plain",))
BAD = Diverges(4, "Acknowledge", "nothing", "a step")


def run(
    scenario: str = "early_shrink",
    verdict: Verdict = BAD,
    *names: str,
    version: str = "5.5.0",
    played: Played | None = None,
    promises: bool = True,
    trouble: str | None = None,
    actions: Sequence[str] = (),
) -> JudgedRun:
    return JudgedRun(
        run=PlayedRun(
            scenario=scenario,
            version=version,
            protocols=("sync_state_set",),
            museum=(),
            promises_durability=promises,
            played=played or Played(),
            seconds=1.0,
            trouble=trouble,
        ),
        folder=Path("run"),
        traces=(
            JudgedTrace(
                protocol="sync_state_set",
                result=TraceResult(path="run", spec="SyncStateSet", outcome=verdict),
                explained_by=names,
                trace=Trace(
                    header=None,
                    events=tuple([Event(step=n, action=one) for n, one in enumerate(actions)]),
                ),
            ),
        ),
    )


def cell(row: Row, *runs: JudgedRun) -> str:
    (line,) = [
        one for one in ledger_page([row], runs).splitlines() if one.startswith("| " + row.name)
    ]
    return line.split(" | ")[2].removesuffix(" |")


def test_a_divergence_that_a_row_explains_shows_it() -> None:
    lost = Played(acknowledged=["a", "b"], read_back=("b",))
    runs = [run("early_shrink", BAD, "W2", played=lost), run("early_shrink", Conforms(9))]
    assert cell(W2, *runs) == (
        "**shown**: 1 of 2 runs of `early_shrink`; SyncStateSet diverges at `Acknowledge`, "
        "conforms with W2; 1 acknowledged messages are gone"
    )
    together = cell(W2, run("early_shrink", BAD, "B03+W2"))
    assert "conforms with B03+W2" in together


def test_another_scenario_may_show_it() -> None:
    assert cell(W2, run("walk_3", BAD, "W2")).startswith("**shown**: also in walk_3;")


@pytest.mark.parametrize(
    "one", [run("early_shrink", BAD, "B21"), run("early_shrink", BAD), run(verdict=Conforms(9))]
)
def test_what_others_explain_does_not(one: JudgedRun) -> None:
    assert cell(W2, one) == "not shown: 0 of 1 runs of `early_shrink`"


def test_a_run_under_another_controller_says_nothing_of_a_release() -> None:
    one = run("early_shrink", BAD, "W2")
    led = replace(one, run=msgspec.structs.replace(one.run, controller="rocketha"))
    assert "1 runs." in ledger_page([W2], [one, led])


def test_a_run_in_trouble_counts_for_nothing() -> None:
    assert cell(W2, run(verdict=Conforms(9), trouble="b1 did not start")) == "open: no run"


def test_lost_messages_show_a_row_of_their_own() -> None:
    lost = Played(acknowledged=["a", "b", "c"], read_back=("c",))
    assert "2 of 3 messages are gone" in cell(LOST, run("plain", Conforms(9), played=lost))
    assert cell(LOST, run("other", Conforms(9), played=lost)) == "open: no run"


def test_a_divergence_that_no_operator_is_asked_to_explain_may_show_a_row() -> None:
    row = Row(name="locks", title="two holders", shown_by="diverges", scenarios=("locks",))
    runs = [run("locks", BAD), run("locks", Conforms(9))]
    assert cell(row, *runs) == (
        "**shown**: 1 of 2 runs of `locks`; SyncStateSet diverges at `Acknowledge`"
    )
    assert cell(row, run("other", BAD)) == "open: no run"


def test_steps_that_should_be_few_show_a_row() -> None:
    row = Row(
        name="B75",
        title="epochs are spent",
        shown_by="steps",
        scenarios=("nobody",),
        action="ElectNobody",
        steps=3,
    )
    many, few = ["ElectNobody"] * 3, ["ElectNobody"] * 2
    assert cell(row, run("nobody", Conforms(9), actions=many)) == (
        "**shown**: 1 of 1 runs of `nobody`; 3 steps `ElectNobody`"
    )
    assert cell(row, run("nobody", Conforms(9), actions=few)).startswith("not shown: 0 of 1")
    assert cell(row, run("other", Conforms(9), actions=many)) == "open: no run"


def test_what_clients_saw_of_a_slave_that_acts_shows_a_row() -> None:
    row = Row(name="kept", title="a master is kept out", shown_by="seen", scenarios=("kept_out",))
    acts = [("killed", "b1"), ("acts", "b2"), ("pulled", "b2"), ("up", "b1")]

    def seen(last: str, scenario: str = "kept_out") -> JudgedRun:
        found = [
            Seen(at_ms=1000 * at, what=what, node=node)
            for at, (what, node) in enumerate([*acts, (last, "b1")])
        ]
        one = run(scenario, Conforms(9), played=Played(seen=found))
        return replace(one, run=msgspec.structs.replace(one.run, history="returns"))

    assert cell(row, seen("waited"), seen("back")) == (
        "**shown**: 1 of 2 runs of `kept_out`; the master was not back 1 s after its start"
    )
    assert cell(row, seen("back")) == "not shown: 0 of 1 runs of `kept_out`"
    assert cell(row, seen("waited", "other")) == "open: no run"


def test_what_is_said_of_a_version_stands_where_no_run_does() -> None:
    row = Row(name="W2", title="early", shown_by="explained", said={"5.3.3": "not there yet"})
    page = ledger_page([row], [])
    assert "| W2 | early | not there yet |" in page


def test_the_rows_name_scenarios_and_mutants_that_there_are() -> None:
    rows = read_rows(ROOT / "peers" / "rocketmq" / "ledger.toml")
    mutants = {one.name for one in read_manifest(ROOT / "spec").mutants}
    for row in rows:
        assert set(row.scenarios) <= set(SCENARIOS), row.name
        assert row.shown_by != "explained" or row.name in mutants, row.name
        assert (row.shown_by == "steps") == (row.action is not None), row.name


def test_rows_that_are_none_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.toml"
    path.write_text('[[row]]\nname = "W2"\n')
    with pytest.raises(ToolError, match=r"rows\.toml.*title"):
        read_rows(path)
    with pytest.raises(ToolError, match="none"):
        read_rows(tmp_path / "none")
