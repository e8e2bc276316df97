"""An induction that is made of a specification: Init, each action of Next, and invariants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import z3

from tlatrace.proofs import Claim, Induction, Instance, Lemma
from tlatrace.runtime.values import RuntimeValue
from tlatrace.symbolic import Specification, Step
from tlatrace.symbolic.shapes import AtMost
from tlatrace.symbolic.showing import shown_changes
from tlatrace.symbolic.values import Constant, Symbolic, all_of

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
    state: str | None = None
    """A formula: the state from which steps are; None: z3 finds one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is to be proved, beside the specification."""

    invariants: Mapping[str, str]
    """(name, in words)."""
    steps: Mapping[str, str] = field(default_factory=dict)
    """Properties of the form [][A]_v, which each step from where the invariants hold must have."""
    shape: str
    """What the claim `SHAPE` says, in words."""
    not_shown: str
    assumed: tuple[str, ...] = ()
    """Formulas about the constants."""
    few: tuple[str, ...] = ()
    """Variables that are sets of a bounded number of elements: steps beyond that are left out."""
    examples: Mapping[str, str] = field(default_factory=dict)
    """(action, formula): a state from which there is a step, where z3 finds none by itself."""
    apart: bool = False
    """Whether z3 is asked for each conjunct of an invariant by itself."""
    readable: int = 3
    """Counterexamples with numbers up to this are looked for first."""


def induction(
    name: str,
    text: str,
    specification: Specification,
    statement: Statement,
    only: str | None = None,
    *,
    alike: Sequence[RuntimeValue] = (),
    state: str | None = None,
) -> Induction:
    """State that the invariants hold at the beginning, and that each action, or one, keeps them.

    So it is with the properties of steps, which are claims of each action.

    `alike` are model values that the text does not tell apart: see `tlatrace.symbolic.symmetry`.
    With a `state` all steps are from that one, which a formula describes.

    Raises:
        TlatraceError: the text has a form that is not understood.
    """
    before = specification.before if state is None else specification.state(state)
    assumed = [specification.assumed, *(specification.holds(n, before) for n in statement.assumed)]
    hypothesis = [
        *assumed,
        *(specification.holds(invariant, before) for invariant in statement.invariants),
    ]
    lemmas = [_lemma(specification, specification.initial(), statement, assumed, (), assumed)]
    if alike:
        specification.check_symmetric(alike, tuple(statement.invariants))
    for action in specification.actions:
        if only in (None, action.name):
            for chosen in specification.chosen(action, alike):
                step = specification.step(action, before, chosen)
                lemma = _lemma(specification, step, statement, hypothesis, before, assumed)
                lemmas.append(replace(lemma, name=_name(action.name, chosen)))
    return Induction(name=name, statement=text, lemmas=tuple(lemmas), not_shown=statement.not_shown)


def _lemma(
    specification: Specification,
    step: Step,
    statement: Statement,
    hypothesis: Sequence[z3.BoolRef],
    before: Sequence[Symbolic],
    assumed: Sequence[z3.BoolRef],
) -> Lemma:
    claims = [
        Claim(name=name, description=text, formula=specification.holds(name, step.post))
        for name, text in statement.invariants.items()
    ]
    if before:
        claims += [
            Claim(name=name, description=text, formula=specification.allows(name, before, step))
            for name, text in statement.steps.items()
        ]
    shape = Claim(name=SHAPE, description=statement.shape, formula=specification.fits(step))

    return Lemma(
        name=step.action,
        premises=(*hypothesis, step.possible, _is_few(specification, step, statement)),
        claims=(*claims, shape),
        readable=specification.small(statement.readable),
        describe=partial(_describe, specification.variables, step, before),
        apart=statement.apart,
        instance=_instance(specification, step.action, statement, assumed),
    )


def _name(action: str, chosen: Mapping[str, Symbolic]) -> str:
    values = [str(one.value) for one in chosen.values() if isinstance(one, Constant)]
    return f"{action}({', '.join(values)})" if values else action


def _describe(
    variables: Sequence[str], step: Step, before: Sequence[Symbolic], model: z3.ModelRef
) -> str:
    if not before:
        state, _ = shown_changes(variables, step.post, step.post, model)
        return "\n".join(state)
    state, changed = shown_changes(variables, before, step.post, model)
    return "\n".join([*state, f"-- {step.action} -->", *changed])


def _instance(
    specification: Specification, action: str, statement: Statement, assumed: Sequence[z3.BoolRef]
) -> Instance | None:
    """Return the premises for the state from which an example is."""
    if action not in statement.examples:
        return None
    (named,) = [one for one in specification.actions if one.name == action]
    state = specification.state(statement.examples[action])
    step = specification.step(named, state)
    return Instance(
        premises=(
            *assumed,
            *(specification.holds(invariant, state) for invariant in statement.invariants),
            step.possible,
        ),
        describe=partial(_describe, specification.variables, step, state),
    )


def _is_few(specification: Specification, step: Step, statement: Statement) -> z3.BoolRef:
    """Say that the sets after a step have no more elements than are looked at."""
    after = dict(zip(specification.variables, step.post, strict=True))
    shapes = {name: specification.shapes[name] for name in statement.few}
    return all_of(
        shape.few(after[name]) for name, shape in shapes.items() if isinstance(shape, AtMost)
    )
