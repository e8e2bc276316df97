r"""Ask TLC and the compiled model for the values of many drawn expressions.

TLC has the values of the variables as arguments, `Q7(vi, vs, ...) == e`, because it evaluates
constant definitions only, all of them in one process, and goes on after one without a value
(`expressions`). The model has the expression as one of a state.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from tlatrace.errors import EvaluationError, ToolError
from tlatrace.oracle import load_model
from tlatrace.selfcheck.expressions import JVM_ARGS, Answer, Is, Raises, read_answers
from tlatrace.selfcheck.random_expressions.forms import STATE_TYPES
from tlatrace.selfcheck.random_expressions.term import Term, written
from tlatrace.tla.config import parse_config
from tlatrace.tla_text import parse_tla
from tlatrace.tools.tlc import Outcome, run_tlc
from tlatrace.values import canonical

__all__ = [
    "STATES",
    "UNENDING",
    "AskModel",
    "Question",
    "model_answers",
    "tlc_answers",
    "written_module",
]

STATES: Final[tuple[tuple[str, ...], ...]] = (
    ("0", "{}", "<<>>", '[a |-> 0, b |-> "a"]', "<<>>"),
    ("2", "{1, 2}", "(0 :> 1 @@ 2 :> 3)", '[a |-> 2, b |-> ""]', '<<"a", "b">>'),
    ("-1", "{2, 0, 1}", "<<5, 2>>", '[b |-> "b", a |-> 1]', '<<"b", "b", "a">>'),
    ("1", "{0, -1}", "(1 :> 1 @@ 3 :> 0)", '[a |-> 5, b |-> "ab"]', '<<"ab">>'),
)
"""The values of the variables, in the order of `STATE_TYPES`."""

_OTHERWISE: Final = {
    "{1, 2}": "1..2",
    "(0 :> 1 @@ 2 :> 3)": "[k \\in {0, 2} |-> k + 1]",
    "<<5, 2>>": "[k \\in 1..2 |-> IF k = 1 THEN 5 ELSE 2]",
}
"""How TLC reads some of the values: its answer must not depend on how they were made."""
_BEGUN: Final = re.compile(r'"Rp__At P(\d+)"')
UNENDING: Final = Raises("TLC does not end")
r"""TLC's answer to `\A m, n \in SUBSET {} \cup S : P`: it draws from SUBSET {} again and again."""
_MODULES: Final = "Integers, Sequences, FiniteSets, TLC"


@dataclass(frozen=True, slots=True)
class Question:
    """An expression, and the state in which it is to be evaluated."""

    term: Term
    state: int | None
    """The number of one of `STATES`; None: the expression is constant."""

    @property
    def text(self) -> str:
        """The expression."""
        return written(self.term)


AskModel: TypeAlias = Callable[[Sequence[Question]], list[Answer]]
"""Evaluates questions; a parameter, so that tests can break it."""


def written_module(questions: Sequence[Question]) -> str:
    """Write the module that has TLC print the values."""
    names = ", ".join(STATE_TYPES)
    lines = ["---- MODULE Asked ----", f"EXTENDS {_MODULES}", "VARIABLE item"]
    for at, texts in enumerate(STATES):
        written = [_OTHERWISE.get(text, text) for text in texts]
        lines += [f"S{at}{name} == {text}" for name, text in zip(STATE_TYPES, written, strict=True)]
    for at, question in enumerate(questions):
        text = question.text
        if question.state is not None:
            lines.append(f"Q{at}({names}) == {text}")
            text = f"Q{at}({', '.join([f'S{question.state}{name}' for name in STATE_TYPES])})"
        lines.append(f'P{at} == PrintT("Rp__At P{at}") /\\ PrintT({text})')
    lines += ['End == PrintT("Rp__At End")', "Init == item = 0", "Next == UNCHANGED item", "====\n"]
    return "\n".join(lines)


def tlc_answers(questions: Sequence[Question], *, timeout_s: float = 240.0) -> list[Answer]:
    """Ask TLC; at an expression for which it takes longer than that, it is `UNENDING`.

    Raises:
        ToolError: TLC does not finish, or there is no Java or no jar.
    """
    answers: dict[int, Answer] = {}
    while len(answers) < len(questions):
        asked = [at for at in range(len(questions)) if at not in answers]
        found, stuck = _asked([questions[at] for at in asked], timeout_s)
        answers.update({asked[at]: answer for at, answer in found.items()})
        if stuck is None:
            break
        slow = questions[asked[stuck]]  # or there were too many before it
        alone, unending = _asked([slow], timeout_s / 4) if len(asked) > 1 else ({}, 0)
        answers[asked[stuck]] = UNENDING if unending is not None else alone[0]
    return [answers[at] for at in range(len(questions))]


def _asked(questions: Sequence[Question], timeout_s: float) -> tuple[dict[int, Answer], int | None]:
    """Ask TLC once; return the answers, and at which question it was when the time was over."""
    with tempfile.TemporaryDirectory(prefix="rocketproof-drawn-") as folder:
        module, config = Path(folder) / "Asked.tla", Path(folder) / "Asked.cfg"
        module.write_text(written_module(questions), "utf-8")
        config.write_text("INIT Init\nNEXT Next\n", "utf-8")
        run = run_tlc(module, config, timeout_s=timeout_s, jvm_args=JVM_ARGS)
    marks = [match[1] for line in run.printed if (match := _BEGUN.fullmatch(line.strip()))]
    stuck = int(marks[-1]) if run.outcome is Outcome.TIMEOUT and marks else None
    if run.outcome is not Outcome.SUCCESS and stuck is None:
        raise ToolError("TLC", f"drawn expressions: {' '.join(run.message.split())[:400]}")
    found = read_answers(run.printed, may_be_lazy=True)
    answers = {
        at: _enumerated(found[f"P{at}"])
        for at in range(len(questions))
        if f"P{at}" in found and at != stuck
    }
    if stuck is None and len(answers) < len(questions):
        unasked = next(question for at, question in enumerate(questions) if at not in answers)
        raise ToolError("TLC", f"no answer to the expression {unasked.text}")
    return answers, stuck


def _enumerated(answer: Answer) -> Answer:
    """Take `Nat` and the like, which TLC prints by their names, for no value."""
    by_name = isinstance(answer, Is) and '{"#model":' in answer.text
    return Raises("a set without end") if by_name else answer


def model_answers(questions: Sequence[Question]) -> list[Answer]:
    """Ask the compiled model.

    Raises:
        SubsetError: it refuses one of the expressions.
        ToolError: there is no Java or no jar.
    """
    names = [f"Q{at}" for at in range(len(questions))]
    lines = [
        "---- MODULE Drawn ----",
        f"EXTENDS {_MODULES}",
        f"VARIABLES {', '.join(STATE_TYPES)}",
        *[f"{name} == {question.text}" for name, question in zip(names, questions, strict=True)],
        "Init == " + " /\\ ".join([f"{name} = 0" for name in STATE_TYPES]),
        f"Next == UNCHANGED <<{', '.join(STATE_TYPES)}>>",
        "====\n",
    ]
    with tempfile.TemporaryDirectory(prefix="rocketproof-drawn-") as folder:
        module = Path(folder) / "Drawn.tla"
        module.write_text("\n".join(lines), "utf-8")
        config = parse_config("INIT Init\nNEXT Next\n", module)
        model = load_model(module, config, expressions=names, kept=False)
    values = [[parse_tla(text) for text in texts] for texts in STATES]
    states = [model.adopt(dict(zip(STATE_TYPES, state, strict=True))) for state in values]
    answers: list[Answer] = []
    for name, question in zip(names, questions, strict=True):
        state = None if question.state is None else states[question.state]
        try:
            answers.append(Is(canonical(model.show_value(model.evaluate(name, state)))))
        except EvaluationError as error:
            answers.append(Raises(error.reason))
    return answers
