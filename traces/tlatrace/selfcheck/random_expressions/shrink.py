"""Make expressions small on which TLC and the model differ, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from tlatrace.selfcheck.expressions import Answer, Is
from tlatrace.selfcheck.random_expressions.questions import UNENDING, Question
from tlatrace.selfcheck.random_expressions.term import smaller

__all__ = ["Ask", "Differing", "differ", "shrunk"]

Ask: TypeAlias = Callable[[Sequence[Question]], Sequence[tuple[Answer, Answer]]]
"""Gives the answers of TLC and of the model."""

_ROUNDS: Final = 12
_AT_ONCE: Final = 10
"""Shorter expressions of one that are asked in a round."""


@dataclass(frozen=True, slots=True)
class Differing:
    """An expression with the two answers that differ."""

    question: Question
    tlc: Answer
    model: Answer

    @property
    def direction(self) -> tuple[type[Answer], type[Answer]]:
        """Who has a value."""
        return type(self.tlc), type(self.model)


def differ(tlc: Answer, model: Answer) -> bool:
    """Tell whether two answers differ: another value, or a value and none.

    Where TLC does not end nobody knows.
    """
    if UNENDING in (tlc, model):
        return False
    if isinstance(tlc, Is) and isinstance(model, Is):
        return tlc.text != model.text
    return type(tlc) is not type(model)


def shrunk(found: Sequence[Differing], ask: Ask) -> list[Differing]:
    """Look for the shortest expressions on which the same one has a value, in the same state.

    A round asks both judges about some shorter expressions of each; the shortest that still makes
    them differ takes its place, and one of which none does is done.
    """
    best = list(found)
    open_ = set(range(len(best)))
    tried: list[set[str]] = [set() for _ in best]
    for _ in range(_ROUNDS):
        asked = [(at, less) for at in sorted(open_) for less in _less(best[at], tried[at])]
        open_ = {at for at, _ in asked}
        if not asked:
            break
        answers = ask([less for _, less in asked])
        for (at, less), (tlc, model) in zip(asked, answers, strict=True):
            trial = Differing(less, tlc, model)
            shorter = len(less.text) < len(best[at].question.text)
            if shorter and differ(tlc, model) and trial.direction == best[at].direction:
                best[at] = trial
    return best


def _less(one: Differing, tried: set[str]) -> list[Question]:
    """Return some shorter expressions that were not asked yet: the shortest, and long ones."""
    length = len(one.question.text)
    by_text: dict[str, Question] = {}
    for term in smaller(one.question.term):
        question = replace(one.question, term=term)
        text = question.text
        if len(text) < length and text not in tried:
            by_text.setdefault(text, question)
    ordered = sorted(by_text, key=len)
    if len(ordered) > _AT_ONCE:  # both: nearly nothing of it, and nearly all of it
        ordered = ordered[:: max(1, len(ordered) // _AT_ONCE)][:_AT_ONCE]
    tried.update(ordered)
    return [by_text[text] for text in ordered]
