"""The two judges of `validate`: the compiled model, which is fast and searches, and TLC itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final

from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import SpecError, SubsetError, ToolError
from tlatrace.judgement.bounds import out_of_bounds
from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.judgement.verdict import Diverges, Undecided, Verdict
from tlatrace.logged import Logged, logged_in
from tlatrace.matching import DEFAULT_BUDGET, Budget, is_partial, match_traces
from tlatrace.matching.explain import Reasons, explain_verdict
from tlatrace.matching.false_conjuncts import ForbiddenAction
from tlatrace.oracle import Model
from tlatrace.readings import differing_values
from tlatrace.report.results import SpecPlace
from tlatrace.tlc.judge import DEFAULT_BATCH
from tlatrace.tlc.traces import Names, validate_traces
from tlatrace.trace import Header, Trace
from tlatrace.values import Value

__all__ = ["ENGINES", "Judged", "Judges", "explain_by_model", "match_by_model"]

ENGINES: Final = ("auto", "compiled", "tlc")
"""`auto` is the compiled model; TLC where the specification does not compile, and for traces of
whole states with steps without an action that the compiled model has no value for."""

_MAX_EXPLAINED: Final = 100
"""Traces whose conjunct is looked for; `explain` does it for any one."""

_CHOSEN: Final = "with --choose-any: another choice of CHOOSE may allow what this one does not"
_WHAT_TO_DO: Final = "(--engine tlc judges traces of whole states)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdicts on traces of one specification, and what to say beside them."""

    verdicts: list[Verdict]
    warnings: tuple[str, ...] = ()
    failing_conjuncts: Mapping[int, SpecPlace] = field(default_factory=dict)
    """Position of a trace that diverges -> what in the specification forbids its step."""
    logged: tuple[Logged, ...] = ()
    """What of the specification each trace has logged; () where nothing is known of that."""


def _place(conjunct: ForbiddenAction, folders: Sequence[Path]) -> SpecPlace:
    text = conjunct.text
    if conjunct.differences():
        text += f" ({conjunct.differences()[0].text('expected, but the trace has')})"
    elif conjunct.sides():
        text += f" ({conjunct.sides()})"
    found = [folder / conjunct.file for folder in folders if (folder / conjunct.file).is_file()]
    path = found[0] if found else folders[0] / conjunct.file
    return SpecPlace(path=str(path), line=conjunct.line, column=conjunct.column, text=text)


def explain_by_model(
    choice: SpecChoice, header: Header, trace: Trace, *, timeout_s: float
) -> Reasons:
    """Judge a trace by the compiled model, and say which conjunct forbids its first bad step.

    Raises:
        SubsetError, SpecError, ModelGapError, ToolError: as `load_model`.
    """
    model = choice.model(header, conjuncts=True)
    judges = Judges(choice=choice, budget=Budget(seconds=timeout_s))
    verdict = match_by_model(judges, model, header, [trace])[0]
    reasons = explain_verdict(model, trace, verdict, choice.folders_of(header))
    return replace(reasons, logged=logged_in([trace], model.variables, model.next_actions))


def match_by_model(
    judges: Judges, model: Model, header: Header, traces: Sequence[Trace]
) -> list[Verdict]:
    """Judge traces by a compiled model that is at hand."""

    @cache
    def spec() -> SpecUnderTest | None:
        try:
            return judges.choice.load(header)
        except (ToolError, SpecError):  # the model may read what the judge by TLC does not
            return None

    def outside(action: str | None, params: tuple[Value, ...]) -> bool:
        found = spec()
        return found is not None and out_of_bounds(
            found, action, found.reading.params(action, params)
        )

    return match_traces(
        model,
        traces,
        names=Names(module=model.module, init=model.init, next=model.next),
        differing=lambda constants: differing_values(model.values, constants),
        out_of_bounds=outside,
        budget=judges.budget,
        on_progress=judges.on_progress,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """How to judge."""

    choice: SpecChoice
    engine: str = "auto"
    budget: Budget = DEFAULT_BUDGET
    batch_size: int = DEFAULT_BATCH
    timeout_s: float = 600.0
    workers: int | None = None
    """TLC processes at a time; None: as many as there are processors."""
    on_progress: Callable[[int, int], None] | None = None

    def judge(self, header: Header, traces: Sequence[Trace]) -> Judged:
        """Judge the traces of one specification and one set of constants, those of `header`.

        Raises:
            SubsetError: the specification does not compile, and no other engine may be used.
            SpecError, ModelGapError, ToolError: as `load_model` and `load_spec`.
        """
        assert self.engine in ENGINES
        if self.engine == "tlc":
            return self._by_tlc(header, traces)
        try:
            judged = self._compiled(header, traces)
            return judged if self.engine == "compiled" else self._looked_at_again(judged, traces)
        except SubsetError as error:
            if self.engine == "auto":
                warning = f"TLC judges instead of the compiled model: {error}"
                return replace(self._by_tlc(header, traces), warnings=(warning,))
            reason = f"{error.reason} {_WHAT_TO_DO}"
            raise SubsetError(
                error.path, reason, error.line, error.column, error.excerpt
            ) from error

    def _compiled(self, header: Header, traces: Sequence[Trace]) -> Judged:
        model = self.choice.model(header)
        verdicts = match_by_model(self, model, header, traces)
        logged = [logged_in([one], model.variables, model.next_actions) for one in traces]
        diverging = [at for at, verdict in enumerate(verdicts) if isinstance(verdict, Diverges)]
        failing: dict[int, SpecPlace] = {}
        if diverging:
            folders = self.choice.folders_of(header)
            model = self.choice.model(header, conjuncts=True)
            for at in diverging[:_MAX_EXPLAINED]:
                reasons = explain_verdict(model, traces[at], verdicts[at], folders, searches=False)
                own = [item for item in reasons.conjuncts if item.claimed]
                if own:
                    failing[at] = _place(own[0], folders)
        warnings = (_CHOSEN,) if diverging and self.choice.choose_any else ()
        return Judged(
            verdicts=verdicts, warnings=warnings, failing_conjuncts=failing, logged=tuple(logged)
        )

    def _looked_at_again(self, judged: Judged, traces: Sequence[Trace]) -> Judged:
        """Ask TLC about steps without an action that the compiled model has no value for.

        Such a step is one of Next, and Next may take numbers from Nat; TLC is asked with a part of
        Nat that is large enough for the states at hand.
        """
        open_ones = [
            at
            for at, verdict in enumerate(judged.verdicts)
            if isinstance(verdict, Undecided)
            and not is_partial(traces[at])
            and any(event.action is None for event in traces[at].events)
        ]
        if not open_ones:
            return judged
        header = traces[open_ones[0]].header
        assert header is not None, "a trace without a header is not judged"
        answers = self._by_tlc(header, [traces[at] for at in open_ones]).verdicts
        verdicts = list(judged.verdicts)
        for at, verdict in zip(open_ones, answers, strict=True):
            verdicts[at] = verdict
        return replace(judged, verdicts=verdicts)

    def _by_tlc(self, header: Header, traces: Sequence[Trace]) -> Judged:
        spec = self.choice.load(header)
        verdicts = validate_traces(
            spec,
            traces,
            batch_size=self.batch_size,
            timeout_s=self.timeout_s,
            workers=self.workers or os.cpu_count() or 1,
            on_progress=self.on_progress,
        )
        logged = [logged_in([one], spec.variables, spec.next_actions) for one in traces]
        return Judged(verdicts=verdicts, logged=tuple(logged))
