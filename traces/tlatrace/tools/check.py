"""Compare what TLC found with what the manifest expects; pure.

A count that is not recorded yet is not as expected: nothing passes for want of an expectation.
A crash and a timeout are undecided; an error in the specification or its configuration is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from tlatrace.tools.manifest import Checkable, Mutant, TlcModel, Witness, kind_of
from tlatrace.tools.measured import Key
from tlatrace.tools.tlc_output import Outcome
from tlatrace.tools.tlc_run import TlcRun

__all__ = ["CheckRow", "Engine", "Status", "compare", "exit_code", "expected_of"]

Status = Literal["as expected", "not as expected", "error", "undecided"]
Engine = Literal["tlc", "native"]
"""Who checks: TLC, or machine code that confirms what TLC has found before."""

_UNDECIDED: Final = frozenset({Outcome.CRASH, Outcome.TIMEOUT})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRow:
    """One entry of the manifest, checked."""

    kind: Literal["model", "witness", "mutant"]
    protocol: str
    name: str
    status: Status
    expected: str
    found: str
    distinct: int | None
    depth: int | None
    length: int | None
    """The number of states of the counterexample, None without one."""
    seconds: float
    message: str
    """What TLC says about an error; empty where it was as expected."""
    engine: Engine | None = "tlc"
    """Who found it: TLC or machine code; None where it was not run."""

    @property
    def key(self) -> Key:
        """What tells the entry from all others."""
        return self.kind, self.protocol, self.name

    @property
    def ok(self) -> bool:
        """Whether TLC found what the manifest expects."""
        return self.status == "as expected"


def compare(entry: Checkable, run: TlcRun, *, exact: bool = True) -> CheckRow:
    """Compare one run with its entry.

    `exact` says that depths and lengths are comparable: TLC ran with one worker.
    """
    expected, found = _texts(entry, run, exact)
    kind = kind_of(entry)
    assert kind != "theorem"
    status = _status(run, expected == found)
    return CheckRow(
        kind=kind,
        protocol=entry.protocol,
        name=entry.name,
        status=status,
        expected=expected,
        found=found,
        distinct=run.distinct,
        depth=run.depth,
        length=run.length,
        seconds=run.seconds,
        message="" if status == "as expected" else run.message,
    )


def exit_code(rows: Iterable[CheckRow]) -> int:
    """Return the exit code for a table: errors first, then divergence, then the undecided.

    No row at all is undecided: a check that examined nothing says nothing.
    """
    statuses = {row.status for row in rows}
    order: tuple[tuple[Status, int], ...] = (
        ("error", 2),
        ("not as expected", 1),
        ("undecided", 3),
        ("as expected", 0),
    )
    for status, code in order:
        if status in statuses:
            return code
    return 3


def expected_of(entry: Checkable, *, exact: bool = True) -> str:
    """Say what the manifest expects, as a row does; without `exact` no depth, no length."""
    match entry:
        case TlcModel(violates=None, distinct=distinct, depth=depth):
            return _counts(distinct, depth if exact else None)
        case Mutant(killed_by=None, distinct=distinct):  # harmless
            return _counts(distinct, None)
        case TlcModel(violates=name) | Witness(violates=name) | Mutant(killed_by=name):
            assert name is not None
            return _violation(name, entry.length, exact)
        case _ as unreachable:
            assert_never(unreachable)


def _texts(entry: Checkable, run: TlcRun, exact: bool) -> tuple[str, str]:
    """Say what is expected and what was found, in texts that are equal when they agree."""
    # TLC looks for temporal violations now and then: how long the first one is depends on when.
    exact = exact and run.outcome is not Outcome.TEMPORAL
    expected = expected_of(entry, exact=exact)
    match entry:
        case TlcModel(violates=None, depth=depth):
            return expected, _found_counts(run, run.depth if exact and depth is not None else None)
        case Mutant(killed_by=None):
            return expected, _found_counts(run, None)
        case _:
            return expected, _found_violation(run, exact)


def _status(run: TlcRun, same: bool) -> Status:
    if run.outcome in _UNDECIDED:
        return "undecided"
    if not run.is_verdict:
        return "error"
    return "as expected" if same else "not as expected"


def _found_counts(run: TlcRun, depth: int | None) -> str:
    return _counts(run.distinct, depth) if run.outcome is Outcome.SUCCESS else _outcome(run)


def _counts(distinct: int | None, depth: int | None) -> str:
    states = "a recorded count" if distinct is None else f"{distinct:,} states"
    return f"holds, {states}" + ("" if depth is None else f", depth {depth}")


def _violation(name: str, length: int | None, exact: bool) -> str:
    if not exact:
        return f"violates {name}"
    return f"violates {name} in {'a recorded number of' if length is None else length} states"


def _found_violation(run: TlcRun, exact: bool) -> str:
    named = (Outcome.INVARIANT, Outcome.ACTION_PROPERTY, Outcome.TEMPORAL)
    if run.outcome in named and run.violated is not None and run.length is not None:
        return _violation(run.violated, run.length, exact)
    return _outcome(run)


def _outcome(run: TlcRun) -> str:
    if run.outcome is Outcome.SUCCESS:
        return _counts(run.distinct, run.depth)
    return f"{run.outcome}: {run.violated}" if run.violated else str(run.outcome)
