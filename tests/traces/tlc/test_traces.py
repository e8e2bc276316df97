"""Verdicts on whole traces."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.traces.tlc.toy import INITIAL, SPECS, Toy, state_of, steps_from, transition_of
from tlatrace.judgement.specification import SpecUnderTest, load_spec
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided
from tlatrace.tla.config import read_config
from tlatrace.tlc.explain import explain
from tlatrace.tlc.traces import EMPTY_FILE, HEADER_ONLY, transitions_of, validate_traces
from tlatrace.trace import Event, Header, Trace
from tlatrace.values import State, Value, tla_set

HEADER = Header(spec="Mailbox", constants={"Node": tla_set(["n1", "n2"]), "Max": 3})

pytestmark = pytest.mark.java


@pytest.fixture(scope="module")
def mailbox() -> SpecUnderTest:
    return load_spec(SPECS / "Mailbox.tla", config=read_config(SPECS / "Mailbox.cfg"))


def run(length: int) -> Trace:
    """Follow the first step of the table each time."""
    toy: Toy = INITIAL
    events = [Event(step=0, action="Init", state=state_of(toy))]
    for step in range(1, length):
        action, params, after = next(iter(steps_from(toy)))
        transition = transition_of((toy, action, params, after))
        event = Event(step=step, action=action, params=transition.params, state=transition.post)
        events.append(event)
        toy = after
    return Trace(header=HEADER, events=tuple(events))


def changed(trace: Trace, step: int, **variables: Value) -> Trace:
    """Change variables in the state after one step."""
    events = list(trace.events)
    state: State = {**(events[step].state or {}), **variables}
    events[step] = replace(events[step], state=state)
    return Trace(header=trace.header, events=tuple(events))


def test_good_bad_and_empty_traces_get_their_verdicts_from_one_batch(
    mailbox: SpecUnderTest,
) -> None:
    good = run(12)
    partial = replace(good.events[5], state=None, observed={"total": 0})
    traces = [
        good,
        run(1),
        changed(good, 0, total=7),
        changed(good, 4, total=99),
        changed(good, 11, total="text"),
        Trace(header=None, events=()),
        Trace(header=HEADER, events=()),
        Trace(header=HEADER, events=(*good.events[:5], partial, *good.events[6:])),
        Trace(header=replace(HEADER, constants={"Max": 4}), events=good.events),
    ]

    verdicts = validate_traces(mailbox, traces)

    assert verdicts[0] == Conforms(12)
    assert verdicts[1] == Conforms(1)
    divergences = [verdict for verdict in verdicts[2:5] if isinstance(verdict, Diverges)]
    assert [verdict.step for verdict in divergences] == [0, 4, 11]
    assert "total: " in divergences[1].observed
    assert verdicts[5] == Undecided(EMPTY_FILE)
    assert verdicts[6] == Undecided(HEADER_ONLY)
    assert isinstance(verdicts[7], Undecided)
    assert "step 5" in verdicts[7].reason
    assert isinstance(verdicts[8], Undecided)
    assert "Max" in verdicts[8].reason


def test_a_divergence_before_a_partial_event_is_a_divergence(mailbox: SpecUnderTest) -> None:
    bad = changed(run(6), 2, total=50)
    events = (*bad.events[:4], replace(bad.events[4], state=None), *bad.events[5:])

    verdict = validate_traces(mailbox, [Trace(header=HEADER, events=events)])[0]

    assert isinstance(verdict, Diverges)
    assert verdict.step == 2


def test_a_violated_invariant_diverges_at_the_state_that_violates_it() -> None:
    config = read_config(SPECS / "Mailbox.cfg")
    spec = load_spec(SPECS / "Mailbox.tla", config=config, invariants=["NeverTwo"])

    verdict = validate_traces(spec, [run(4)])[0]

    assert isinstance(verdict, Diverges)
    assert verdict.observed == "a state that violates NeverTwo"
    assert verdict.step == 2


def test_steps_end_at_the_first_event_without_a_state() -> None:
    trace = run(4)
    events = (*trace.events[:2], replace(trace.events[2], state=None), trace.events[3])

    assert len(transitions_of(Trace(header=HEADER, events=events))) == 2


def test_the_explanation_names_the_place_and_the_possible_actions(mailbox: SpecUnderTest) -> None:
    found = explain(mailbox, changed(run(6), 3, total=50))

    assert isinstance(found.verdict, Diverges)
    assert found.verdict.step == 3
    assert found.event is not None
    assert found.claimed_is_enabled
    assert found.candidates[0].claimed
    places = [change.path for change in found.candidates[0].differences]
    assert places == ["total"]
    assert found.event.action in found.enabled


def test_an_action_that_is_not_possible_is_explained_as_such(mailbox: SpecUnderTest) -> None:
    trace = run(1)
    claim = Event(step=1, action="Receive", state=state_of(INITIAL))

    found = explain(mailbox, Trace(header=HEADER, events=(*trace.events, claim)))

    assert not found.claimed_is_enabled
    assert found.enabled == ("Send",)


def test_a_wrong_initial_state_is_compared_with_the_right_one(mailbox: SpecUnderTest) -> None:
    found = explain(mailbox, changed(run(1), 0, total=1))

    assert [change.text() for change in found.candidates[0].differences] == ["total: 0 -> 1"]


def test_a_conforming_trace_has_nothing_to_explain(mailbox: SpecUnderTest) -> None:
    found = explain(mailbox, run(3))

    assert found.verdict == Conforms(3)
    assert found.candidates == ()
