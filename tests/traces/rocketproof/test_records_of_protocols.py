"""What nodes wrote of a run is what an observer of whole states saw of it, for each protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import msgspec
import pytest

from rocketha.known_bugs import Bug
from rocketha.recording.merge import MergedRecord, merge
from rocketha.recording.node_log import NodeLines, NodeLog
from rocketha.recording.record import STOPPED, NodeRecord, RecordError
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.simulation import simulate
from rocketproof.protocols import PROTOCOLS
from tests.traces.rocketproof.recorded_runs import (
    SUBJECTS,
    Recorded,
    Subject,
    judged,
    recorded,
)
from tlatrace.judgement.verdict import kind
from tlatrace.trace import Event, Trace
from tlatrace.trace.ndjson import dump_trace
from tlatrace.values import Value

of_each_protocol = pytest.mark.parametrize(
    "protocol",
    [pytest.param(one, marks=pytest.mark.xdist_group(f"records of {one}")) for one in SUBJECTS],
    ids=list(SUBJECTS),
)
"""On one worker each: its runs are made once."""
_LATE_NS: Final = 3_000_000_000


_BUGS: Final = 6
"""So many known bugs of each protocol are run at every push."""


def clean_runs(protocol: str) -> list[Recorded]:
    return [recorded(protocol, seed) for seed in SUBJECTS[protocol].clean]


def buggy_runs(protocol: str, most: int | None = _BUGS) -> list[Recorded]:
    subject = SUBJECTS[protocol]
    seeds = [*subject.seed_of_bug.items(), *subject.unseen.items()]
    return [recorded(protocol, seed, frozenset({bug})) for bug, seed in seeds[:most]]


def test_every_protocol_with_records_is_looked_at() -> None:
    assert {name for name, plug in PROTOCOLS.items() if plug.records is not None} == set(SUBJECTS)


@of_each_protocol
def test_runs_that_are_not_recorded_have_the_same_traces(protocol: str) -> None:
    for seed in range(3):
        made = PROTOCOLS[protocol].make_traces(seed, SimOptions())
        run = PROTOCOLS[protocol].run(seed, SimOptions())
        assert (made.trace, made.traces) == (run.trace, run.traces)


@pytest.mark.java
@of_each_protocol
def test_records_and_whole_states_have_the_same_verdicts(protocol: str) -> None:
    assert_same_verdicts(SUBJECTS[protocol], [*clean_runs(protocol), *buggy_runs(protocol)])


@pytest.mark.java
@pytest.mark.slow
@of_each_protocol
def test_records_and_whole_states_have_the_same_verdicts_of_every_bug(protocol: str) -> None:
    subject = SUBJECTS[protocol]
    runs = [*clean_runs(protocol), *buggy_runs(protocol, None)]
    assert len(runs) == len(subject.clean) + len(subject.seed_of_bug) + len(subject.unseen)
    assert_same_verdicts(subject, runs)


def assert_same_verdicts(subject: Subject, runs: Sequence[Recorded]) -> None:
    """The first runs are without a bug; each bug that breaks a rule is seen."""
    assert len(runs) > len(subject.clean), "bugs are among them"
    whole = kinds_of([run.whole.traces for run in runs])
    of_records = kinds_of([run.traces for run in runs])

    assert of_records == whole
    expected = ["conforms"] * len(subject.clean) + ["diverges"] * len(subject.seed_of_bug)
    found = ["diverges" if "diverges" in kinds else max(kinds) for kinds in whole]
    assert found[: len(expected)] == expected[: len(found)], "each bug that breaks a rule is seen"


@pytest.mark.java
@pytest.mark.parametrize(
    ("protocol", "bug", "seed"),
    [
        pytest.param(one, bug, seed, marks=pytest.mark.xdist_group(f"records of {one}"))
        for one, subject in SUBJECTS.items()
        for bug, seed in subject.of_records.items()
    ],
)
def test_what_is_missed_is_shown_by_records_alone(protocol: str, bug: Bug, seed: int) -> None:
    run = recorded(protocol, seed, frozenset({bug}))
    (whole,), (of_records,) = kinds_of([run.whole.traces]), kinds_of([run.traces])
    assert set(whole) == {"conforms"}
    assert "diverges" in of_records


def kinds_of(runs: Sequence[Sequence[Trace]]) -> list[list[str]]:
    """Judge the traces of each run."""
    verdicts = iter(judged([trace for run in runs for trace in run]))
    return [[kind(next(verdicts)) for _ in run] for run in runs]


@of_each_protocol
def test_recording_changes_nothing(protocol: str) -> None:
    for run in [*clean_runs(protocol), *buggy_runs(protocol)]:
        lengths = [len(one) for one in run.observed_traces]
        assert [len(one) for one in run.observed_traces] == lengths, "it grows when it is asked for"
        for trace, observed in zip(run.whole.traces, run.observed_traces, strict=True):
            assert trace.header is not None
            assert b"".join(dump_trace(trace.header, observed)) == b"".join(
                dump_trace(trace.header, trace.events)
            )
        assert run.simulated.report == run.whole.report
        assert run.simulated.clients == run.whole.clients
        assert run.simulated.injected == run.whole.injected


@of_each_protocol
def test_recording_the_same_run_again_gives_the_same_lines(protocol: str) -> None:
    simulation, lines = PROTOCOLS[protocol].simulation, NodeLines()
    simulate(simulation, 3, SimOptions(), simulation.unobserved(), write=lines.write)

    assert lines.logs() == recorded(protocol, 3).logs


# ---- what records show ----


def at(value: Any, path: Iterable[Value]) -> Value:
    """Return what is at a place in a value; sequences begin with 1."""
    for key in path:
        if isinstance(value, tuple):
            assert isinstance(key, int)
            key -= 1
        value = value[key]
    found: Value = value
    return found


@of_each_protocol
def test_what_records_show_is_what_whole_states_have(protocol: str) -> None:
    passed_by = SUBJECTS[protocol].passed_by
    compared = 0
    for run in [*clean_runs(protocol), *buggy_runs(protocol)]:
        traces = zip(run.traces, run.whole.traces, run.observed_traces, strict=True)
        for trace, whole, observed in traces:
            assert trace.header is not None
            assert whole.header is not None
            assert trace.header.constants == whole.header.constants
            shown = [event for event in trace.events if event.action not in passed_by]
            known = [event for event in observed if event.action not in passed_by]
            compared += sum(compare(*pair) for pair in zip(shown, known, strict=True))
    assert compared > 3_000


def compare(one: Event, whole: Event) -> int:
    """Hold what an event shows against the whole state; return how many values it shows."""
    assert (one.action, one.params) == (whole.action, whole.params), whole.step
    assert whole.state is not None
    observed = one.observed or one.state or {}
    for variable, value in observed.items():
        assert value == whole.state[variable], (whole.step, variable)
    for part in one.parts:
        assert part.value == at(whole.state[part.variable], part.at), (whole.step, part)
    return len(observed) + len(one.parts)


# ---- a projection is a function of records in order ----


def events(protocol: str, merged: Iterable[MergedRecord], logs: Iterable[NodeLog]) -> list[Event]:
    projection = PROTOCOLS[protocol].records
    assert projection is not None
    return list(projection([log.header for log in logs]).events(merged))


@of_each_protocol
@pytest.mark.parametrize("seed", [0, 5])
def test_the_events_of_the_first_records_are_the_first_events(protocol: str, seed: int) -> None:
    logs = recorded(protocol, seed).logs
    everything = list(merge(logs))
    whole = events(protocol, everything, logs)

    lengths = set()
    for count in (0, 1, 6, 40, *range(100, len(everything), 400), len(everything) - 1):
        first = events(protocol, islice(merge(logs), count), logs)
        assert first == whole[: len(first)]
        lengths.add(len(first))
    assert len(lengths) >= 3
    assert max(lengths) > len(whole) - 5


@of_each_protocol
def test_a_recorder_whose_clock_is_behind_leaves_an_order_that_is_causal(protocol: str) -> None:
    logs = recorded(protocol, 0).logs

    def later(record: NodeRecord) -> NodeRecord:
        return msgspec.structs.replace(record, at_ns=record.at_ns + _LATE_NS)

    shifted = [
        log
        if log.header.node == "b1"
        else replace(log, records=tuple([later(record) for record in log.records]))
        for log in logs
    ]
    merged = [one.record for one in merge(shifted)]

    for log in shifted:
        assert [one for one in merged if one.node == log.header.node] == list(log.records)
    sent: set[str] = set()
    for record in merged:
        assert sent.issuperset(record.received)
        sent |= {message.id for message in record.sent}


# ---- records of nothing ----


@of_each_protocol
def test_records_without_a_step_of_the_specification_are_not_passed(protocol: str) -> None:
    logs = recorded(protocol, 0).logs
    starts = [replace(log, records=log.records[:1]) for log in logs]

    with pytest.raises(RecordError, match="there is nothing to judge"):
        PROTOCOLS[protocol].traces_of_records(starts)


@pytest.mark.parametrize("protocol", sorted(set(SUBJECTS) - {"lock_quorum"}))
def test_a_start_without_the_stop_before_it_is_refused(protocol: str) -> None:
    seeds = (seed for seed in SUBJECTS[protocol].clean if _stops(recorded(protocol, seed).logs))
    logs = recorded(protocol, next(seeds)).logs
    (node, *_) = _stops(logs)

    def renumbered(log: NodeLog) -> NodeLog:
        left = [one for one in log.records if one.event != STOPPED]
        return replace(log, records=tuple(left)) if log.header.node == node else log

    with pytest.raises(RecordError, match="it starts again, and nothing says what its stop left"):
        PROTOCOLS[protocol].trace_of_records([renumbered(log) for log in logs])


def _stops(logs: Iterable[NodeLog]) -> list[str]:
    """Return nodes that have stopped and started again."""
    again = [log for log in logs if log.records[-1].incarnation > 1]
    return [log.header.node for log in again if any(one.event == STOPPED for one in log.records)]
