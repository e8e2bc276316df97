"""A register on a DLedger log as a simulation: the group of `rocketha.sim.dledger`, asked for more.

There is one register, whose clients call often and both write and read, by the log and by the read
index. A leader begins with a NOOP, as Register has it; so no group pushes as releases do that have
none. All else is drawn as for `dledger`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rocketha.known_bugs import REGISTER_BUGS
from rocketha.sim.dledger.cluster import DLedgerObserver, NullDLedgerObserver
from rocketha.sim.dledger.plan import DLedgerPlan, draw_dledger_run
from rocketha.sim.dledger.simulation import SIMULATION as DLEDGER
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketha.sim.engine.simulation import Limits, Simulation

__all__ = ["CLIENTS_MAX", "MEMBERS", "SIMULATION", "draw_register_run"]

MEMBERS: Final = 5
"""So many there are unless somebody wants it otherwise."""

CLIENTS_MAX: Final = 6
"""So many wait at the same time at most."""

_STEPS: Final = (800, 2_400)
_THINK_MS: Final = (5, 20, 60)
_CLIENTS: Final = (2, 4, CLIENTS_MAX)


def draw_register_run(streams: PerPurposeStreams, options: SimOptions) -> DLedgerPlan:
    """Draw one run."""
    plan, rng = draw_dledger_run(streams, options), streams.of("registers")
    steps = rng.randrange(*_STEPS)
    noops = [
        replace(one, legacy_push=False, enable_fast_advance_commit_index=True)
        for one in plan.configs
    ]
    return replace(
        plan,
        configs=tuple(noops),
        steps=steps if options.steps is None else options.steps,
        keys=1,
        clients=rng.choice(_CLIENTS),
        think_ms=rng.choice(_THINK_MS),
        write_percent=rng.choice((20, 50)),
        log_read_percent=rng.choice((20, 50)),
    )


SIMULATION: Final[Simulation[DLedgerPlan, DLedgerObserver]] = Simulation(
    name="register",
    faults=DLEDGER.faults,
    bugs=REGISTER_BUGS,
    draw_plan=draw_register_run,
    workload=DLEDGER.workload,
    unobserved=NullDLedgerObserver,
    clients=DLEDGER.clients,
    obligations=DLEDGER.obligations,
    limits=Limits(faults_end_ms=30_000, healing_ms=30_000, healing_actions=5_000),
)
"""What runs of a register are."""
