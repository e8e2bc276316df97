"""Evictions that the controller takes back."""

from __future__ import annotations

import pytest

from rocketproof.engines import Judges
from rocketproof.protocols.replica_group.evictions import without_eviction
from rocketproof.runs import simulate_trace
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.judgement.verdict import Conforms
from tlatrace.trace import Event
from tlatrace.values import State, record, tla_set


def event(step: int, action: str, *, alive: str, master: str = "b1") -> Event:
    name, _, broker = action.partition(" ")
    state: State = {"alive": tla_set(alive.split()), "ctl": record({"master": master})}
    return Event(step=step, action=name, params=(broker,) if broker else (), state=state)


def run(*, other_action: str = "Crash b3", master: str = "b1") -> list[Event]:
    """b2 is evicted, comes back and is evicted again; then something else happens."""
    return [
        event(0, "Init", alive="b1 b2 b3"),
        event(1, "EvictBroker b2", alive="b1 b3"),
        event(2, "Restart b2", alive="b1 b2 b3"),
        event(3, "EvictBroker b2", alive="b1 b3", master=master),
        event(4, other_action, alive="b1 b3"),
        event(5, "EvictBroker b3", alive="b1"),
    ]


def test_the_last_eviction_is_left_out_and_the_broker_stays_alive() -> None:
    before = run()
    after = without_eviction(before, "b2")

    assert after is not None
    assert after[:3] == before[:3]
    assert [(e.step, e.action) for e in after[3:]] == [(3, "Crash"), (4, "EvictBroker")]
    assert [e.state and e.state["alive"] for e in after[3:]] == [
        tla_set(["b1", "b2", "b3"]),
        tla_set(["b1", "b2"]),
    ]


def test_who_was_not_evicted_cannot_be_taken_back() -> None:
    assert without_eviction(run(), "b1") is None


@pytest.mark.parametrize("action", ["ElectMaster b1", "CleanBrokerData"])
def test_an_eviction_stays_that_something_happened_because_of(action: str) -> None:
    assert without_eviction(run(other_action=action, master="b2"), "b2") is None
    assert without_eviction(run(other_action=action, master="b1"), "b2") is not None


@pytest.mark.java
def test_a_run_conforms_in_which_a_dead_broker_is_heard_again_and_elected() -> None:
    trace = simulate_trace("replica_group", 957)
    assert trace.header is not None
    judges = Judges(choice=SpecChoice(spec_root=ROOT / "spec"))
    (verdict,) = judges.judge(trace.header, [trace]).verdicts

    assert isinstance(verdict, Conforms)
