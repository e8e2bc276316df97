"""From what is known of each trace to its verdict; no Spark here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from tlatrace.corpus.judging import StateReader
from tlatrace.corpus.result import TraceVerdict
from tlatrace.corpus.scan import Bad
from tlatrace.errors import TlatraceError
from tlatrace.validate.difference import call_text
from tlatrace.validate.spec import SpecUnderTest
from tlatrace.verdict import Conforms, Diverges, Undecided, Verdict

__all__ = ["Listed", "Located", "Scanned", "call_of", "verdicts_of"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of `traces`: what its producer says of a trace."""

    trace_id: str
    seed: int | None
    events: int
    error: str | None


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the scan saw of a trace, in one piece of its rows."""

    trace_id: str
    rows: int
    problem_step: int | None
    problem: str | None

    @property
    def pairs(self) -> int:
        """The rows that were judged: those before the problem."""
        return self.rows if self.problem_step is None else self.problem_step


@dataclass(frozen=True, slots=True)
class Located:
    """The first bad step of a trace; with states only if it is the first of its kind."""

    trace_id: str
    step: int
    key: bytes
    action: str | None
    params: str
    pre: str | None
    post: str | None


def verdicts_of(
    spec: SpecUnderTest,
    listed: Sequence[Listed],
    scanned: Sequence[Scanned],
    located: Iterable[Located],
    bad: Mapping[bytes, Bad],
) -> tuple[TraceVerdict, ...]:
    """Give a verdict to each trace that is listed or has steps, in the order of their ids."""
    by_id: dict[str, list[Listed]] = {}
    for row in listed:
        by_id.setdefault(row.trace_id, []).append(row)
    pieces: dict[str, list[Scanned]] = {}
    for piece in scanned:
        pieces.setdefault(piece.trace_id, []).append(piece)
    first_bad: dict[str, Located] = {}
    for found in located:
        known = first_bad.get(found.trace_id)
        if known is None or found.step < known.step:
            first_bad[found.trace_id] = found
    verdicts = []
    for trace_id in sorted({*by_id, *pieces}):
        rows = by_id.get(trace_id, [])
        verdict = _verdict(spec, rows, pieces.get(trace_id, []), first_bad.get(trace_id), bad)
        seed = rows[0].seed if rows else None
        verdicts.append(TraceVerdict(trace_id=trace_id, seed=seed, verdict=verdict))
    return tuple(verdicts)


def _verdict(
    spec: SpecUnderTest,
    listed: Sequence[Listed],
    pieces: Sequence[Scanned],
    found: Located | None,
    bad: Mapping[bytes, Bad],
) -> Verdict:
    if not listed:
        return Undecided("it has steps, but it is not in the table of traces")
    if len(listed) > 1:
        return Undecided(f"it is {len(listed)} times in the table of traces")
    row = listed[0]
    if row.error is not None:
        return Undecided(f"there is no trace: {row.error}")
    if row.events == 0 and not pieces:
        return Undecided("the trace has a header, but no events")
    if not pieces:
        return Undecided(f"none of its {row.events} steps is there")
    if len(pieces) > 1:
        return Undecided(f"its steps are in {len(pieces)} places of the corpus")
    if found is not None:
        return _of_step(spec, found, bad[found.key])
    piece = pieces[0]
    if piece.problem is not None:
        return Undecided(piece.problem)
    if piece.rows != row.events:
        return Undecided(f"{piece.rows} of its {row.events} steps are there")
    return Conforms(piece.rows)


def _of_step(spec: SpecUnderTest, found: Located, bad: Bad) -> Verdict:
    match bad.status:
        case "failed":
            return Undecided(f"step {found.step}: {bad.detail}")
        case "violated":
            return Diverges(
                step=found.step,
                action=found.action,
                expected=f"a state in which {bad.detail.replace(', ', ' and ')} holds",
                observed=f"a state that violates {bad.detail}",
            )
        case "refused":
            name = spec.declarations.module
            expected = f"a step of {name} that is {call_of(found)}"
            if found.step == 0:
                expected = f"a state that {spec.init} of {name} allows"
            return Diverges(
                step=found.step, action=found.action, expected=expected, observed="another state"
            )
        case _ as unreachable:
            assert_never(unreachable)


def call_of(found: Located) -> str:
    """Write the action of a step with its parameters, as TLA+."""
    try:
        return call_text(found.action, StateReader().params(found.params))
    except TlatraceError:
        return str(found.action)
