"""An induction that is made of a specification: Init, each action of Next, and invariants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import z3

from tlatrace.proofs import Claim, Induction, Lemma
from tlatrace.symbolic import Specification, Step
from tlatrace.symbolic.shapes import AtMost
from tlatrace.symbolic.showing import shown_changes
from tlatrace.symbolic.values import Symbolic, all_of

__all__ = ["SHAPE", "Statement", "Variant", "induction"]

SHAPE: Final = "Shape"
"""The claim that the state after a step has the shapes of the variables, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A theorem that is false: the protocol with a bug."""

    name: str
    """That of the mutant."""
    description: str
    overrides: tuple[str, ...]
    lemma: str | None = None
    """The action that tells most about the bug; None: all are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is to be proved, beside the specification."""

    invariants: Mapping[str, str]
    """(name, in words)."""
    shape: str
    """What the claim `SHAPE` says, in words."""
    not_shown: str
    assumed: tuple[str, ...] = ()
    """Formulas about the constants."""
    few: tuple[str, ...] = ()
    """Variables that are sets of a bounded number of elements: steps beyond that are left out."""
    readable: int = 3
    """Counterexamples with numbers up to this are looked for first."""


def induction(
    name: str,
    text: str,
    specification: Specification,
    statement: Statement,
    only: str | None = None,
) -> Induction:
    """State that the invariants hold at the beginning, and that each action, or one, keeps them.

    Raises:
        TlatraceError: the text has a form that is not understood.
    """
    before = specification.before
    assumed = [specification.assumed, *(specification.holds(n, before) for n in statement.assumed)]
    hypothesis = [
        *assumed,
        *(specification.holds(invariant, before) for invariant in statement.invariants),
    ]
    lemmas = [_lemma(specification, specification.initial(), statement, assumed, ())]
    for action in specification.actions:
        if only in (None, action.name):
            step = specification.step(action)
            lemmas.append(_lemma(specification, step, statement, hypothesis, before))
    return Induction(name=name, statement=text, lemmas=tuple(lemmas), not_shown=statement.not_shown)


def _lemma(
    specification: Specification,
    step: Step,
    statement: Statement,
    hypothesis: Sequence[z3.BoolRef],
    before: Sequence[Symbolic],
) -> Lemma:
    claims = [
        Claim(name=name, description=text, formula=specification.holds(name, step.post))
        for name, text in statement.invariants.items()
    ]
    shape = Claim(name=SHAPE, description=statement.shape, formula=specification.fits(step))

    def describe(model: z3.ModelRef) -> str:
        variables = specification.variables
        if not before:
            state, _ = shown_changes(variables, step.post, step.post, model)
            return "\n".join(state)
        state, changed = shown_changes(variables, before, step.post, model)
        return "\n".join([*state, f"-- {step.action} -->", *changed])

    return Lemma(
        name=step.action,
        premises=(*hypothesis, step.possible, _is_few(specification, step, statement)),
        claims=(*claims, shape),
        readable=specification.small(statement.readable),
        describe=describe,
    )


def _is_few(specification: Specification, step: Step, statement: Statement) -> z3.BoolRef:
    """Say that the sets after a step have no more elements than are looked at."""
    after = dict(zip(specification.variables, step.post, strict=True))
    shapes = {name: specification.shapes[name] for name in statement.few}
    return all_of(
        shape.few(after[name]) for name, shape in shapes.items() if isinstance(shape, AtMost)
    )
