"""What a run comes to where little, or nothing, was examined."""

from __future__ import annotations

from dataclasses import replace

from rocketha.histories import Broken
from rocketha.sim.engine.options import SimOptions
from rocketproof.protocols import PROTOCOLS
from rocketproof.run_judge import run_verdict
from tlatrace.judgement.verdict import Conforms, Undecided
from tlatrace.report.results import TraceResult


def test_only_what_was_examined_conforms() -> None:
    run = PROTOCOLS["epoch_truncation"].run(3, SimOptions())
    assert run.report.lives
    assert not isinstance(run.verdict, Broken)
    good = TraceResult(path="a", spec="EpochTruncation", outcome=Conforms(5))

    assert run_verdict(run, None) is None
    assert run_verdict(run, [good]) == Conforms(5)
    assert isinstance(run_verdict(run, []), Undecided)
    unread = replace(good, outcome="the file cannot be read")
    assert run_verdict(run, [good, unread]) == Undecided("the file cannot be read")
