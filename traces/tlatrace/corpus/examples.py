"""Look closely at the first trace of each way to leave the specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from tlatrace.corpus.findings import Bad, Findings, Piece, Texts
from tlatrace.corpus.result import Example, TraceVerdict
from tlatrace.corpus.text_reader import StateReader
from tlatrace.corpus.verdicts import call_of, end_of
from tlatrace.errors import TlatraceError
from tlatrace.judgement.difference import difference
from tlatrace.judgement.specification import SpecUnderTest
from tlatrace.judgement.transition import Transition
from tlatrace.judgement.verdict import Conforms, Diverges
from tlatrace.tlc.successors import action_successors

__all__ = ["Allowed", "ExampleMaker", "NearestSuccessor", "examples_of"]

_MAX_EXPLAINED: Final = 3
_MAX_LINES: Final = 12
_MAX_GROUPS: Final = 40


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the claimed action leads to instead of the trace's state."""

    differences: tuple[str, ...] | None
    """From the nearest state that it leads to; empty if it leads nowhere, None if unknown."""
    note: str | None = None


class ExampleMaker(Protocol):
    """Says what the specification allows instead of a refused step."""

    def __call__(self, transition: Transition, /) -> Allowed:
        """Look at one transition that was refused."""
        ...


@dataclass(frozen=True, slots=True)
class NearestSuccessor:
    """Asks TLC for the states that the claimed action leads to, and takes the nearest."""

    spec: SpecUnderTest
    timeout_s: float = 60.0

    def __call__(self, transition: Transition, /) -> Allowed:
        spec = self.spec
        if transition.pre is None or transition.action is None:
            return Allowed(None)
        try:
            before = spec.reading.state(transition.pre)
            observed = spec.reading.state(transition.post)
            params = spec.reading.params(transition.action, transition.params)
            found = action_successors(
                spec, before, transition.action, params, timeout_s=self.timeout_s
            )
        except TlatraceError as error:
            return Allowed(None, str(error))
        if not found:
            return Allowed((), "the action is not possible here")
        nearest = min([difference(successor.state, observed) for successor in found], key=len)
        lines = [change.text("expected, but the trace has") for change in nearest]
        return Allowed(tuple(lines[:_MAX_LINES]))


def examples_of(
    verdicts: Sequence[TraceVerdict],
    findings: Findings,
    chunk_steps: int,
    make: ExampleMaker | None,
) -> tuple[Example, ...]:
    """Group the traces that end at a bad step; one example a group, the largest group first."""
    by_id = {item.trace_id: item for item in verdicts if not isinstance(item.verdict, Conforms)}
    pieces_of: dict[str, list[Piece]] = {}
    for piece in findings.pieces:
        if piece.trace_id in by_id:
            pieces_of.setdefault(piece.trace_id, []).append(piece)
    counts: Counter[tuple[str | None, Bad]] = Counter()
    first: dict[tuple[str | None, Bad], Piece] = {}
    for _, pieces in sorted(pieces_of.items()):
        end = end_of(sorted(pieces, key=lambda piece: piece.chunk), chunk_steps)
        if isinstance(end, Piece) and end.bad is not None:
            group = end.action, end.bad
            counts[group] += 1
            first.setdefault(group, end)
    examples = []
    asked = 0
    ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    for group, traces in ordered[:_MAX_GROUPS]:
        piece = first[group]
        assert piece.key is not None, "a bad piece has one"
        item, texts = by_id[piece.trace_id], findings.bad[piece.key][1]
        asked += isinstance(item.verdict, Diverges)
        chosen = make if asked <= _MAX_EXPLAINED else None
        examples.append(_example(piece, texts, item, group[1], traces, chosen))
    return tuple(examples)


def _example(
    piece: Piece,
    texts: Texts,
    item: TraceVerdict,
    bad: Bad,
    traces: int,
    make: ExampleMaker | None,
) -> Example:
    changes: tuple[str, ...] = ()
    allowed = Allowed(None)
    transition = _transition(texts)
    if transition is not None:
        if transition.pre is not None:
            lines = [change.text() for change in difference(transition.pre, transition.post)]
            changes = tuple(lines[:_MAX_LINES])
        if make is not None and bad.status == "refused":
            allowed = make(transition)
    assert piece.step is not None, "a bad piece ends at a step"
    return Example(
        trace_id=piece.trace_id,
        seed=item.seed,
        step=piece.step,
        call=call_of(texts.action, texts.params),
        why=_why(bad),
        traces=traces,
        changes=changes,
        allowed=allowed.differences,
        note=allowed.note,
    )


def _transition(texts: Texts) -> Transition | None:
    try:
        return StateReader().transition(texts.pre, texts.action, texts.params, texts.post)
    except TlatraceError:
        return None


def _why(bad: Bad) -> str:
    match bad.status:
        case "refused":
            return "the specification does not allow this step"
        case "violated":
            return f"the state after this step violates {bad.detail}"
        case "failed":
            return f"undecided: {bad.detail}"
