"""The search for a bug in runs, seed by seed, and what counts as a closed row."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocketproof.cli import main
from rocketproof.commands.mutants import shown_again
from rocketproof.known_bugs import (
    DEAD,
    FIRST_WAVE,
    BugRow,
    Caught,
    NotCaught,
    NotTried,
    SearchResult,
    Unclear,
    search_seeds,
)
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.tools.check import CheckRow
from tlatrace.tools.manifest import Mutant
from tlatrace.trace import Event, Header, Trace
from tlatrace.values import Json

DIVERGES = Diverges(step=3, action="Transfer", expected="epoch 1", observed="epoch 2")


def simulate(seed: int) -> Trace:
    header = Header(
        spec="Spec",
        spec_sha256=None,
        constants={},
        seed=seed,
        implementation=None,
        meta={},
    )
    return Trace(header=header, events=())


def judge_with(special: dict[int, Verdict]) -> Callable[[Sequence[Trace]], list[Verdict]]:
    """Return a judge to which every run conforms but those of these seeds."""

    def judge(traces: Sequence[Trace]) -> list[Verdict]:
        seeds = [trace.header.seed for trace in traces if trace.header is not None]
        return [special.get(seed, Conforms(1)) for seed in seeds if seed is not None]

    return judge


@pytest.mark.parametrize("seed", [0, 1, FIRST_WAVE - 1, FIRST_WAVE, 3 * FIRST_WAVE + 1])
def test_a_search_finds_the_first_run_that_diverges(seed: int) -> None:
    judge = judge_with({seed: DIVERGES, seed + 1: DIVERGES})

    found = search_seeds(simulate, judge, seeds=200)

    assert found == Caught(seed=seed, tried=seed + 1, step=3, action="Transfer")


def test_a_search_counts_from_its_first_seed() -> None:
    found = search_seeds(simulate, judge_with({107: DIVERGES}), seeds=50, first_seed=100)

    assert found == Caught(seed=107, tried=8, step=3, action="Transfer")


def test_a_seed_may_be_several_traces_or_none() -> None:
    def master_epochs(seed: int) -> tuple[Trace, ...]:
        return (simulate(seed),) * (seed % 3)

    found = search_seeds(master_epochs, judge_with({3: DIVERGES, 5: DIVERGES}), seeds=20)

    assert found == Caught(seed=5, tried=6, step=3, action="Transfer")


def test_a_search_that_saw_no_trace_is_undecided() -> None:
    found = search_seeds(lambda _seed: (), judge_with({}), seeds=20)

    assert found == Unclear(seed=0, reason="no run has a trace")


def test_a_search_ends_with_its_budget() -> None:
    assert search_seeds(simulate, judge_with({40: DIVERGES}), seeds=40) == NotCaught(tried=40)


def test_an_undecided_run_is_not_taken_for_one_that_conforms() -> None:
    judge = judge_with({2: Undecided("TLC crashed"), 5: DIVERGES})

    assert search_seeds(simulate, judge, seeds=20) == Unclear(seed=2, reason="TLC crashed")


def test_a_run_that_stays_dead_is_caught_unless_it_could_not_be_available() -> None:
    made = list[int]()

    def ends(seed: int) -> Trace:
        trace = simulate(seed)
        made.append(seed)
        assert trace.header is not None
        meta: dict[int, dict[str, Json]] = {
            3: {"converged": False, "unavailable_because": "every member is torn"},
            5: {"converged": False},
        }
        return replace(trace, header=replace(trace.header, meta=meta.get(seed, {})))

    found = search_seeds(ends, judge_with({}), seeds=20)

    assert isinstance(found, Caught)
    assert (found.seed, found.action) == (5, DEAD)
    assert made == [0, 1, 2, 3, 4, 5]


def test_of_a_run_that_stays_dead_the_first_thousand_events_are_judged() -> None:
    lengths = list[int]()

    def dead(seed: int) -> Trace:
        trace = simulate(seed)
        assert trace.header is not None
        events = tuple(Event(step=step, action="Tick") for step in range(1_500))
        header = replace(trace.header, meta={"converged": False})
        return replace(trace, header=header, events=events)

    def judge(traces: Sequence[Trace]) -> list[Verdict]:
        lengths.extend(len(trace.events) for trace in traces)
        return [Conforms(len(trace.events)) for trace in traces]

    assert search_seeds(dead, judge, seeds=20) == Caught(seed=0, tried=1, step=1_499, action=DEAD)
    assert lengths == [1_000]


MUTANT = Mutant(
    protocol="p",
    name="B05",
    title="",
    module=Path("M.tla"),
    config=Path("M.cfg"),
    overrides=("A <- B",),
    against=None,
    expect="killed",
    killed_by="Inv",
    length=3,
    distinct=None,
    reason=None,
    bug=True,
    seeds=None,
)
FOUND = CheckRow(
    kind="mutant",
    protocol="p",
    name="B05",
    status="as expected",
    expected="violates Inv in 3 states",
    found="violates Inv in 3 states",
    distinct=10,
    depth=3,
    length=3,
    seconds=1.0,
    message="",
)
CAUGHT = Caught(seed=1, tried=2, step=3, action="A")
NOT_CAUGHT = NotCaught(tried=9)
WRONGLY = replace(FOUND, status="not as expected")
UNCLEAR = Unclear(seed=1, reason="crash")


@pytest.mark.parametrize(
    ("mutant", "tlc", "runs", "closed"),
    [
        pytest.param(MUTANT, FOUND, CAUGHT, True, id="found by both"),
        pytest.param(MUTANT, FOUND, NOT_CAUGHT, False, id="no run is caught"),
        pytest.param(MUTANT, FOUND, UNCLEAR, False, id="a run is undecided"),
        pytest.param(MUTANT, FOUND, NotTried(), False, id="its runs were not tried"),
        pytest.param(
            MUTANT, replace(FOUND, status="not as expected"), CAUGHT, False, id="TLC finds another"
        ),
        pytest.param(
            replace(MUTANT, bug=False), FOUND, NotTried(), True, id="it has no switch to try"
        ),
        pytest.param(
            replace(MUTANT, expect="harmless"), FOUND, NOT_CAUGHT, True, id="harmless in both"
        ),
        pytest.param(
            replace(MUTANT, expect="harmless"), FOUND, CAUGHT, False, id="not harmless in runs"
        ),
    ],
)
def test_a_row_is_closed_when_both_sides_are_as_expected(
    mutant: Mutant, tlc: CheckRow, runs: SearchResult, closed: bool
) -> None:
    assert BugRow(mutant=mutant, tlc=tlc, runs=runs).closed is closed


def test_a_row_says_that_only_tlc_can_decide_it() -> None:
    without = BugRow(mutant=replace(MUTANT, bug=False), tlc=FOUND, runs=NotTried())
    assert (without.closed, without.tlc_only) == (True, True)
    assert not BugRow(mutant=MUTANT, tlc=FOUND, runs=CAUGHT).tlc_only


def test_an_open_row_comes_with_the_command_that_shows_why() -> None:
    harmless = replace(MUTANT, expect="harmless", protocol="epoch_truncation")

    def shown(
        row: BugRow, seeds: int | None = None, no_runs: bool = False, root: Path | None = None
    ) -> str | None:
        return shown_again(row, seeds=seeds, no_runs=no_runs, spec_root=root)

    caught = Caught(seed=0, tried=1, step=28, action="Transfer")
    wrong = BugRow(mutant=harmless, tlc=FOUND, runs=caught)
    missed = replace(wrong, mutant=replace(harmless, expect="killed"), runs=NotCaught(tried=5))

    assert shown(wrong) == "rocketproof simulate epoch_truncation --bug B05 --judge --seed 0"
    assert shown(missed) == "rocketproof mutants epoch_truncation --bug B05"
    assert shown(replace(missed, runs=caught)) is None
    assert shown(replace(wrong, tlc=WRONGLY)) == shown(missed)
    elsewhere = shown(wrong, seeds=5, root=Path("my spec"))
    assert elsewhere == f"{shown(missed)} --seeds 5 --spec-root 'my spec'"
    assert shown(replace(wrong, tlc=WRONGLY), no_runs=True) == f"{shown(missed)} --no-runs"


@pytest.mark.java
def test_an_open_row_stays_open_when_its_command_is_run() -> None:
    first = CliRunner().invoke(
        main, ["mutants", "epoch_truncation", "--bug", "B11", "--seeds", "1"]
    )
    at = [n for n, line in enumerate(first.output.splitlines()) if line.startswith("open: ")]
    row, again = first.output.splitlines()[at[0] : at[0] + 2]

    second = CliRunner().invoke(main, shlex.split(again)[1:])

    assert "none of 1 diverges" in row
    assert again == "  rocketproof mutants epoch_truncation --bug B11 --seeds 1"
    assert (first.exit_code, second.exit_code) == (1, 1)
    assert f"{row}\n{again}\n" in second.output


@pytest.mark.java
def test_a_run_that_a_harmless_row_comes_with_fails_when_it_is_run() -> None:
    harmless = replace(MUTANT, expect="harmless", protocol="epoch_truncation")
    caught = Caught(seed=0, tried=1, step=28, action="Transfer")
    row = BugRow(mutant=harmless, tlc=FOUND, runs=caught)
    again = shown_again(row, seeds=None, no_runs=False, spec_root=None)
    assert again is not None

    result = CliRunner().invoke(main, shlex.split(again)[1:])

    assert result.exit_code == 1
    assert "diverges at step 28, Transfer" in result.output


@pytest.mark.java
def test_a_bug_is_caught_by_what_nodes_wrote() -> None:
    arguments = ["mutants", "lock_quorum", "--records", "--bug", "B45Lease", "--seeds", "1"]
    result = CliRunner().invoke(main, arguments)

    assert result.exit_code == 0, result.output
    assert "caught after 1 (seed 0, step " in result.output


def test_records_are_asked_for_where_there_are_some() -> None:
    result = CliRunner().invoke(main, ["mutants", "--records"])

    assert result.exit_code == 2
    assert "--records is for one of: " in result.output
