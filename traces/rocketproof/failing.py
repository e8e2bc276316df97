"""How a simulated run of a group fails: the judge of `rocketproof.shrinking`.

As in the search for known bugs, a step that the specification does not allow comes first, then a
promise to a client that is broken, then a run that does not come back to life.
"""

from __future__ import annotations

from rocketha.histories import Broken, check_history
from rocketproof.engines import Judges, match_by_model
from rocketproof.known_bugs import DEAD, is_dead
from rocketproof.projection.registry import Run, run_scheduled
from rocketproof.schedule import Scheduled
from rocketproof.shrinking import Failure, How, Outcome
from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import ToolError
from tlatrace.judgement.verdict import Diverges, Undecided
from tlatrace.model import Model
from tlatrace.trace import Trace
from tlatrace.values import canonical_state

__all__ = ["GroupJudge"]


class GroupJudge:
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
        failure = self._failure(run)
        return Outcome(failure=failure, injected=run.injected, healed_ms=run.healed_ms)

    def _failure(self, run: Run) -> Failure | None:
        trace, last = run.trace, len(run.trace.events) - 1
        verdict = self._verdict(trace)
        if verdict is not None:
            what = verdict.action or "Next"
            words = f"step {verdict.step} is no {what} of the specification"
            return _failure(trace, How.REJECTED, what, words, verdict.step)
        assert run.history is not None
        told = check_history(run.history)
        if isinstance(told, Broken):
            return _failure(trace, How.BROKEN, told.promise, told.reason, last)
        if run.report.failure is not None:
            return _failure(trace, How.ENDED, "", run.report.failure, last)
        if is_dead(trace):
            return _failure(trace, How.DEAD, "", DEAD, last)
        return None

    def _verdict(self, trace: Trace) -> Diverges | None:
        header = trace.header
        assert header is not None, "the simulator writes a header"
        if self._choice is None:
            return None
        key = canonical_state(header.constants)
        if key not in self._models:
            self._models[key] = self._choice.model(header)
        judges = Judges(choice=self._choice)
        [verdict] = match_by_model(judges, self._models[key], header, [trace])
        if isinstance(verdict, Undecided):
            raise ToolError("shrink", f"a run is undecided: {verdict.reason}")
        return verdict if isinstance(verdict, Diverges) else None


def _failure(trace: Trace, how: How, what: str, words: str, step: int) -> Failure:
    clock = trace.events[step].clock
    return Failure(how=how, what=what, words=words, step=step, at_ms=clock or 0)
