"""Runs of the legacy service as behaviours of LegacyReplication."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rocketha.known_bugs import LEGACY_BUGS, Bug
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import simulate_trace
from rocketproof.timeline import timeline
from tests.traces.rocketproof.legacy_invariants import violations
from tlatrace.judgement.specification import load_spec
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.tlc.traces import validate_traces
from tlatrace.trace import Trace
from tlatrace.values import tla_set

PROTOCOL = "legacy_replication"
SPEC = Path(__file__).parents[3] / "spec" / PROTOCOL / "LegacyReplication.tla"
ACTIONS = {
    "Init",
    "Flush",
    "Crash",
    "Restart",
    "PutMessage",
    "PutOk",
    "PutTimeout",
    "ReceiveReport",
    "RefuseReport",
    "ReceiveStaleReport",
    "Transfer",
    "CloseConnection",
    "DropStale",
    "Connect",
    "ReceiveTransfer",
    "Report",
    "Disconnect",
    "Healed",
}


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [simulate_trace(PROTOCOL, seed) for seed in range(40)]


def test_a_trace_names_its_spec_and_constants(traces: list[Trace]) -> None:
    header = traces[0].header

    assert header is not None
    assert header.spec == "LegacyReplication"
    assert header.constants == {
        "Master": "b1",
        "Slave": tla_set(["b2", "b3"]),
        "Needs": tla_set([0, 1, 2]),
        "FileRecords": 3,
    }
    assert PROTOCOLS[PROTOCOL].bugs == LEGACY_BUGS


def test_the_runs_take_every_action_of_the_specification(traces: list[Trace]) -> None:
    taken = Counter(event.action for trace in traces for event in trace.events)

    # A report that is in flight when its connection is given up takes more runs than these.
    assert set(taken) | {"ReceiveStaleReport"} == ACTIONS


def test_runs_without_bugs_violate_nothing(traces: list[Trace]) -> None:
    found = {t.header.seed: v for t in traces if t.header and (v := violations(t))}

    assert found == {}


def test_a_run_can_be_read_as_a_timeline(traces: list[Trace]) -> None:
    timelines = [list(timeline(trace)) for trace in traces[:10]]
    text = "\n".join(line for lines in timelines for line in lines)

    assert [len(lines) - 1 for lines in timelines] == [len(t.events) for t in traces[:10]]
    assert "waiting +[need" in text
    assert "connected, reported 0" in text


@pytest.mark.parametrize(
    ("bug", "seed", "violated"),
    [
        (Bug.B52, 0, "AckLeMax"),
        (Bug.FIRST_REPORT, 0, "AckLeMax"),
        (Bug.SYNC_WAITS, 0, "PutOk"),
        (Bug.START_COVERS_WAITING, 22, "StartForEmpty"),
    ],
)
def test_a_bug_shows_in_a_run(bug: Bug, seed: int, violated: str) -> None:
    assert violations(simulate_trace(PROTOCOL, seed)) == set()
    assert violated in violations(simulate_trace(PROTOCOL, seed, (bug.value,)))


@pytest.mark.java
def test_tlc_allows_every_step_and_refuses_those_of_a_bug(traces: list[Trace]) -> None:
    header = traces[0].header
    assert header is not None
    properties = SPEC.with_name("LegacyReplicationProperties.tla")
    spec = load_spec(properties, constants=header.constants, invariants=["TypeOK", "AckedOnSlaves"])

    good = validate_traces(spec, traces[:8])
    bad = validate_traces(spec, [simulate_trace(PROTOCOL, 0, ("B52",))])

    assert {type(verdict) for verdict in good} == {Conforms}
    assert {type(verdict) for verdict in bad} == {Diverges}
