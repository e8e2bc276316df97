r"""Write the questions that a trace asks: is this step that action, does this invariant hold?

A trace says `Crash(b1, 2)`, the specification `\E b \in Broker, k \in Nat : Crash(b, k)`. The step
is one of Next if the action holds and its parameters lie in their bounds, for at least one place of
Next. Where a place demands more than that, the whole path from Next to it is asked
(`tlatrace.compiler.passes.paths`); of an action that Next does not call, Next itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tlatrace.compiler.emit_python.expressions import Expressions, Parameters, ready
from tlatrace.compiler.emit_python.writer import Function, Writer
from tlatrace.compiler.ir.analysis import kind_of
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Definition,
    Expr,
    Literal,
    Local,
    Operand,
    OperatorRef,
    unsupported,
)
from tlatrace.compiler.passes.instances import Instances, instances
from tlatrace.compiler.passes.paths import Bound, Paths

__all__ = ["Claim", "Predicates", "claim"]


class Predicates:
    """Writes functions that return Python bools."""

    def __init__(self, writer: Writer, expressions: Expressions) -> None:
        self._w = writer
        self._x = expressions

    def condition(self, definition: Definition) -> str:
        """Write `def f(s, t)`: does a definition without parameters hold?"""
        if definition.parameters:
            raise unsupported(definition.place, f"{definition.name} has parameters")
        return self.formula(definition.name, definition.expression)

    def formula(self, stem: str, node: Expr) -> str:
        """Write `def f(s, t)`: is a formula without parameters TRUE?"""
        return self._write("s, t", stem, node)

    def instances(self, definition: Definition) -> list[tuple[str, Instances]]:
        """Write `def f(s, t, p)` for each conjunct of an invariant: does an instance of it hold?"""
        body = definition.expression
        items: tuple[Operand, ...] = (body,)
        if isinstance(body, Apply) and body.operator == "and":
            items = body.operands
        return [
            (
                self._write("s, t, p", definition.name, found.formula, found.names, body=True),
                found,
            )
            for found in [instances(item) for item in items if not isinstance(item, OperatorRef)]
        ]

    def expression(self, definition: Definition) -> str:
        """Write `def f(s, t)`: the value of a definition of constant or state level."""
        w = self._w
        name = w.fresh("expression")
        function = Function()
        with w.begin(function):
            w.emit(f"return whole({self._x.values.value(definition.expression, {})})")
        w.finish(f"def {name}(s, t):", function)
        return name

    def action(self, definition: Definition, claimed: Claim) -> str:
        """Write `def f(s, t, p)`: is a step of Next this action with the parameters p?"""
        return self._write("s, t, p", definition.name, claimed.formula, claimed.parameters)

    def _write(
        self,
        header: str,
        stem: str,
        node: Expr,
        parameters: Parameters = (),
        *,
        body: bool = False,
    ) -> str:
        """Write a function that tells whether `node` is TRUE; `body`: of a quantifier."""
        w, x = self._w, self._x
        write = x.quantifiers.require_body if body else x.conditions.require
        name = w.fresh("is_" + stem)

        def answer() -> None:
            pythons = [w.fresh("p") for _ in parameters]
            if pythons:
                w.emit(f"({', '.join(pythons)},) = p")
            write(node, ready(parameters, pythons), "return False")
            w.emit("return True")

        w.answer(name, header, answer)
        return name


@dataclass(frozen=True, slots=True)
class Claim:
    """What a trace claims of a step."""

    parameters: Parameters
    formula: Expr
    places: Sequence[tuple[Bound, ...]]
    """What the parameters must meet in each place of Next; empty where some place demands more."""
    call: Expr
    """The action with its parameters, as a part of `formula`."""


def claim(definition: Definition, next_definition: Definition, paths: Paths) -> Claim:
    """Return the formula "a step of Next is this action with these parameters".

    Raises:
        SubsetError: a parameter is an operator.
    """
    if definition.operator_parameters:
        raise unsupported(definition.place, f"{definition.name} takes an operator")
    arity = len(definition.parameters) - len(definition.primed_positions)
    names = [f"parameter_{at}" for at in range(1, arity + 1)]
    arguments = [Local(name) for name in names]
    primed = [arguments[at] for at in definition.primed_positions]
    call = Call(definition, (*arguments, *primed), definition.place)
    places = [bounds for path in paths.found if (bounds := path.bounds()) is not None]
    only_places = len(places) == len(paths.found) and paths.unclear is None
    ways: list[Expr] = []
    if definition is next_definition or (places and not arity):
        ways = [call]
    else:
        if places:
            met = [_meets(arguments, place, definition) for place in places]
            within = met[0] if len(met) == 1 else Apply("or", tuple(met))
            ways = [Apply("and", (within, call), definition.place)]
        others = [path for path in paths.found if path.bounds() is None]
        ways += [path.formula(arguments) for path in others]
        if paths.unclear is not None or not ways:
            ways.append(_by_next(call, next_definition, paths.unclear))
    whole = ways[0] if len(ways) == 1 else Apply("or", tuple(ways), definition.place)
    kinds = [_kind(at, places if only_places else []) for at in range(arity)]
    parameters = tuple(zip(names, kinds, strict=True))
    return Claim(parameters, whole, places if only_places else [], call)


def _by_next(call: Call, next_definition: Definition, unclear: str | None) -> Expr:
    """Say that a step is one of Next for which the action is TRUE.

    That is all that can be asked of an action that Next does not call. Of one that it calls where
    no path leads, the step may still be none: then what is TRUE has no value.
    """
    step = Call(next_definition, (), next_definition.place)
    nothing = () if unclear is None else (Apply("unknown", (Literal(unclear),)),)
    return Apply("and", (call, step, *nothing), call.place)


def _meets(arguments: Sequence[Local], place: Sequence[Bound], definition: Definition) -> Expr:
    parts = [
        Apply(operator, (argument, expr), expr.place)
        for argument, (operator, expr) in zip(arguments, place, strict=True)
    ]
    return Apply("and", tuple(parts), definition.place)


def _kind(position: int, places: Sequence[tuple[Bound, ...]]) -> str:
    """Name the kind that a parameter is sure to have once its bounds have been checked."""
    kinds: set[str] = set() if places else {"?"}
    for place in places:
        operator, expr = place[position]
        if operator == "=":
            kinds.add(kind_of(expr) if isinstance(expr, Literal) else "?")
        elif isinstance(expr, Literal) and isinstance(expr.value, frozenset):
            kinds |= {kind_of(Literal(value)) for value in expr.value}
        else:
            kinds.add("?")
    return kinds.pop() if len(kinds) == 1 else "?"
