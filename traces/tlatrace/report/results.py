"""One row of a report: a trace file and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from tlatrace.harmless import harmless, is_text
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict, kind
from tlatrace.logged import Logged
from tlatrace.matching import LogCounts
from tlatrace.values import Json

__all__ = ["SpecPlace", "Status", "TraceResult"]

Status: TypeAlias = Literal["conforms", "diverges", "undecided", "unreadable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecPlace:
    """The conjunct of the specification that forbids a step."""

    path: str
    """The `.tla` file."""
    line: int
    column: int
    text: str
    """The conjunct as it is written, and the values that make it false."""

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        return harmless(f"{self.path}:{self.line}:{self.column}: {text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceResult:
    """What became of one trace file."""

    path: str
    spec: str | None
    """Name of the module; None where the file did not tell."""
    outcome: Verdict | str
    """The verdict, or why the file is no trace."""
    line: int | None = None
    """The line of the first step that diverges, or of the format error."""
    log: str | None = None
    """The file that the line stands in, where the logs of several nodes make one trace."""
    warnings: tuple[str, ...] = ()
    counts: LogCounts | None = None
    """What became of the lines of a foreign log; None for traces."""
    failing_conjunct: SpecPlace | None = None
    """Where the specification forbids the step, if the compiled model could tell."""
    logged: Logged | None = None
    """What of the specification the trace has logged; None where no specification was asked."""

    @property
    def file(self) -> str:
        """The file that `line` is a line of."""
        return self.log or self.path

    @property
    def summary(self) -> str:
        """Say the outcome in one harmless line that begins with the place to look at.

        It ends with what the trace has logged: a pass of little says little.

        Of bad news that is a line of the file; where the trace has no lines, as ITF and runs that
        are not written have none, it is the conjunct of the specification that is false.
        """
        place = self.path
        if self.line and self.status in ("diverges", "unreadable"):
            place = f"{self.file}:{self.line}"
        elif self.failing_conjunct:
            at = self.failing_conjunct
            place = f"{at.path}:{at.line}:{at.column}: {self.path}"
        logged = f"; {self.logged.text()}" if self.logged else ""
        return f"{harmless(place)}: {self.text}{logged}"

    @property
    def status(self) -> Status:
        """Name the outcome as reports spell it."""
        return "unreadable" if isinstance(self.outcome, str) else kind(self.outcome)

    @property
    def text(self) -> str:
        """Say the outcome in one harmless line, without the path."""
        return harmless(self._said())

    def _said(self) -> str:
        match self.outcome:
            case str():
                return self.outcome
            case Conforms(events):
                return f"conforms, {events} event" + ("" if events == 1 else "s")
            case Diverges(step, action, expected, observed):
                where = f"{self.log}:{self.line}" if self.log else f"line {self.line}"
                place = f"step {step}" + (f" ({where})" if self.line else "")
                named = f", {action}" if action else ""
                said = f"diverges at {place}{named}: expected {expected}; observed {observed}"
                failing = self.failing_conjunct
                return said + (f"; false is {failing}" if failing else "")
            case Undecided(reason):
                return f"undecided: {reason}"
            case _ as unreachable:
                assert_never(unreachable)

    def to_json(self) -> dict[str, Json]:
        """Return the machine's answer."""
        answer: dict[str, Json] = {
            "path": self.path if is_text(self.path) else harmless(self.path),
            "spec": self.spec,
            "verdict": self.status,
            "line": self.line,
            "warnings": list(self.warnings),
        }
        if self.log is not None:
            answer["log"] = self.log
        if self.counts is not None:
            answer["lines"] = self.counts.lines
            answer["skipped"] = self.counts.skipped
            answer["actions"] = dict(self.counts.actions)
        if self.failing_conjunct is not None:
            answer["conjunct"] = {
                "path": self.failing_conjunct.path,
                "line": self.failing_conjunct.line,
                "column": self.failing_conjunct.column,
                "text": self.failing_conjunct.text,
            }
        if self.logged is not None:
            answer["logged"] = self.logged.to_json()
        match self.outcome:
            case str():
                answer["reason"] = self.outcome
            case Conforms(events):
                answer["events"] = events
            case Diverges(step, action, expected, observed):
                answer |= {
                    "step": step,
                    "action": action,
                    "expected": expected,
                    "observed": observed,
                }
            case Undecided(reason):
                answer["reason"] = reason
            case _ as unreachable:
                assert_never(unreachable)
        return answer
