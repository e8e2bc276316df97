"""What is noticed of bugs that no step shows: reads of the past, and who never comes back."""

from __future__ import annotations

from typing import Final

import pytest

from rocketha.histories.verdicts import AllKept, Broken
from rocketha.known_bugs import Bug
from rocketha.sim.dledger.simulation import SIMULATION
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate

SEEDS: Final = {
    Bug.APPLIED_FIRST: 8,
    Bug.HEARTBEATS: 412,
    Bug.LOCAL_READ: 0,
    Bug.OWN_TERM_FIRST: 5,
}
"""The first one whose clients notice it."""


@pytest.mark.parametrize("bug", SEEDS)
def test_a_stale_read_is_not_linearizable(bug: Bug) -> None:
    seed, options = SEEDS[bug], SimOptions(bugs=frozenset([bug]))
    right = simulate(SIMULATION, seed, SimOptions(), SIMULATION.unobserved()).check()
    wrong = simulate(SIMULATION, seed, options, SIMULATION.unobserved()).check()

    assert isinstance(right, AllKept)
    assert isinstance(wrong, Broken)


@pytest.mark.parametrize(("bug", "seed"), [(Bug.B64, 3), (Bug.B65, 43)])
def test_a_member_that_is_left_behind_never_comes_back(bug: Bug, seed: int) -> None:
    options = SimOptions(bugs=frozenset([bug]))
    assert simulate(SIMULATION, seed, SimOptions(), SIMULATION.unobserved()).report.converged
    assert not simulate(SIMULATION, seed, options, SIMULATION.unobserved()).report.converged


def test_files_that_a_bug_has_damaged_end_the_run_also_when_the_disk_is_full() -> None:
    options = SimOptions(bugs=frozenset([Bug.B68]))
    report = simulate(SIMULATION, 1, options, SIMULATION.unobserved()).report

    assert report.faults["disk-full"] == 1
    assert report.failure == "data file at byte 0: begins behind entry 0, and no snapshot has it"
