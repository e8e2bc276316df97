"""The limit on time holds inside of an endless enumeration, and leaves nothing behind."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tests.traces.matching.toy import ToyModel, counters
from tlatrace.judgement.verdict import Diverges, Undecided, Verdict
from tlatrace.matching import Budget, match_traces
from tlatrace.matching.deadline import Clock, TimeIsUpError, time_limit
from tlatrace.oracle import ModelState, Step
from tlatrace.trace import Event, Header, State, Trace
from tlatrace.values import Value

TRACE = Trace(
    header=Header(spec="Counters"),
    events=(
        Event(step=0, action="Init"),
        Event(step=1, action="Jump", known_params=()),
        Event(step=2, action="Jump", known_params=(), observed={"left": 7}),
    ),
)


def endless() -> ToyModel:
    """Make counters of which a second step never ends, and that takes errors for no value."""
    model = counters()
    steps = model.steps

    def never(state: State) -> Iterator[tuple[str, tuple[Value, ...], State]]:
        if state["left"]:
            for _ in itertools.count():
                try:
                    pass
                except Exception:
                    break
        yield from steps(state)

    model.steps = never
    return model


def test_an_endless_enumeration_ends_at_the_limit() -> None:
    started = time.monotonic()

    (verdict,) = match_traces(endless(), [TRACE], budget=Budget(seconds=0.3))

    assert time.monotonic() - started < 5
    assert isinstance(verdict, Undecided)
    assert verdict.reason.startswith("step 2: gave up after 0.3 s and 3 candidates")


def test_a_search_in_another_thread_ends_between_two_answers() -> None:
    found: list[Verdict] = []
    model = counters()
    slow, steps = [0], model.steps

    def late(state: State) -> Iterator[tuple[str, tuple[Value, ...], State]]:
        slow[0] += 1
        time.sleep(0.2)
        return steps(state)

    model.steps = late
    events = [Event(step=0, action="Init")]
    events += [Event(step=at, action="Left") for at in range(1, 30)]
    trace = Trace(header=Header(spec="Counters"), events=tuple(events))
    thread = threading.Thread(
        target=lambda: found.extend(match_traces(model, [trace], budget=Budget(seconds=0.5)))
    )

    thread.start()
    thread.join()

    assert isinstance(found[0], Undecided)
    assert slow[0] < 20


def test_a_trace_that_is_in_time_is_judged() -> None:
    (verdict,) = match_traces(counters(), [TRACE], budget=Budget(seconds=60))

    assert isinstance(verdict, Diverges)


def test_an_alarm_that_was_set_before_rings_after() -> None:
    rung: list[int] = []
    old = signal.signal(signal.SIGALRM, lambda number, _frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.4)
        with pytest.raises(TimeIsUpError), time_limit(Clock(0.05)):
            time.sleep(5)
        assert not rung
        time.sleep(0.6)
        assert rung == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


class OtherActions(ToyModel):
    """Its next steps have no end, unless one action is asked for: that one has none."""

    def successors(self, _state: ModelState) -> list[Step]:
        while True:
            time.sleep(0.01)

    def action_successors(self, _state: ModelState, _action: str) -> list[Step]:
        return []


def test_naming_what_is_possible_instead_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tlatrace.matching.verdict._ACTIONS_SECONDS", 0.2)
    toy = counters()
    model = OtherActions(
        module=toy.module, initial=toy.initial, steps=toy.steps, actions=toy.actions
    )

    with time_limit(Clock(20)):
        (verdict,) = match_traces(model, [TRACE])

    assert isinstance(verdict, Diverges)
    assert verdict.observed == "no such step is possible"
