r"""Take an invariant apart: one instance for each element of the constant sets it quantifies over.

`\A b \in Broker : P(log[b])` holds if P(log["b1"]), P(log["b2"]) and so on hold, and of these only
those have to be asked again that read a part of the state which has changed. A set such as
{b \in Broker : Q(b)} counts, too: Q(b) => P(b) is asked for each b of Broker.

The instances are TRUE together exactly where the invariant is TRUE. Where one is FALSE, or has no
value, they say nothing: TLC has an order in which it looks, and the invariant itself is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, TypeAlias

from tlatrace.compiler.ir.analysis import kind_of, reads
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Expr,
    Let,
    Literal,
    Local,
    Operand,
    OperatorRef,
    Quantified,
    Recursive,
    Variable,
    children,
)
from tlatrace.runtime.values import Atom, Boolean, RuntimeValue, from_runtime
from tlatrace.values import canonical

__all__ = ["Cell", "Instances", "instances"]

Cell: TypeAlias = tuple[int, RuntimeValue | None]
"""(position of a variable, the argument that it is applied to; None: all of the variable)."""

_MAX_INSTANCES: Final = 200
_MAX_NODES: Final = 4_000

_PLAIN: Final = (Boolean, int, str, Atom)

_Element: TypeAlias = "tuple[RuntimeValue, ...]"


@dataclass(frozen=True, slots=True)
class Instances:
    """A formula with names in it, and the values that they are to have."""

    names: tuple[tuple[str, str], ...]
    """(local, kind of its values)."""
    formula: Expr
    choices: tuple[tuple[_Element, frozenset[Cell]], ...]
    """(values of the names, what the formula then reads of the state)."""


def instances(conjunct: Expr) -> Instances:
    """Return the instances of a conjunct of an invariant; itself if it quantifies over nothing."""
    node = _defined(conjunct)
    if isinstance(node, Quantified) and node.what == "forall":
        found = _over_constants(node)
        if found is not None:
            return found
    return Instances((), conjunct, (((), _cells(conjunct, {})),))


def _defined(node: Expr) -> Expr:
    """Return what an operator without parameters stands for."""
    while isinstance(node, Call) and not node.arguments and not node.definition.recursive:
        node = node.definition.expression
    return node


def _over_constants(node: Quantified) -> Instances | None:
    names: list[tuple[str, str]] = []
    sets: list[tuple[RuntimeValue, ...]] = []
    premises: list[Expr] = []
    for bound, pattern, among in node.bounds:
        found = None if pattern or among is None else _elements(among)
        if found is None:
            return None
        elements, condition = found
        kinds = {kind_of(Literal(element)) for element in elements}
        kind = kinds.pop() if len(kinds) == 1 else "?"
        for name in bound:
            names.append((name, kind))
            sets.append(elements)
            if condition is not None:
                premises.append(Let(((condition[0], Local(name)),), condition[1], node.place))
    if prod(map(len, sets)) > _MAX_INSTANCES:
        return None
    formula = node.body
    for premise in reversed(premises):
        formula = Apply("=>", (premise, formula), node.place)
    choices = [
        (choice, _cells(formula, dict(zip([name for name, _ in names], choice, strict=True))))
        for choice in product(*sets)
    ]
    return Instances(tuple(names), formula, tuple(choices))


def _elements(among: Expr) -> tuple[tuple[RuntimeValue, ...], tuple[str, Expr] | None] | None:
    """Return the elements of a constant set, and (name, condition) of those that count."""
    node = _defined(among)
    if isinstance(node, Literal) and isinstance(node.value, frozenset):
        if not all(isinstance(item, _PLAIN) for item in node.value):
            return None
        return tuple(sorted(node.value, key=lambda item: canonical(from_runtime(item)))), None
    if isinstance(node, Quantified) and node.what == "filter":
        ((names, pattern, inner),) = node.bounds
        found = None if pattern or inner is None else _elements(inner)
        if found is not None and found[1] is None:
            return found[0], (names[0], node.body)
    return None


# ---- what a formula reads -----------------------------------------------------------------


class _TooMuch(Exception):
    """The formula is so large that looking at it costs more than it saves."""


def _cells(formula: Expr, values: Mapping[str, RuntimeValue]) -> frozenset[Cell]:
    """Find what a formula reads when these locals have these values."""
    found: set[Cell] = set()
    try:
        for cell in _walk(formula, values, [_MAX_NODES]):
            found.add(cell)
    except _TooMuch:
        return frozenset([(at, None) for at in reads(formula).unprimed])
    return frozenset(found)


def _walk(node: Operand, values: Mapping[str, RuntimeValue], budget: list[int]) -> Iterator[Cell]:
    budget[0] -= 1
    if budget[0] < 0:
        raise _TooMuch
    match node:
        case Variable():
            yield node.index, None
        case Apply() if node.operator == "apply" and isinstance(node.operands[0], Variable):
            argument = node.operands[1]
            value = _value(argument, values)
            yield node.operands[0].index, value
            if value is None:
                yield from _walk(argument, values, budget)
        case Call():
            for argument in node.arguments:
                yield from _walk(argument, values, budget)
            definition = node.definition
            if definition.recursive:
                for at in reads(definition.expression).unprimed:
                    yield at, None
                return
            inner = dict(values)
            for name, argument in zip(definition.parameters, node.arguments, strict=True):
                _bind(inner, name, argument, values)
            yield from _walk(definition.expression, inner, budget)
        case Let():
            inner = dict(values)
            for name, value_of in node.bindings:
                yield from _walk(value_of, inner, budget)
                _bind(inner, name, value_of, inner)
            yield from _walk(node.body, inner, budget)
        case Quantified() | Recursive():
            names = {name for bound, _, _ in node.bounds for name in bound}
            for _, _, among in node.bounds:
                if among is not None:
                    yield from _walk(among, values, budget)
            inner = {name: value for name, value in values.items() if name not in names}
            yield from _walk(node.body, inner, budget)
        case OperatorRef():
            inner = {k: value for k, value in values.items() if k not in node.parameters}
            yield from _walk(node.body, inner, budget)
        case _:
            for item in children(node):
                yield from _walk(item, values, budget)


def _bind(
    inner: dict[str, RuntimeValue], name: str, argument: Operand, values: Mapping[str, RuntimeValue]
) -> None:
    value = _value(argument, values)
    if value is None:
        inner.pop(name, None)
    else:
        inner[name] = value


def _value(argument: Operand, values: Mapping[str, RuntimeValue]) -> RuntimeValue | None:
    match argument:
        case Literal():
            return argument.value
        case Local():
            return values.get(argument.name)
        case _:
            return None
