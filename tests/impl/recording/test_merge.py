"""The records of all nodes in one order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketha.recording.merge import MergedRecord, merge
from rocketha.recording.node_log import NodeLog
from rocketha.recording.record import NodeRecord, RecordError
from tests.impl.recording.logs import log, record


def order(*logs: NodeLog) -> list[tuple[str, int]]:
    return [(one.record.node, one.record.sequence) for one in merge(logs)]


def test_the_clock_orders_what_nothing_else_does() -> None:
    a = log("a", record(0, node="a", at_ns=1), record(1, node="a", at_ns=4))
    b = log("b", record(0, node="b", at_ns=2), record(1, node="b", at_ns=3))

    assert order(a, b) == order(b, a) == [("a", 0), ("b", 0), ("b", 1), ("a", 1)]


def test_nothing_is_received_before_it_is_sent() -> None:
    a = log("a", record(0, node="a", at_ns=100), record(1, node="a", at_ns=110, sent=["m"]))
    b = log(
        "b",
        record(0, node="b", at_ns=0),
        record(1, node="b", at_ns=1, received=["m"]),
        record(2, node="b", at_ns=2),
    )
    merged = list(merge([b, a]))

    assert [(one.record.node, one.record.sequence) for one in merged] == [
        ("b", 0),
        ("a", 0),
        ("a", 1),
        ("b", 1),
        ("b", 2),
    ]
    assert [one.time_ns for one in merged] == [0, 100, 110, 111, 112]


def test_the_time_of_a_record_is_that_of_a_clock_that_is_right() -> None:
    a = log("a", record(0, node="a", at_ns=5), record(1, node="a", at_ns=7, sent=["m"]))
    b = log("b", record(0, node="b", at_ns=6), record(1, node="b", at_ns=9, received=["m"]))

    assert [one.time_ns for one in merge([a, b])] == [5, 6, 7, 9]


def test_no_log_is_no_record() -> None:
    assert list(merge([])) == []


# ---- what is refused ----


def refused(*logs: NodeLog) -> str:
    with pytest.raises(RecordError) as caught:
        list(merge(logs))
    return str(caught.value)


def test_a_message_that_nobody_sent_is_refused() -> None:
    a = log("a", record(0, node="a"), record(1, node="a", sent=["n"]))
    b = log("b", record(0, node="b"), record(1, node="b", received=["n", "m"]))

    assert refused(a, b) == (
        "b, record 1 of incarnation 1: 'm' is received, and no record sends it:"
        " the log of its sender is cut off"
    )


def test_who_waits_for_a_record_that_waits_is_not_to_blame() -> None:
    a = log("a", record(0, node="a"), record(1, node="a", received=["n"]))
    b = log("b", record(0, node="b"), record(1, node="b", received=["m"], sent=["n"]))

    assert refused(a, b).startswith("b, record 1 of incarnation 1: 'm' is received, and no record")


def test_a_message_that_is_sent_after_what_follows_from_it_is_refused() -> None:
    a = log("a", record(0, node="a"), record(1, node="a", received=["n"], sent=["m"]))
    b = log("b", record(0, node="b"), record(1, node="b", received=["m"], sent=["n"]))

    assert refused(a, b) == (
        "a, record 1 of incarnation 1: 'n' is received, and it is sent only after what follows"
        " from it"
    )


def test_a_request_that_comes_twice_is_answered_twice() -> None:
    a = log(
        "a", record(0, node="a"), record(1, node="a", sent=["m"]), record(2, node="a", sent=["m"])
    )
    b = log("b", record(0, node="b"), *(record(n, node="b", received=["m"]) for n in (1, 2)))

    order = [(one.record.node, one.record.sequence) for one in merge([a, b])]

    assert sorted(order) == [(node, at) for node in "ab" for at in range(3)]
    assert order.index(("a", 1)) < order.index(("b", 1))


def test_a_message_that_two_nodes_send_is_refused() -> None:
    a = log("a", record(0, node="a"), record(1, node="a", sent=["m"]))
    b = log("b", record(0, node="b"), record(1, node="b", at_ns=2, sent=["m"]))

    assert refused(a, b) == "b, record 1 of incarnation 1: 'm' is sent a second time"
    with pytest.raises(RecordError) as caught:
        list(merge([a, b]))
    assert caught.value.record is b.records[1]
    assert caught.value.reason == "'m' is sent a second time"


# ---- any run ----


@st.composite
def runs(draw: st.DrawFn) -> list[NodeLog]:
    """Draw a run: steps in true time, each of which may receive what is under way, and send.

    The clock of each node is off by what is drawn for it.
    """
    nodes = [f"n{number}" for number in range(draw(st.integers(1, 4)))]
    offsets = {node: draw(st.integers(0, 50)) for node in nodes}
    records: dict[str, list[NodeRecord]] = {node: [] for node in nodes}
    for node in nodes:
        records[node].append(record(0, node=node, at_ns=offsets[node]))
    under_way: list[str] = []
    for now_ns in range(1, draw(st.integers(1, 30))):
        node = draw(st.sampled_from(nodes))
        received = draw(st.lists(st.sampled_from(under_way), unique=True)) if under_way else []
        under_way = [one for one in under_way if one not in received]
        sent = [f"{now_ns}:{number}" for number in range(draw(st.integers(0, 2)))]
        step = record(
            len(records[node]),
            node=node,
            at_ns=offsets[node] + now_ns,
            sent=sent,
            received=received,
        )
        records[node].append(step)
        under_way += sent
    return [log(node, *records[node]) for node in nodes]


def check_order(logs: Sequence[NodeLog], merged: Sequence[MergedRecord]) -> None:
    for one in logs:
        own = [m.record for m in merged if m.record.node == one.header.node]
        assert own == list(one.records), "the order of a node"
    sent: dict[str, int] = {}
    times: dict[str, int] = {}
    for one_merged in merged:
        step, time_ns = one_merged.record, one_merged.time_ns
        assert time_ns >= step.at_ns
        assert time_ns > times.get(step.node, -1)
        assert all(sent[message] < time_ns for message in step.received), "sent, and before"
        times[step.node] = time_ns
        sent |= dict.fromkeys((message.id for message in step.sent), time_ns)
    assert len(merged) == sum(len(one.records) for one in logs)


@given(runs())
def test_the_order_of_any_run_is_causal(logs: list[NodeLog]) -> None:
    check_order(logs, list(merge(logs)))


@given(runs())
def test_where_clocks_agree_the_order_is_that_of_the_clock(logs: list[NodeLog]) -> None:
    agreeing = []
    for one in logs:
        ahead_ns = one.records[0].at_ns
        again = [
            record(
                step.sequence,
                node=step.node,
                at_ns=step.at_ns - ahead_ns,
                sent=[message.id for message in step.sent],
                received=step.received,
            )
            for step in one.records
        ]
        agreeing.append(log(one.header.node, *again))

    merged = list(merge(agreeing))

    check_order(agreeing, merged)
    times = [one.record.at_ns for one in merged]
    assert times == sorted(times)


@given(runs(), st.data())
def test_a_record_that_is_missing_is_noticed_where_it_sent_what_was_received(
    logs: list[NodeLog], data: st.DataObject
) -> None:
    heard = {message for one in logs for step in one.records for message in step.received}
    at = data.draw(st.integers(0, len(logs) - 1))
    cut = data.draw(st.integers(1, len(logs[at].records)))
    lost = {message.id for step in logs[at].records[cut:] for message in step.sent}
    kept = {message for step in logs[at].records[cut:] for message in step.received}
    left = [*logs]
    left[at] = log(logs[at].header.node, *logs[at].records[:cut])
    if lost & (heard - kept):
        assert "is received, and no record sends it" in refused(*left)
    else:
        check_order(left, list(merge(left)))
