"""Verdicts on traces from the compiled model of a specification.

A trace of whole states is walked step by step, and gets the verdict, word for word, that TLC's
judgements would give it. A partial one is searched for an explanation, see `search`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tlatrace.errors import EvaluationError, ModelGapError
from tlatrace.judgement.transition import Allowed, Failed, Judged, Judgement, Refused
from tlatrace.judgement.verdict import Conforms, Undecided, Verdict
from tlatrace.matching.observation import Observation, observe
from tlatrace.matching.search import DEFAULT_BUDGET, Budget
from tlatrace.matching.verdict import concurrent_verdict, search_verdict
from tlatrace.oracle.cached import CachedOracle
from tlatrace.oracle.oracle import Oracle
from tlatrace.oracle.states import ModelState
from tlatrace.tlc.traces import Names, early_verdict, step_verdict
from tlatrace.trace import Clues, Event, Trace
from tlatrace.values import State, Value

__all__ = ["is_partial", "match_traces"]


def match_traces(
    model: Oracle,
    traces: Sequence[Trace],
    *,
    names: Names | None = None,
    differing: Callable[[State], Sequence[str]] | None = None,
    out_of_bounds: Callable[[str | None, tuple[Value, ...]], bool] | None = None,
    budget: Budget = DEFAULT_BUDGET,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Verdict]:
    """Give a verdict on each trace; nothing is raised, what has no value leaves it undecided.

    `names` is for the texts; `differing` names the constants of a header that the model has with
    another value; `out_of_bounds` tells whether the arguments of an action are certain to be none
    that Next takes, and is asked about refused steps only; `on_progress` gets how many events of
    how many are matched.
    """
    oracle = CachedOracle(model)
    texts = _Texts(
        names=names or Names(module=model.module, init="Init", next="Next"),
        out_of_bounds=out_of_bounds or (lambda _action, _params: False),
    )
    total = sum(len(trace.events) for trace in traces)
    done = 0
    verdicts: list[Verdict] = []
    for trace in traces:
        constants = {} if trace.header is None else trace.header.constants
        early = early_verdict(trace, () if differing is None else differing(constants))
        with _no_cycles_are_made():
            verdicts.append(early or _match(oracle, texts, trace, budget))
        done += len(trace.events)
        if on_progress is not None:
            on_progress(done, total)
    return verdicts


@contextmanager
def _no_cycles_are_made() -> Iterator[None]:
    """Pause the collector of cycles, whose passes over a long trace cost more and more.

    An event of a trace of 50,000 took 1.8 times as long as one of 500.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    """What the texts of verdicts need to know."""

    names: Names
    out_of_bounds: Callable[[str | None, tuple[Value, ...]], bool]


def is_partial(trace: Trace) -> bool:
    """Tell whether a trace leaves something to be searched for; a null action alone does not."""
    return (trace.header is not None and trace.header.silent is not None) or any(
        event.state is None or event.known_params is not None or event.clues != Clues()
        for event in trace.events
    )


def _match(oracle: CachedOracle, texts: _Texts, trace: Trace, budget: Budget) -> Verdict:
    silent = None if trace.header is None else trace.header.silent
    if not is_partial(trace):
        return _walk(oracle, texts, trace)
    if silent is not None:
        unknown = [name for name in silent.actions if name not in oracle.model.actions]
        if unknown:
            return Undecided(f"{texts.names.module} has no action {', '.join(unknown)}")
    events: list[Observation] = []
    end: Undecided | None = None
    expressions = () if trace.header is None else trace.header.expressions
    for event in trace.events:
        try:
            events.append(observe(oracle.model, event, expressions))
        except (ModelGapError, EvaluationError) as error:
            end = Undecided(f"step {event.step}: {error}")
            break
    if end is not None and not events:
        return end
    if any(seen.event.clues.follows is not None for seen in events):
        # what stands behind the end may have happened before what stands before it
        return end or concurrent_verdict(oracle, texts.names, events, silent, budget)
    verdict = search_verdict(oracle, texts.names, events, silent, budget)
    return end if end is not None and isinstance(verdict, Conforms) else verdict


def _walk(oracle: CachedOracle, texts: _Texts, trace: Trace) -> Verdict:
    """Judge one step after the other, up to the first without a clean answer."""
    before: State | None = None
    pre: ModelState | None = None
    for event in trace.events:
        judged, pre = _judged(oracle, event, pre)
        refused = before is not None and isinstance(judged.step, Refused)
        outside = refused and texts.out_of_bounds(event.action, event.params)
        verdict = step_verdict(texts.names, event, before, judged, out_of_bounds=outside)
        if verdict is not None:
            return verdict
        before = event.state
    return Conforms(len(trace.events))


def _judged(
    oracle: CachedOracle, event: Event, pre: ModelState | None
) -> tuple[Judged, ModelState | None]:
    """Judge a step with a whole state; returns that state, None if the model cannot have it."""
    try:
        seen = observe(oracle.model, event)
    except (ModelGapError, EvaluationError) as error:
        return Judged(step=Failed(str(error))), None
    assert seen.whole is not None, "the trace is not partial"
    step: Judgement
    try:
        if pre is None:
            allowed = oracle.is_initial(seen.whole)
        else:
            assert seen.all_params is not None, "the trace is not partial"
            allowed = oracle.allows(event.action, seen.all_params, pre, seen.whole)
        step = Allowed() if allowed else Refused()
    except EvaluationError as error:
        step = Failed(str(error))
    if not isinstance(step, Allowed):
        return Judged(step=step), seen.whole
    try:
        return Judged(step=step, violated=oracle.violated(seen.whole)), seen.whole
    except EvaluationError as error:
        return Judged(step=step, unevaluated=str(error)), seen.whole
