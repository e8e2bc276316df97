"""From what was seen of the pieces of each trace to its verdict; no engine here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from tlatrace.corpus.findings import Bad, Piece
from tlatrace.corpus.result import TraceVerdict
from tlatrace.corpus.text_reader import StateReader
from tlatrace.errors import TlatraceError
from tlatrace.judgement.difference import call_text
from tlatrace.judgement.verdict import Conforms, Diverges, Undecided, Verdict

__all__ = ["Listed", "call_of", "end_of", "verdicts_of"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of `traces`: what its producer says of a trace."""

    trace_id: str
    seed: int | None
    events: int
    error: str | None
    dead: bool = False
    """Whether it says that the run did not come back to life when its faults ended."""


def verdicts_of(
    module: str, chunk_steps: int, listed: Sequence[Listed], pieces: Iterable[Piece]
) -> tuple[TraceVerdict, ...]:
    """Give a verdict to each trace that is listed or has steps, in the order of their ids."""
    by_id: dict[str, list[Listed]] = {}
    for row in listed:
        by_id.setdefault(row.trace_id, []).append(row)
    pieces_of: dict[str, list[Piece]] = {}
    for piece in pieces:
        pieces_of.setdefault(piece.trace_id, []).append(piece)
    verdicts = []
    for trace_id in sorted({*by_id, *pieces_of}):
        rows, found = by_id.get(trace_id, []), pieces_of.get(trace_id, [])
        found.sort(key=lambda piece: piece.chunk)
        verdict = _verdict(module, chunk_steps, rows, found)
        seed = rows[0].seed if rows else None
        dead = any(row.dead for row in rows)
        verdicts.append(TraceVerdict(trace_id=trace_id, seed=seed, verdict=verdict, dead=dead))
    return tuple(verdicts)


def _verdict(
    module: str, chunk_steps: int, listed: Sequence[Listed], pieces: Sequence[Piece]
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
    places = max(Counter([piece.chunk for piece in pieces]).values())
    if places > 1:
        return Undecided(f"its steps are in {places} places of the corpus")
    end = end_of(pieces, chunk_steps)
    if isinstance(end, Piece):
        assert end.bad is not None, "it ends there"
        return _of_step(module, end, end.bad)
    if end is not None:
        return Undecided(end)
    steps = sum(piece.steps for piece in pieces)
    if steps != row.events:
        return Undecided(f"{steps} of its {row.events} steps are there")
    return Conforms(steps)


def end_of(pieces: Sequence[Piece], chunk_steps: int) -> Piece | str | None:
    """Find where the accepted path of a trace ends: at a bad step, or at a gap; None if nowhere.

    `pieces` have different chunks, in order. What comes after the end is not looked at.
    """
    for at, piece in enumerate(pieces):
        begin = at * chunk_steps
        if piece.chunk != at:
            return f"the steps from {begin} to {piece.chunk * chunk_steps - 1} are missing"
        if at:
            before = pieces[at - 1]
            if before.steps != chunk_steps:
                have = begin - chunk_steps + before.steps
                return f"the steps from {have} to {begin - 1} are missing"
            if piece.problem is None and piece.head != before.tail:
                return f"step {begin - 1} is not the same in both of its rows"
        if piece.bad is not None:
            return piece
        if piece.problem is not None:
            return piece.problem
    return None


def _of_step(module: str, piece: Piece, bad: Bad) -> Verdict:
    step = piece.step
    assert step is not None, "a bad piece ends at a step"
    match bad.status:
        case "failed":
            return Undecided(f"step {step}: {bad.detail}")
        case "violated":
            return Diverges(
                step=step,
                action=piece.action,
                expected=f"a state in which {bad.detail.replace(', ', ' and ')} holds",
                observed=f"a state that violates {bad.detail}",
            )
        case "refused":
            expected = f"a step of {module} that is {call_of(piece.action, piece.params)}"
            if step == 0:
                expected = f"an initial state of {module}"
            return Diverges(
                step=step, action=piece.action, expected=expected, observed="another state"
            )
        case _ as unreachable:
            assert_never(unreachable)


def call_of(action: str | None, params: str | None) -> str:
    """Write the action of a step with its parameters, as TLA+."""
    try:
        return call_text(action, StateReader().params(params or "[]"))
    except TlatraceError:
        return str(action)
