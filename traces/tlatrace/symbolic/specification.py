"""A specification whose constants may be unknown numbers, and whose states are z3 terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import z3

from tlatrace.compiler.ir.nodes import Call, Expr, Literal, Operand, Variable, children
from tlatrace.compiler.lower.reader import Reader
from tlatrace.compiler.reading import read_tree
from tlatrace.errors import ModelGapError, SubsetError
from tlatrace.runtime.values import Atom, RuntimeValue, model_value
from tlatrace.symbolic.elements import length_of
from tlatrace.symbolic.evaluator import Evaluator
from tlatrace.symbolic.samples import needed
from tlatrace.symbolic.shapes import HIDDEN, LENGTH, AtMost, SequenceOf, constant_of
from tlatrace.symbolic.steps import NamedAction, Step, initial_step, named_actions, step_of
from tlatrace.symbolic.symmetry import check_symmetric, patterns
from tlatrace.symbolic.values import Nothing, Shape, Symbolic, all_of, literal
from tlatrace.tla.config import TlcConfig

__all__ = ["Specification", "open_specification"]


def open_specification(
    module: Path,
    config: TlcConfig,
    shapes: Mapping[str, Shape],
    *,
    naturals: Many[str] = (),
    sequences: Mapping[str, Shape] = MappingProxyType({}),
    libraries: Many[Path] = (),
    steps: bool = True,
    others_hidden: bool = False,
) -> Specification:
    """Read a specification; `naturals` are model values that stand for unknown natural numbers.

    `sequences` are others, which stand for unknown sequences of such entries. `shapes` are those of
    the variables; where no steps are asked about, those that formulas read are enough, and with
    `others_hidden` the others are hidden.

    Raises:
        ModelGapError: the variables are others.
        SpecError, ToolError: see `read_tree`.
    """
    reader = read_tree(module, config, libraries=libraries)
    if others_hidden:
        shapes = {**dict.fromkeys(reader.variables, HIDDEN), **shapes}
    missing = set(reader.variables) - set(shapes) if steps else set()
    odd = sorted(missing | (set(shapes) - set(reader.variables)))
    if odd:
        raise ModelGapError(f"the variables of {reader.module} have other shapes: {odd}")
    parameters: dict[Atom, Symbolic] = {model_value(name): z3.Int(name) for name in naturals}
    for name, entry in sequences.items():
        parameters[model_value(name)] = constant_of(SequenceOf(entry), name)
    return Specification(reader, dict(shapes), parameters)


@dataclass
class Specification:
    """The formulas of a specification; `before` is a state of which only the shape is known."""

    reader: Reader
    shapes: Mapping[str, Shape]
    parameters: Mapping[Atom, Symbolic]
    _read: dict[str, tuple[Expr, tuple[int, ...]]] = field(default_factory=dict)
    """The body of a formula, and the variables in it."""
    _of_steps: dict[str, tuple[Expr, ...]] = field(default_factory=dict)
    """What a property says of each step."""
    _known: dict[tuple[object, ...], tuple[z3.BoolRef, object]] = field(default_factory=dict)
    """What a formula says of values; these are kept, so that their ids stay theirs."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables, in the order of states."""
        return self.reader.variables

    @cached_property
    def before(self) -> tuple[Symbolic, ...]:
        """The state before a step; a variable without a shape has no value."""
        return tuple(
            [
                constant_of(self.shapes[name], name) if name in self.shapes else Nothing()
                for name in self.variables
            ]
        )

    @cached_property
    def assumed(self) -> z3.BoolRef:
        """What is known of the constants, and of the lengths of sequences."""
        lengths = [
            z3.Int(f"{name}{path}")
            for name, shape in self.shapes.items()
            for path, _ in shape.sorts()
            if path.endswith(LENGTH)
        ]
        return all_of(number >= 0 for number in (*lengths, *self._numbers))

    @property
    def _numbers(self) -> Iterator[z3.ArithRef]:
        """The constants that are numbers, and the lengths of others."""
        for constant in self.parameters.values():
            yield constant if isinstance(constant, z3.ArithRef) else length_of(constant)

    @cached_property
    def actions(self) -> tuple[NamedAction, ...]:
        """The disjuncts of Next."""
        return tuple(named_actions(self.reader.definition("Next")))

    def initial(self) -> Step:
        """Return the initial states."""
        init = self.reader.definition("Init", primed=True)
        return initial_step(init, self.parameters, self._in_order)

    def step(
        self,
        action: NamedAction,
        before: Many[Symbolic] | None = None,
        chosen: Mapping[str, Symbolic] = MappingProxyType({}),
    ) -> Step:
        """Return the steps of an action from a state, or from `before`.

        Names that Next binds may be `chosen`.
        """
        pre = self.before if before is None else before
        return step_of(action, pre, self.parameters, self._in_order, chosen)

    def chosen(
        self, action: NamedAction, alike: Many[RuntimeValue]
    ) -> Iterator[Mapping[str, Symbolic]]:
        """Yield what the names that an action has from the set of `alike` may stand for.

        Of members that are alike the first ones are enough; where there are none nothing is chosen.
        """
        names = [
            name
            for name, among in action.bounds
            if isinstance(among, Literal) and among.value == frozenset(alike)
        ]
        for pattern in patterns(len(alike), len(names)):
            yield {name: literal(alike[at]) for name, at in zip(names, pattern, strict=True)}

    def check_symmetric(self, alike: Many[RuntimeValue], invariants: Many[str]) -> None:
        """Make sure that no action and no invariant tells some model values apart.

        Raises:
            SubsetError: one may.
        """
        definitions = [self.reader.definition(name) for name in ("Next", *invariants)]
        check_symmetric(frozenset(alike), definitions, self.reader.module)

    def state(self, formula: str) -> tuple[Symbolic, ...]:
        """Return the state that a formula describes, which is of the form of Init."""
        described = self.reader.definition(formula, primed=True)
        found = initial_step(described, self.parameters, self._in_order).post
        shapes = zip(self._in_order, found, strict=True)
        return tuple([shape.build(shape.leaves(value)) for shape, value in shapes])

    @property
    def _in_order(self) -> list[Shape]:
        return [self.shapes[name] for name in self.variables]

    def holds(self, formula: str, state: Many[Symbolic]) -> z3.BoolRef:
        """Say that a formula without primes and parameters holds in a state."""
        if formula not in self._read:
            body = self.reader.definition(formula).expression
            read = tuple(sorted(variables_of(body)))
            unknown = [self.variables[at] for at in read if self.variables[at] not in self.shapes]
            if unknown:
                raise ModelGapError(f"{formula} reads {', '.join(unknown)}, which have no shape")
            self._read[formula] = body, read
        body, reads = self._read[formula]
        key = (formula, *[id(state[index]) for index in reads])
        if key not in self._known:
            truth = Evaluator(state, self.parameters).truth(body, {})
            self._known[key] = truth, tuple(state)
        return self._known[key][0]

    def allows(self, formula: str, before: Many[Symbolic], step: Step) -> z3.BoolRef:
        """Say that a property of the form [][A]_v allows a step.

        Raises:
            SubsetError: it says something else, or nothing, of steps.
        """
        if formula not in self._of_steps:
            said = self.reader.behaviours.property(formula)
            if said is None or said[0] or said[2] or not said[1]:
                raise SubsetError(self.reader.module, f"{formula} is not of the form [][A]_v")
            self._of_steps[formula] = tuple(said[1])
        evaluator = Evaluator(before, self.parameters)
        evaluator.post = dict(enumerate(step.post))
        return all_of([evaluator.truth(one, {}) for one in self._of_steps[formula]])

    def applied(self, operator: str, arguments: Many[Symbolic]) -> Symbolic:
        """Return the value of an operator in `before`."""
        definition = self.reader.definition(operator)
        names = dict(zip(definition.parameters, arguments, strict=True))
        return Evaluator(self.before, self.parameters).value(definition.expression, names)

    def fits(self, step: Step) -> z3.BoolRef:
        """Say that the state after a step has the shapes of the variables."""
        after = zip(self.variables, step.post, strict=True)
        return all_of(
            [*step.obligations, *(self.shapes[name].fits(value) for name, value in after)]
        )

    def small(self, most: int) -> z3.BoolRef:
        """Say that no number before a step is larger, and none is below -1."""
        leaves = [
            z3.Const(f"{name}{path}", sort)
            for name, shape in self.shapes.items()
            for path, sort in shape.sorts()
            if sort == z3.IntSort()
        ]
        numbers = [*leaves, *self._numbers]
        return all_of(z3.And(number >= -1, number <= most) for number in numbers)

    def check_samples(self, invariants: Many[str]) -> None:
        """Make sure that the sets of which a few elements are looked at need no more.

        Raises:
            SubsetError: they need more, or are used so that no number is enough.
        """
        definitions = [self.reader.definition(name) for name in invariants]
        for name, shape in self.shapes.items():
            if isinstance(shape, AtMost) and shape.sampled:
                enough = needed(name, definitions, self.reader.definition("Next"))
                if shape.count < enough:
                    reason = f"{enough} elements of {name} must be looked at, not {shape.count}"
                    raise SubsetError(self.reader.module, reason)


def variables_of(expr: Operand) -> frozenset[int]:
    """Return the variables that an expression reads, also in what it calls."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting: list[Operand] = [expr]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Variable):
            found.add(node.index)
        elif isinstance(node, Call) and id(node.definition) not in seen:
            seen.add(id(node.definition))
            waiting.append(node.definition.expression)
        waiting += children(node)
    return frozenset(found)
