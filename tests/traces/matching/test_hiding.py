"""Hidden variables and actions: conforming runs stay conforming, bugs stay visible."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from rocketha.known_bugs import EPOCH_BUGS, Bug
from rocketproof.runs import simulate_trace
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.matching import DEFAULT_BUDGET, Budget, match_traces
from tlatrace.matching.hiding import hide, some_of
from tlatrace.oracle import Model, load_model
from tlatrace.tools.spec_root import find_spec_root
from tlatrace.trace import Event, Header, Part, Silent, Trace

PROTOCOL: Final = "epoch_truncation"
RUNS: Final = 40
LARGE: Final = Budget(states=60_000)
"""For up to eight silent steps before one event; how many candidates there are varies by chance."""
SMALL: Final = Budget(states=2_000)
TOO_MUCH_HIDDEN: Final = {3, 35}
"""Seeds for which ten times that does not do: links are hidden, and what changes them."""
SEEN_AT: Final = {
    Bug.B01: 0,
    Bug.B02: 10,
    Bug.B03: 4,
    Bug.B04: 2,
    Bug.B05: 0,
    Bug.B06: 1,
    Bug.B07: 0,
    Bug.B10: 0,
    Bug.B11: 13,
    Bug.B83: 59,
    Bug.B86: 0,
    Bug.FLUSH_BEFORE_EPOCH: 0,
    Bug.KEPT_LINK: 0,
    Bug.KNOWN_FOLLOWS_BATCH: 32,
    Bug.MASTER_ANSWERS: 0,
    Bug.MIN_END: 0,
}
"""A seed at which a run with the bug diverges with half of the variables hidden."""
NEVER_SEEN: Final = {Bug.OFFSET_CONTINUES, Bug.REPORT_OWN_END, Bug.START_COMPARED}
"""Of the first 400 runs none diverges even when everything is logged."""
NEVER_HIDDEN: Final = {"ElectNobody", "LoseLog", "LoseStore", "Healed"}
"""A run has hardly one of these, so there is nothing of them to hide."""


def test_hidden_actions_become_silent_and_hidden_variables_are_left_out() -> None:
    trace = Trace(
        header=Header(spec="M"),
        events=(
            Event(step=0, action="Init", state={"x": 0, "y": 0}),
            Event(step=1, action="A", params=(1,), state={"x": 1, "y": 0}),
            Event(step=2, action="B", state={"x": 1, "y": 1}),
            Event(step=3, action="B", state={"x": 1, "y": 2}),
            Event(
                step=4, action="A", observed={"y": 2}, parts=(Part(variable="x", at=(1,), value=2),)
            ),
            Event(step=5, action="B", state={"x": 1, "y": 3}),
        ),
    )

    hidden = hide(trace, variables={"x"}, actions={"B"})

    assert hidden.header == Header(spec="M", silent=Silent(actions=("B",), most=2))
    assert hidden.events == (
        Event(step=0, action="Init", observed={"y": 0}),
        Event(step=1, action="A", params=(1,), observed={"y": 0}),
        Event(step=2, action="A", observed={"y": 2}),
    )
    assert hide(trace) == trace


def test_the_same_seed_hides_the_same() -> None:
    names = [f"v{at}" for at in range(12)]

    assert some_of(names, 6, 3) == some_of(names[::-1], 6, 3)
    assert len({some_of(names, 6, seed) for seed in range(20)}) > 15


# ---- EpochTruncation: half of the variables, a third of the actions ------------------------


@pytest.fixture(scope="module")
def model() -> Model:
    config = Path(__file__).with_name("specs") / "EpochTruncation.cfg"
    return load_model(find_spec_root() / PROTOCOL / "MCEpochTruncation.tla", config)


def hidden(model: Model, trace: Trace, seed: int) -> Trace:
    actions = {name for name in model.actions if name != model.next and model.calls(name)}
    often = sorted(actions - NEVER_HIDDEN)
    return hide(
        trace,
        variables=some_of(model.variables, len(model.variables) // 2, seed),
        actions=some_of(often, len(often) // 3, seed),
    )


def judged(model: Model, trace: Trace, budget: Budget = DEFAULT_BUDGET) -> Verdict:
    (found,) = match_traces(model, [trace], budget=budget)
    return found


@pytest.mark.java
def test_conforming_runs_conform_with_half_of_the_variables_and_a_third_of_the_actions(
    model: Model,
) -> None:
    traces = [hidden(model, simulate_trace(PROTOCOL, seed), seed) for seed in range(RUNS)]

    found = [
        judged(model, trace, SMALL if seed in TOO_MUCH_HIDDEN else LARGE)
        for seed, trace in enumerate(traces)
    ]

    for seed, (trace, verdict) in enumerate(zip(traces, found, strict=True)):
        if seed in TOO_MUCH_HIDDEN:
            assert isinstance(verdict, Undecided | Conforms), seed
        else:
            assert verdict == Conforms(len(trace.events)), seed
    silent = [trace.header.silent for trace in traces if trace.header is not None]
    assert all(one is not None and one.most for one in silent)


@pytest.mark.java
@pytest.mark.parametrize("bug", [bug for bug in Bug if bug in EPOCH_BUGS - NEVER_SEEN])
def test_every_bug_is_still_seen_in_what_is_left(bug: Bug, model: Model) -> None:
    seed = SEEN_AT[bug]

    found = judged(model, hidden(model, simulate_trace(PROTOCOL, seed, bugs=(bug.value,)), seed))

    assert isinstance(found, Diverges)


def test_every_bug_is_in_one_of_the_tables() -> None:
    assert set(SEEN_AT) | NEVER_SEEN == EPOCH_BUGS
