"""What clients of a DLedger group notice of bugs that no trace shows: reads of the past."""

from __future__ import annotations

import pytest

from rocketha.histories.verdicts import AllKept, Broken
from rocketha.known_bugs import Bug
from rocketha.sim.dledger.simulation import SIMULATION
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate


@pytest.mark.parametrize("bug", [Bug.LOCAL_READ, Bug.OWN_TERM_FIRST])
def test_a_stale_read_is_not_linearizable(bug: Bug) -> None:
    for seed in range(10):
        options = SimOptions(bugs=frozenset([bug]))
        right = simulate(SIMULATION, seed, SimOptions(), SIMULATION.unobserved()).check()
        assert isinstance(right, AllKept), seed
        wrong = simulate(SIMULATION, seed, options, SIMULATION.unobserved()).check()
        if isinstance(wrong, Broken):
            return
    pytest.fail(f"{bug} was not noticed")
