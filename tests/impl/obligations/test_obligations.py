"""Obligations: what comes due in a run, and what of it is missed."""

from __future__ import annotations

from dataclasses import replace

from rocketha.histories import Broken
from rocketha.obligations.obligation import (
    Due,
    Obligation,
    ObligationFindings,
    RecordedRun,
    check_obligations,
)
from rocketha.obligations.requests import answers_to_requests
from rocketha.recording.record import STARTED, STOPPED, NodeHeader, NodeRecord, SentMessage
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketha.sim.replica_group.simulation import SIMULATION
from rocketha.types import TimestampMs

WITHIN_MS = 50


def record(
    at_ms: int, event: str, *, sent: str = "", received: str = "", again: int = 1
) -> NodeRecord:
    return NodeRecord(
        node="controller",
        incarnation=again,
        sequence=0,
        at_ns=at_ms * 1_000_000,
        shows_ms=at_ms,
        event=event,
        sent=(SentMessage(id=sent),) if sent else (),
        received=(received,) if received else (),
    )


def run_of(*records: NodeRecord, ended_ms: int = 1_000) -> RecordedRun:
    header = NodeHeader(protocol="replica_group", node="controller", settings={})
    return RecordedRun(
        headers={"controller": header}, records=records, ended_ms=TimestampMs(ended_ms)
    )


def findings(*records: NodeRecord, ended_ms: int = 1_000) -> ObligationFindings:
    obligation = answers_to_requests(WITHIN_MS)
    return check_obligations([obligation], run_of(*records, ended_ms=ended_ms))


STARTS = record(0, STARTED)
ASKED = record(100, "RequestArrived", received="c:1:request")


def test_an_answer_in_time_is_counted_and_misses_nothing() -> None:
    found = findings(STARTS, ASKED, record(150, "EntriesApplied", sent="c:1:response"))

    assert found == ObligationFindings({"answers to requests": 1}, ())
    assert found.broken is None


def test_no_answer_and_a_late_one_are_missed() -> None:
    never = findings(STARTS, ASKED)
    late = findings(STARTS, ASKED, record(151, "EntriesApplied", sent="c:1:response"))

    assert never.broken == Broken(
        promise="answers to requests",
        reason="since 100 ms controller must answer c:1:request by 150 ms: never",
    )
    assert late.broken is not None
    assert late.broken.reason.endswith("by 150 ms: at 151 ms")


def test_an_answer_from_before_the_request_is_none() -> None:
    assert findings(STARTS, record(90, "Once", sent="c:1:response"), ASKED).missed


def test_a_node_that_stops_owes_nothing_more() -> None:
    stopped = findings(STARTS, ASKED, record(120, STOPPED))
    again = findings(STARTS, ASKED, record(120, STARTED, again=2))
    too_late = findings(STARTS, ASKED, record(160, STOPPED))

    assert (stopped.counted, stopped.missed) == ({"answers to requests": 0}, ())
    assert not again.missed
    assert too_late.missed


def test_a_deadline_behind_the_end_of_a_run_shows_nothing() -> None:
    assert not findings(STARTS, ASKED, ended_ms=150).missed
    assert findings(STARTS, ASKED, ended_ms=151).missed


def test_what_was_due_first_is_said_first() -> None:
    def dues(run: RecordedRun) -> list[Due]:
        found, since = [], run.ended_ms
        for by_ms in (300, 200):
            by = TimestampMs(by_ms)
            found.append(
                Due(node="b1", since_ms=since, by_ms=by, what=f"act at {by_ms}", done_ms=None)
            )
        return found

    broken = check_obligations([Obligation(name="acts", dues=dues)], run_of(STARTS)).broken

    assert broken is not None
    assert "act at 200" in broken.reason


def test_a_run_that_misses_something_is_broken_though_its_clients_saw_nothing() -> None:
    asked = simulate(SIMULATION, 3, SimOptions(), SIMULATION.unobserved())
    at_once = replace(SIMULATION, obligations=(answers_to_requests(-1),))
    missed = simulate(at_once, 3, SimOptions(), at_once.unobserved())

    assert asked.obligations.counted["answers to requests"] > 0
    assert not isinstance(asked.check(), Broken)
    assert missed.clients.content() == asked.clients.content()
    assert isinstance(missed.check(), Broken)
