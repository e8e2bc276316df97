"""What the services of a slave that acts know when its log grows, or its tables are another's."""

from __future__ import annotations

from rocketha.acting_master.services import knows_log, with_progress
from rocketha.escape.state import HALF_KEY, delay_key
from rocketha.formats.due_messages import delayed, op_message
from tests.impl.escape.slaves import DELAYED, HALVES, LOG, keys, message, serve, slave


def test_a_slave_whose_log_grows_is_as_far_as_it_was() -> None:
    state, _ = serve(slave(), DELAYED)
    more = (*LOG, delayed(message("d3", stored_ms=90_003), 3), op_message((1,)))

    grown = knows_log(state, more)

    assert [len(one.records) for one in grown.services] == [4, 2]
    assert grown.services[HALVES].ended == frozenset({1, 2})
    assert grown.services[DELAYED].under == state.services[DELAYED].under
    assert knows_log(grown, more) == grown


def test_a_slave_goes_on_from_tables_that_it_is_given() -> None:
    state = with_progress(slave(), {delay_key(3): 2, HALF_KEY: 1, ("orders@audit", 0): 1})

    assert [(one.progress, one.saved) for one in state.services] == [(2, 2), (1, 1)]
    assert state.queue.at == 1
    assert keys(serve(state, DELAYED, 100_002)[1]) == ["d2"]
    assert [one.progress for one in with_progress(state, {}).services] == [0, 0]
