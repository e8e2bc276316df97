"""One engine for all protocols: schedules, repeatability and clients are the same for each."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import pytest

from rocketha.histories import AllKept, AnyVerdict, Broken
from rocketha.histories.verdicts import Promise
from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import NO_FAULTS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED, Schedule
from rocketha.sim.engine.simulation import SimulatedRun, Simulation, simulate
from rocketha.sim.epoch_truncation.simulation import SIMULATION as EPOCHS
from rocketha.sim.legacy_replication.simulation import SIMULATION as LEGACY
from rocketha.sim.lock_quorum.simulation import SIMULATION as LOCKS
from rocketha.sim.replica_group.simulation import SIMULATION as GROUP
from rocketha.sim.snapshot_loading.simulation import SIMULATION as SNAPSHOTS
from rocketha.sim.sync_state_set.simulation import SIMULATION as SETS

ALL: Final = {one.name: one for one in (EPOCHS, LEGACY, LOCKS, GROUP, SNAPSHOTS, SETS)}
SEED: Final = 3

each = pytest.mark.parametrize("name", ALL)


def run(name: str, schedule: Schedule = UNRESTRICTED, seed: int = SEED) -> SimulatedRun:
    simulation: Simulation[Any, Any] = ALL[name]
    return simulate(simulation, seed, SimOptions(), simulation.unobserved(), schedule)


@cache
def whole(name: str) -> SimulatedRun:
    return run(name)


@each
def test_the_same_seed_is_the_same_run(name: str) -> None:
    assert run(name) == whole(name)
    assert run(name).clients.content() == whole(name).clients.content()
    assert run(name, seed=SEED + 1).report != whole(name).report


@each
def test_a_run_of_which_nothing_is_left_out_is_the_run(name: str) -> None:
    everything = frozenset(one.point for one in whole(name).injected)

    assert everything
    assert run(name, Schedule(only=everything)) == whole(name)


@each
def test_what_is_left_out_does_not_happen(name: str) -> None:
    first = whole(name).injected[0].point
    rest = frozenset(one.point for one in whole(name).injected) - {first}
    healed_ms = whole(name).healed_ms
    assert healed_ms is not None

    left = run(name, Schedule(only=rest, heal_ms=healed_ms))

    assert first not in {one.point for one in left.injected}
    assert left.healed_ms is not None


@each
def test_a_run_ends_when_its_schedule_says_so(name: str) -> None:
    injected = whole(name).injected
    stop_ms = injected[len(injected) // 2].at_ms

    stopped = run(name, Schedule(stop_ms=stop_ms))

    assert stopped.report.virtual_ms <= stop_ms
    assert stopped.injected == tuple(one for one in injected if one.at_ms <= stop_ms)
    assert stopped.report.lives, "nobody says that it stays dead"


@each
def test_without_faults_clients_get_what_they_are_promised(name: str) -> None:
    simulation: Simulation[Any, Any] = ALL[name]
    runs = [
        simulate(simulation, seed, SimOptions(faults=NO_FAULTS), simulation.unobserved())
        for seed in range(4)
    ]

    assert all(one.report.converged and one.report.faults == {} for one in runs)
    kept = [verdict for one in runs if isinstance(verdict := one.clients.check(), AllKept)]
    assert len(kept) >= 3
    assert all(verdict.counted > 0 for verdict in kept)


@pytest.mark.parametrize(
    ("name", "bug", "seed", "promise"),
    [
        (LEGACY.name, Bug.SYNC_WAITS, 0, Promise.COPIED),
        (LEGACY.name, Bug.START_COVERS_WAITING, 32, Promise.COPIED),
        (EPOCHS.name, Bug.B07, 59, Promise.GROWS),
        (EPOCHS.name, Bug.MIN_END, 0, Promise.ALIKE),
    ],
)
def test_readers_of_replicas_see_a_bug(name: str, bug: Bug, seed: int, promise: Promise) -> None:
    simulation: Simulation[Any, Any] = ALL[name]

    def verdict(options: SimOptions) -> AnyVerdict:
        return simulate(simulation, seed, options, simulation.unobserved()).clients.check()

    broken = verdict(SimOptions(bugs=frozenset({bug})))
    assert isinstance(broken, Broken)
    assert broken.promise == promise
    assert not isinstance(verdict(SimOptions()), Broken)
