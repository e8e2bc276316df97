"""The two judges of `validate`: the compiled model, which is fast and searches, and TLC itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from rocketproof.trace_inputs import SpecChoice
from tlatrace.errors import SubsetError, ToolError
from tlatrace.matching import DEFAULT_BUDGET, Budget, match_traces
from tlatrace.trace import Header, Trace
from tlatrace.validate.bounds import out_of_bounds
from tlatrace.validate.judge import DEFAULT_BATCH
from tlatrace.validate.spec import SpecUnderTest, differing_values
from tlatrace.validate.traces import Names, validate_traces
from tlatrace.values import Value
from tlatrace.verdict import Verdict

__all__ = ["ENGINES", "Judged", "Judges"]

ENGINES: Final = ("auto", "compiled", "tlc")
"""`auto` is the compiled model, or TLC where the specification does not compile."""

_WHAT_TO_DO: Final = "(--engine tlc judges traces of whole states)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdicts on traces of one specification, and what to say beside them."""

    verdicts: list[Verdict]
    warnings: tuple[str, ...] = ()


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
            return Judged(verdicts=self._by_tlc(header, traces))
        try:
            return Judged(verdicts=self._compiled(header, traces))
        except SubsetError as error:
            if self.engine == "auto":
                warning = f"TLC judges instead of the compiled model: {error}"
                return Judged(verdicts=self._by_tlc(header, traces), warnings=(warning,))
            reason = f"{error.reason} {_WHAT_TO_DO}"
            raise SubsetError(
                error.path, reason, error.line, error.column, error.excerpt
            ) from error

    def _compiled(self, header: Header, traces: Sequence[Trace]) -> list[Verdict]:
        model = self.choice.model(header)

        @cache
        def spec() -> SpecUnderTest | None:
            try:
                return self.choice.load(header)
            except ToolError:
                return None

        def outside(action: str | None, params: tuple[Value, ...]) -> bool:
            found = spec()
            return found is not None and out_of_bounds(found, action, params)

        return match_traces(
            model,
            traces,
            names=Names(module=model.module, init=model.init, next=model.next),
            differing=lambda constants: differing_values(
                model.values, model.model_values, constants
            ),
            out_of_bounds=outside,
            budget=self.budget,
            on_progress=self.on_progress,
        )

    def _by_tlc(self, header: Header, traces: Sequence[Trace]) -> list[Verdict]:
        return validate_traces(
            self.choice.load(header),
            traces,
            batch_size=self.batch_size,
            timeout_s=self.timeout_s,
            workers=self.workers or os.cpu_count() or 1,
            on_progress=self.on_progress,
        )
