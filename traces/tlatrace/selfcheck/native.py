"""Does machine code accept only what the compiled Python allows?

Right steps, corrupted ones and the invariants of their states are asked of both. What machine code
does not accept says nothing, for then Python is asked: a disagreement is what it accepts and Python
does not. Where it accepts none of the right steps that it has been given, it was not examined.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tlatrace.errors import TlatraceError
from tlatrace.judgement.transition import Transition
from tlatrace.oracle import Model, ModelState
from tlatrace.oracle.native import NativeModel
from tlatrace.runtime.values import RuntimeValue
from tlatrace.selfcheck.agreement import Agreement, Disagreement, state_text

__all__ = ["compare_native"]

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of a step, or of a state alone."""

    role: str
    pre: ModelState | None
    post: ModelState
    params: tuple[RuntimeValue, ...]


def compare_native(
    subject: str,
    model: Model,
    native: NativeModel,
    right: Sequence[Transition],
    others: Iterable[Transition],
) -> Agreement:
    """Ask both of right steps and of other ones."""
    started = time.monotonic()
    disagreements: list[Disagreement] = []
    asked = accepted = found = 0
    for at, transition in enumerate((*right, *others)):
        for question in _questions(model, transition):
            asked += 1
            if not native.surely(question.role, question.pre, question.post, question.params):
                continue
            accepted += 1
            found += at < len(right) and not question.role.startswith("invariant ")
            why = _why_not(model, question)
            if why is not None and len(disagreements) < _SHOWN:
                what = f"{question.role} {state_text(transition.post)}"
                disagreements.append(Disagreement(question=what, tlc=why, model="surely TRUE"))
    lowered = [role for role in native.roles if role.startswith("action ")]
    if lowered and right and not found:
        asked = 0
    return Agreement(
        part="native",
        subject=subject,
        examined=asked,
        facts={
            "accepted": accepted,
            "right steps": len(right),
            "of them accepted": found,
            "questions left to Python": len(native.unlowered),
        },
        disagreements=tuple(disagreements),
        seconds=time.monotonic() - started,
    )


def _questions(model: Model, transition: Transition) -> Iterator[_Question]:
    try:
        pre = None if transition.pre is None else model.adopt(transition.pre)
        post = model.adopt(transition.post)
        params = model.adopt_params(transition.action, transition.params)
    except TlatraceError:
        return  # no value of this model: nobody asks the engines
    step = "next" if transition.action is None else f"action {transition.action}"
    yield _Question("initial" if pre is None else step, pre, post, params)
    for name in model.invariants:
        yield _Question(f"invariant {name}", None, post, ())


def _why_not(model: Model, question: _Question) -> str | None:
    """Say what Python answers, if it is not True."""
    arguments: tuple[object, ...] = (question.pre, question.post, question.params)
    if question.pre is None:
        arguments = (question.post, None)
    elif question.role == "next":
        arguments = arguments[:2]
    try:
        answer = bool(model.predicate(question.role)(*arguments))
    except Exception as error:  # whatever it is: an expression without value
        return f"no value ({error})"
    return None if answer else "FALSE"
