"""How much of what can go wrong in a trace does a specification notice?

Accepted traces are corrupted, and the model judges the corrupted ones. What is still accepted is
explained, or it is a hole. A corruption is *equivalent*, provably, if

* the events are the same as before;
* it is the last event that is lost: a trace that is cut short is a trace;
* an event that changes nothing is lost: the same states fit before and after it;
* an event is lost whose step may be silent: one behaviour explains the trace with and without it;
* after the changed events exactly the same states of the model fit as without the corruption, so
  that no later event can tell: a step that may stutter is logged twice, neighbours commute, or the
  specification has the same step under both names or parameters.

A field that has another value is never equivalent: the state is another one, and the specification
leaves open which. That may be meant so; it is still something that no trace can show to be wrong.

What is judged is the changed part, and what follows it up to where the same states fit again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final, TypeAlias

from tlatrace.errors import ModelGapError
from tlatrace.oracle.oracle import Oracle
from tlatrace.trace import Event, Trace
from tlatrace.trace_mutation.fitting import Fit, Fitting, Unknown
from tlatrace.trace_mutation.kinds import Kind, Mutation
from tlatrace.trace_mutation.mutator import Mutator
from tlatrace.values import canonical, canonical_state

__all__ = ["Finding", "Hole", "MutationResult", "Outcome", "Progress", "measure"]

Progress: TypeAlias = Callable[[int, int], None]
"""Is called with how many corruptions of how many are judged."""

_TRIES: Final = 20
"""Draws for each corruption that is wanted: not every event can have each kind."""


class Outcome(StrEnum):
    """What becomes of a corrupted trace."""

    REFUSED = "refused"
    UNDECIDED = "undecided"
    EQUIVALENT = "equivalent"
    HOLE = "hole"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Hole:
    """Corruptions of the same kind, of events of the same action, in the same place."""

    kind: Kind
    action: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One corrupted trace."""

    trace: str
    """Name of the trace that was corrupted."""
    kind: Kind
    step: int
    """The first step that was changed."""
    action: str
    """The action of the event at that step; "" where it names none."""
    what: str
    """What was changed."""
    about: str
    """The same without numbers and values, as in `Mutation`."""
    outcome: Outcome
    why: str
    """Why it is equivalent or undecided; empty for the others."""

    @property
    def hole(self) -> Hole:
        """Return what this one has in common with others like it."""
        return Hole(kind=self.kind, action=self.action, about=self.about)


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationResult:
    """What was found; each corruption once."""

    seed: int
    findings: tuple[Finding, ...]
    accepted: int
    """Traces that were corrupted."""
    left_out: Mapping[str, str]
    """Trace -> why it was not: only accepted ones are."""

    def count(self, kind: Kind | None, outcome: Outcome | None) -> int:
        """Count findings; None: of all kinds, with all outcomes."""
        return sum(
            kind in (None, one.kind) and outcome in (None, one.outcome) for one in self.findings
        )

    def count_of(self, action: str, outcome: Outcome | None) -> int:
        """Count the findings of an action, with an outcome; None: with any."""
        return sum(action == one.action and outcome in (None, one.outcome) for one in self.findings)

    @property
    def actions(self) -> tuple[str, ...]:
        """Return the actions of which events were corrupted, by name."""
        return tuple(sorted({one.action for one in self.findings}))

    @property
    def holes(self) -> tuple[Finding, ...]:
        """Return what was accepted and is not explained."""
        return tuple([one for one in self.findings if one.outcome is Outcome.HOLE])


def measure(
    traces: Sequence[tuple[str, Oracle, Trace]],
    count: int,
    *,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> MutationResult:
    """Make `count` corruptions of the accepted ones among (name, model, trace), and judge them.

    Kinds and traces come in turn. There are fewer than `count` where the traces do not have so many
    different ones.
    """
    subjects: list[_Subject] = []
    left_out: dict[str, str] = {}
    for name, model, trace in traces:
        subject = _subject(name, model, trace)
        if isinstance(subject, str):
            left_out[name] = subject
        else:
            subjects.append(subject)
    findings: list[Finding] = []
    kinds = list(Kind)
    tries = count * _TRIES if subjects else 0
    for number in range(tries):
        if len(findings) >= count:
            break
        round_, turn = divmod(number, len(kinds))
        finding = subjects[round_ % len(subjects)].draw(kinds[turn], Random(f"{seed}:{number}"))
        if finding is not None:
            findings.append(finding)
            if on_progress is not None:
                on_progress(len(findings), count)
    findings.sort(key=lambda one: (kinds.index(one.kind), one.trace, one.step, one.what))
    return MutationResult(
        seed=seed, findings=tuple(findings), accepted=len(subjects), left_out=left_out
    )


class _Subject:
    """An accepted trace, and which of its corruptions were judged."""

    def __init__(self, name: str, model: Oracle, trace: Trace, fitting: Fitting) -> None:
        self._name = name
        self._fitting = fitting
        named = {name: arity for name, arity in model.actions.items() if model.calls(name)}
        self._corrupter = Mutator(trace, named)
        self._done: set[tuple[Kind, int, str]] = set()

    def draw(self, kind: Kind, draw: Random) -> Finding | None:
        """Judge one more corruption; None where none was drawn, or one that is known already."""
        corruption = self._corrupter.draw(kind, draw)
        if corruption is None:
            return None
        key = (kind, corruption.first, corruption.what)
        if key in self._done:
            return None
        self._done.add(key)
        outcome, why = _judge(self._fitting, corruption)
        return Finding(
            trace=self._name,
            kind=kind,
            step=corruption.first,
            action=self._fitting.events[corruption.first].action or "",
            what=corruption.what,
            about=corruption.about,
            outcome=outcome,
            why=why,
        )


def _subject(name: str, model: Oracle, trace: Trace) -> _Subject | str:
    """Look at a trace; return why it is not to be corrupted."""
    if not trace.events:
        return "it has no events"
    try:
        fitting = Fitting(model, trace)
    except ModelGapError as error:
        return error.reason
    for step, fit in enumerate(fitting.fits):
        if isinstance(fit, Unknown):
            return f"undecided at step {step}: {fit.reason}"
        if not fit:
            return f"it diverges at step {step}"
    return _Subject(name, model, trace, fitting)


def _judge(fitting: Fitting, corruption: Mutation) -> tuple[Outcome, str]:
    first, end = corruption.first, corruption.end
    if _texts(corruption.events) == _texts(fitting.events[first:end]):
        return Outcome.EQUIVALENT, "the events are the same"
    fit: Fit | None = fitting.fits[first - 1] if first else None
    try:
        for event in corruption.events:
            fit = fitting.after(fit, event)
    except ModelGapError as error:
        return Outcome.UNDECIDED, error.reason
    assert fit is not None, "a corruption leaves the first event where it is"
    at_seam = fit
    for at in range(end, len(fitting.events)):
        if isinstance(fit, Unknown) or not fit or fit == fitting.fits[at - 1]:
            break
        fit = fitting.after(fit, fitting.events[at])
    if isinstance(fit, Unknown):
        return Outcome.UNDECIDED, fit.reason
    if not fit:
        return Outcome.REFUSED, ""
    if corruption.kind is Kind.DROP and fitting.may_be_silent(corruption.first, at_seam):
        return Outcome.EQUIVALENT, "the step may be silent"
    return _accepted(fitting, corruption, at_seam)


def _accepted(fitting: Fitting, corruption: Mutation, at_seam: Fit) -> tuple[Outcome, str]:
    """Say why a corrupted trace may be accepted; `at_seam` fits after the changed events."""
    same = at_seam == fitting.fits[corruption.end - 1]
    match corruption.kind:
        case Kind.DROP if corruption.end == len(fitting.events):
            return Outcome.EQUIVALENT, "a trace that is cut short is a trace"
        case Kind.DROP if same:
            return Outcome.EQUIVALENT, "the step changes nothing"
        case Kind.DUPLICATE if same:
            return Outcome.EQUIVALENT, "the step may stutter"
        case Kind.SWAP if same:
            return Outcome.EQUIVALENT, "the steps commute"
        case Kind.PARAMETER | Kind.ACTION if same:
            return Outcome.EQUIVALENT, "the specification has the same step under both names"
        case _:
            return Outcome.HOLE, ""


def _texts(events: Sequence[Event]) -> list[object]:
    """Return what of events the specification speaks of."""
    return [
        (
            event.action,
            canonical(event.params),
            event.known_params,
            None if event.state is None else canonical_state(event.state),
            None if event.observed is None else canonical_state(event.observed),
            event.parts,
        )
        for event in events
    ]
