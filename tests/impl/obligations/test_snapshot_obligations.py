"""What a node with snapshots owes: correct runs miss nothing, each omission is noticed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.errors import SnapshotError
from rocketha.obligations.snapshot_loading import SNAPSHOT_LOADING
from rocketha.replicated_log.snapshot_core import (
    CleanUpDue,
    EntryReceived,
    LoadNewestDue,
    ReadBackDue,
    SaveDue,
    SnapshotCore,
    SnapshotReceived,
)
from rocketha.replicated_log.snapshot_effects import (
    AppendEntry,
    ApplyEntry,
    CutLog,
    DeleteSnapshot,
    StateLoaded,
)
from rocketha.runtime.effects import Then
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.snapshot_loading.simulation import SIMULATION

SEEDS: Final = range(12)


def run(seed: int) -> SimulatedRun:
    return simulate(SIMULATION, seed, SimOptions(), SIMULATION.unobserved())


def test_correct_runs_have_occasions_of_all_and_miss_none() -> None:
    counted: Counter[str] = Counter()
    for seed in range(40):
        findings = run(seed).obligations
        assert findings.missed == ()
        counted.update(findings.counted)

    assert set(+counted) == {obligation.name for obligation in SNAPSHOT_LOADING}


@pytest.mark.parametrize(
    ("event", "effect", "obligation"),
    [
        (EntryReceived, AppendEntry, "entries appended"),
        (object, ApplyEntry, "entries applied"),
        (SaveDue, object, "snapshots saved"),
        (CleanUpDue, DeleteSnapshot, "old snapshots deleted"),
        (CleanUpDue, CutLog, "logs cut"),
        (SnapshotReceived, object, "snapshots taken"),
        (ReadBackDue, Then, "clean-ups"),
    ],
)
def test_an_omission_is_noticed_within_twelve_seeds(
    event: type, effect: type, obligation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = SnapshotCore.step

    def step(self: SnapshotCore, state: Any, taken: Any, **named: Any) -> Any:
        done = whole(self, state, taken, **named)
        if not isinstance(taken, event):
            return done
        kept = tuple([one for one in done.effects if not isinstance(one, effect)])
        return replace(done, effects=kept, state=state if effect is object else done.state)

    monkeypatch.setattr(SnapshotCore, "step", step)

    missed = {one.obligation for seed in SEEDS for one in run(seed).obligations.missed}
    assert obligation in missed


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (ReadBackDue, {"failure": None}),
        (StateLoaded, {"failure": SnapshotError("snapshot", offset=0, reason="is of yesterday")}),
        (ReadBackDue, {"failure": SnapshotError("snapshot", offset=0, reason="is of yesterday")}),
        (LoadNewestDue, {"damaged": ()}),
    ],
)
def test_a_failure_that_a_node_does_not_know_is_noticed_within_twelve_seeds(
    event: type, said: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = SnapshotCore.step

    def step(self: SnapshotCore, state: Any, taken: Any, **named: Any) -> Any:
        done = whole(self, state, taken, **named)
        return replace(done, state=replace(done.state, **said)) if type(taken) is event else done

    monkeypatch.setattr(SnapshotCore, "step", step)

    missed = {one.obligation for seed in SEEDS for one in run(seed).obligations.missed}
    assert missed == {"failures known"}
