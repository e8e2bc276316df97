"""What lock managers and consumers owe: correct runs miss nothing, and each omission is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from rocketha.locks import consumer, voting
from rocketha.locks.connections import ConsumerCore, ManagerCore
from rocketha.obligations.lock_quorum import LOCK_QUORUM
from rocketha.runtime.effects import After, HangUp, RefuseRequest, Respond, SendOneWay
from rocketha.runtime.events import ResponseArrived
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import SimulatedRun, simulate
from rocketha.sim.lock_quorum.cluster import LockCluster
from rocketha.sim.lock_quorum.simulation import SIMULATION

SEEDS: Final = range(6)


def run(seed: int) -> SimulatedRun:
    return simulate(SIMULATION, seed, SimOptions(), SIMULATION.unobserved())


def missed() -> Iterator[str]:
    """Yield the obligations that are missed, seed after seed."""
    return (one.obligation for seed in SEEDS for one in run(seed).obligations.missed)


def test_correct_runs_have_occasions_of_all_and_miss_none() -> None:
    counted: Counter[str] = Counter()
    for seed in range(40):
        findings = run(seed).obligations
        assert findings.missed == ()
        counted.update(findings.counted)

    assert set(+counted) == {obligation.name for obligation in LOCK_QUORUM}


# ---- omissions ----


def _drops(core: type, effect: type) -> Callable[[pytest.MonkeyPatch], None]:
    def put_in(patch: pytest.MonkeyPatch) -> None:
        whole = core.step  # type: ignore[attr-defined]

        def step(self: Any, *args: Any, **named: Any) -> Any:
            done: Any = whole(self, *args, **named)
            kept = tuple([one for one in done.effects if not isinstance(one, effect)])
            return replace(done, effects=kept)

        patch.setattr(core, "step", step)

    return put_in


def _is_deaf(patch: pytest.MonkeyPatch) -> None:
    whole = ConsumerCore.step

    def step(self: Any, state: Any, event: Any, **named: Any) -> Any:
        if isinstance(event, ResponseArrived):
            event = replace(event, command=None)
        return whole(self, state, event, **named)

    patch.setattr(ConsumerCore, "step", step)


def _counts_no_others(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(voting, "_votes_for", lambda *_: 0)


def _is_impatient(patch: pytest.MonkeyPatch) -> None:
    whole = consumer.patience_ms
    patch.setattr("rocketha.locks.connections.patience_ms", lambda options: whole(options) - 2)


def _asks_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LockCluster, "_lock_again", lambda *_: None)


@pytest.mark.parametrize(
    ("omission", "obligation"),
    [
        (_drops(ManagerCore, Respond), "answers to requests for locks"),
        (_counts_no_others, "votes that all have given count"),
        (_drops(ManagerCore, SendOneWay), "releases passed on"),
        (_drops(ConsumerCore, After), "attempts that end"),
        (_is_deaf, "answers that count"),
        (_drops(ConsumerCore, HangUp), "connections closed"),
        (_asks_once, "leases renewed"),
        (_is_impatient, "patience"),
        (_drops(ManagerCore, RefuseRequest), "outsiders refused"),
    ],
)
def test_an_omission_is_noticed_within_six_seeds(
    omission: Callable[[pytest.MonkeyPatch], None],
    obligation: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    omission(monkeypatch)

    assert obligation in missed()
