"""A slave that does as released programs do: what it passes, where ACKs go, what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocketha.escape.events import PersistDue, ServeDue
from rocketha.escape.state import SlaveState
from rocketha.formats.broker_requests import BrokerResponse
from rocketha.formats.offset_tables import TableKind, pull_offsets
from rocketha.pre_online.events import StoreTable
from rocketha.runtime.effects import After
from tests.impl.escape.slaves import (
    CORE,
    DELAYED,
    HALVES,
    MASTERS,
    NOW,
    POP,
    ack,
    answered,
    popped,
    serve,
    slave,
    step,
)


def tried(state: SlaveState, service: int, times: int, code: int | None) -> SlaveState:
    """Have a service put its next record so often, which is answered alike each time."""
    for _ in range(times):
        now_ms = NOW + 100 * sum(state.services[service].failures.values())
        state, puts = serve(state, service, now_ms)
        for put in puts:
            state, _ = step(state, answered(put, code), now_ms)
    return state


@pytest.mark.parametrize("code", [None, BrokerResponse.SYSTEM_ERROR])
def test_a_released_slave_passes_a_half_message_that_it_has_put_eleven_times(
    code: int | None,
) -> None:
    state = tried(slave(released=True), HALVES, 1, code)
    assert state.services[HALVES].progress == 1, "its producer has ended the first one"

    state = tried(state, HALVES, 10, code)
    assert state.services[HALVES].progress == 1
    state = tried(state, HALVES, 1, code)
    assert (state.services[HALVES].progress, state.services[HALVES].heard) == (2, frozenset())
    assert state.services[HALVES].failures == {}
    assert tried(slave(), HALVES, 99, code).services[HALVES].progress == 1


def test_a_released_slave_passes_a_half_message_that_it_may_put_to_nobody() -> None:
    state = slave(released=True, enable_remote_escape=False)
    state = tried(state, HALVES, 1, None)
    state = tried(tried(state, DELAYED, 99, None), HALVES, 10, None)
    assert [one.progress for one in state.services] == [0, 1]

    waits = CORE.step(state, ServeDue(HALVES), now_ms=NOW).effects[-1]
    assert isinstance(waits, After)
    assert waits.wait_ms == state.options.half_ms
    state, puts = serve(state, HALVES)
    assert (puts, [one.progress for one in state.services]) == ([], [0, 2])
    alone = slave(enable_remote_escape=False)
    assert tried(alone, HALVES, 99, None).services[HALVES].progress == 1


def test_a_released_slave_goes_on_with_a_half_message_that_has_failed() -> None:
    def waits_ms(state: SlaveState) -> int:
        after = CORE.step(state, ServeDue(HALVES), now_ms=NOW).effects[-1]
        assert isinstance(after, After)
        return after.wait_ms

    released, here = (slave(released=yes, enable_remote_escape=False) for yes in (True, False))
    state = tried(released, HALVES, 2, None)
    assert waits_ms(state) == state.options.retry_ms
    assert waits_ms(tried(here, HALVES, 2, None)) == here.options.half_ms


def test_a_released_slave_sends_check_points_and_acks_to_the_first_master_of_the_moment() -> None:
    state, extra_info, put = popped(slave(released=True))
    assert put.peer == MASTERS["group-b11"]

    state, (sent,) = step(replace(state, known=frozenset({"group-b12"})), ack(extra_info))
    assert sent.peer == MASTERS["group-b12"]
    _, (says,) = step(state, answered(sent, None))
    assert says.code == BrokerResponse.SUCCESS, "whatever has become of it"


def test_a_released_slave_says_that_an_ack_is_stored_which_it_has_sent_to_nobody() -> None:
    state, extra_info, _ = popped(slave(released=True))
    _, (says,) = step(replace(state, known=frozenset()), ack(extra_info))

    assert (says.request, says.code) == (2, BrokerResponse.SUCCESS)


def test_a_released_slave_writes_how_far_consumers_are_now_and_then() -> None:
    state, (put,) = step(slave(released=True), POP)
    done = CORE.step(state, answered(put), now_ms=NOW)
    assert not any(isinstance(one, StoreTable) for one in done.effects)
    assert (done.state.queue.at, done.state.queue.saved) == (1, 0)

    written = CORE.step(done.state, PersistDue(), now_ms=NOW)
    (store,) = [one for one in written.effects if isinstance(one, StoreTable)]
    assert pull_offsets(TableKind.CONSUMER, store.data).offsets["orders@audit", 0] == 1
    assert (written.state.queue.saved, written.action) == (1, None)
    assert step(written.state, PersistDue())[1] == []
