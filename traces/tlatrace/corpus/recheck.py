"""Hold the compiled model against TLC, the authority, on what it said of a corpus.

TLC judges a random sample of the accepted transitions, or all, and every rejected one. If it says
anything else, the model compiler is wrong, and no verdict of the run can be trusted: that is an
error of ours, and no statement about a trace. Where it says nothing, in the time or memory that it
has, the corpus as a whole is undecided.

All of a large corpus is too much for one process: workers ask TLC themselves (`asked_everywhere`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, assert_never

import pyarrow as pa

from tlatrace.corpus.findings import Bad, FindingRow, Findings, Texts, finding_batch, texts_in
from tlatrace.corpus.result import Rechecked
from tlatrace.corpus.text_reader import StateReader
from tlatrace.corpus.verdicts import call_of
from tlatrace.errors import DisagreementError, TlatraceError, ToolError
from tlatrace.heartbeat import heartbeat
from tlatrace.judgement.transition import Allowed, Failed, Judged, Refused, Transition

__all__ = ["Authority", "asked_everywhere", "recheck", "rechecked_everywhere"]

_AT_A_TIME: Final = 25_000
_CHARACTERS_AT_A_TIME: Final = 64 << 20
"""What a worker has TLC judge in one go: in seconds, and in less than 1 GB."""
_SURELY: Final = 0.95
"""Of an estimate, which is within about 1 %."""
_MAX_REJECTED: Final = 50_000
"""Different rejected transitions for TLC: about a minute."""


class Authority(Protocol):
    """Judges transitions with TLC."""

    def __call__(self, transitions: Sequence[Transition], /) -> Sequence[Judged]:
        """Judge each transition, in the given order.

        Raises:
            TlatraceError: nothing can be judged at all, whatever the transitions.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Claim:
    """What the compiled model says of a transition; `bad` is None if it accepts it."""

    texts: Texts
    bad: Bad | None


def recheck(
    findings: Findings, authority: Authority, accepted: Iterable[Sequence[Texts]]
) -> Rechecked:
    """Ask TLC about accepted transitions, and about those that were rejected.

    Transitions of which the compiled model says nothing are not asked about: they are undecided.

    Raises:
        DisagreementError: TLC says something else of one of them.
        ToolError: TLC has not said of each whether it has an answer.
    """
    rejected = [
        _Claim(texts, bad)
        for _, (bad, texts) in sorted(findings.bad.items())
        if bad.status != "failed"
    ]
    left_out = max(len(rejected) - _MAX_REJECTED, 0)
    answers = _Answers()
    for some in accepted:
        with heartbeat(f"TLC judges {len(some):,} accepted transitions"):
            answers.ask([_Claim(texts, None) for texts in some], authority)
    with heartbeat(f"TLC judges {len(rejected) - left_out:,} rejected transitions"):
        answers.ask(rejected[:_MAX_REJECTED], authority)
    return Rechecked(
        accepted=answers.accepted,
        rejected=answers.rejected,
        left_out=left_out,
        unanswered=answers.unanswered,
        reason=answers.reason,
    )


def asked_everywhere(
    batches: Iterable[pa.RecordBatch], authority: Authority
) -> Iterator[pa.RecordBatch]:
    """Ask TLC, in a worker, about all that a kernel shows; yield the rest, and what TLC said."""
    claims: list[_Claim] = []
    characters = 0
    for batch in batches:
        rest: list[FindingRow] = []
        for row in batch.to_pylist():
            is_shown, texts = row["kind"] == "shown", None
            if is_shown or row["kind"] == "transition":
                texts = texts_in(row)
                bad = None if is_shown else Bad(row["status"], row["detail"])
                if bad is None or bad.status != "failed":
                    claims.append(_Claim(texts, bad))
                    characters += len(texts.pre or "") + len(texts.post)
            if not is_shown:
                rest.append(row)
        yield finding_batch(rest)
        if len(claims) >= _AT_A_TIME or characters >= _CHARACTERS_AT_A_TIME:
            yield _told_by(claims, authority)
            claims, characters = [], 0
    if claims:
        yield _told_by(claims, authority)


def _told_by(claims: Sequence[_Claim], authority: Authority) -> pa.RecordBatch:
    """Write what TLC said as findings; whatever it is, this worker goes on."""
    answers = _Answers()
    try:
        answers.ask(claims, authority)
    except DisagreementError as error:
        return finding_batch([{"kind": "disagrees", "detail": error.reason, "post": error.what}])
    except TlatraceError as error:
        answers = _Answers(unanswered=len(claims), reason=str(error))
    findings: list[FindingRow] = [
        {"kind": "count", "detail": "tlc_accepted", "count": answers.accepted},
        {"kind": "count", "detail": "tlc_rejected", "count": answers.rejected},
    ]
    if answers.unanswered:
        findings.append(
            {"kind": "unanswered", "count": answers.unanswered, "detail": answers.reason}
        )
    return finding_batch(findings)


def rechecked_everywhere(findings: Findings) -> Rechecked:
    """Sum up what TLC has answered workers.

    Raises:
        ToolError: not every transition was brought before TLC.
    """
    counts = findings.counts
    asked = counts["tlc_accepted"] + counts["tlc_rejected"] + counts["unanswered"]
    distinct = findings.distinct()
    failed = sum(bad.status == "failed" for bad, _ in findings.bad.values())
    least = distinct.count if distinct.exact else distinct.count * _SURELY
    if asked + failed < least:
        reason = f"was asked about {asked} of {distinct.count} different transitions"
        raise ToolError("TLC", reason)
    return Rechecked(
        accepted=counts["tlc_accepted"],
        rejected=counts["tlc_rejected"],
        unanswered=counts["unanswered"],
        reason=findings.unanswered,
        everything=True,
    )


@dataclass(slots=True)
class _Answers:
    """What TLC said the same of, and what it said nothing of."""

    accepted: int = 0
    rejected: int = 0
    unanswered: int = 0
    reason: str | None = None
    """Of one without an answer."""
    reader: StateReader = field(default_factory=StateReader)

    def ask(self, claims: Sequence[_Claim], authority: Authority) -> None:
        """Ask about these. Raises: as `recheck`."""
        transitions = [_transition(self.reader, claim.texts) for claim in claims]
        answers = authority(transitions) if transitions else ()
        if len(answers) != len(claims):
            raise ToolError("TLC", f"answered {len(answers)} of {len(claims)} transitions")
        for claim, answer in zip(claims, answers, strict=True):
            open_because = _compare(claim, answer)
            if open_because is not None:
                self.unanswered += 1
                self.reason = self.reason or f"{_told(claim)}: {open_because}"
            elif claim.bad is None:
                self.accepted += 1
            else:
                self.rejected += 1


def _transition(reader: StateReader, texts: Texts) -> Transition:
    try:
        return reader.transition(texts.pre, texts.action, texts.params, texts.post)
    except TlatraceError as error:
        reason = f"the compiled model has read a text that is not canonical: {error}"
        raise DisagreementError(call_of(texts.action, texts.params), reason) from error


def _compare(claim: _Claim, answer: Judged) -> str | None:
    """Compare the answers; say why TLC has none. The order of violated invariants means nothing.

    Raises:
        DisagreementError: they differ.
    """
    theirs = "allows the step"
    match answer.step:
        case Failed(reason=reason):
            return reason
        case Refused():
            theirs = "does not allow the step"
        case Allowed() if answer.violated:
            theirs = f"allows the step and finds {_names(answer.violated)} violated"
        case Allowed() if answer.unevaluated is not None:
            return answer.unevaluated
        case Allowed():
            pass
        case _ as unreachable:
            assert_never(unreachable)
    ours = "allows the step"
    if claim.bad is not None:
        ours = "does not allow the step"
        if claim.bad.status == "violated":
            names = claim.bad.detail.split(", ")
            ours = f"allows the step and finds {_names(names)} violated"
    if ours != theirs:
        reason = f"the compiled model {ours}, and TLC {theirs}"
        raise DisagreementError(_told(claim), reason)
    return None


def _names(names: Sequence[str]) -> str:
    return " and ".join(sorted(names))


def _told(claim: _Claim) -> str:
    texts = claim.texts
    before = "the initial state" if texts.pre is None else f"{texts.pre} ->"
    return f"{call_of(texts.action, texts.params)} ({before} {texts.post})"
