"""What brokers that replicate owe: correct runs have occasions of all of it, and miss none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import Simulation, simulate
from rocketha.sim.epoch_truncation.simulation import SIMULATION as EPOCHS
from rocketha.sim.legacy_replication.simulation import SIMULATION as LEGACY


@pytest.mark.parametrize("simulation", [LEGACY, EPOCHS])
def test_correct_runs_miss_nothing(simulation: Simulation[Any, Any]) -> None:
    counted: Counter[str] = Counter()
    for seed in range(30):
        findings = simulate(simulation, seed, SimOptions(), simulation.unobserved()).obligations
        assert findings.missed == ()
        counted.update(findings.counted)

    assert set(+counted) == {obligation.name for obligation in simulation.obligations}
