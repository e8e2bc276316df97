"""What a group owes: each effect that is missing or wrong here is seen in a few seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from rocketha.broker import core as broker_core
from rocketha.broker import puts, registration, roles, sync_state_set, timers
from rocketha.broker.effects import AnswerPut, GroupStepped
from rocketha.broker.state import GroupBroker, WaitingPut
from rocketha.controller import election, liveness
from rocketha.controller.applied import NotifyBroker
from rocketha.controller.core import ControllerCore
from rocketha.controller.state import Group
from rocketha.obligations.controller_duties import DUTIES_OF_THE_CONTROLLER
from rocketha.obligations.controller_members import CONTROLLER_MEMBERS
from rocketha.obligations.controller_restarts import CONTROLLER_RESTARTS
from rocketha.obligations.obligation import Obligation, RecordedRun
from rocketha.obligations.replica_group import REPLICA_GROUP
from rocketha.recording.dledger_parts import MEMBER
from rocketha.recording.record import NodeHeader
from rocketha.runtime.effects import SendToController
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.replica_group.null_observer import NullGroupObserver
from rocketha.sim.replica_group.simulation import SIMULATION
from rocketha.types import BrokerId, TimestampMs

SEEDS = 6
"""In so many seeds each wrong effect is seen."""


def missed(seeds: int = SEEDS) -> str | None:
    """Return what was missed first in the first run in which something was."""
    return next(all_missed(seeds), None)


def all_missed(seeds: int = SEEDS) -> Iterator[str]:
    """Yield all that was missed in some runs."""
    for seed in range(seeds):
        run = simulate(SIMULATION, seed, SimOptions(), NullGroupObserver())
        yield from (one.due.what for one in run.obligations.missed)


def without(kind: type, stepped: Any) -> Any:
    kept = tuple(effect for effect in stepped.effects if not isinstance(effect, kind))
    return replace(stepped, effects=kept)


def test_a_correct_group_owes_nothing_and_every_duty_came_due() -> None:
    for seed in range(3):
        run = simulate(SIMULATION, seed, SimOptions(), NullGroupObserver())
        assert run.obligations.missed == ()
        assert set(run.obligations.counted) == {one.name for one in REPLICA_GROUP}
        never = {name for name, times in run.obligations.counted.items() if not times}
        assert never == {CONTROLLER_MEMBERS.name}, "its controller is alone"


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(445, id="a request that came twice was answered twice, with another master"),
        pytest.param(1421, id="a master ended between its heartbeat and its proposal"),
        pytest.param(804, id="an operator asked between the last entry and the controller's end"),
        pytest.param(355, id="and its clock went back while it was away"),
    ],
)
def test_a_correct_group_is_not_accused(seed: int) -> None:
    run = simulate(SIMULATION, seed, SimOptions(), NullGroupObserver())
    assert run.obligations.missed == ()
    assert sum(run.obligations.counted.values()) > 100


def test_a_controller_whose_clock_stands_still_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    step = ControllerCore.step

    def frozen(self: ControllerCore, state: Any, event: Any, **kwargs: Any) -> Any:
        now_ms = TimestampMs(max(1, state.state.clock_ms))
        return step(self, state, event, **{**kwargs, "now_ms": now_ms})

    monkeypatch.setattr(ControllerCore, "step", frozen)
    assert "elect a master in the place of a silent one" in all_missed()


def test_the_worst_candidate_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    rank: Callable[[Group, BrokerId], tuple[int, ...]] = election._rank

    def worst(group: Group, broker: BrokerId) -> tuple[int, ...]:
        return tuple(-one for one in rank(group, broker))

    monkeypatch.setattr(election, "_rank", worst)
    found = missed(12)
    assert found is not None
    assert "the best candidate" in found


def test_a_broker_that_nobody_notifies_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    elect = election.elect_master
    monkeypatch.setattr(
        liveness,
        "elect_master",
        lambda *args, **kwargs: without(NotifyBroker, elect(*args, **kwargs)),
    )
    found = missed()
    assert found is not None
    assert found.startswith("notify b")


def test_a_broker_that_ignores_notices_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    command_received = broker_core._command_received

    def deaf(state: GroupBroker, command: Any, **kwargs: Any) -> GroupStepped:
        return (
            command_received(state, command, **kwargs)
            if command.is_response
            else GroupStepped(state)
        )

    monkeypatch.setattr(broker_core, "_command_received", deaf)
    found = missed()
    assert found is not None
    assert found.startswith("take its role in master epoch")


@pytest.mark.parametrize("where", [(timers, "answer_late"), (broker_core, "confirm")])
def test_a_producer_that_is_never_answered_is_seen(
    monkeypatch: pytest.MonkeyPatch, where: tuple[Any, str]
) -> None:
    module, name = where
    answered = getattr(module, name)
    monkeypatch.setattr(
        module, name, lambda *args, **kwargs: without(AnswerPut, answered(*args, **kwargs))
    )
    found = missed(20)
    assert found is not None
    assert found.startswith("answer put")


def test_a_start_whose_requests_have_the_numbers_of_the_last_one_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registration, "first_opaque", lambda _: 1)
    found = missed()
    assert found is not None
    assert found.endswith("a number of its own")


def test_a_producer_that_is_answered_before_the_disk_has_its_message_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unflushed(*, flush_deadline_ms: TimestampMs | None, **fields: Any) -> WaitingPut:
        del flush_deadline_ms
        return WaitingPut(flush_deadline_ms=None, **fields)

    monkeypatch.setattr(puts, "WaitingPut", unflushed)
    assert any(what.endswith("when it is on the disk") for what in all_missed())


def test_a_broker_that_sends_heartbeats_whenever_a_timer_fires_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beat = timers._beat

    def always(state: GroupBroker, **kwargs: Any) -> GroupStepped:
        return beat(replace(state, heartbeat_at_ms=TimestampMs(0)), **kwargs)

    monkeypatch.setattr(timers, "_beat", always)
    assert any(what.startswith("send a controller heartbeats once") for what in all_missed())


def test_a_broker_without_heartbeats_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    beat = timers._beat
    monkeypatch.setattr(
        timers, "_beat", lambda *args, **kwargs: without(SendToController, beat(*args, **kwargs))
    )
    assert missed() == "send a heartbeat"


def test_a_master_that_removes_nobody_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timers, "check_set", lambda state, **_: GroupStepped(state))
    found = missed(20)
    assert found is not None
    assert found.startswith(("propose to remove", "send its proposal again"))


def test_a_master_that_sends_its_proposal_later_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    propose = sync_state_set._propose

    def later(*given: Any, **named: Any) -> GroupStepped:
        stepped: GroupStepped = without(SendToController, propose(*given, **named))
        return stepped

    monkeypatch.setattr(sync_state_set, "_propose", later)

    assert missed() == "send its proposal"


def test_a_master_that_lets_nobody_join_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_core, "expand", lambda state, *_, **__: GroupStepped(state))
    found = missed()
    assert found is not None
    assert found.startswith("propose to add")


def test_a_broker_that_wants_another_master_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    want_master = roles._want_master

    def greedy(state: GroupBroker, view: roles.View, **kwargs: Any) -> GroupStepped:
        return want_master(state, replace(view, master=None), **kwargs)

    monkeypatch.setattr(roles, "_want_master", greedy)
    assert "ask for an election only where there is no master" in all_missed()


@pytest.mark.parametrize("duties", [DUTIES_OF_THE_CONTROLLER, CONTROLLER_RESTARTS])
def test_only_a_group_of_controllers_may_leave_out_what_one_writes(duties: Obligation) -> None:
    of_nobody = RecordedRun(headers={}, records=(), ended_ms=TimestampMs(0))
    with pytest.raises(KeyError, match="controller"):
        list(duties.dues(of_nobody))
    member = NodeHeader(protocol="replica_group", node="c1", settings={"kind": MEMBER})
    of_group = replace(of_nobody, headers={"c1": member})
    assert list(duties.dues(of_group)) == []
