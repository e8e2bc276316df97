"""Simulated runs of a register on a DLedger log: what they are, and what clients notice of bugs."""

from __future__ import annotations

from functools import cache
from typing import Final

import pytest

from rocketha.histories.clients import LinearizableClients
from rocketha.histories.linearizability.operation import Kind
from rocketha.histories.verdicts import AllKept, Broken
from rocketha.known_bugs import NO_BUGS, Bug, Bugs
from rocketha.sim.dledger.plan import DISK_FAULTS, NEMESES
from rocketha.sim.dledger.simulation import SIMULATION as DLEDGER
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.register.simulation import MEMBERS, SIMULATION

SEEDS: Final = {Bug.ANSWER_APPLIED: 0, Bug.APPLIED_FIRST: 3, Bug.LOCAL_READ: 0}
"""The first run in which clients notice it."""


@cache
def run(seed: int, bugs: Bugs = NO_BUGS) -> SimulatedRun:
    options = SimOptions(brokers=MEMBERS, bugs=bugs)
    return simulate(SIMULATION, seed, options, SIMULATION.unobserved())


def test_five_members_keep_one_register_that_is_read_in_both_ways() -> None:
    simulated = run(0)
    clients = simulated.clients
    assert isinstance(clients, LinearizableClients)
    assert {one.key for one in clients.operations} == {"r0"}
    assert {one.kind for one in clients.operations} == {Kind.READ, Kind.WRITE}
    assert simulated.report.converged
    assert set(SIMULATION.faults) >= {*NEMESES, *DISK_FAULTS}
    assert SIMULATION.obligations == DLEDGER.obligations


@pytest.mark.parametrize("bug", SEEDS)
def test_a_wrong_answer_is_not_linearizable(bug: Bug) -> None:
    seed = SEEDS[bug]
    assert isinstance(run(seed).check(), AllKept)
    assert isinstance(run(seed, frozenset({bug})).clients.check(), Broken)
