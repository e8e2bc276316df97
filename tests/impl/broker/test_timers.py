"""Time: when a broker wants to be woken, and that it is not woken for nothing."""

from __future__ import annotations

from rocketha.broker.core import next_timer_ms
from rocketha.formats.controller_requests import (
    AlterSyncStateSet,
    GetReplicaInfo,
    Heartbeat,
    RegisterBroker,
)
from rocketha.formats.remoting_command import FLAG_ONEWAY
from rocketha.ha.state import Role
from rocketha.runtime.effects import SendToController
from rocketha.runtime.events import TimerFired
from rocketha.types import Offset
from tests.impl.broker.bench import options_of, running
from tests.impl.broker.lone import Lone, identified, registered, set_of, with_master


def due_in(lone: Lone) -> int:
    due = next_timer_ms(lone.state)
    assert due is not None
    return due - lone.now_ms


def test_who_registers_is_woken_to_ask_again() -> None:
    lone = identified()
    assert due_in(lone) == lone.state.options.request_timeout_ms
    lone.frames.clear()
    lone.pass_time(due_in(lone) - 1)
    assert lone.requests() == []
    lone.pass_time(1)
    assert [type(r) for r in lone.requests()] == [RegisterBroker]


def test_heartbeats_go_one_way_and_say_how_far_the_broker_is() -> None:
    lone = with_master()
    lone.put()
    lone.pass_time(1_000)
    [beat] = lone.asked(Heartbeat)
    assert (beat.broker_id, beat.epoch, beat.incarnation) == (1, 1, 0)
    assert beat.max_offset == beat.confirm_offset == Offset(lone.end)
    assert lone.frame(Heartbeat).flag == FLAG_ONEWAY


def test_heartbeats_and_polls_come_at_their_times() -> None:
    lone = registered()
    lone.take(TimerFired())
    times: dict[str, list[int]] = {"Heartbeat": [], "GetReplicaInfo": []}
    for _ in range(12_000):
        lone.frames.clear()
        lone.pass_time(1)
        for request in lone.requests():
            if isinstance(request, Heartbeat | GetReplicaInfo):
                times[type(request).__name__].append(lone.now_ms - 10_000)
    assert times["Heartbeat"] == list(range(1_000, 12_001, 1_000))
    assert times["GetReplicaInfo"] == [5_000, 10_000]


def test_a_timer_that_fires_early_does_nothing() -> None:
    lone = with_master(1, 2)
    lone.take(TimerFired())
    lone.frames.clear()
    before = lone.state
    lone.pass_time(due_in(lone) - 1)
    assert (lone.state, lone.frames) == (before, [])


def test_a_timer_that_has_fired_wants_no_other_one_at_the_same_time() -> None:
    for lone in (identified(), registered(), with_master(), with_master(1, 2)):
        lone.put()
        for _ in range(50):
            lone.pass_time(max(due_in(lone), 0))
            assert due_in(lone) > 0


def test_a_producer_that_waits_wakes_the_master() -> None:
    lone = with_master(1, 2)
    lone.put()
    wait_ms = lone.state.options.slave_timeout_ms
    lone.pass_time(wait_ms - 1)
    assert due_in(lone) == 1


def test_a_slave_gives_up_a_silent_master() -> None:
    bench = running(2)
    assert bench[2].state.ha.client is not None
    bench[2].node.actions.clear()
    bench.now_ms += bench.options.ha.housekeeping_ms
    stepped = bench[2].take(TimerFired(), bench.now_ms)
    assert stepped.action is not None
    assert stepped.action.name == "Disconnect"
    assert any(isinstance(effect, SendToController) for effect in stepped.effects)


def test_a_master_drops_a_silent_slave_and_may_propose_a_smaller_set_in_one_step() -> None:
    lone = with_master(1, 2, options=options_of())
    lone.slave(2, 0)
    stepped = lone.pass_time(lone.state.options.ha.housekeeping_ms)
    assert lone.state.ha.servers == {}
    assert stepped.action is not None
    assert stepped.action.name == "MaybeShrink"
    assert lone.asked(AlterSyncStateSet)[-1].sync_state_set == set_of(2, 1)
    assert lone.state.ha.role is Role.MASTER
