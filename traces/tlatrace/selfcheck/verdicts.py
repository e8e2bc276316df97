"""Compare the model's verdicts on corrupted steps with those of TLC.

For each step both say Allowed, Refused or Failed, and of the state after it which invariants are
FALSE, or that they have no value. TLC stops at a step without a value and is started again for the
next one, which takes a second each. So of the steps that the model calls Failed only some are put
to TLC; the others are counted as not asked, and not as examined. All others are asked: a step to
which the model gives a verdict where TLC has none is always found.

One difference is known (spec/SUBSET.md): a quantifier over a set one element of which decides,
while another one, of a wrong type, has no value. Which comes first depends on an order of TLC's
own, and here on the process. Then an invariant that looks into the set has a value for one of the
two, and others are FALSE all the same. Such steps are counted apart, and are a disagreement when
they are more than a few.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from tlatrace.judgement.transition import Allowed, Failed, Judged, Refused, Transition
from tlatrace.selfcheck.agreement import Agreement, Disagreement, state_text
from tlatrace.selfcheck.corruption import Corrupted
from tlatrace.tla_text import to_tla

__all__ = ["Judge", "compare_verdicts"]

Judge = Callable[[Sequence[Transition]], Sequence[Judged]]
"""Judges steps, in the given order."""

_SHOWN: Final = 5
_BY_ORDER: Final = 0.005
"""Of the steps so many may differ by the order of a set."""


def compare_verdicts(
    subject: str, corrupted: Sequence[Corrupted], *, tlc: Judge, model: Judge, max_failed: int
) -> Agreement:
    """Have both judges judge the steps, at most `max_failed` of those that the model fails on."""
    started = time.monotonic()
    mine = list(model([item.transition for item in corrupted]))
    certain = [at for at, judged in enumerate(mine) if not _is_failure(judged)]
    failing = [at for at, judged in enumerate(mine) if _is_failure(judged)]
    asked_failing = _spread(failing, max_failed)
    theirs: dict[int, Judged] = {}
    for group in (certain, asked_failing):
        if group:
            judged = tlc([corrupted[at].transition for at in group])
            theirs.update(zip(group, judged, strict=True))
    counts: Counter[str] = Counter()
    disagreements: list[Disagreement] = []
    by_order: list[Disagreement] = []
    for at in sorted(theirs):
        counts[type(theirs[at].step).__name__] += 1
        if _answer(theirs[at]) != _answer(mine[at]):
            item = corrupted[at]
            found = by_order if _may_be_order(theirs[at], mine[at]) else disagreements
            found.append(
                Disagreement(
                    question=f"{_shown(item.transition)} ({item.kind} changed)",
                    tlc=_shown_answer(theirs[at]),
                    model=_shown_answer(mine[at]),
                )
            )
    if len(by_order) > _BY_ORDER * len(theirs):
        disagreements += by_order
    shown = disagreements[:_SHOWN]
    if len(disagreements) > len(shown):
        more = f"and {len(disagreements) - len(shown)} more"
        shown.append(Disagreement(question=more, tlc="", model=""))
    return Agreement(
        part="corrupted",
        subject=subject,
        examined=len(theirs),
        facts={
            "allowed": counts[Allowed.__name__],
            "refused": counts[Refused.__name__],
            "no value": counts[Failed.__name__],
            "not asked": len(failing) - len(asked_failing),
            "by order": len(by_order),
        },
        disagreements=tuple(shown),
        seconds=time.monotonic() - started,
    )


def _spread(places: Sequence[int], count: int) -> list[int]:
    """Choose up to `count` of the places, evenly."""
    if len(places) <= count:
        return list(places)
    return [places[at * len(places) // count] for at in range(count)]


def _is_failure(judged: Judged) -> bool:
    return isinstance(judged.step, Failed) or judged.unevaluated is not None


def _answer(judged: Judged) -> tuple[str, frozenset[str] | None]:
    violated = None if judged.unevaluated is not None else frozenset(judged.violated)
    return type(judged.step).__name__, violated


def _may_be_order(one: Judged, other: Judged) -> bool:
    """Tell whether one says that invariants are FALSE, and for the other one has no value."""
    if type(one.step) is not type(other.step):
        return False
    without = [judged for judged in (one, other) if judged.unevaluated is not None]
    return len(without) == 1 and any(judged.violated for judged in (one, other))


def _shown_answer(judged: Judged) -> str:
    text = type(judged.step).__name__
    if isinstance(judged.step, Failed):
        text += f" ({judged.step.reason})"
    if judged.unevaluated is not None:
        return f"{text}, invariants without a value ({judged.unevaluated})"
    return text + (f", violated: {', '.join(sorted(judged.violated))}" if judged.violated else "")


def _shown(transition: Transition) -> str:
    params = ", ".join([to_tla(param) for param in transition.params])
    call = (transition.action or "any action") + (f"({params})" if params else "")
    if transition.pre is None:
        return f"initial {state_text(transition.post)}"
    return f"{state_text(transition.pre)}  --{call}-->  {state_text(transition.post)}"
