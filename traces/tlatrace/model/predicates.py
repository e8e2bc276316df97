r"""Write the questions that a trace asks: is this step that action, does this invariant hold?

A trace says `Crash(b1, 2)`, the specification `\E b \in Broker, k \in Nat : Crash(b, k)`. The step
is one of Next if the action holds and its parameters lie in their bounds, for at least one place of
Next. A place counts if Next reaches it through disjunctions, quantifiers over sets and calls only,
and if no bound depends on another one; for an action without such a place Next itself is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tlatrace.model.actions import Reach
from tlatrace.model.analysis import free_locals, kind_of, size
from tlatrace.model.expressions import Expressions, Parameters, ready
from tlatrace.model.instances import Instances, instances
from tlatrace.model.tree import (
    Apply,
    Call,
    Definition,
    Expr,
    Let,
    Literal,
    Local,
    Operand,
    OperatorRef,
    Quantified,
    unsupported,
)
from tlatrace.model.writer import Function, Writer

__all__ = ["Claim", "Predicates", "claim"]

_MAX_PLACES: Final = 100

_Bound: TypeAlias = tuple[str, Expr] | None
"""("in", set) or ("=", value); None for what depends on other names."""


class Predicates:
    """Writes functions that return Python bools."""

    def __init__(self, writer: Writer, expressions: Expressions) -> None:
        self._w = writer
        self._x = expressions

    def condition(self, definition: Definition) -> str:
        """Write `def f(s, t)`: does a definition without parameters hold?"""
        if definition.parameters:
            raise unsupported(definition.place, f"{definition.name} has parameters")
        return self._write("s, t", definition.name, definition.expression)

    def parts(self, definition: Definition) -> list[tuple[str, Instances]]:
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

    def action(self, definition: Definition, next_definition: Definition) -> str:
        """Write `def f(s, t, p)`: is a step of Next this action with the parameters p?"""
        self._w.spend(size(next_definition.expression))
        claimed = claim(definition, next_definition)
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
        name, function = w.fresh("is_" + stem), Function()
        with w.begin(function):
            pythons = [w.fresh("p") for _ in parameters]
            if pythons:
                w.emit(f"({', '.join(pythons)},) = p")
            write(node, ready(parameters, pythons), "return False")
            w.emit("return True")
        w.finish(f"def {name}({header}):", function)
        return name


@dataclass(frozen=True, slots=True)
class Claim:
    """What a trace claims of a step."""

    parameters: Parameters
    formula: Expr
    places: Sequence[Sequence[tuple[str, Expr]]]
    """("in", set) or ("=", value) of each parameter, for each place of Next; empty if only Next
    knows."""


def claim(definition: Definition, next_definition: Definition) -> Claim:
    """Return the formula "a step of Next is this action with these parameters".

    Raises:
        SubsetError: a parameter is an operator.
    """
    extra = len(definition.primed_positions)
    arity = len(definition.parameters) - extra
    names = [f"parameter_{at}" for at in range(1, arity + 1)]
    arguments = [Local(name) for name in names]
    arguments += [arguments[at] for at in definition.primed_positions]
    call: Expr = Call(definition, tuple(arguments), definition.place)
    if definition.operator_parameters:
        raise unsupported(definition.place, f"{definition.name} takes an operator")
    places = _places(next_definition, definition)
    if definition is next_definition:
        whole = call
    elif not places:
        step = Call(next_definition, (), next_definition.place)
        whole = Apply("and", (call, step), definition.place)
    elif not arity:
        whole = call
    else:
        bounds = [
            Apply("and", tuple([_bounded(a, b) for a, b in zip(arguments, place, strict=False)]))
            for place in places
        ]
        within = bounds[0] if len(bounds) == 1 else Apply("or", tuple(bounds))
        whole = Apply("and", (within, call), definition.place)
    kinds = [_kind(at, places) for at in range(arity)]
    return Claim(tuple(zip(names, kinds, strict=True)), whole, places)


def _kind(position: int, places: list[tuple[tuple[str, Expr], ...]]) -> str:
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


def _bounded(argument: Local, bound: tuple[str, Expr]) -> Expr:
    return Apply(bound[0], (argument, bound[1]), bound[1].place)


def _places(next_definition: Definition, action: Definition) -> list[tuple[tuple[str, Expr], ...]]:
    """Return the bounds of the action's parameters at each place; [] if only Next knows."""
    found: list[tuple[_Bound, ...]] = []
    _walk(next_definition.expression, {}, action, found, Reach(action))
    known = [tuple([bound for bound in place if bound is not None]) for place in found]
    if any(len(bounds) < len(place) for bounds, place in zip(known, found, strict=True)):
        return []
    return known if len(known) <= _MAX_PLACES else []


def _walk(
    node: Operand,
    bounds: Mapping[str, _Bound],
    action: Definition,
    found: list[tuple[_Bound, ...]],
    reach: Reach,
) -> None:
    if len(found) > _MAX_PLACES or not reach(node):
        return
    match node:
        case Apply() if node.operator == "or":
            for item in node.operands:
                _walk(item, bounds, action, found, reach)
        case Quantified() if node.what == "exists":
            inner = dict(bounds)
            for names, pattern, among in node.bounds:
                known = among is not None and not pattern and not free_locals(among)
                for name in names:
                    inner[name] = ("in", among) if known and among is not None else None
            _walk(node.body, inner, action, found, reach)
        case Let():
            inner = dict(bounds)
            for name, value in node.bindings:
                inner[name] = None if free_locals(value) else ("=", value)
            _walk(node.body, inner, action, found, reach)
        case Call() if not node.definition.recursive:
            arguments = [_argument(item, bounds) for item in node.arguments]
            if node.definition is action:
                count = len(node.arguments) - len(action.primed_positions)
                found.append(tuple(arguments[:count]))
                return
            inner = dict(zip(node.definition.parameters, arguments, strict=True))
            _walk(node.definition.expression, inner, action, found, reach)
        case _:
            return


def _argument(node: Operand, bounds: Mapping[str, _Bound]) -> _Bound:
    if isinstance(node, OperatorRef):
        return None
    if isinstance(node, Local):
        return bounds.get(node.name)
    return None if free_locals(node) else ("=", node)
