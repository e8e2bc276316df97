"""Runs of a register on a DLedger log as behaviours of Register."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest

from rocketha.known_bugs import REGISTER_BUGS, Bug
from rocketha.sim.dledger.plan import draw_dledger_run
from rocketha.sim.engine.options import SimOptions
from rocketha.sim.engine.random_source import PerPurposeStreams
from rocketproof.engines import Judges
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import simulate_trace
from rocketproof.timeline import timeline
from rocketproof.trace_inputs import SpecChoice
from tests.source_files import ROOT
from tlatrace.judgement.verdict import Conforms, Diverges, Verdict
from tlatrace.trace import Event, Trace
from tlatrace.values import Fcn, State, record, tla_set

PROTOCOL: Final = "register"
SEEDS: Final = (0, 1, 19, 23)
"""Short ones that have all actions."""
BUGS: Final = {
    Bug.ANSWER_APPLIED: (0, "AnswerEntry"),
    Bug.APPLIED_FIRST: (2, "AnswerIndexRead"),
    Bug.HEARTBEATS: (0, "AnswerIndexRead"),
    Bug.LOCAL_READ: (0, "IndexRead"),
    Bug.OWN_TERM_FIRST: (0, "IndexRead"),
    Bug.SAME_ENTRY: (29, "AnswerEntry"),
}
"""The first run that leaves the specification, and the action that is none."""
ACTIONS: Final = {
    "Init",
    "AnswerEntry",
    "AnswerIndexRead",
    "Apply",
    "CommitEntry",
    "ConfirmLeadership",
    "Elect",
    "Follow",
    "GiveUp",
    "IndexRead",
    "Install",
    "LogRead",
    "Restart",
    "StepDown",
    "Write",
}


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [simulate_trace(PROTOCOL, seed) for seed in SEEDS]


def judged(traces: Sequence[Trace]) -> tuple[Verdict, ...]:
    header = traces[0].header
    assert header is not None
    return tuple(Judges(choice=SpecChoice(spec_root=ROOT / "spec")).judge(header, traces).verdicts)


def test_a_trace_names_its_spec_and_its_five_members(traces: list[Trace]) -> None:
    header = traces[0].header

    assert header is not None
    assert header.spec == "Register"
    assert header.constants["Node"] == tla_set(["b1", "b2", "b3", "b4", "b5"])
    assert all(trace.header and trace.header.constants == header.constants for trace in traces)
    assert PROTOCOLS[PROTOCOL].bugs == REGISTER_BUGS == set(BUGS)


def test_who_gives_up_by_the_answer_that_makes_a_majority_confirms_no_read() -> None:
    """Others had answered earlier heartbeats since the read began, and none the last ones."""
    trace = PROTOCOLS[PROTOCOL].run(18_441, SimOptions(brokers=5, steps=200)).trace
    (verdict,) = judged([trace])
    assert isinstance(verdict, Conforms)


def test_leaders_begin_with_a_noop_also_where_a_group_of_dledger_would_have_none() -> None:
    streams = PerPurposeStreams(28)
    options = SimOptions(brokers=5)
    assert draw_dledger_run(streams, options).configs[0].legacy_push
    trace = PROTOCOLS[PROTOCOL].run(28, options).trace
    assert "Elect" in {event.action for event in trace.events}
    (verdict,) = judged([trace])
    assert isinstance(verdict, Conforms)


def test_every_event_is_an_action_and_a_few_runs_have_them_all(traces: list[Trace]) -> None:
    taken = Counter(event.action for trace in traces for event in trace.events)

    assert set(taken) == ACTIONS


@pytest.mark.java
def test_runs_conform(traces: list[Trace]) -> None:
    verdicts = judged(traces)

    assert [str(verdict) for verdict in verdicts if not isinstance(verdict, Conforms)] == []


def first(traces: Sequence[Trace], action: str) -> tuple[Trace, Event]:
    return next(
        (trace, event) for trace in traces for event in trace.events if event.action == action
    )


def state_of(event: Event) -> State:
    assert event.state is not None
    return event.state


def with_call(event: Event, **changes: int | bool) -> Event:
    """Return an event after which the call that it is about looks otherwise."""
    calls = state_of(event)["calls"]
    assert isinstance(calls, Fcn)
    place, fields = event.params[-1], calls.fields()
    call = fields[str(place)]
    assert isinstance(call, Fcn)
    fields = {**fields, str(place): record({**call.fields(), **changes})}
    return replace(event, state={**state_of(event), "calls": record(fields)})


@pytest.mark.java
def test_an_answer_with_another_value_or_that_nobody_has_confirmed_is_refused(
    traces: list[Trace],
) -> None:
    wrong = []
    for action, changes in (
        ("AnswerIndexRead", {"value": 10**6}),
        ("AnswerEntry", {"value": 10**6}),
        ("ConfirmLeadership", {"confirmed": False}),
        ("IndexRead", {"index": 10**6}),
    ):
        trace, event = first(traces, action)
        cut = (*trace.events[: event.step], with_call(event, **changes))
        wrong.append(replace(trace, events=cut))

    for trace, verdict in zip(wrong, judged(wrong), strict=True):
        assert isinstance(verdict, Diverges), trace.events[-1].action
        assert verdict.step == trace.events[-1].step


@pytest.mark.java
def test_a_run_with_a_bug_leaves_the_specification_where_a_client_is_told_what_is_not_so() -> None:
    runs = [simulate_trace(PROTOCOL, seed, (bug,)) for bug, (seed, _) in BUGS.items()]

    for (bug, (_, action)), verdict in zip(BUGS.items(), judged(runs), strict=True):
        assert isinstance(verdict, Diverges), bug
        assert verdict.action == action, bug


def test_a_run_can_be_read_as_a_timeline(traces: list[Trace]) -> None:
    text = "\n".join(line for trace in traces for line in timeline(trace))

    for words in ("leads in term", "leads no more", "log ends at", "hears", "who led when"):
        assert words in text, words
