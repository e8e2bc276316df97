"""Compare the values of constant expressions with those that TLC computes.

The corpus is the modules of `expressions`: every definition whose name is a word and a number, such
as `Set07`, is a question; other definitions serve them. TLC answers all of them in one process: it
evaluates constant definitions before it starts, prints what they print, and goes on after one that
has no value. So an item that was begun without bringing a value is one that TLC cannot evaluate,
and an item that was never begun was not examined.

Source: tlc2.tool.Spec.processConstantDefns of TLC 2.15.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, assert_never

from tlatrace.errors import EvaluationError, SpecError, TlaTextError, ToolError
from tlatrace.selfcheck.agreement import Agreement, Disagreement
from tlatrace.tla_text import parse_tla
from tlatrace.tools.tlc import Outcome, run_tlc
from tlatrace.values import Value, canonical

__all__ = [
    "EXPRESSIONS",
    "JVM_ARGS",
    "ROOT",
    "Answer",
    "Expression",
    "Is",
    "Raises",
    "compare_answers",
    "model_answers",
    "read_answers",
    "read_corpus",
    "shown_answer",
    "tlc_answers",
]

EXPRESSIONS: Final = Path(__file__).with_name("expressions")
ROOT: Final = EXPRESSIONS / "AllExpressions.tla"
"""The module that extends the others, with a variable, so that it is a specification."""

_QUESTION: Final = re.compile(r"^([A-Z][a-z]+\d\d+) ==\s*(.*(?:\n[ \t]+\S.*)*)", re.MULTILINE)
_MARK: Final = re.compile(r'"Rp__At (\w+)"')
_END: Final = "End"
_MODULE: Final = "Rp__Expressions"
JVM_ARGS: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """One question of the corpus."""

    name: str
    module: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Is:
    """The expression has this value, as canonical text."""

    text: str


@dataclass(frozen=True, slots=True)
class Raises:
    """The expression has no value."""

    reason: str


Answer: TypeAlias = Is | Raises


def read_corpus(folder: Path = EXPRESSIONS) -> tuple[Expression, ...]:
    """Read the questions of all modules of a folder, by module and line.

    Raises:
        SpecError: a module cannot be read, or a name is there twice.
    """
    found: dict[str, Expression] = {}
    for path in sorted(folder.glob("*.tla")):
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(path, f"cannot be read ({error})") from error
        for match in _QUESTION.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            if match[1] in found:
                raise SpecError(path, f"the expression {match[1]} is there twice", line)
            asked = " ".join(match[2].split())
            found[match[1]] = Expression(name=match[1], module=path.stem, line=line, text=asked)
    return tuple(found.values())


def tlc_answers(
    corpus: Sequence[Expression], folder: Path = EXPRESSIONS, *, timeout_s: float = 300.0
) -> dict[str, Answer]:
    """Ask TLC for the values; an expression that it did not come to has no answer.

    Raises:
        ToolError: TLC does not finish, prints something that is no value, or there is no Java.
    """
    modules = ", ".join(dict.fromkeys([expression.module for expression in corpus]))
    prints = [f'Rp__{e.name} == PrintT("Rp__At {e.name}") /\\ PrintT({e.name})' for e in corpus]
    text = [
        f"---- MODULE {_MODULE} ----",
        f"EXTENDS {modules}, TLC",
        "VARIABLE Rp__item",
        *prints,
        f'Rp__End == PrintT("Rp__At {_END}")',
        "Rp__Init == Rp__item = 0",
        "Rp__Next == UNCHANGED Rp__item",
        "====\n",
    ]
    with tempfile.TemporaryDirectory(prefix="rocketproof-expressions-") as own:
        module, config = Path(own) / f"{_MODULE}.tla", Path(own) / f"{_MODULE}.cfg"
        module.write_text("\n".join(text), "utf-8")
        config.write_text("INIT Rp__Init\nNEXT Rp__Next\n", "utf-8")
        run = run_tlc(module, config, libraries=[folder], timeout_s=timeout_s, jvm_args=JVM_ARGS)
    if run.outcome is not Outcome.SUCCESS:
        raise ToolError("TLC", f"the expressions: {' '.join(run.message.split())[:400]}")
    return read_answers(run.printed)


def read_answers(lines: Sequence[str], *, may_be_lazy: bool = False) -> dict[str, Answer]:
    """Collect what TLC printed after each mark `Rp__At name`, by name.

    TLC prints a set or function that it has not evaluated yet, and cannot evaluate, as an
    expression. That `may_be_lazy`, and has no value then.

    Raises:
        ToolError: it printed something that is no value.
    """
    texts: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        match = _MARK.fullmatch(line.strip())
        if match is None:
            current.append(line)
        else:
            current = [] if match[1] == _END else texts.setdefault(match[1], [])
    answers: dict[str, Answer] = {}
    for name, printed in texts.items():
        if not printed:
            answers[name] = Raises("an error")
            continue
        try:
            answers[name] = Is(canonical(parse_tla("\n".join(printed))))
        except TlaTextError as error:
            if may_be_lazy:
                answers[name] = Raises(f"TLC leaves it as {' '.join(printed)[:100]}")
                continue
            raise ToolError("TLC", f"the value of {name} is none: {error}") from error
    return answers


def model_answers(
    corpus: Sequence[Expression], evaluate: Callable[[str], Value]
) -> dict[str, Answer]:
    """Ask the model; `evaluate` gives the value of the constant operator of a name."""
    answers: dict[str, Answer] = {}
    for expression in corpus:
        try:
            answers[expression.name] = Is(canonical(evaluate(expression.name)))
        except EvaluationError as error:
            answers[expression.name] = Raises(str(error))
    return answers


def compare_answers(
    corpus: Sequence[Expression],
    tlc: Mapping[str, Answer],
    model: Mapping[str, Answer],
    differences: Mapping[str, str],
) -> Agreement:
    """Compare the answers to every question of the corpus.

    `differences` names the expressions that are meant to differ.
    """
    started = time.monotonic()
    disagreements: list[Disagreement] = []
    counts = {"values": 0, "errors": 0, "documented differences": 0}
    for expression in corpus:
        theirs, mine = tlc.get(expression.name), model.get(expression.name)
        alike = theirs is not None and mine is not None and _same(theirs, mine)
        if theirs is not None and mine is not None:
            kind = "values" if isinstance(theirs, Is) else "errors"
            counts["documented differences" if expression.name in differences else kind] += 1
        if alike == (expression.name in differences):
            disagreements.append(
                Disagreement(
                    question=f"{expression.name}: {expression.text}"
                    + (" (documented as a difference)" if alike else ""),
                    tlc=shown_answer(theirs),
                    model=shown_answer(mine),
                )
            )
    return Agreement(
        part="expressions",
        subject="constant expressions",
        examined=sum(counts.values()),
        facts=counts,
        disagreements=tuple(disagreements),
        seconds=time.monotonic() - started,
    )


def _same(left: Answer, right: Answer) -> bool:
    if isinstance(left, Is) and isinstance(right, Is):
        return left.text == right.text
    return isinstance(left, Raises) and isinstance(right, Raises)


def shown_answer(answer: Answer | None) -> str:
    """Write an answer for a reader."""
    match answer:
        case None:
            return "no answer"
        case Is(text=text):
            return text
        case Raises(reason=reason):
            return f"no value: {reason}"
        case _ as unreachable:
            assert_never(unreachable)
