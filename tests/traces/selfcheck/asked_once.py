"""Ask TLC and the model of an expression once: what takes long is to start TLC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tlatrace.selfcheck.expressions import Answer
from tlatrace.selfcheck.random_expressions.questions import Question, model_answers, tlc_answers

__all__ = ["both"]

_ANSWERED: Final[dict[Question, tuple[Answer, Answer]]] = {}


def both(questions: Sequence[Question]) -> list[tuple[Answer, Answer]]:
    """Return what both say, TLC first."""
    new = [question for question in dict.fromkeys(questions) if question not in _ANSWERED]
    if new:
        answers = zip(tlc_answers(new), model_answers(new), strict=True)
        _ANSWERED.update(zip(new, answers, strict=True))
    return [_ANSWERED[question] for question in questions]
