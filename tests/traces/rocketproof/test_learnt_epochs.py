"""A real slave whose master was elected again: what it writes, as behaviours of EpochTruncation."""

from __future__ import annotations

from typing import Final

import pytest

from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import judged
from tests.traces.rocketproof.test_epoch_records import real_logs
from tlatrace.judgement.verdict import Diverges, kind
from tlatrace.trace import Trace

PLUG: Final = PROTOCOLS["epoch_truncation"]

Line = tuple[str, dict[str, object]]

_CONN: Final = 7
_NOTHING: Final[dict[str, object]] = {
    "epochs": [],
    "epoch_file": [],
    "role": "Slave",
    "client": None,
    "servers": [],
}


def elects(epoch: int, master: str) -> Line:
    state = {"master": master, "epoch": epoch}
    return "c1", {"action": "ElectMaster", "params": {"master": master}, "state": state}


def epochs_are(epoch: int) -> dict[str, object]:
    entries = [{"epoch": epoch, "start_offset": 0, "end_offset": (1 << 63) - 1}]
    return {"epochs": entries, "epoch_file": entries}


def becomes_master(epoch: int) -> Line:
    params, state = {"master_epoch": epoch}, {**epochs_are(epoch), "role": "Master"}
    return "b1", {"action": "BecomeMaster", "params": params, "state": state}


def hears(action: str, epoch: int) -> Line:
    return "b2", {"action": action, "params": {"master_epoch": epoch}}


def serves(action: str, **params: int) -> Line:
    return "b1", {"action": action, "params": {"conn": _CONN, **params}}


def has_client(phase: str, action: str | None = None) -> Line:
    client = {"id": _CONN, "phase": phase, "reported": 0 if phase == "Transfer" else None}
    event: dict[str, object] = {"event": "HandshakeSent"} if action is None else {"action": action}
    return "b2", {**event, "state": {"client": client}}


ELECTED: Final = [elects(1, "b1"), becomes_master(1), hears("BecomeSlave", 1)]
CONNECTED: Final = [
    has_client("Handshake"),
    serves("Handshake", epoch=1),
    has_client("Transfer", "ReceiveHandshake"),
]
HEARTBEAT: Final = [serves("ReceiveAck"), serves("Transfer", epoch=2)]


def trace_of(*lines: Line) -> Trace:
    brokers = ["b1", "b2", "b3"]
    begins: list[Line] = [("c1", {"event": "NodeStarted", "state": {"master": None, "epoch": 0}})]
    begins += [(broker, {"event": "NodeStarted", "state": _NOTHING}) for broker in brokers]
    settings: dict[str, dict[str, object]] = {
        broker: {"kind": "broker", "brokers": brokers} for broker in brokers
    }
    return PLUG.trace_of_records(
        real_logs([*begins, *ELECTED, *lines], {"c1": {"kind": "controller"}, **settings})
    )


def learnt_in(trace: Trace) -> list[int]:
    return [event.step for event in trace.events if event.action == "LearnEpoch"]


@pytest.mark.java
def test_a_slave_keeps_its_connection_to_a_master_that_was_elected_again() -> None:
    takes: Line = ("b2", {"action": "ReceiveTransfer", "state": epochs_are(2)})
    again = (elects(2, "b1"), hears("LearnEpoch", 2), becomes_master(2))

    trace = trace_of(*CONNECTED, *again, *HEARTBEAT, takes)

    assert len(learnt_in(trace)) == 1
    assert [event.action for event in trace.events][-3:] == [
        "ReceiveAck",
        "Transfer",
        "ReceiveTransfer",
    ]
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


@pytest.mark.java
def test_a_slave_without_a_connection_learns_the_epoch_too() -> None:
    trace = trace_of(elects(2, "b1"), hears("LearnEpoch", 2), becomes_master(2))

    assert len(learnt_in(trace)) == 1
    assert [kind(verdict) for verdict in judged([trace])] == ["conforms"]


@pytest.mark.java
def test_a_slave_that_keeps_its_connection_although_another_was_elected_diverges() -> None:
    trace = trace_of(*CONNECTED, elects(2, "b3"), hears("LearnEpoch", 2))

    (verdict,) = judged([trace])

    assert isinstance(verdict, Diverges)
    assert (verdict.action, [verdict.step]) == ("LearnEpoch", learnt_in(trace))


@pytest.mark.java
def test_a_slave_that_takes_an_older_answer_than_it_has_heard_of_follows_no_better() -> None:
    asks, answered, takes = CONNECTED

    trace = trace_of(elects(2, "b1"), hears("LearnEpoch", 2), asks, answered, takes)

    (verdict,) = judged([trace])
    assert isinstance(verdict, Diverges)
    assert verdict.action == "ReceiveHandshake"


@pytest.mark.parametrize("state", [epochs_are(2), {}], ids=["noted", "not noted"])
def test_an_epoch_that_a_slave_has_from_its_master_already_is_no_step(
    state: dict[str, object],
) -> None:
    takes: Line = ("b2", {"action": "ReceiveTransfer", "state": state})
    again = (*CONNECTED, elects(2, "b1"), becomes_master(2), *HEARTBEAT)

    before = trace_of(*again, takes)
    after = trace_of(*again, takes, hears("LearnEpoch", 2))

    assert len(after.events) == len(before.events)
    assert len(learnt_in(trace_of(*again, hears("LearnEpoch", 2)))) == 1
