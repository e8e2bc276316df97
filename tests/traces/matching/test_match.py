"""Whole and partial traces, matched with models that are written down in Python."""

from __future__ import annotations

from typing import Final

import pytest

from tests.traces.matching.toy import CLIENTS, ToyModel, counters, lock_server
from tlatrace.errors import EvaluationError
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.matching import Budget, match_traces
from tlatrace.tlc.traces import EMPTY_FILE, HEADER_ONLY
from tlatrace.trace import Event, Header, Part, Silent, State, Trace
from tlatrace.values import Value

HEADER: Final = Header(spec="Counters")
C1 = CLIENTS[0]


def counter(left: int, right: int) -> State:
    return {"left": left, "right": right}


def init(**known: Value) -> Event:
    return Event(step=0, action="Init", observed=known or None)


def event(step: int, action: str | None, *params: Value, **known: Value) -> Event:
    return Event(step=step, action=action, params=params, observed=known or None)


def whole(step: int, action: str | None, left: int, right: int, *params: Value) -> Event:
    return Event(step=step, action=action, params=params, state=counter(left, right))


def verdict(
    model: ToyModel, *events: Event, silent: Silent | None = None, budget: Budget | None = None
) -> Verdict:
    header = Header(spec=model.module, silent=silent)
    trace = Trace(header=header, events=events)
    return match_traces(model, [trace], budget=budget or Budget())[0]


def diverges(found: Verdict) -> Diverges:
    assert isinstance(found, Diverges), found
    return found


# ---- whole states -------------------------------------------------------------------------


def test_a_trace_of_whole_states_conforms_step_by_step() -> None:
    found = verdict(
        counters(), whole(0, "Init", 0, 0), whole(1, "Jump", 3, 0, 3), whole(2, None, 4, 1)
    )

    assert found == Conforms(3)


@pytest.mark.parametrize(
    ("events", "step", "expected", "observed"),
    [
        ([whole(0, "Init", 0, 1)], 0, "a state that Init of Counters allows", "another initial"),
        (
            [whole(0, "Init", 0, 0), whole(1, "Left", 2, 0)],
            1,
            "a step of Counters that is Left",
            "left: 0 -> 2",
        ),
        (
            [whole(0, "Init", 0, 0), whole(1, "Jump", 2, 0, 3)],
            1,
            "a step of Counters that is Jump(3)",
            "left: 0 -> 2",
        ),
        (
            [whole(0, "Init", 0, 0), whole(1, None, 0, 0)],
            1,
            "a step that Next of Counters allows",
            "no change",
        ),
    ],
    ids=["initial", "state", "argument", "unnamed"],
)
def test_the_first_step_that_is_not_allowed_diverges(
    events: list[Event], step: int, expected: str, observed: str
) -> None:
    found = diverges(verdict(counters(), *events))

    assert (found.step, found.expected) == (step, expected)
    assert observed in found.observed


def test_an_invariant_of_a_whole_state_diverges_where_it_fails() -> None:
    model = counters(Small=lambda state: state["left"] != 2)

    found = verdict(model, whole(0, "Init", 0, 0), whole(1, "Left", 1, 0), whole(2, "Left", 2, 0))

    assert found == Diverges(
        2, "Left", "a state in which Small holds", "a state that violates Small"
    )


def test_traces_without_events_are_undecided() -> None:
    traces = [Trace(header=None, events=()), Trace(header=HEADER, events=())]

    assert match_traces(counters(), traces) == [Undecided(EMPTY_FILE), Undecided(HEADER_ONLY)]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (event(1, "Fly"), "Counters has no action Fly"),
        (event(1, "Left", 1), "Left of Counters takes 0 parameters, not 1"),
        (event(1, "Left", middle=1), "Counters has no variable middle"),
        (Event(step=1, action="Left", state={"left": 1}), "a state lacks right of Counters"),
    ],
)
@pytest.mark.parametrize("first", [init(), whole(0, "Init", 0, 0)], ids=["partial", "whole"])
def test_what_the_module_does_not_have_is_undecided_at_its_step(
    first: Event, bad: Event, reason: str
) -> None:
    assert verdict(counters(), first, bad) == Undecided(f"step 1: {reason}")


def test_a_divergence_before_an_unknown_action_is_a_divergence() -> None:
    fly = event(2, "Fly")

    assert diverges(verdict(counters(), init(left=1), event(1, "Left"), fly)).step == 0
    assert diverges(verdict(counters(), init(), event(1, "Left", left=5), fly)).step == 1


def test_constants_that_differ_leave_a_trace_undecided() -> None:
    trace = Trace(header=HEADER, events=(init(),))

    (found,) = match_traces(counters(), [trace], differing=lambda _: ["N"])

    assert isinstance(found, Undecided)
    assert "constant N" in found.reason


@pytest.mark.parametrize("action", ["Left", None])
def test_a_value_that_is_missing_leaves_a_whole_trace_undecided(action: str | None) -> None:
    model = counters()
    model.fails_at = lambda state, _: state["left"] == 1

    found = verdict(model, whole(0, "Init", 0, 0), whole(1, "Left", 1, 0), whole(2, action, 2, 0))

    assert found == Undecided("step 2: no value here")


# ---- what is not logged -------------------------------------------------------------------


def test_hidden_variables_are_searched_for() -> None:
    events = [init(), event(1, "Left"), event(2, None, left=2), event(3, "Left", right=1)]

    assert verdict(counters(), *events) == Conforms(4)


def test_a_value_that_no_candidate_has_diverges_and_says_how_many_there_were() -> None:
    found = diverges(
        verdict(counters(), init(), event(1, None), event(2, None, left=1), event(3, None, right=7))
    )

    assert found.step == 3
    assert found.expected == (
        "a step that Next of Counters allows, "
        "from one of the 2 states that explain the events before it"
    )
    assert found.observed.startswith("right: ")
    assert "the nearest of " in found.observed


def test_an_initial_state_that_shows_something_else_diverges_at_step_0() -> None:
    found = diverges(verdict(counters(), init(left=1)))

    assert (found.step, found.expected) == (0, "a state that Init of Counters allows")
    assert found.observed == "left: 0 -> 1 (the nearest of 1 state -> the trace)"


@pytest.mark.parametrize(
    ("known", "left", "conforms"),
    [((), 3, True), ((None,), 2, True), ((None,), 1, False), ((), 0, False)],
)
def test_arguments_that_are_not_logged_are_searched_for(
    known: tuple[Value | None, ...], left: int, conforms: bool
) -> None:
    jump = Event(step=1, action="Jump", known_params=known, state=counter(left, 0))

    found = verdict(counters(), whole(0, "Init", 0, 0), jump)

    assert isinstance(found, Conforms) == conforms
    if not conforms:
        shown = "Jump" if not known else "Jump(?)"
        assert f"a step of Counters that is {shown}" in diverges(found).expected


def test_logged_arguments_bind_where_the_state_is_hidden() -> None:
    jumps = [event(1, "Jump", 3), event(2, "Jump", 2, left=5)]

    assert verdict(counters(), init(), *jumps) == Conforms(3)
    assert diverges(verdict(counters(), init(), jumps[0], event(2, "Jump", 2, left=6))).step == 2


def test_a_part_of_a_variable_is_compared() -> None:
    model = lock_server()
    request = event(1, "Request", "c1")
    first = Part(variable="queue", at=(1,), value="c1")
    other = Part(variable="queue", at=(1,), value="c2")
    beyond = Part(variable="queue", at=(2,), value="c1")

    def shown(part: Part) -> Verdict:
        step = Event(step=2, action="Request", params=("c2",), parts=(part,))
        return verdict(model, init(), request, step)

    assert shown(first) == Conforms(3)
    assert "queue[1]: c1 -> c2" in diverges(shown(other)).observed
    assert "queue[2]: c2 -> c1" in diverges(shown(beyond)).observed


def test_strings_stand_for_model_values_as_in_whole_states() -> None:
    events = [init(holder="Nobody"), event(1, "Request", "c1"), event(2, "Grant", C1, holder="c1")]

    assert verdict(lock_server(), *events) == Conforms(3)


# ---- silent steps -------------------------------------------------------------------------


def lock_events(*released: str) -> list[Event]:
    """Two grants, and between them what `released` says."""
    steps = [("Request", "c1"), ("Grant", "c1"), ("Request", "c2"), *[(n, "c1") for n in released]]
    steps.append(("Grant", "c2"))
    return [init(), *[event(at, name, who) for at, (name, who) in enumerate(steps, start=1)]]


def test_a_silent_step_explains_what_nothing_else_does() -> None:
    expire = Silent(actions=("Expire",), most=1)

    assert verdict(lock_server(), *lock_events("Release")) == Conforms(6)
    assert diverges(verdict(lock_server(), *lock_events())).step == 4
    assert verdict(lock_server(), *lock_events(), silent=expire) == Conforms(5)


def test_no_more_silent_steps_are_taken_than_the_trace_says() -> None:
    events = [init(left=0), event(1, "Right", left=3)]

    def with_most(most: int) -> Verdict:
        return verdict(counters(), *events, silent=Silent(actions=("Left",), most=most))

    assert with_most(3) == Conforms(2)
    found = diverges(with_most(2))
    assert found.step == 1
    assert "3 states that explain" in found.expected
    assert found.observed == "left: 0 -> 3 (the nearest of 3 results -> the trace)"


def test_where_the_trace_says_no_number_giving_up_is_undecided() -> None:
    silent = Silent(actions=("Left",))
    far = [init(left=0), event(1, "Right", left=7)]
    never = [init(left=0), event(1, "Right", right=2)]

    assert verdict(counters(), *far, silent=silent, budget=Budget(silent=7)) == Conforms(2)
    found = verdict(counters(), *far, silent=silent, budget=Budget(silent=4))
    assert isinstance(found, Undecided)
    assert found.reason.startswith("step 1: nothing explains it with 4 silent steps")
    # All eight states are seen, so that more steps would show no other.
    assert diverges(verdict(counters(), *never, silent=silent, budget=Budget(silent=8))).step == 1


def test_an_early_choice_is_taken_back_when_it_turns_out_wrong() -> None:
    """The first event may have been `Both` or `Left`; only the last one tells."""
    events = [init(), event(1, None, left=1)]
    events += [event(step, "Left") for step in range(2, 7)]
    events.append(event(7, "Left", right=1))

    assert verdict(counters(), *events) == Conforms(8)


def test_silent_actions_that_the_module_does_not_have_are_undecided() -> None:
    found = verdict(counters(), init(), silent=Silent(actions=("Fly",)))

    assert found == Undecided("Counters has no action Fly")


# ---- no evidence --------------------------------------------------------------------------


def test_beyond_the_budget_the_step_and_the_number_are_said() -> None:
    events = [init(), *[event(step, None) for step in range(1, 6)], event(6, "Left", right=7)]

    found = verdict(counters(), *events, budget=Budget(states=30, states_per_event=0))

    assert isinstance(found, Undecided)
    assert found.reason.startswith("step 6: gave up after 38 candidates")
    assert diverges(verdict(counters(), *events)).step == 6


def test_a_missing_value_counts_only_if_nothing_else_explains_the_trace() -> None:
    model = counters()
    model.fails_at = lambda state, _: state["left"] == 2
    maybe = event(1, None)  # left is 0, 1, 2 or 3 now

    assert verdict(model, init(), maybe, event(2, "Left", left=2)) == Conforms(3)
    assert verdict(model, init(), maybe, event(2, "Left", left=3)) == Undecided(
        "step 2: no value of Left here"
    )


# ---- invariants ---------------------------------------------------------------------------


def test_an_invariant_that_fails_on_some_explanations_only_is_no_divergence() -> None:
    model = counters(NotBoth=lambda state: state["left"] != 1 or state["right"] != 1)
    events = [init(), event(1, None, left=1), event(2, "Left", left=2)]

    assert verdict(model, *events) == Conforms(3)


def test_an_invariant_that_fails_on_every_explanation_diverges_where_that_is_certain() -> None:
    model = counters(NotBoth=lambda state: state["left"] != 1 or state["right"] != 1)
    events = [init(), event(1, None, left=1), event(2, "Left", left=2), event(3, None, right=1)]
    certain = [*events[:2], event(2, "Left", right=1)]

    assert verdict(model, *events) == Conforms(4)
    assert verdict(model, *certain) == Diverges(
        2,
        "Left",
        "an explanation in which NotBoth holds",
        "that each goes through a state that violates NotBoth",
    )


def test_invariants_count_in_silent_states_too() -> None:
    model = counters(NotTwo=lambda state: state["left"] != 2)
    silent = Silent(actions=("Left",), most=3)
    events = [init(), event(1, "Right", left=3)]

    assert diverges(verdict(model, *events, silent=silent)).expected.endswith("NotTwo holds")
    around = Silent(actions=("Left", "Jump"), most=3)
    assert verdict(model, *events, silent=around) == Conforms(2)


def test_a_violation_is_no_divergence_while_more_silent_steps_might_avoid_it() -> None:
    model = counters(NotLow=lambda state: state["left"] == 3 or state["right"] == 0)
    events = [init(), event(1, "Right")]

    def with_most(most: int | None, tried: int) -> Verdict:
        silent = Silent(actions=("Left", "Jump"), most=most)
        return verdict(model, *events, silent=silent, budget=Budget(silent=tried))

    assert isinstance(with_most(None, 0), Undecided)
    assert diverges(with_most(0, 0)).expected == "an explanation in which NotLow holds"
    assert with_most(None, 1) == with_most(1, 0) == Conforms(2)


def test_an_event_without_any_explanation_is_no_matter_of_invariants() -> None:
    model = counters(NotOne=lambda state: state["left"] != 1)
    events = [init(), event(1, "Left"), event(2, "Left", left=7)]

    found = diverges(verdict(model, *events))

    assert found.step == 1
    assert found.expected == "an explanation in which NotOne holds"


def test_a_whole_state_that_violates_is_named_in_a_partial_trace_too() -> None:
    model = counters(NotTwo=lambda state: state["left"] != 2)

    found = verdict(model, init(), event(1, "Left"), whole(2, "Left", 2, 0))

    assert found == Diverges(
        2, "Left", "a state in which NotTwo holds", "a state that violates NotTwo"
    )


def test_an_invariant_without_a_value_leaves_the_trace_undecided() -> None:
    def fails(state: State) -> bool:
        if state["left"] == 1:
            raise EvaluationError("no value here")
        return True

    found = verdict(counters(Broken=fails), init(), event(1, "Left"))

    assert found == Undecided("step 1: invariants: no value here")


# ---- cost ---------------------------------------------------------------------------------


def test_an_event_of_a_long_trace_asks_no_more_of_the_model_than_one_of_a_short_one() -> None:
    def asked(length: int) -> float:
        model = counters()
        events = [init(), *[event(step, None) for step in range(1, length)]]
        assert verdict(model, *events) == Conforms(length)
        return model.asked / length

    assert asked(4000) <= asked(400) * 1.01
