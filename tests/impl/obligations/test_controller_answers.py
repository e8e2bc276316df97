"""Answers of a group's controller: each wrong one is seen within some seeds, by what it names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocketha.controller import core, dispatch, machine, queries
from rocketha.formats.controller_codes import ResponseCode
from rocketha.formats.controller_responses import Reply
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.simulation import SIMULATION

SEEDS = 8


def missed() -> str | None:
    """Return what is missed first in a run of some seeds."""
    for seed in range(SEEDS):
        run = simulate(SIMULATION, seed, SimOptions(), NullGroupObserver())
        if run.obligations.broken is not None:
            return run.obligations.broken.reason
    return None


@pytest.mark.parametrize(
    ("change", "said"),
    [("clean_broker_data", "CLEAN_BROKER_DATA"), ("apply_broker_id", "APPLY_BROKER_ID")],
)
def test_a_refusal_that_is_said_to_be_a_success_is_seen(
    change: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = getattr(machine, change)

    def agreed(state: Any, request: Any, **others: Any) -> Any:
        applied = own(state, request, **others)
        if applied.reply.code is ResponseCode.SUCCESS:
            return applied
        return replace(applied, reply=Reply())

    monkeypatch.setattr(machine, change, agreed)

    found = missed()

    assert found is not None
    assert f"answer {said} with " in found


def test_a_query_that_shows_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    own = queries.answer_query

    def of_another_epoch(state: Any, query: Any, **others: Any) -> Reply:
        reply = own(state, query, **others)
        content: Any = reply.content
        if hasattr(content, "groups"):
            groups = {
                name: replace(info, master_epoch=info.master_epoch + 1)
                for name, info in content.groups.items()
            }
            return replace(reply, content=replace(content, groups=groups))
        return reply

    monkeypatch.setattr("rocketha.controller.dispatch.answer_query", of_another_epoch)

    found = missed()

    assert found is not None
    assert "answer GET_SYNC_STATE_DATA with what there is" in found


def test_a_channel_that_stays_open_though_its_frame_cannot_be_read_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = dispatch.admit

    def patient(*args: Any, **others: Any) -> Any:
        admitted = own(*args, **others)
        return dispatch.Ignored() if isinstance(admitted, dispatch.Close) else admitted

    monkeypatch.setattr("rocketha.controller.core.admit", patient)

    found = missed()

    assert found is not None
    assert "close the channel of request 1006, which cannot be read" in found


def test_a_channel_that_stays_open_though_no_frame_came_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = core.ControllerCore._receive

    def patient(self: Any, state: Any, event: Any, now_ms: Any) -> Any:
        if isinstance(dispatch.read_frame(event.data), dispatch.Close):
            return core.ControllerStepped(state)
        return own(self, state, event, now_ms)

    monkeypatch.setattr(core.ControllerCore, "_receive", patient)

    assert "close a channel on which no frame comes" in (missed() or "")


def test_a_request_that_is_not_answered_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    own = dispatch.admit

    def silent(*args: Any, **others: Any) -> Any:
        admitted = own(*args, **others)
        is_refused = isinstance(admitted, dispatch.Answered) and (
            admitted.reply.code is ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        )
        return dispatch.Ignored() if is_refused else admitted

    monkeypatch.setattr("rocketha.controller.core.admit", silent)

    found = missed()

    assert found is not None
    assert "answer request 999" in found
