r"""Actions as formulas: when a step is possible, and the state after it.

A conjunct x' = e or UNCHANGED gives a variable its value; x' \in S, and `\E` over what is not
decided yet, give a variable or a name a new constant; everything else is a guard. Of a disjunction
that gives variables values any disjunct is taken. Conjuncts are
taken in the order of the text, as TLC does. All branches of IF and CASE must give values to the
same variables; the steps are those of all branches, each under its condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import dataclass
from types import MappingProxyType

import z3

from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Definition,
    Expr,
    If,
    Let,
    Local,
    Operand,
    Quantified,
    Variable,
    children,
    unsupported,
)
from tlatrace.runtime.values import Atom
from tlatrace.symbolic.evaluator import Evaluator, Names
from tlatrace.symbolic.hidden import filled, same
from tlatrace.symbolic.values import (
    Choice,
    Function,
    Functions,
    Hidden,
    Interval,
    Naturals,
    Nothing,
    Numbers,
    Powerset,
    Set,
    Shape,
    Symbolic,
    all_of,
    any_of,
    merge,
    options_of,
    set_of,
    subset,
)

__all__ = ["NamedAction", "Step", "initial_step", "named_actions", "step_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAction:
    """A disjunct of Next: a call of an operator below quantifiers."""

    name: str
    bounds: tuple[tuple[str, Expr], ...]
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of an action from a state, whatever the state and the choices are."""

    action: str
    possible: z3.BoolRef
    """That the guards hold, and that the choices are from their sets."""
    post: tuple[Symbolic, ...]
    parameters: tuple[Symbolic, ...]
    """The arguments of the operator, as it is called by Next."""
    obligations: tuple[z3.BoolRef, ...]
    """What `post` takes for granted: see `Evaluator`."""


def named_actions(next_definition: Definition) -> list[NamedAction]:
    """Take Next apart.

    Raises:
        SubsetError: something is no call of an operator.
    """
    return list(_disjuncts(next_definition.expression, ()))


def _disjuncts(expr: Operand, bounds: tuple[tuple[str, Expr], ...]) -> Iterator[NamedAction]:
    match expr:
        case Apply(operator="or"):
            for operand in expr.operands:
                yield from _disjuncts(operand, bounds)
        case Quantified(what="exists"):
            inner = list(bounds)
            for names, pattern, among in expr.bounds:
                if pattern or among is None:
                    raise unsupported(expr.place, "a tuple pattern, or no set")
                inner.append((names[0], among))
            yield from _disjuncts(expr.body, tuple(inner))
        case Call():
            yield NamedAction(name=expr.definition.name, bounds=bounds, call=expr)
        case _:
            raise unsupported(expr.place, "a disjunct of Next that is no call of an operator")


def step_of(
    action: NamedAction,
    pre: Many[Symbolic],
    parameters: Mapping[Atom, Symbolic],
    shapes: Many[Shape],
    chosen: Mapping[str, Symbolic] = MappingProxyType({}),
) -> Step:
    """Return the steps of an action from a state; `shapes` are those of the variables.

    Names of Next that are `chosen` have that value, the others any one of their sets.
    """
    doing = _Doing(action.name, pre, parameters, shapes)
    names: Names = {}
    for name, among in action.bounds:
        values = doing.evaluator.value(among, names)
        names = {**names, name: chosen[name] if name in chosen else doing.pick(name, values)}
    arguments = [doing.evaluator.value(argument, names) for argument in action.call.arguments]
    return doing.done(action.call, names, tuple(arguments))


def initial_step(
    init: Definition, parameters: Mapping[Atom, Symbolic], shapes: Many[Shape]
) -> Step:
    """Return the initial states, from Init read with primed variables."""
    doing = _Doing("Init", [], parameters, shapes)
    return doing.done(init.expression, {}, ())


class _Doing:
    """One step in the making."""

    def __init__(
        self,
        action: str,
        pre: Many[Symbolic],
        parameters: Mapping[Atom, Symbolic],
        shapes: Many[Shape],
    ) -> None:
        self.action = action
        self.evaluator = Evaluator(pre, parameters, step=action)
        self.variables = len(shapes)
        self._shapes = shapes
        self._guards: list[z3.BoolRef] = []
        self._acts: dict[int, tuple[Definition, frozenset[int]]] = {}

    def done(self, body: Expr, names: Names, arguments: tuple[Symbolic, ...]) -> Step:
        self._take(body, names)
        missing = [i for i in range(self.variables) if i not in self.evaluator.post]
        if missing:
            raise unsupported(body.place, f"{self.action} leaves {len(missing)} variables open")
        return Step(
            action=self.action,
            possible=all_of(self._guards),
            post=tuple([self.evaluator.post[i] for i in range(self.variables)]),
            parameters=arguments,
            obligations=tuple(self.evaluator.obligations),
        )

    def _take(self, expr: Operand, names: Names) -> None:
        match expr:
            case Apply(operator="and"):
                for operand in expr.operands:
                    self._take(operand, names)
            case Apply(operator="=" | "unchanged", operands=(Variable(primed=True), _)):
                self._assign(expr, names)
            case Apply(operator="in", operands=(Variable(primed=True) as target, source)) if (
                target.index not in self.evaluator.post
            ):
                value = self.pick(target.name, self.evaluator.value(source, names))
                self.evaluator.post[target.index] = self._looked_at(target, value)
            case _ if not self._changes(expr):
                self._guards.append(self.evaluator.truth(expr, names))
            case Call():
                self._take(expr.definition.expression, self.evaluator.passed(expr, names))
            case Let():
                self._take(expr.body, self.evaluator.named(expr, names))
            case If():
                self._either([(expr.condition, expr.yes)], expr.no, names)
            case Case(other=None):
                self._either(expr.arms[:-1], expr.arms[-1][1], names)
            case Case(other=other) if other is not None:
                self._either(expr.arms, other, names)
            case Quantified(what="exists"):
                inner = dict(names)
                for bound, pattern, among in expr.bounds:
                    if pattern or among is None:
                        raise unsupported(expr.place, "a tuple pattern, or no set")
                    inner[bound[0]] = self.pick(bound[0], self.evaluator.value(among, names))
                self._take(expr.body, inner)
            case Apply(operator="or") if self._primed(expr) - set(self.evaluator.post):
                self._some_of(expr.operands, names)
            case Apply() | Quantified() | Local():
                self._guards.append(self.evaluator.truth(expr, names))
            case _:
                raise unsupported(expr.place, "an action of this form has no symbolic form")

    def _assign(self, expr: Apply, names: Names) -> None:
        target, source = expr.operands
        assert isinstance(target, Variable)
        value = self.evaluator.value(source, names)
        known = self.evaluator.post.get(target.index)
        if known is None:
            self.evaluator.post[target.index] = self._looked_at(target, value)
        else:
            self._guards.append(same(known, value, self.evaluator.unknowns))

    def _looked_at(self, target: Variable, value: Symbolic) -> Symbolic:
        return filled(self._shapes[target.index], value, self.evaluator.unknowns)

    def _either(self, arms: Many[tuple[Expr, Expr]], other: Expr, names: Names) -> None:
        """Take what the first arm says whose condition holds."""
        conditions = [self.evaluator.truth(condition, names) for condition, _ in arms]
        self._first(conditions, [*(body for _, body in arms), other], names)

    def _some_of(self, bodies: Many[Operand], names: Names) -> None:
        """Take any of them."""
        self._first([self.evaluator.unknowns.truth() for _ in bodies[1:]], bodies, names)

    def _first(self, conditions: Many[z3.BoolRef], bodies: Many[Operand], names: Names) -> None:
        """Take the first body whose condition holds, or the last one, which has none."""
        known, guards = self.evaluator.post, self._guards
        taken: list[tuple[dict[int, Symbolic], z3.BoolRef]] = []
        for body in bodies:
            self.evaluator.post, self._guards = dict(known), []
            self._take(body, names)
            taken.append((self.evaluator.post, all_of(self._guards)))
        post, holds = taken.pop()
        for condition, (here, guard) in zip(reversed(conditions), reversed(taken), strict=True):
            if set(here) != set(post):
                raise unsupported(None, f"{self.action}: branches that give other variables values")
            post = {at: merge(condition, here[at], value) for at, value in post.items()}
            holds = z3.If(condition, guard, holds)
        self.evaluator.post, self._guards = post, [*guards, holds]

    def _changes(self, expr: Operand) -> bool:
        """Tell whether an expression has a primed variable, also in what it calls."""
        return bool(self._primed(expr))

    def _primed(self, expr: Operand) -> frozenset[int]:
        """Return the primed variables in an expression, also in what it calls."""
        match expr:
            case Variable():
                return frozenset([expr.index] if expr.primed else [])
            case Call():
                key = id(expr.definition)
                if key not in self._acts:
                    self._acts[key] = expr.definition, self._primed(expr.definition.expression)
                return self._acts[key][1].union(*map(self._primed, expr.arguments))
            case _:
                return frozenset[int]().union(*map(self._primed, children(expr)))

    # ---- Choices ----

    def pick(self, local: str, among: Symbolic) -> Symbolic:
        r"""Return any element of a set, with \E's promise among the guards."""
        return self._any(f"{self.action}.{local}", among)

    def _any(self, name: str, among: Symbolic) -> Symbolic:
        match among:
            case Hidden():
                return among
            case Naturals():
                number = z3.Int(name)
                self._guards.append(number >= 0)
                return number
            case Interval():
                number = z3.Int(name)
                self._guards += [among.low <= number, number <= among.high]
                return number
            case Powerset(of=Naturals()):
                numbers = Numbers(z3.Array(name, z3.IntSort(), z3.BoolSort()))
                self._guards.append(subset(numbers, among.of))
                return numbers
            case Powerset(of=Set() as of):
                taken = enumerate(of.elements)
                return set_of(
                    [(all_of([g, z3.Bool(f"{name} has {at}")]), e) for at, (g, e) in taken]
                )
            case Functions():
                images = [self._any(f"{name}[{key}]", among.of) for key in among.keys]
                return Function(among.keys, tuple(images))
            case Set() | Choice():
                return self._one_of(name, among)
            case _:
                raise unsupported(None, f"an element of a {type(among).__name__}")

    def _one_of(self, name: str, among: Set | Choice) -> Symbolic:
        which = z3.Int(f"{name}#")
        elements = [
            (all_of([guard, also]), element)
            for guard, option in options_of(among)
            for also, element in (option.elements if isinstance(option, Set) else ())
        ]
        self._guards.append(
            any_of(all_of([which == at, guard]) for at, (guard, _) in enumerate(elements))
        )
        found: Symbolic = Nothing()
        for at, (_, element) in reversed(list(enumerate(elements))):
            found = merge(which == at, element, found)
        return found
