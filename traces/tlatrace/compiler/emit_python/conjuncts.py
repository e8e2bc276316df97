r"""Write functions that say which conjunct of an action is false, and with which values.

The formula is walked from left to right as it is evaluated: through conjunctions, LET, IF, CASE,
definitions and \A, down to the first part that is FALSE and has no parts of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tlatrace.compiler.emit_python.expressions import Environment, Expressions, Parameters, ready
from tlatrace.compiler.emit_python.writer import Function, Writer
from tlatrace.compiler.ir.analysis import kind_of
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Expr,
    If,
    Let,
    Local,
    Operand,
    OperatorRef,
    Quantified,
    children,
)
from tlatrace.compiler.model_source import Conjunct

__all__ = ["FailingConjuncts"]

_RELATIONS = frozenset(["=", "unchanged", "#", "in", "notin", "<", "<=", ">", ">=", "subseteq"])
_MAX_DEPTH = 40


class FailingConjuncts:
    """Writes `def f(s, t, p, out)`: append (number of the conjunct, values) if one is false."""

    def __init__(self, writer: Writer, expressions: Expressions) -> None:
        self._w = writer
        self._x = expressions
        self._origins: dict[str, Operand] = {}
        self._within: list[str] = []
        self.conjuncts: list[Conjunct] = []

    def action(self, stem: str, parameters: Parameters, formula: Expr) -> str:
        """Write the function for an action with parameters."""
        w = self._w
        name = w.fresh(f"failing_{stem}")
        function = Function()
        with w.begin(function):
            pythons = [w.fresh("p") for _ in parameters]
            if pythons:
                w.emit(f"({', '.join(pythons)},) = p")
            self._find(formula, ready(parameters, pythons), 0)
        w.finish(f"def {name}(s, t, p, out):", function)
        return name

    def parameters(
        self, stem: str, names: Parameters, places: Sequence[Sequence[tuple[str, Expr]]]
    ) -> str:
        """Write `def f(s, t, out)`: append each choice of parameters that Next makes."""
        w = self._w
        name = w.fresh(f"parameters_{stem}")
        function = Function()
        with w.begin(function):
            for place in places:
                self._choices(place, [])
            if not names:
                w.emit("out.append(())")
        w.finish(f"def {name}(s, t, out):", function)
        return name

    def _choices(self, bounds: Sequence[tuple[str, Expr]], chosen: list[str]) -> None:
        w = self._w
        if not bounds:
            w.emit(f"out.append(({''.join([f'{python}, ' for python in chosen])}))")
            return
        (operator, expr), rest = bounds[0], bounds[1:]
        python = w.fresh("p")
        among = (
            self._x.quantifiers.iterable(expr, {})
            if operator == "in"
            else f"({self._x.values.value(expr, {})},)"
        )
        w.emit(f"for {python} in {among}:")
        with w.block():
            self._choices(rest, [*chosen, python])

    def _find(self, node: Expr, env: Environment, depth: int) -> None:
        w = self._w
        match node:
            case Apply() if node.operator == "and":
                for item in node.operands:
                    assert not isinstance(item, OperatorRef)
                    self._find(item, env, depth)
            case Let():
                self._origins.update(node.bindings)
                self._find(node.body, self._x.names.bind(node, env), depth)
            case If() if node.taken is not None:
                self._find(node.taken, env, depth)
            case If():
                w.emit(f"if {self._x.conditions.condition(node.condition, env)}:")
                with w.block():
                    self._find(node.yes, env, depth)
                w.emit("else:")
                with w.block():
                    self._find(node.no, env, depth)
            case Call() if self._is_entered(node, depth):
                self._origins.update(zip(node.definition.parameters, node.arguments, strict=True))
                inner = self._x.calls.bind_arguments(node, env)
                self._within.append(node.definition.name)
                self._find(node.definition.expression, inner, depth + 1)
                self._within.pop()
            case Quantified() if node.what == "forall" and len(node.bounds) == 1:
                ((target, among),), inner = self._x.quantifiers.loops(node, env)
                w.emit(f"for {target} in {among}:")
                with w.block():
                    self._find(node.body, inner, depth)
                    w.emit("pass")
            case _:
                self._leaf(node, env)

    def _is_entered(self, node: Call, depth: int) -> bool:
        definition = node.definition
        if definition.recursive or depth > _MAX_DEPTH:
            return False
        return isinstance(definition.expression, Apply | Let | If | Case | Call | Quantified) and (
            kind_of(definition.expression) == "bool"
        )

    def _leaf(self, node: Expr, env: Environment) -> None:
        w = self._w
        number = len(self.conjuncts)
        sides: list[Expr] = []
        relation = ""
        if isinstance(node, Apply) and node.operator in _RELATIONS:
            sides = [item for item in node.operands if not isinstance(item, OperatorRef)]
            relation = node.operator
        self.conjuncts.append(
            Conjunct(
                place=node.place,
                relation=relation,
                operators=tuple(sorted(set(self._operators(node, set())))),
                within=tuple(self._within),
            )
        )
        w.emit(f"if not {self._x.conditions.condition(node, env)}:")
        with w.block():
            shown = "".join([f"{self._shown(side, env)}, " for side in sides])
            w.emit(f"out.append(({number}, ({shown})))")
            w.emit("return")

    def _shown(self, node: Expr, env: Environment) -> str:
        return self._w.atom(self._x.values.value(node, env))

    def _operators(self, node: Operand, seen: set[int]) -> Iterator[str]:
        """Yield the operators that a tree is made of, also through LET and definitions."""
        waiting = [node]
        while waiting:
            item = waiting.pop()
            if id(item) in seen:
                continue
            seen.add(id(item))
            if isinstance(item, Local) and item.name in self._origins:
                waiting.append(self._origins[item.name])
            if isinstance(item, Call):
                yield item.definition.name
                if item.definition.body is not None:
                    waiting.append(item.definition.body)
            waiting += children(item)
