"""Which known bugs explain a trace."""

from __future__ import annotations

import pytest

from rocketha.known_bugs import Bug
from rocketproof.museum_judge import explaining
from tests.traces.rocketproof.recorded_runs import SUBJECTS, judged, recorded
from tlatrace.judgement.verdict import Diverges
from tlatrace.trace import Trace

pytestmark = pytest.mark.java

PROTOCOL = "epoch_truncation"


def trace_of(*bugs: Bug, seed: int) -> Trace:
    made = recorded(PROTOCOL, seed, frozenset(bugs))
    return made.plug.trace_of_records(made.logs)


def names_of(trace: Trace, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    (verdict,) = judged([trace])
    assert isinstance(verdict, Diverges)
    return explaining(PROTOCOL, trace, verdict.step, names)


def test_the_bug_of_a_run_explains_it() -> None:
    trace = trace_of(Bug.B03, seed=SUBJECTS[PROTOCOL].seed_of_bug[Bug.B03])
    assert names_of(trace, ("B01", "B03", "B86")) == (("B03",),)


def test_two_bugs_may_be_needed() -> None:
    trace = trace_of(Bug.B06, Bug.B07, seed=1)
    assert names_of(trace, ("B06", "B07", "B86")) == (("B06", "B07"),)


def test_others_do_not() -> None:
    trace = trace_of(Bug.B03, seed=SUBJECTS[PROTOCOL].seed_of_bug[Bug.B03])
    assert names_of(trace, ("B01", "B86")) == ()
    assert names_of(trace, ()) == ()
