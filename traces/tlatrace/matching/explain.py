"""Say why a trace does not conform, from the compiled model: no TLC, and the failing conjunct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tlatrace.errors import EvaluationError, ModelGapError
from tlatrace.judgement.difference import difference
from tlatrace.judgement.verdict import Diverges, Verdict
from tlatrace.logged import Logged
from tlatrace.matching.false_conjuncts import ForbiddenAction, false_conjuncts
from tlatrace.matching.nearest import nearest_explanation
from tlatrace.oracle import Model, ModelState, Step
from tlatrace.tlc.explain import Candidate, Explanation, nearest
from tlatrace.trace import Event, Trace
from tlatrace.values import Value

__all__ = ["Reasons", "explain_verdict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """What is known of the first step that does not conform."""

    explanation: Explanation
    conjuncts: tuple[ForbiddenAction, ...] = ()
    """What forbids the step: the trace's own action first."""
    logged: Logged | None = None
    """What of the specification the trace has logged; None where no specification was asked."""


def explain_verdict(
    model: Model,
    trace: Trace,
    verdict: Verdict,
    folders: Sequence[Path],
    *,
    searches: bool = True,
) -> Reasons:
    """Explain a verdict that the model gave; it must have been loaded with `conjuncts`.

    `folders` hold the `.tla` files. With `searches`, the nearest explanation of a partial
    trace is searched for.
    """
    if not isinstance(verdict, Diverges):
        return Reasons(explanation=Explanation(verdict=verdict))
    event = trace.events[verdict.step]
    before = trace.events[verdict.step - 1].state if verdict.step else None
    silent = trace.header is not None and trace.header.silent is not None
    known = event.state is not None and event.known_params is None and not silent
    if event.state is None or not known or (verdict.step and before is None):
        if searches:
            return _partial(model, trace, verdict, folders)
        return Reasons(explanation=Explanation(verdict=verdict))
    post = model.adopt(event.state)
    pre = None if before is None else model.adopt(before)
    conjuncts, notes = false_conjuncts(model, folders, event.action, event.params, pre, post)
    found = list(notes)
    steps = _steps(model, event, pre, found)
    shown = model.show(post)
    own = [(s.action, model.show(s.post)) for s, claimed in steps if claimed]
    others = [(s.action, model.show(s.post)) for s, claimed in steps if not claimed]
    candidates: list[Candidate] = nearest(own, shown, True)
    taken = event.action if candidates else None
    candidates += [other for other in nearest(others, shown, False) if other.action != taken]
    return Reasons(
        explanation=Explanation(
            verdict=verdict,
            event=event,
            changes=difference(model.show(pre), shown) if pre is not None else (),
            candidates=tuple(candidates),
            enabled=tuple(sorted({s.action for s, _ in steps})) if pre is not None else (),
            notes=tuple(dict.fromkeys(found)),
        ),
        conjuncts=conjuncts,
    )


def _partial(model: Model, trace: Trace, verdict: Diverges, folders: Sequence[Path]) -> Reasons:
    try:
        found = nearest_explanation(model, trace, verdict, folders)
    except (EvaluationError, ModelGapError):
        return Reasons(explanation=Explanation(verdict=verdict))
    return Reasons(
        explanation=Explanation(
            verdict=verdict,
            event=trace.events[verdict.step],
            candidates=tuple(found.candidates),
            enabled=tuple(sorted(found.enabled)),
            is_partial=True,
            notes=tuple(dict.fromkeys(found.notes)),
        ),
        conjuncts=tuple(found.conjuncts),
    )


def _steps(
    model: Model, event: Event, pre: ModelState | None, notes: list[str]
) -> list[tuple[Step, bool]]:
    """List the steps that are possible, and whether each is the trace's own action."""
    found: list[tuple[Step, bool]] = []
    try:
        if pre is None:
            return [(Step(model.init, (), post), True) for post in model.initial_states()]
        if event.action in model.actions:
            assert event.action is not None
            params: tuple[Value, ...] = event.params
            adopted = model.adopt_params(event.action, params)
            found += [(s, True) for s in model.bound_successors(pre, event.action, adopted)]
    except (EvaluationError, ModelGapError) as error:
        notes.append(f"{event.action or model.init}: {error}")
    if pre is None:
        return found
    for action in sorted(model.actions):
        if model.calls(action):
            try:
                found += [(s, False) for s in model.action_successors(pre, action)]
            except (EvaluationError, ModelGapError) as error:
                notes.append(f"{action}: {error}")
    return found
