"""Does machine code accept only what the compiled Python allows?

Right steps, corrupted ones and the invariants of their states are asked of both; and as the rows of
a corpus are asked, from their texts. What machine code does not accept says nothing, for then
Python is asked: a disagreement is what it accepts and Python does not. Where it accepts none of the
right steps that it has been given, it was not examined.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tlatrace.errors import TlatraceError
from tlatrace.judgement.transition import Transition
from tlatrace.oracle import Model, ModelState
from tlatrace.oracle.native import NativeModel
from tlatrace.oracle.native_rows import NativeRows, NotNative
from tlatrace.oracle.rows import ASK, INITIAL, MOST_ROWS, NO_TEXT, READ_ONLY, Column, States, Texts
from tlatrace.runtime.values import RuntimeValue
from tlatrace.selfcheck.agreement import Agreement, Disagreement, state_text
from tlatrace.values import (
    Fcn,
    ModelValue,
    State,
    TlaSet,
    Value,
    canonical,
    canonical_state,
    fcn,
    tla_set,
)

__all__ = ["compare_native", "opened"]

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of a step, or of a state alone."""

    role: str
    pre: ModelState | None
    post: ModelState
    params: tuple[RuntimeValue, ...]


def opened(model: Model) -> NativeModel:
    """Open the machine code of a model, as a judge of rows if it can be one."""
    try:
        return NativeRows(model)
    except NotNative:
        return NativeModel(model.source)


def compare_native(
    subject: str,
    model: Model,
    native: NativeModel,
    right: Sequence[Transition],
    others: Iterable[Transition],
) -> Agreement:
    """Ask both of right steps and of other ones."""
    started = time.monotonic()
    others = list(others)
    by_rows, wrong = _compare_rows(model, native, (*right, *others))
    disagreements = wrong[:_SHOWN]
    asked = len(right) + len(others) if by_rows else 0
    accepted = found = 0
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
    if (
        isinstance(native, NativeRows)
        and not by_rows
        and any(_is_good(model, step) for step in right)
    ):
        asked = 0
    return Agreement(
        part="native",
        subject=subject,
        examined=asked,
        facts={
            "accepted": accepted,
            "right steps": len(right),
            "of them accepted": found,
            "rows accepted": by_rows,
            "questions left to Python": len(native.unlowered),
        },
        disagreements=tuple(disagreements),
        seconds=time.monotonic() - started,
    )


def _compare_rows(
    model: Model, native: NativeModel, transitions: Sequence[Transition]
) -> tuple[int, list[Disagreement]]:
    """Have steps judged as rows; return how many are accepted, and which of them wrongly."""
    if not isinstance(native, NativeRows):
        return 0, []
    accepted = 0
    wrong: list[Disagreement] = []
    for at in range(0, len(transitions), MOST_ROWS // 2):
        some = transitions[at : at + MOST_ROWS // 2]
        for transition, is_accepted in zip(some, _accepted_rows(native, some), strict=True):
            if not is_accepted:
                continue
            accepted += 1
            whys = [_why_not(model, question) for question in _questions(model, transition)]
            if not whys or any(whys):
                why = next((why for why in whys if why), "it is no step")
                what = f"row {transition.action} {state_text(transition.post)}"
                wrong.append(Disagreement(question=what, tlc=why, model="surely TRUE"))
    return accepted, wrong


def _accepted_rows(native: NativeRows, transitions: Sequence[Transition]) -> list[bool]:
    """Tell which steps are accepted, each behind a row with the state before it."""
    states: list[State] = []
    roles: list[int] = []
    for number, transition in enumerate(transitions):
        before = transition.post if transition.pre is None else transition.pre
        states += [
            {name: _as_recorded(value) for name, value in state.items()}
            for state in (before, transition.post)
        ]
        roles += [READ_ONLY, INITIAL if transition.pre is None else number]
    calls = [(step.action, canonical(_as_recorded(step.params))) for step in transitions]
    found = native.judge(_as_in_corpora(states), np.array(roles, np.int64), calls)
    answers: list[bool] = (found[1::2, 0] != ASK).tolist()
    return answers


def _as_in_corpora(states: Sequence[State]) -> States:
    """Write states in columns of their variables, each third one whole."""
    whole = [at for at in range(len(states)) if at % 3 == 0]
    texts = Texts.of([_bytes(canonical_state(states[at])) for at in whole])
    begins = np.full(len(states), NO_TEXT)
    ends = begins.copy()
    begins[whole], ends[whole] = texts.begins, texts.ends
    variables = sorted(states[0]) if states else []
    columns = [
        Column.of(
            [
                None if at % 3 == 0 or name not in state else _bytes(canonical(state[name]))
                for at, state in enumerate(states)
            ]
        )
        for name in variables
    ]
    return States(Texts(begins, ends, texts), variables, columns)


def _as_recorded(value: Value) -> Value:
    """Write the names of model values as strings, as recorders do."""
    match value:
        case ModelValue(name=name):
            return name
        case tuple():
            return tuple(map(_as_recorded, value))
        case TlaSet():
            return tla_set(map(_as_recorded, value))
        case Fcn():
            return fcn([(_as_recorded(key), _as_recorded(image)) for key, image in value.pairs])
        case _:
            return value


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_good(model: Model, transition: Transition) -> bool:
    """Tell whether Python accepts a step, and all invariants of the state after it."""
    return not any(_why_not(model, question) for question in _questions(model, transition))


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
