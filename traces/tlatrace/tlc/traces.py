"""Verdicts for whole traces: every step a step of the specification, every state within it.

All steps of all traces are collected; TLC judges the distinct ones; then each trace is walked from
its beginning to the first step without a clean answer. So a trace conforms only if TLC allowed
every one of its steps and no invariant failed in any of its states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tlatrace.judgement.bounds import out_of_bounds
from tlatrace.judgement.difference import call_text, difference
from tlatrace.judgement.specification import SpecUnderTest, differing_constants
from tlatrace.judgement.transition import (
    Allowed,
    Failed,
    Judged,
    Refused,
    Transition,
    transition_keys,
)
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict
from tlatrace.tlc.judge import DEFAULT_BATCH, RunBatch, judge
from tlatrace.trace import Event, Trace
from tlatrace.values import State

__all__ = [
    "EMPTY_FILE",
    "HEADER_ONLY",
    "Names",
    "early_verdict",
    "step_verdict",
    "transitions_of",
    "validate_traces",
    "verdict_of",
]

EMPTY_FILE: Final = "the file is empty"
HEADER_ONLY: Final = "the trace has a header, but no events"
_PARTIAL: Final = "it does not show the whole step, and TLC does not search (engine compiled does)"
_SILENT: Final = "the trace has silent steps, and TLC does not search (engine compiled does)"
_CHANGES_SHOWN: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a specification calls itself, for the texts of verdicts."""

    module: str
    init: str
    next: str


def validate_traces(
    spec: SpecUnderTest,
    traces: Sequence[Trace],
    *,
    batch_size: int = DEFAULT_BATCH,
    timeout_s: float = 600.0,
    workers: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
    run_batch: RunBatch | None = None,
) -> list[Verdict]:
    """Give a verdict on each trace; the parameters are those of `judge`.

    Raises:
        SpecError, ToolError: as `judge`.
    """
    distinct: dict[str, Transition] = {}
    keys: list[list[str]] = []
    for trace in traces:
        steps = transitions_of(trace)
        names = transition_keys(steps)
        distinct.update(
            {key: step for key, step in zip(names, steps, strict=True) if key not in distinct}
        )
        keys.append(names)
    judged = judge(
        spec,
        list(distinct.values()),
        batch_size=batch_size,
        timeout_s=timeout_s,
        workers=workers,
        on_progress=on_progress,
        run_batch=run_batch,
    )
    answers = dict(zip(distinct, judged, strict=True))
    return [
        verdict_of(spec, trace, names, answers) for trace, names in zip(traces, keys, strict=True)
    ]


def transitions_of(trace: Trace) -> list[Transition]:
    """Return the steps up to the first event without a whole state or all its arguments."""
    steps: list[Transition] = []
    before: State | None = None
    for event in trace.events:
        if event.state is None or event.known_params is not None:
            break
        action = None if before is None else event.action
        steps.append(Transition(before, action, event.params, event.state))
        before = event.state
    return steps


def verdict_of(
    spec: SpecUnderTest, trace: Trace, keys: Sequence[str], answers: Mapping[str, Judged]
) -> Verdict:
    """Walk a trace whose steps have been judged; `keys` are those of `transitions_of`."""
    constants = {} if trace.header is None else trace.header.constants
    if (early := early_verdict(trace, differing_constants(spec, constants))) is not None:
        return early
    if trace.header is not None and trace.header.silent is not None:
        return Undecided(_SILENT)
    names = Names(module=spec.name, init=spec.init, next=spec.next)
    before: State | None = None
    for event, key in zip(trace.events, keys, strict=False):
        judged = answers[key]
        refused = isinstance(judged.step, Refused)
        outside = refused and out_of_bounds(
            spec, event.action, spec.reading.params(event.action, event.params)
        )
        verdict = step_verdict(names, event, before, judged, out_of_bounds=outside)
        if verdict is not None:
            return verdict
        before = event.state
    if len(keys) < len(trace.events):
        return Undecided(f"step {len(keys)}: {_PARTIAL}")
    return Conforms(len(keys))


def early_verdict(trace: Trace, differing: Sequence[str]) -> Verdict | None:
    """Return the verdict on a trace that no step has to be judged for, None if one has to.

    `differing` names the constants that the trace has with another value.
    """
    if trace.header is None:
        return Undecided(EMPTY_FILE)
    if not trace.events:
        return Undecided(HEADER_ONLY)
    if differing:
        name = differing[0]
        return Undecided(f"the trace and the configuration differ in the constant {name}")
    return None


def step_verdict(
    names: Names, event: Event, before: State | None, judged: Judged, *, out_of_bounds: bool = False
) -> Verdict | None:
    """Return what ends the walk at this event, which has a whole state; None if nothing does.

    `out_of_bounds`: whether the arguments are certain to be none that Next takes.
    """
    match judged.step:
        case Failed(reason):
            return Undecided(f"step {event.step}: {reason}")
        case Refused():
            return _refused(names, event, before, out_of_bounds)
        case Allowed():
            pass
    if judged.violated:
        return Diverges(
            step=event.step,
            action=event.action,
            expected=f"a state in which {' and '.join(judged.violated)} holds",
            observed=f"a state that violates {', '.join(judged.violated)}",
        )
    if judged.unevaluated is not None:
        return Undecided(f"step {event.step}: invariants: {judged.unevaluated}")
    return None


def _refused(names: Names, event: Event, before: State | None, out_of_bounds: bool) -> Diverges:
    assert event.state is not None
    name = names.module
    if before is None:
        expected, observed = f"a state that {names.init} of {name} allows", "another initial state"
    else:
        call = call_text(event.action, event.params)
        expected = f"a step of {name} that is {call}"
        if event.action is None:
            expected = f"a step that {names.next} of {name} allows"
        changes = [change.text() for change in difference(before, event.state)]
        shown = changes[:_CHANGES_SHOWN]
        if len(changes) > len(shown):
            shown.append(f"and {len(changes) - len(shown)} more")
        observed = "; ".join(shown) or "no change"
        if out_of_bounds:
            observed = f"parameters that {names.next} does not allow"
    return Diverges(step=event.step, action=event.action, expected=expected, observed=observed)
