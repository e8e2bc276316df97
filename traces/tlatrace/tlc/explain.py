"""Say why a trace does not conform: what the specification allows instead of the first bad step."""

from __future__ import annotations

from dataclasses import dataclass

from tlatrace.errors import ModelGapError, SpecError, ToolError
from tlatrace.judgement.difference import Change, difference
from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.judgement.verdict import Diverges, Verdict
from tlatrace.tlc.successors import action_successors, initial_states, survey
from tlatrace.tlc.traces import validate_traces
from tlatrace.trace import Event, Trace
from tlatrace.values import State, canonical_state

__all__ = ["Candidate", "Explanation", "explain", "nearest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A step that the specification allows, and how the trace's state differs from its result."""

    action: str
    """"" where TLC does not tell which action it is."""
    claimed: bool
    """Whether it is the trace's own action, with its parameters."""
    differences: tuple[Change, ...]
    """Left: what the specification says; right: what the trace says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is known of the first step that does not conform."""

    verdict: Verdict
    event: Event | None = None
    """The event that diverges; None if the verdict is no divergence."""
    changes: tuple[Change, ...] = ()
    """What the trace changes in this step; left before, right after."""
    is_partial: bool = False
    """Whether the state before is one of those that explain what the trace shows."""
    candidates: tuple[Candidate, ...] = ()
    """Nearest first; for each action the nearest one only."""
    enabled: tuple[str, ...] = ()
    """The actions that are possible before this step."""
    nat_up_to: int | None = None
    """Parameters from Nat were tried up to this number only."""
    notes: tuple[str, ...] = ()
    """What could not be found out, and why."""

    @property
    def claimed_is_enabled(self) -> bool:
        """Whether the trace's action, with its parameters, is possible before this step."""
        return any(candidate.claimed for candidate in self.candidates)


def explain(spec: SpecUnderTest, trace: Trace, *, timeout_s: float = 120.0) -> Explanation:
    """Find the first step of a trace that the specification does not allow, and what it allows.

    Raises:
        SpecError, ToolError: as `judge`. What TLC cannot list becomes a note.
    """
    verdict = validate_traces(spec, [trace], timeout_s=timeout_s)[0]
    if not isinstance(verdict, Diverges):
        return Explanation(verdict=verdict)
    event = trace.events[verdict.step]
    observed = _adopted(spec, event.state)
    if verdict.step == 0:
        return _explain_initial(spec, verdict, event, observed, timeout_s)
    before = _adopted(spec, trace.events[verdict.step - 1].state)
    notes: list[str] = []
    candidates: list[Candidate] = []
    operator = spec.declarations.operators.get(event.action or "")
    if event.action is not None and operator is not None:
        try:
            params = spec.reading.params(event.action, event.params)
            own = action_successors(spec, before, event.action, params, timeout_s=timeout_s)
            candidates += nearest([(event.action, found.state) for found in own], observed, True)
        except (SpecError, ModelGapError, ToolError) as error:
            notes.append(str(error))
    enabled: tuple[str, ...] = ()
    nat_up_to: int | None = None
    try:
        all_steps = survey(spec, before, timeout_s=timeout_s)
    except (SpecError, ModelGapError, ToolError) as error:
        notes.append(str(error))
    else:
        nat_up_to = all_steps.nat_up_to
        pairs = [(found.action, found.state) for found in all_steps.successors]
        enabled = tuple(sorted({action for action, _ in pairs if action}))
        others = nearest(pairs, observed, False)
        own_action = event.action if candidates else None
        candidates += [other for other in others if other.action != own_action]
    return Explanation(
        verdict=verdict,
        event=event,
        changes=difference(before, observed),
        candidates=tuple(candidates),
        enabled=enabled,
        nat_up_to=nat_up_to,
        notes=tuple(notes),
    )


def _explain_initial(
    spec: SpecUnderTest, verdict: Diverges, event: Event, observed: State, timeout_s: float
) -> Explanation:
    notes: tuple[str, ...] = ()
    candidates: list[Candidate] = []
    try:
        states = initial_states(spec, timeout_s=timeout_s)
        candidates = nearest([(spec.init, state) for state in states], observed, True)
    except (SpecError, ModelGapError, ToolError) as error:
        notes = (str(error),)
    return Explanation(verdict=verdict, event=event, candidates=tuple(candidates), notes=notes)


def nearest(pairs: list[tuple[str, State]], observed: State, claimed: bool) -> list[Candidate]:
    """Keep the nearest state of each action, nearest action first."""
    best: dict[str, Candidate] = {}
    seen: set[tuple[str, str]] = set()
    for action, state in pairs:
        key = action, canonical_state(state)
        if key in seen:
            continue
        seen.add(key)
        changes = difference(state, observed)
        if action not in best or len(changes) < len(best[action].differences):
            best[action] = Candidate(action=action, claimed=claimed, differences=changes)
    return sorted(best.values(), key=lambda found: (len(found.differences), found.action))


def _adopted(spec: SpecUnderTest, state: State | None) -> State:
    assert state is not None, "a divergence is found at whole states only"
    return spec.reading.state(state)
