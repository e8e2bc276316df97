"""Scans and restarts of a group's controller: each wrong one is seen within some seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rocketha.controller import core, election, liveness, machine, registration, tables
from rocketha.controller.applied import ChannelExpired, ScanSoon
from rocketha.controller.state import UNHEARD, ControllerState
from rocketha.controller.state_machine import ControllerStateMachine
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


def with_effects(
    patch: pytest.MonkeyPatch, name: str, keep: Callable[[tuple[Any, ...]], tuple[Any, ...]]
) -> None:
    """Let a rule of the controller ask for other effects."""
    own = getattr(machine, name)

    def changed(*args: Any, **others: Any) -> Any:
        applied = own(*args, **others)
        return replace(applied, effects=keep(applied.effects))

    patch.setattr(machine, name, changed)


@pytest.mark.parametrize("name", ["close_channel", "register_broker"])
def test_a_master_that_is_gone_and_not_looked_for_is_seen(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_effects(monkeypatch, name, lambda _: ())

    assert "scan for a master in the place of one that is gone" in (missed() or "")


def test_a_scan_without_a_reason_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    with_effects(monkeypatch, "hear_broker", lambda _: (ScanSoon(),))

    assert "scan every" in (missed() or "")


def test_a_silent_channel_that_stays_open_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    with_effects(
        monkeypatch,
        "scan_inactive",
        lambda effects: tuple(one for one in effects if not isinstance(one, ChannelExpired)),
    )

    assert "which is silent" in (missed() or "")


def test_a_channel_that_is_closed_though_it_is_not_silent_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_effects(
        monkeypatch,
        "scan_inactive",
        lambda effects: (*effects, ChannelExpired(channel=1)),  # type: ignore[arg-type]
    )

    assert "keep channel 1, which is not silent" in (missed() or "")


def test_a_whole_log_that_is_called_torn_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    own = registration._after_restart

    def unfit(group: Any, request: Any, rules: Any) -> Any:
        return own(group, replace(request, log_torn=True), rules)

    monkeypatch.setattr(registration, "_after_restart", unfit)

    assert "unfit just if its log is torn" in (missed() or "")


def test_who_is_answered_and_still_waits_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    own = core._applied

    def keeping(state: Any, event: Any) -> Any:
        stepped = own(state, event)
        return replace(stepped, state=replace(stepped.state, waiting=state.waiting))

    monkeypatch.setattr(core, "_applied", keeping)

    assert "remember nobody who is answered" in (missed() or "")


# ---- restarts ----


def test_a_snapshot_that_is_not_written_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControllerStateMachine, "on_snapshot_save", lambda *_: None)

    assert "replay fewer than" in (missed() or "")


def test_signs_of_life_that_are_not_read_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_heard", lambda _: UNHEARD)

    assert "know what it knew when it stopped" in (missed() or "")


def test_a_heartbeat_that_is_not_kept_as_it_was_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    own = liveness.hear_broker

    def hear_broker(state: Any, request: Any, **named: Any) -> Any:
        return own(state, replace(request, confirm_offset=None), **named)

    monkeypatch.setattr(machine, "hear_broker", hear_broker)

    assert "know what b1 has said last" in (missed() or "")


# ---- reports ----


def test_a_clean_election_that_is_reported_as_another_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = election.elect_master

    def elect_master(*args: Any, **named: Any) -> Any:
        applied: Any = own(*args, **named)
        return replace(applied, events=tuple(replace(e, clean=not e.clean) for e in applied.events))

    monkeypatch.setattr(liveness, "elect_master", elect_master)

    assert "report whether an elected master had every" in (missed() or "")


def test_a_group_that_was_removed_and_is_still_known_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        ControllerState, "known", lambda self, broker_name: self.groups.get(broker_name)
    )

    assert "answer GET_REPLICA_INFO with BROKER_METADATA_NOT_EXIST" in (missed() or "")
