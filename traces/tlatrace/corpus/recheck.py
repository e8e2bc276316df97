"""Hold the compiled model against TLC, the authority, on what it said of a corpus.

TLC judges a random sample of the accepted transitions and every rejected one. If it says anything
else, the model compiler is wrong, and no verdict of the run can be trusted: that is an error of
ours, and no statement about a trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, assert_never

from tlatrace.corpus.findings import Bad, Findings, Texts
from tlatrace.corpus.result import Rechecked
from tlatrace.corpus.text_reader import StateReader
from tlatrace.corpus.verdicts import call_of
from tlatrace.errors import DisagreementError, TlatraceError, ToolError
from tlatrace.validate.transition import Allowed, Failed, Judged, Refused, Transition

__all__ = ["Authority", "recheck"]

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


def recheck(findings: Findings, authority: Authority, sample: int) -> Rechecked:
    """Ask TLC about `sample` accepted transitions and about those that were rejected.

    Transitions of which the compiled model says nothing are not asked about: they are undecided.

    Raises:
        DisagreementError: TLC says something else of one of them.
        ToolError: TLC has no answer for one of them.
    """
    accepted = findings.sampled(sample)
    rejected = [
        _Claim(texts, bad)
        for _, (bad, texts) in sorted(findings.bad.items())
        if bad.status != "failed"
    ]
    left_out = max(len(rejected) - _MAX_REJECTED, 0)
    claims = [*[_Claim(texts, None) for texts in accepted], *rejected[:_MAX_REJECTED]]
    reader = StateReader()
    transitions = [_transition(reader, claim.texts) for claim in claims]
    answers = authority(transitions) if transitions else ()
    if len(answers) != len(claims):
        raise ToolError("TLC", f"answered {len(answers)} of {len(claims)} transitions")
    for claim, answer in zip(claims, answers, strict=True):
        _compare(claim, answer)
    return Rechecked(accepted=len(accepted), rejected=len(rejected) - left_out, left_out=left_out)


def _transition(reader: StateReader, texts: Texts) -> Transition:
    try:
        return reader.transition(texts.pre, texts.action, texts.params, texts.post)
    except TlatraceError as error:
        reason = f"the compiled model has read a text that is not canonical: {error}"
        raise DisagreementError(call_of(texts.action, texts.params), reason) from error


def _compare(claim: _Claim, answer: Judged) -> None:
    """Compare the answers; the order of violated invariants means nothing."""
    theirs = "allows the step"
    match answer.step:
        case Failed(reason=reason):
            raise ToolError("TLC", f"has no answer for {_told(claim)}: {reason}")
        case Refused():
            theirs = "does not allow the step"
        case Allowed() if answer.violated:
            theirs = f"allows the step and finds {_names(answer.violated)} violated"
        case Allowed() if answer.unevaluated is not None:
            raise ToolError("TLC", f"has no answer for {_told(claim)}: {answer.unevaluated}")
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


def _names(names: Sequence[str]) -> str:
    return " and ".join(sorted(names))


def _told(claim: _Claim) -> str:
    texts = claim.texts
    before = "the initial state" if texts.pre is None else f"{texts.pre} ->"
    return f"{call_of(texts.action, texts.params)} ({before} {texts.post})"
