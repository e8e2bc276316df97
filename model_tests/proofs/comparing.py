"""Holds formulas that are made of a specification against its compiled model, on given states.

Of what is hidden nothing is compared: the formulas allow at least the steps of the compiled model.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import z3

from tlatrace.errors import EvaluationError
from tlatrace.oracle import Model, ModelState
from tlatrace.oracle import Step as ModelStep
from tlatrace.runtime.values import RuntimeValue, model_value
from tlatrace.symbolic import Specification, Step
from tlatrace.symbolic.hidden import Unknowns, has_hidden, same
from tlatrace.symbolic.values import Set, Symbolic, all_of, any_of, equal, implies, literal

__all__ = ["Comparison", "Transition", "by_pre", "steps_and_others", "with_parts_of"]


@dataclass(frozen=True, slots=True)
class Transition:
    """A step that the compiled model allows, or does not; of a corrupted one it may say neither."""

    pre: ModelState
    action: str
    params: tuple[RuntimeValue, ...]
    post: ModelState
    allowed: bool | None
    """None: TLC would stop here, for something has no value."""


def with_parts_of(state: ModelState, other: ModelState, choice: random.Random) -> ModelState:
    """Put the value that a variable has in another state in the place of its own."""
    at = choice.randrange(len(state))
    return (*state[:at], other[at], *state[at + 1 :])


def by_pre(transitions: Iterable[Transition]) -> dict[ModelState, list[Transition]]:
    """Put those that have a value together by the state before: a solver knows it once."""
    found: dict[ModelState, list[Transition]] = {}
    for one in transitions:
        if one.allowed is not None:
            found.setdefault(one.pre, []).append(one)
    return found


def with_same_change(pre: ModelState, post: ModelState, elsewhere: ModelState) -> ModelState:
    """Give the variables that a step changes the same values after another state."""
    return tuple(
        there if before == after else after
        for before, after, there in zip(pre, post, elsewhere, strict=True)
    )


def steps_and_others(
    comparison: Comparison,
    steps: Iterable[ModelStep],
    pre: ModelState,
    states: Sequence[ModelState],
    choice: random.Random,
) -> Iterator[Transition]:
    """Yield the steps from a state, and steps like them with parts of other states in them."""
    for step in steps:
        yield comparison.judged(pre, step.action, step.params, step.post)
        other = choice.choice(states)
        yield comparison.judged(
            pre, step.action, step.params, with_parts_of(step.post, other, choice)
        )
        elsewhere = with_parts_of(pre, other, choice)
        yield comparison.judged(
            elsewhere, step.action, step.params, with_same_change(pre, step.post, elsewhere)
        )


def is_value(symbolic: Symbolic, value: RuntimeValue, unknowns: Unknowns) -> z3.BoolRef:
    """Say that what is looked at of a symbolic value is as in a value."""
    known = literal(value)
    if not has_hidden(symbolic):
        return equal(symbolic, known)
    if not isinstance(symbolic, Set):
        return same(symbolic, known, unknowns)
    assert isinstance(known, Set)
    some = [element for _, element in known.elements]
    return all_of(
        [
            *[
                implies(guard, any_of([same(element, one, unknowns) for one in some]))
                for guard, element in symbolic.elements
            ],
            *[
                any_of([all_of([g, same(e, one, unknowns)]) for g, e in symbolic.elements])
                for one in some
            ],
        ]
    )


@dataclass(frozen=True)
class Comparison:
    """The formulas, and the compiled model that judges them; nothing in it is bounded."""

    specification: Specification
    judge: Model
    constants: Mapping[str, RuntimeValue]
    """The values of the unknown constants."""
    _hidden: dict[tuple[str, int], bool] = field(default_factory=dict)
    """Of a state before or after an action, and a place in it: whether it hides something."""
    _equalities: dict[tuple[str, int, RuntimeValue], z3.BoolRef] = field(default_factory=dict)
    """Of such a place where nothing is hidden, and a value: that it is there."""

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Each action, from the state of which only the shape is known."""
        return {one.name: self.specification.step(one) for one in self.specification.actions}

    @property
    def known(self) -> list[z3.BoolRef]:
        """Say what the constants are."""
        return [
            equal(self.specification.parameters[model_value(name)], literal(value))
            for name, value in self.constants.items()
        ]

    def judged(
        self, pre: ModelState, action: str, params: tuple[RuntimeValue, ...], post: ModelState
    ) -> Transition:
        """Ask the compiled model for a step."""
        try:
            allowed: bool | None = self.judge.allows(action, params, pre, post)
        except EvaluationError:
            allowed = None
        return Transition(pre, action, params, post, allowed)

    def pinned(self, state: ModelState) -> z3.Solver:
        """Return a solver that knows a state, for the very constants of the theorem."""
        assert self.specification.variables == self.judge.variables
        solver = z3.Solver()
        solver.add(*self.known, *self._has_values("before", self.specification.before, state))
        assert is_possible(solver), state
        return solver

    def is_step(self, solver: z3.Solver, one: Transition) -> bool:
        """Ask the formulas for a step from the state that a solver knows."""
        step = self.steps[one.action]
        given = [equal(p, literal(v)) for p, v in zip(step.parameters, one.params, strict=True)]
        after = self._has_values(f"after {one.action}", step.post, one.post)
        return is_possible(solver, step.possible, *given, *after)

    def _has_values(
        self, where: str, terms: Sequence[Symbolic], state: ModelState
    ) -> list[z3.BoolRef]:
        """Say that terms have the values of a state; most values are those of many states."""
        found, unknowns = [], Unknowns(where)
        for at, (term, value) in enumerate(zip(terms, state, strict=True)):
            if (where, at) not in self._hidden:
                self._hidden[where, at] = has_hidden(term)
            if self._hidden[where, at]:
                found.append(is_value(term, value, unknowns))
                continue
            if (where, at, value) not in self._equalities:
                self._equalities[where, at, value] = is_value(term, value, unknowns)
            found.append(self._equalities[where, at, value])
        return found

    def is_initial(self, state: ModelState) -> bool:
        """Ask the formulas whether a state is an initial one."""
        initial = self.specification.initial()
        unknowns = Unknowns("initial")
        equals = [is_value(v, d, unknowns) for v, d in zip(initial.post, state, strict=True)]
        return is_possible(z3.Solver(), initial.possible, *self.known, *equals)

    def agrees(self, state: ModelState, invariants: Sequence[str], violated: Sequence[str]) -> bool:
        """Tell whether the formulas call the same invariants violated, and no others."""
        spec = self.specification
        alike = [spec.holds(name, spec.before) == (name not in violated) for name in invariants]
        return not is_possible(self.pinned(state), z3.Not(z3.And(alike)))


def is_possible(solver: z3.Solver, *formulas: z3.BoolRef) -> bool:
    """Ask z3, which must know the answer."""
    answer = solver.check(*formulas)
    assert answer != z3.unknown, solver.reason_unknown()
    return bool(answer == z3.sat)
