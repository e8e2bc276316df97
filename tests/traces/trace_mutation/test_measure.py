"""What corruptions of accepted traces are noticed, which are none, and which are holes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tests.traces.testing.toy import TankModel
from tlatrace.errors import EvaluationError
from tlatrace.judgement.verdict import Conforms
from tlatrace.matching.match import match_traces
from tlatrace.oracle import Step
from tlatrace.oracle.states import ModelState
from tlatrace.runtime.values import RuntimeValue
from tlatrace.trace import Event, Header, Silent, Trace
from tlatrace.trace_mutation import (
    Kind,
    MutationResult,
    Outcome,
    judge_mutations,
    measure,
    mutations_json,
    mutations_text,
)
from tlatrace.trace_mutation.fitting import Fitting
from tlatrace.trace_mutation.measure import _judge
from tlatrace.trace_mutation.mutator import Mutator
from tlatrace.values import Value


def walk(
    model: TankModel, seed: int, length: int = 30, shows: Sequence[str] | None = None
) -> Trace:
    """Take random steps; `shows` names the variables that the trace has, None: all, as states."""
    draw = Random(seed)
    state = model.initial_states()[0]
    events = [_event(model, 0, "Init", (), state, shows)]
    for step in range(1, length):
        moves = model.successors(state)
        move = moves[draw.randrange(len(moves))]
        state = move.post
        params = tuple([model.show_value(param) for param in move.params])
        events.append(_event(model, step, move.action, params, state, shows))
    return Trace(header=Header(spec="Tank"), events=tuple(events))


def _event(
    model: TankModel,
    step: int,
    action: str,
    params: tuple[Value, ...],
    state: ModelState,
    shows: Sequence[str] | None,
) -> Event:
    event = Event(step=step, action=action, params=params, state=model.show(state))
    if shows is None:
        return event
    seen = {name: value for name, value in model.show(state).items() if name in shows}
    return replace(event, state=None, observed=seen)


def of(model: TankModel, *traces: Trace, count: int = 300, seed: int = 0) -> MutationResult:
    named = [(f"trace {at}", model, trace) for at, trace in enumerate(traces)]
    return measure(named, count, seed=seed)


def whys(result: MutationResult, kind: Kind, outcome: Outcome) -> set[str]:
    return {one.why for one in result.findings if (one.kind, one.outcome) == (kind, outcome)}


class Counting(TankModel):
    """Never forgets what was lost."""

    def successors(self, state: ModelState) -> Sequence[Step]:
        return [move for move in super().successors(state) if move.action != "Empty"]


TIGHT = Counting()


def test_a_tight_specification_has_no_holes() -> None:
    result = of(TIGHT, walk(TIGHT, 1), walk(TIGHT, 2))

    assert result.count(None, None) == 300
    assert result.holes == ()
    for kind in Kind:
        assert result.count(kind, None) >= 10, kind
        assert result.count(kind, Outcome.REFUSED) >= 5, kind


def test_the_same_seed_gives_the_same_corruptions() -> None:
    trace = walk(TIGHT, 1)

    three, again, four = [of(TIGHT, trace, count=60, seed=seed) for seed in (3, 3, 4)]

    assert three == again
    assert three.findings != four.findings


def test_no_corruption_is_counted_twice() -> None:
    result = of(TIGHT, walk(TIGHT, 1, length=4), count=500)

    assert 20 < len(result.findings) < 500
    assert len(set(result.findings)) == len(result.findings)


def test_a_trace_that_is_cut_short_is_a_trace() -> None:
    result = of(TIGHT, walk(TIGHT, 1, length=3))

    found = [one for one in result.findings if one.outcome is Outcome.EQUIVALENT]
    assert [(one.kind, one.step, one.why) for one in found if one.kind is Kind.DROP] == [
        (Kind.DROP, 2, "a trace that is cut short is a trace")
    ]


class Noting(TankModel):
    """Has steps that change nothing, under two names and with any number."""

    @property
    def actions(self) -> dict[str, int]:
        return {**super().actions, "Note": 1, "Remark": 1}

    def successors(self, state: ModelState) -> list[Step]:
        notes = [Step(name, (n,), state) for name in ("Note", "Remark") for n in (0, 1, 2)]
        return [*super().successors(state), *notes]


def test_what_the_specification_cannot_tell_apart_is_equivalent() -> None:
    model = Noting()
    result = of(model, walk(model, 1, length=60), count=900)

    assert result.holes == ()
    assert "the step changes nothing" in whys(result, Kind.DROP, Outcome.EQUIVALENT)
    assert "the step may stutter" in whys(result, Kind.DUPLICATE, Outcome.EQUIVALENT)
    same = "the specification has the same step under both names"
    assert same in whys(result, Kind.PARAMETER, Outcome.EQUIVALENT)
    assert same in whys(result, Kind.ACTION, Outcome.EQUIVALENT)
    assert "the steps commute" in whys(result, Kind.SWAP, Outcome.EQUIVALENT)


def test_steps_that_commute_may_be_swapped_where_nothing_shows_their_order() -> None:
    events = [
        Event(step=0, action="Init", state={"level": 0, "lost": 0}),
        Event(step=1, action="Fill", params=(1,)),
        Event(step=2, action="Fill", params=(2,)),
        Event(step=3, action="Fill", params=(1,), observed={"level": 4}),
    ]
    result = of(TIGHT, Trace(header=Header(spec="Tank"), events=tuple(events)))

    swaps = [one for one in result.findings if one.kind is Kind.SWAP]
    assert [(one.step, one.outcome) for one in swaps] == [
        (1, Outcome.EQUIVALENT),
        (2, Outcome.REFUSED),
    ]
    drops = {one.step: one.outcome for one in result.findings if one.kind is Kind.DROP}
    assert drops == {1: Outcome.REFUSED, 2: Outcome.REFUSED, 3: Outcome.EQUIVALENT}


class Careless(TankModel):
    """Does not say what becomes of the losses when the tank is filled."""

    def successors(self, state: ModelState) -> list[Step]:
        moves = super().successors(state)
        return [
            replace(move, post=(move.post[0], lost)) if move.action == "Fill" else move
            for move in moves
            for lost in (range(4) if move.action == "Fill" else (0,))
        ]


def test_what_a_specification_leaves_open_is_a_hole_with_step_and_change() -> None:
    model = Careless()
    result = of(model, walk(model, 1), count=600)

    assert result.count(Kind.FIELD, Outcome.HOLE) > 0
    hole = next(one for one in result.holes if one.kind is Kind.FIELD)
    assert hole.what.startswith("lost: ")
    assert "after Fill(" in hole.what
    text = mutations_text(result, judge_mutations(result))
    assert f"trace 0, step {hole.step}: field: {hole.what}" in text
    assert mutations_json(result, judge_mutations(result))["holes"]


def test_a_lost_event_that_nobody_misses_is_a_hole() -> None:
    """Nothing shows the level until the tank is emptied, whatever it was."""
    model = Careless()
    events = [
        Event(step=0, action="Init", state={"level": 0, "lost": 0}),
        Event(step=1, action="Fill", params=(1,), observed={"lost": 2}),
        Event(step=2, action="Fill", params=(1,), observed={"lost": 3}),
        Event(step=3, action="Empty", observed={"lost": 0}),
    ]
    result = of(model, Trace(header=Header(spec="Tank"), events=tuple(events)))

    drops = {one.step: one.outcome for one in result.findings if one.kind is Kind.DROP}
    assert drops[1] is Outcome.HOLE
    assert drops[2] is Outcome.HOLE


class Shallow(TankModel):
    """Is filled up to 3 only."""

    def successors(self, state: ModelState) -> Sequence[Step]:
        return [move for move in super().successors(state) if move.post[0] != 4]


class Partial(TankModel):
    """Has no value where the tank is nearly full."""

    def allows(
        self,
        action: str | None,
        params: tuple[RuntimeValue, ...],
        pre: ModelState,
        post: ModelState,
    ) -> bool:
        if post[0] == 4 and action == "Fill":
            raise EvaluationError("no value for this one")
        return super().allows(action, params, pre, post)

    def bound_successors(
        self, state: ModelState, action: str, params: tuple[RuntimeValue, ...]
    ) -> Sequence[Step]:
        raise EvaluationError(f"no list of {action}{params} from {state}")


def test_what_has_no_value_is_undecided() -> None:
    result = of(Partial(), walk(Shallow(), 1, length=12), count=400)

    assert result.accepted == 1
    assert result.count(None, Outcome.UNDECIDED) > 0
    assert whys(result, Kind.FIELD, Outcome.UNDECIDED) <= {"no value for this one"}
    assert "no value for this one" in mutations_text(result, judge_mutations(result))


def test_only_accepted_traces_are_corrupted() -> None:
    good = walk(TIGHT, 1)
    last = good.events[-1]
    bad = Trace(
        header=good.header,
        events=(*good.events[:-1], replace(last, state={"level": 9, "lost": 9})),
    )
    unknown = Trace(
        header=good.header, events=(*good.events[:-1], replace(last, action="Paint", params=()))
    )

    result = of(TIGHT, bad, Trace(header=good.header, events=()), unknown)

    assert result.findings == ()
    assert result.left_out == {
        "trace 0": "it diverges at step 29",
        "trace 1": "it has no events",
        "trace 2": "Tank has no action Paint",
    }
    assert "not corrupted, it diverges at step 29" in mutations_text(
        result, judge_mutations(result)
    )


def test_a_state_that_violates_an_invariant_is_refused() -> None:
    model = replace(Careless(), most_lost=0)
    trace = walk(replace(model, most_lost=99), 1, length=2)
    clean = replace(trace.events[1], state={**(trace.events[1].state or {}), "lost": 0})

    result = of(model, Trace(header=trace.header, events=(trace.events[0], clean)))

    lost = [one for one in result.findings if one.kind is Kind.FIELD and "lost" in one.what]
    assert {one.outcome for one in lost} == {Outcome.REFUSED}


def test_more_silent_steps_than_are_tried_leave_a_trace_undecided() -> None:
    events = (
        Event(step=0, action="Init", state={"level": 0, "lost": 0}),
        Event(step=1, action="Fill", params=(1,), state={"level": 1, "lost": 9}),
    )
    silent = Silent(actions=("Fill", "Drain"))

    result = of(TIGHT, Trace(header=Header(spec="Tank", silent=silent), events=events))

    assert list(result.left_out.values()) == [
        "undecided at step 1: more silent steps would be needed than are tried"
    ]


def test_a_lost_event_whose_step_may_be_silent_is_the_same_behaviour() -> None:
    events = [
        Event(step=0, action="Init", state={"level": 0, "lost": 0}),
        Event(step=1, action="Fill", params=(2,)),
        Event(step=2, action="Fill", params=(1,), state={"level": 3, "lost": 0}),
    ]
    loud = Trace(header=Header(spec="Tank"), events=tuple(events))
    silent = replace(loud, header=Header(spec="Tank", silent=Silent(actions=("Fill",), most=1)))

    for trace, outcome, why in (
        (loud, Outcome.REFUSED, ""),
        (silent, Outcome.EQUIVALENT, "the step may be silent"),
    ):
        found = of(TIGHT, trace).findings
        drop = next(one for one in found if (one.kind, one.step) == (Kind.DROP, 1))
        assert (drop.outcome, drop.why) == (outcome, why)


def test_totals_by_action_add_up() -> None:
    model = Careless()
    result = of(model, walk(model, 1), count=200)

    assert {"Fill", "Init"} <= set(result.actions)
    for outcome in (None, *Outcome):
        sums = sum(result.count_of(action, outcome) for action in result.actions)
        assert sums == result.count(None, outcome)
    assert "\nFill " in mutations_text(result, judge_mutations(result))


@pytest.mark.parametrize("silent", [None, Silent(actions=("Drain",), most=2)], ids=["", "silent"])
@pytest.mark.parametrize("shows", [None, ("level",), ("lost",), ()], ids=str)
@pytest.mark.parametrize(
    "model", [TIGHT, Careless(), Noting()], ids=["tight", "careless", "noting"]
)
def test_a_part_is_judged_as_the_whole_trace_is(
    model: TankModel, shows: tuple[str, ...] | None, silent: Silent | None
) -> None:
    trace = walk(model, 7, length=12, shows=shows)
    trace = replace(trace, header=Header(spec="Tank", silent=silent))
    fitting, corrupter = Fitting(model, trace), Mutator(trace, model.actions)
    judged = 0
    for kind in Kind:
        for number in range(12):
            corruption = corrupter.draw(kind, Random(number))
            if corruption is None:
                continue
            events = [
                *trace.events[: corruption.first],
                *corruption.events,
                *trace.events[corruption.end :],
            ]
            numbered = tuple([replace(one, step=at) for at, one in enumerate(events)])
            (verdict,) = match_traces(model, [Trace(header=trace.header, events=numbered)])
            outcome, _ = _judge(fitting, corruption)
            accepted = outcome in (Outcome.EQUIVALENT, Outcome.HOLE)
            assert accepted == isinstance(verdict, Conforms), (corruption, verdict)
            judged += 1
    assert judged > 30
