"""A master that does not send its proposal again, or sends it all the time, is seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from rocketha.broker import sync_state_set, timers
from rocketha.broker.effects import GroupStepped
from rocketha.obligations.sent_proposals import SENT_PROPOSALS
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.simulation import SIMULATION

SEEDS = 16
"""In so many seeds each wrong master is seen."""


def missed() -> Iterator[str]:
    """Yield what was missed of what a master owes for its proposals, run after run."""
    for seed in range(SEEDS):
        run = simulate(SIMULATION, seed, SimOptions(), NullGroupObserver())
        for one in run.obligations.missed:
            if one.obligation == SENT_PROPOSALS.name:
                yield one.due.what


def test_a_right_master_owes_nothing() -> None:
    assert set(missed()) == set()


def test_a_proposal_that_nobody_answers_must_be_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(timers, "proposal_expired", lambda state, *_, **_named: GroupStepped(state))

    assert set(missed()) == {"send a proposal again that was not answered"}


def test_a_proposal_is_not_sent_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sync_state_set.check_set

    def check_set(state: Any, **named: Any) -> Any:
        stepped = whole(state, **named)
        due_ms = min(stepped.state.check_at_ms, named["now_ms"] + 1)
        return replace(stepped, state=replace(stepped.state, check_at_ms=due_ms))

    monkeypatch.setattr(timers, "check_set", check_set)

    assert "wait before it sends a proposal again" in missed()
