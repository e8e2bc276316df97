"""The errors of tlatrace; each leaf says whose fault it is.

Every error carries its fields as positional arguments, so that it survives pickling between
processes, and its `str` is one sentence. A trace that does not conform is not an error: it is a
`tlatrace.judgement.verdict.Verdict`.
"""

from __future__ import annotations

from pathlib import Path

from tlatrace.harmless import harmless

__all__ = [
    "CorpusError",
    "DisagreementError",
    "EvaluationError",
    "InvariantError",
    "ModelGapError",
    "SpecError",
    "SubsetError",
    "TlaTextError",
    "TlatraceError",
    "ToolError",
    "TraceFormatError",
    "ValueFormatError",
]


class TlatraceError(Exception):
    """The root of everything that tlatrace raises on purpose."""


class TraceFormatError(TlatraceError):
    """The recorder's fault: a trace file breaks `traces/FORMAT.md`.

    `line` and `column` are 1-based; None where the error belongs to the whole file.
    """

    def __init__(
        self, path: Path | str, line: int | None, reason: str, column: int | None = None
    ) -> None:
        super().__init__(path, line, reason, column)
        self.path = path
        self.line = line
        self.reason = reason
        self.column = column

    def __str__(self) -> str:
        place = harmless(str(self.path))
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        return f"{place}: {self.reason}"


class ValueFormatError(TlatraceError):
    """The producer's fault: some JSON does not encode a TLA+ value.

    The reader of a file turns it into a `TraceFormatError` that names the file and line.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class TlaTextError(TlatraceError):
    """The producer's fault: some text is not a TLA+ value or state as TLC prints it.

    `offset` counts characters from 0.
    """

    def __init__(self, text: str, offset: int, reason: str) -> None:
        super().__init__(text, offset, reason)
        self.text = text
        self.offset = offset
        self.reason = reason

    def __str__(self) -> str:
        near = self.text[self.offset : self.offset + 24]
        return f"{self.reason} at character {self.offset}, near {near!r}"


class SpecError(TlatraceError):
    """The author's fault: a specification or its configuration is wrong.

    `line` and `column` are 1-based; None where SANY or TLC does not tell.
    """

    def __init__(
        self,
        path: Path | str,
        reason: str,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(path, reason, line, column)
        self.path = path
        self.reason = reason
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = harmless(str(self.path))
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        return f"{place}: {self.reason}"


class InvariantError(SpecError):
    """The author's or the user's fault: what is to be checked as an invariant is none.

    `asked` is how the name was given: `INVARIANT` of a configuration, or an option.
    """

    def __init__(self, path: Path | str, name: str, why: str, asked: str = "INVARIANT") -> None:
        super().__init__(path, f"{asked} {name} is no state invariant: {why}")
        self.args = (path, name, why, asked)
        self.name = name
        self.why = why


class SubsetError(SpecError):
    """The compiler's limit: the specification uses TLA+ outside `spec/SUBSET.md`.

    `excerpt` shows the line with a caret below the construct; empty where the text is not at hand.
    """

    def __init__(
        self,
        path: Path | str,
        reason: str,
        line: int | None = None,
        column: int | None = None,
        excerpt: str = "",
    ) -> None:
        super().__init__(path, reason, line, column)
        self.args = (path, reason, line, column, excerpt)
        self.excerpt = excerpt

    def __str__(self) -> str:
        return super().__str__() + (f"\n{self.excerpt}" if self.excerpt else "")


class EvaluationError(TlatraceError):
    """Nobody's mistake yet: an expression has no value here, so there is no verdict.

    TLC would stop, too: an index outside a domain, a comparison of 1 with "a", a limit.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class CorpusError(TlatraceError):
    """The corpus's fault: a folder is no finished corpus, or not what its manifest says."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{harmless(str(self.path))}: {self.reason}"


class DisagreementError(TlatraceError):
    """Our fault: the compiled model and TLC say different things of the same transition."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(what, reason)
        self.what = what
        self.reason = reason

    def __str__(self) -> str:
        return f"this is a mistake of rocketproof, not of the traces: {self.reason}: {self.what}"


class ModelGapError(TlatraceError):
    """Nobody's mistake: the value or construct is legal, but this toolchain cannot express it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class ToolError(TlatraceError):
    """The machine's fault: Java, TLC or another tool is missing, crashed or timed out."""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(tool, reason)
        self.tool = tool
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.tool}: {self.reason}"
