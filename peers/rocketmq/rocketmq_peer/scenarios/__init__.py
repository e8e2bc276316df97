"""The scenarios, by their names; a module each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Final

from rocketmq_peer.random_walk import draw, scenario_of
from rocketmq_peer.scenario import Scenario, Stage
from rocketmq_peer.scenarios import (
    counted_twice,
    default_configuration,
    early_shrink,
    empty_epoch,
    escaped_delays,
    failed_elections,
    kept_epoch,
    kept_out,
    last_file_first,
    late_expand,
    locks,
    lost_log,
    missed_ack,
    passed_halves,
    pending_expand,
    quick_restart,
    report_beyond_log,
    stale_alter,
    stale_look,
    sync_master,
    three_controllers,
    truncation,
    unwritten_epochs,
)

__all__ = ["SCENARIOS", "about_script"]

SCENARIOS: Final[dict[str, Scenario]] = {
    one.name: one
    for one in (
        truncation.SCENARIO,
        three_controllers.SCENARIO,
        three_controllers.JRAFT,
        early_shrink.SCENARIO,
        default_configuration.SCENARIO,
        empty_epoch.SCENARIO,
        quick_restart.SCENARIO,
        lost_log.SCENARIO,
        locks.SCENARIO,
        kept_epoch.SCENARIO,
        unwritten_epochs.SCENARIO,
        failed_elections.SCENARIO,
        pending_expand.SCENARIO,
        late_expand.SCENARIO,
        stale_look.SCENARIO,
        stale_alter.SCENARIO,
        stale_alter.JRAFT,
        sync_master.SCENARIO,
        report_beyond_log.SCENARIO,
        last_file_first.SCENARIO,
        counted_twice.SCENARIO,
        passed_halves.SCENARIO,
        passed_halves.UNREACHABLE,
        passed_halves.ESCAPED,
        missed_ack.SCENARIO,
        missed_ack.MET,
        kept_out.SCENARIO,
        escaped_delays.SCENARIO,
        escaped_delays.KEPT,
        escaped_delays.ESCAPED_TIMERS,
        escaped_delays.DROPPED_TIMERS,
    )
}


def _function(play: Callable[[Stage], None]) -> Callable[..., None]:
    """Return the function of a script that has been given some arguments."""
    return play.func if isinstance(play, partial) else play


def about_script(name: str) -> str:
    """Say what a scenario's script does, as its module does, or what a walk has drawn."""
    if (scenario := SCENARIOS.get(name)) is not None:
        return inspect.getdoc(inspect.getmodule(_function(scenario.play))) or ""
    kind, _, seed = name.rpartition("_")
    return scenario_of(draw(int(seed))).about if (kind, seed.isdigit()) == ("walk", True) else ""
