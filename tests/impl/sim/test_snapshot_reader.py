"""Who reads the registers of a simulated node."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from rocketha.histories.clients import RegisterReads
from rocketha.histories.registers import (
    Damaged,
    Faithful,
    Given,
    Healed,
    Installed,
    Refused,
    Shown,
    Started,
)
from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import NO_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.snapshot_loading.cluster import (
    NullSnapshotObserver,
    SnapshotCluster,
    SnapshotObserver,
)
from rocketha.sim.snapshot_loading.entries import draw_history
from rocketha.sim.snapshot_loading.simulation import SIMULATION
from rocketha.sim.snapshot_loading.steps import SnapshotAction, SnapshotActionName

SEEDS = range(40)


@pytest.fixture(scope="module")
def runs() -> list[SimulatedRun]:
    return [run_of(seed) for seed in SEEDS]


def run_of(
    seed: int, options: SimOptions | None = None, observer: SnapshotObserver | None = None
) -> SimulatedRun:
    observer = observer or NullSnapshotObserver()
    return simulate(SIMULATION, seed, options or SimOptions(), observer)


def reads_of(run: SimulatedRun) -> RegisterReads:
    assert isinstance(run.clients, RegisterReads)
    return run.clients


class Counts:
    """An observer that counts."""

    def __init__(self) -> None:
        self.actions = 0

    def started(self, world: SnapshotCluster) -> None:
        assert world.agreed == 0

    def acted(self, world: SnapshotCluster, action: SnapshotAction) -> None:
        self.actions += 1
        assert world.actions == self.actions
        assert action.name in SnapshotActionName


def test_everything_that_goes_in_or_comes_out_is_recorded(runs: list[SimulatedRun]) -> None:
    kinds = Counter(type(event) for run in runs for event in reads_of(run).events)

    assert set(kinds) == {Damaged, Given, Healed, Installed, Refused, Shown, Started}
    assert kinds[Shown] > 10 * len(runs)
    assert all(
        sum(isinstance(event, Damaged) for event in reads_of(run).events)
        == run.report.faults.get("damaged-file", 0)
        for run in runs
    )


def test_what_is_read_keeps_all_promises(runs: list[SimulatedRun]) -> None:
    verdicts = [run.clients.check() for run in runs]

    assert [verdict for verdict in verdicts if not isinstance(verdict, Faithful)] == []
    assert sum(verdict.starts > 2 for verdict in verdicts if isinstance(verdict, Faithful)) > 10


def test_equal_reads_in_a_life_are_recorded_once(runs: list[SimulatedRun]) -> None:
    for run in runs:
        last = None
        for event in reads_of(run).events:
            if isinstance(event, Started):
                last = None
            elif isinstance(event, Shown):
                assert event.registers != last
                last = event.registers


def test_a_node_that_says_that_it_has_everything_is_held_to_it(runs: list[SimulatedRun]) -> None:
    for run in runs:
        healed = [event for event in reads_of(run).events if isinstance(event, Healed)]
        assert len(healed) == run.report.converged
        if healed:
            (last, *_) = [
                event for event in reversed(reads_of(run).events) if isinstance(event, Shown)
            ]
            assert last.registers == reads_of(run).made[healed[0].agreed]


def test_the_reader_changes_nothing_and_hands_everything_on() -> None:
    counts = Counts()
    read = run_of(3, observer=counts)

    assert read == run_of(3)
    assert counts.actions == read.report.actions


def test_without_faults_there_is_one_start() -> None:
    verdict = run_of(3, SimOptions(faults=NO_FAULTS)).clients.check()

    assert isinstance(verdict, Faithful)
    assert verdict.starts == 1


def test_a_run_that_ends_early_is_not_said_to_have_everything() -> None:
    runs = [run_of(seed, SimOptions(bugs=frozenset({Bug.B68}))) for seed in SEEDS]

    assert any(not run.report.lives for run in runs)
    assert all(
        run.report.converged == any(isinstance(event, Healed) for event in reads_of(run).events)
        for run in runs
    )


def test_the_registers_are_compared_with_those_that_the_entries_say() -> None:
    history = draw_history(Random(1))
    registers: dict[str, int] = {}
    made = [dict(registers)]
    for index in range(1, len(history) + 1):
        entry = json.loads(history.entry(index))
        registers.pop(entry["key"], None)
        if "value" in entry:
            registers[entry["key"]] = entry["value"]
        made.append(dict(registers))

    assert [dict(one) for one in history.states] == made
