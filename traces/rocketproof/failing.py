"""How a simulated run fails: the judge of `rocketproof.shrinking`.

As in the search for known bugs, a step that the specification does not allow comes first, then a
promise to a client that is broken, then a run that does not come back to life.
"""

from __future__ import annotations

from dataclasses import replace

from rocketha.histories import Broken
from rocketproof.engines import Judges, match_by_model
from rocketproof.known_bugs import DEAD
from rocketproof.plug import Run
from rocketproof.protocols import PROTOCOLS
from rocketproof.runs import run_scheduled
from rocketproof.schedule import Scheduled
from rocketproof.shrinking import Failure, How, Outcome
from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import ToolError
from tlatrace.judgement.verdict import Diverges, Undecided
from tlatrace.oracle import Model
from tlatrace.trace import Trace
from tlatrace.values import canonical_state

__all__ = ["RunJudge"]


class RunJudge:
    """Runs what it is told to, and looks for what is wrong; models are compiled once."""

    def __init__(self, choice: SpecChoice | None) -> None:
        """Judge by the specification that is chosen; None: only by what clients saw."""
        self._choice = choice
        self._models: dict[str, Model] = {}

    def __call__(self, scheduled: Scheduled) -> Outcome:
        """Simulate and judge.

        Raises:
            ToolError: the compiled model has no verdict.
        """
        run = run_scheduled(scheduled)
        failure = self.failure(run)
        is_rejected = failure is not None and failure.how is How.REJECTED
        if failure is not None and is_rejected and PROTOCOLS[scheduled.protocol].shown_later:
            failure = replace(failure, at_ms=run.report.virtual_ms, may_end_earlier=True)
        return Outcome(failure=failure, injected=run.injected, healed_ms=run.healed_ms)

    def failure(self, run: Run) -> Failure | None:
        """Judge a run. Raises: as the call."""
        for at, trace in enumerate(run.traces):
            verdict = self._verdict(trace)
            if verdict is not None:
                what, step = verdict.action or "Next", verdict.step
                return Failure(
                    how=How.REJECTED,
                    what=what,
                    words=f"step {step} is no {what} of the specification",
                    trace=at,
                    step=step,
                    at_ms=trace.events[step].clock or 0,
                )
        promised = run.verdict
        if isinstance(promised, Broken):
            return _at_the_end(run, How.BROKEN, promised.promise, promised.reason)
        if run.report.failure is not None:
            return _at_the_end(run, How.ENDED, "", run.report.failure)
        if not run.report.lives:
            return _when_healed(run)
        return None

    def failure_of_records(self, scheduled: Scheduled) -> Failure | None:
        """Simulate a run again, and judge what its nodes write of it.

        Raises: as the call.
        """
        plug = PROTOCOLS[scheduled.protocol]
        if self._choice is None or plug.records is None:
            return None
        for at, trace in enumerate(plug.recorded_traces(scheduled)):
            verdict = self._verdict(trace)
            if verdict is not None:
                what, step = verdict.action or "Next", verdict.step
                return Failure(
                    how=How.REJECTED,
                    what=what,
                    words=f"event {step} of the records is no {what} of the specification",
                    trace=at,
                    step=step,
                    at_ms=0,
                )
        return None

    def _verdict(self, trace: Trace) -> Diverges | None:
        header = trace.header
        assert header is not None, "the simulator writes a header"
        if self._choice is None or not trace.events:
            return None
        key = canonical_state(header.constants)
        if key not in self._models:
            self._models[key] = self._choice.model(header)
        judges = Judges(choice=self._choice)
        [verdict] = match_by_model(judges, self._models[key], header, [trace])
        if isinstance(verdict, Undecided):
            raise ToolError("shrink", f"a run is undecided: {verdict.reason}")
        return verdict if isinstance(verdict, Diverges) else None


def _at_the_end(run: Run, how: How, what: str, words: str) -> Failure:
    """Make a failure that the last step of the longest trace shows, if any does."""
    events = run.trace.events
    at_ms = events[-1].clock if events else None
    trace = next((at for at, trace in enumerate(run.traces) if trace is run.trace), 0)
    return Failure(
        how=how,
        what=what,
        words=words,
        trace=trace,
        step=max(0, len(events) - 1),
        at_ms=run.report.virtual_ms if at_ms is None else at_ms,
        may_end_earlier=how is How.BROKEN,
    )


def _when_healed(run: Run) -> Failure:
    """Make a failure of a run that stays dead: it is so from the end of its faults on."""
    failure = _at_the_end(run, How.DEAD, "", DEAD)
    healed_ms, events = run.healed_ms, run.trace.events
    if healed_ms is None or not events:
        return failure
    before = sum((event.clock or 0) <= healed_ms for event in events)
    return replace(failure, step=max(0, before - 1), at_ms=healed_ms)
