"""The two phases of a run: faults until enough has happened, then none until all is well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rocketha.sim.scheduler import Scheduler
from rocketha.sim.shell import StorageFailure

__all__ = ["run_phases"]

_FAULTS_END_MS: Final = 60_000
"""A run that takes few actions ends its fault phase then."""
_HEALING_MS: Final = 60_000
"""A healed cluster that did not converge in this time never will."""
_HEALING_ACTIONS: Final = 400


def run_phases(
    scheduler: Scheduler,
    *,
    steps: int,
    begin: Callable[[], None],
    heal: Callable[[], None],
    actions: Callable[[], int],
    converged: Callable[[], bool],
    faults_end_ms: int = _FAULTS_END_MS,
    healing_actions: int = _HEALING_ACTIONS,
) -> str | None:
    """Run a cluster; return why the run ended early, if it did."""
    try:
        begin()
        while actions() < steps and scheduler.run_next(faults_end_ms):
            pass
        heal()
        end_ms, end_actions = scheduler.now_ms + _HEALING_MS, actions() + healing_actions
        while not converged() and actions() < end_actions:
            if not scheduler.run_next(end_ms):
                break
    except StorageFailure as error:
        return str(error)
    return None
