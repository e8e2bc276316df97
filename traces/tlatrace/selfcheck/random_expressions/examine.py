"""Draw expressions, ask TLC and the model, and tell where their answers differ."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from tlatrace.errors import SubsetError
from tlatrace.selfcheck.agreement import Agreement, Disagreement
from tlatrace.selfcheck.expressions import Answer, Is, shown_answer
from tlatrace.selfcheck.random_expressions.categories import (
    EXCEPT,
    categories,
    rewritten_categories,
    without_except,
)
from tlatrace.selfcheck.random_expressions.drawing import Drawing
from tlatrace.selfcheck.random_expressions.questions import (
    STATES,
    UNENDING,
    AskModel,
    Question,
    model_answers,
    tlc_answers,
    written_module,
)
from tlatrace.selfcheck.random_expressions.shrink import Differing, differ, shrunk

__all__ = ["draw_question", "examine_random_expressions"]

_AT_ONCE: Final = 1000
"""Expressions in a module: 1,000 take TLC 1.3 CPU s, and SANY and the model 3.2."""
_SHOWN: Final = 10
_UNENDING: Final = "TLC does not end"


def draw_question(draw: random.Random) -> Question:
    """Draw an expression, constant or of one of the states."""
    of_state = draw.random() < 0.5
    term = Drawing(draw, state=of_state).expression()
    return Question(term, draw.randrange(len(STATES)) if of_state else None)


def examine_random_expressions(
    count: int,
    *,
    seed: int,
    model: AskModel = model_answers,
    reproducers: Path | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> Agreement:
    """Compare the values of so many drawn expressions.

    What differs is made small; what then shows a documented difference is counted by its category,
    and the rest are disagreements, of which a module is written to a folder of `reproducers`.

    Raises:
        ToolError: TLC does not finish, or there is no Java or no jar.
        SubsetError: the model refuses an expression.
    """
    started = time.monotonic()
    tell = on_stage or (lambda _: None)

    def ask(questions: Sequence[Question]) -> list[tuple[Answer, Answer]]:
        answers: list[tuple[Answer, Answer]] = []
        for at in range(0, len(questions), _AT_ONCE):
            some = questions[at : at + _AT_ONCE]
            answers += zip(tlc_answers(some), _in_halves(model, some), strict=True)
        return answers

    facts: Counter[str] = Counter(values=0, errors=0)
    found: list[Differing] = []
    for first in range(0, count, _AT_ONCE):
        tell(f"random expressions: {first:,} of {count:,}")
        numbers = range(first, min(count, first + _AT_ONCE))
        questions = [draw_question(random.Random(f"{seed}/{number}")) for number in numbers]
        for question, (theirs, mine) in zip(questions, ask(questions), strict=True):
            if theirs == UNENDING:
                facts[_UNENDING] += 1
            elif differ(theirs, mine):
                found.append(Differing(question, theirs, mine))
            else:
                facts["values" if isinstance(theirs, Is) else "errors"] += 1
    tell(f"random expressions: making {len(found)} small that differ")
    found, outside = without_except(found, ask)
    facts[EXCEPT] += outside
    small = shrunk(found, ask)
    known = categories(small, model)
    facts.update([category for category in known if category is not None])
    rest = [one for one, category in zip(small, known, strict=True) if category is None]
    known = rewritten_categories(rest, ask)
    facts.update([category for category in known if category is not None])
    disagreements = [one for one, category in zip(rest, known, strict=True) if category is None]
    if reproducers is not None:
        _write(reproducers, disagreements)
    return Agreement(
        part="random-expressions",
        subject="random expressions",
        examined=count - facts[_UNENDING],
        facts=dict(facts),
        disagreements=_disagreements(disagreements),
        seconds=time.monotonic() - started,
    )


def _in_halves(model: AskModel, questions: Sequence[Question]) -> list[Answer]:
    """Ask the model; where a module of all questions is too large for it, ask the halves.

    Raises:
        SubsetError: it refuses a single expression.
    """
    try:
        return [*model(questions)]
    except SubsetError:
        if len(questions) == 1:
            raise
        middle = len(questions) // 2
        return _in_halves(model, questions[:middle]) + _in_halves(model, questions[middle:])


def _disagreements(found: Sequence[Differing]) -> tuple[Disagreement, ...]:
    shown = [
        Disagreement(
            question=one.question.text + _in_state(one.question),
            tlc=shown_answer(one.tlc),
            model=shown_answer(one.model),
        )
        for one in found[:_SHOWN]
    ]
    if len(found) > len(shown):
        more = f"and {len(found) - len(shown)} more"
        shown.append(Disagreement(question=more, tlc="", model=""))
    return tuple(shown)


def _in_state(question: Question) -> str:
    return "" if question.state is None else f" in the state {', '.join(STATES[question.state])}"


def _write(folder: Path, found: Sequence[Differing]) -> None:
    """Write a module for each expression, which TLC can be asked about."""
    for number, one in enumerate(found[:_SHOWN]):
        place = folder / f"expression-{number}"
        place.mkdir(parents=True, exist_ok=True)
        (place / "Asked.tla").write_text(written_module([one.question]), "utf-8")
        (place / "Asked.cfg").write_text("INIT Init\nNEXT Next\n", "utf-8")
        answers = f"TLC: {shown_answer(one.tlc)}\nthe model: {shown_answer(one.model)}\n"
        (place / "answers.txt").write_text(answers, "utf-8")
