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


HEARS_AGAIN = 910
"""A seed of EpochTruncation whose slave says again who it is, over a connection that is silent."""


def test_what_is_heard_again_is_a_sign_of_life() -> None:
    written: list[Any] = []
    run = simulate(EPOCHS, HEARS_AGAIN, SimOptions(), EPOCHS.unobserved(), write=written.append)
    heard = [one for record in written for one in getattr(record, "heard", ())]
    assert any(one["is"] == "Repeated" for one in heard)
    assert run.obligations.missed == ()
