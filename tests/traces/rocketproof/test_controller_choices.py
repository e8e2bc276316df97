"""A controller that decides something else than follows from what it heard: no trace allows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.controller import election, liveness, machine, sync_state_set
from rocketha.controller.state import Group
from rocketha.formats.controller_codes import ResponseCode
from rocketha.recording.node_log import NodeLines
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import UNRESTRICTED
from rocketproof.protocols import PROTOCOLS
from rocketproof.schedule import Scheduled
from tests.traces.rocketproof.recorded_runs import judged
from tlatrace.judgement.verdict import Diverges
from tlatrace.trace import Trace

SEEDS: Final = 12
"""In so many seeds each wrong decision is seen."""
EVENTS: Final = 400
"""Of a group that does not come to life there are many more."""

Patch = Callable[[pytest.MonkeyPatch], None]


def refuses_all(patch: pytest.MonkeyPatch) -> None:
    """A controller takes no proposal."""
    refusal = ResponseCode.BROKER_NOT_ALIVE, "nobody is alive"
    patch.setattr(sync_state_set, "_refusal", lambda *_: refusal)


def takes_the_silent(patch: pytest.MonkeyPatch) -> None:
    """A controller takes a proposal whoever is silent in it."""
    alter = sync_state_set.alter_sync_state_set

    def altered(state: Any, request: Any, **named: Any) -> Any:
        with pytest.MonkeyPatch.context() as during:
            during.setattr(Group, "is_alive", lambda group, broker, _: broker in group.replicas)
            return alter(state, request, **named)

    patch.setattr(machine, "alter_sync_state_set", altered)


def elects_the_worst(patch: pytest.MonkeyPatch) -> None:
    """A controller elects the candidate with the shortest log."""
    rank = election._rank
    patch.setattr(election, "_rank", lambda *given: tuple(-one for one in rank(*given)))


def elects_nobody(patch: pytest.MonkeyPatch) -> None:
    """A controller lets a silent master be."""
    scan = liveness.scan_inactive

    def scanned(state: Any, *, rules: Any, **named: Any) -> Any:
        return scan(state, rules=replace(rules, needs_election=lambda *_: False), **named)

    patch.setattr(machine, "scan_inactive", scanned)


def spends_nothing(patch: pytest.MonkeyPatch) -> None:
    """A controller refuses a fresh proposal, and keeps the version of the set."""
    patch.setattr(sync_state_set, "_with_version_spent", lambda refused, _: refused)


def of_whole_states(seed: int) -> tuple[Trace, ...]:
    return tuple(PROTOCOLS["replica_group"].run(seed, SimOptions()).traces)


def of_records(seed: int) -> tuple[Trace, ...]:
    plug, lines = PROTOCOLS["replica_group"], NodeLines()
    scheduled = Scheduled(
        protocol="replica_group", seed=seed, options=SimOptions(), schedule=UNRESTRICTED
    )
    plug.record(scheduled, lines.write)
    return tuple(plug.traces_of_records(lines.logs()))


@pytest.mark.parametrize("traces_of", [of_whole_states, of_records])
@pytest.mark.parametrize(
    ("wrong", "actions"),
    [
        (refuses_all, {"AlterSyncStateSet"}),
        (takes_the_silent, {"RefuseAlter"}),
        (elects_the_worst, {"ElectMaster", "DesignateMaster"}),
        (elects_nobody, {"ElectMaster"}),
        (spends_nothing, {"RefuseAlter"}),
    ],
)
def test_a_wrong_decision_is_the_right_one_with_another_outcome(
    traces_of: Callable[[int], tuple[Trace, ...]],
    wrong: Patch,
    actions: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong(monkeypatch)
    found: Diverges | None = None
    for seed in range(SEEDS):
        begun = [replace(one, events=one.events[:EVENTS]) for one in traces_of(seed)]
        verdicts = judged(begun)
        found = next((one for one in verdicts if isinstance(one, Diverges)), None)
        if found is not None:
            break

    assert found is not None
    assert found.action in actions
