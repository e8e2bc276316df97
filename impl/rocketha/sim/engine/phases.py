"""The two phases of a run: faults until enough has happened, then none until all is well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rocketha.sim.engine.hosts import StorageFailure
from rocketha.sim.engine.random_source import UNRESTRICTED, Schedule
from rocketha.sim.engine.scheduler import Scheduler

__all__ = ["run_phases"]

_FAULTS_END_MS: Final = 60_000
"""A run that takes few actions ends its fault phase then."""
_HEALING_MS: Final = 60_000
"""A healed cluster that did not converge in this time never will."""
_HEALING_ACTIONS: Final = 400
_NEVER_MS: Final = 1 << 62


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
    schedule: Schedule = UNRESTRICTED,
) -> str | None:
    """Run a cluster; return why the run ended early, if it did.

    The schedule may end the faults, and the run, at a time of its own.
    """
    stop_ms = schedule.stop_ms if schedule.stop_ms is not None else _NEVER_MS
    heal_ms = schedule.heal_ms if schedule.heal_ms is not None else faults_end_ms
    wanted = steps if schedule.heal_ms is None else _NEVER_MS
    try:
        begin()
        while actions() < wanted and scheduler.run_next(min(heal_ms, stop_ms)):
            pass
        if actions() < wanted and heal_ms >= stop_ms:
            return None
        heal()
        end_ms, end_actions = scheduler.now_ms + _HEALING_MS, actions() + healing_actions
        end_ms = min(end_ms, stop_ms)
        while not converged() and actions() < end_actions:
            if not scheduler.run_next(end_ms):
                break
    except StorageFailure as error:
        return str(error)
    return None
