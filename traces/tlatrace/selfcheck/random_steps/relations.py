r"""Random next-state relations: every shape in which a Next may call an action.

Quantifiers (nested, with bounds that depend on each other, several names, tuple patterns),
conditions before, after and between them, LET (also with operators that call actions), IF, CASE,
operators with parameters that are shapes again, actions as arguments, the same action in several
places with other bounds. Some actions are not called at all.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from tlatrace.selfcheck.random_steps.machine import Action, Operator, Relation
from tlatrace.selfcheck.random_steps.shapes import Shape, guard, leaf
from tlatrace.selfcheck.random_steps.vocabulary import Kind, Vocabulary

__all__ = ["draw_relation"]

_MAX_DEPTH: Final = 5


def draw_relation(draw: random.Random, name: str, actions: Sequence[Action]) -> Relation:
    """Draw a next-state relation over some of the actions."""
    called = [action for action in actions if draw.random() < 0.85] or list(actions)
    drawing = _Drawing(draw, name, called)
    parts = tuple([drawing.shape(0, {}) for _ in range(draw.choice((1, 2, 2, 3, 4)))])
    body = parts[0] if len(parts) == 1 else Shape("or", (), parts, tall=draw.random() < 0.6)
    return Relation(name, body, tuple(drawing.operators))


class _Drawing:
    """Draws the shapes of one relation; no name is bound twice."""

    def __init__(self, draw: random.Random, name: str, actions: Sequence[Action]) -> None:
        self._draw = draw
        self._name = name
        self._actions = actions
        self._bound = 0
        self.operators: list[Operator] = []

    def shape(self, depth: int, scope: Mapping[str, Kind]) -> Shape:
        """Draw a shape; each way through it calls one action."""
        if depth >= _MAX_DEPTH:
            return self._call(scope)
        kinds = ("call", "exists", "guarded", "or", "if", "case", "let", "operator", "argument")
        weights = (5, 9, 6, 2, 1, 1, 2, 2, 1) if depth else (3, 9, 5, 3, 1, 1, 2, 2, 1)
        match self._draw.choices(kinds, weights)[0]:
            case "exists":
                return self._exists(depth, scope)
            case "guarded":
                return self._guarded(depth, scope)
            case "or":
                parts = [self.shape(depth + 1, scope) for _ in range(self._draw.choice((2, 2, 3)))]
                return Shape("or", (), tuple(parts), tall=self._tall())
            case "if":
                parts = [self.shape(depth + 2, scope) for _ in range(2)]
                condition = self._vocabulary(scope).condition()
                return Shape("if", (condition,), tuple(parts), tall=self._tall())
            case "case":
                return self._case(depth, scope)
            case "let":
                return self._let(depth, scope)
            case "operator":
                return self._operator(depth, scope)
            case "argument":
                return self._argument(scope)
            case _:
                return self._call(scope)

    # ---- the shapes ----

    def _call(self, scope: Mapping[str, Kind]) -> Shape:
        kinds = set(scope.values())
        fitting = [action for action in self._actions if kinds & set(action.kinds)]
        wanted = fitting if fitting and self._draw.random() < 0.8 else self._actions
        action = self._draw.choice(wanted)
        vocabulary = self._vocabulary(scope)
        text = action.call([vocabulary.expression(kind) for kind in action.kinds])
        if action.role == "inner":  # nobody else says that it was not called by an outer one
            return leaf(f"({text} /\\ via' = <<>>)")
        return leaf(text)

    def _exists(self, depth: int, scope: Mapping[str, Kind]) -> Shape:
        inner = dict(scope)
        bounds: list[str] = []
        names: list[str] = []
        for _ in range(self._draw.choice((1, 1, 1, 2))):
            vocabulary = self._vocabulary(scope)  # bounds do not see the names beside them
            kind = vocabulary.kind()
            found: list[tuple[str, Kind]]
            if kind == "pair" and self._draw.random() < 0.6:
                one, other = self._fresh(), self._fresh()
                found = [(one, "number"), (other, "number")]
                bounds.append(f"<<{one}, {other}>> \\in {vocabulary.set(kind)}")
            else:
                found = [(self._fresh(), kind) for _ in range(self._draw.choice((1, 1, 2)))]
                bound = ", ".join([name for name, _ in found])
                bounds.append(f"{bound} \\in {vocabulary.set(kind)}")
            names += [name for name, _ in found]
            inner.update(found)
        if len(bounds) == 1 and self._draw.random() < 0.08:
            return self._of_sets(depth, scope)
        body = self.shape(depth + 1, inner)
        head = f"\\E {', '.join(bounds)} :"
        return Shape("under", (head,), (body,), frozenset(names), tall=self._tall())

    def _of_sets(self, depth: int, scope: Mapping[str, Kind]) -> Shape:
        """Draw a quantifier over the elements of a set that another one chooses."""
        kind: Kind = self._draw.choice(("number", "node"))
        vocabulary = self._vocabulary(scope)
        sets, name = self._fresh(), self._fresh()
        body = self.shape(depth + 1, {**scope, name: kind})
        inner = Shape("under", (f"\\E {name} \\in {sets} :",), (body,), frozenset({name}))
        head = f"\\E {sets} \\in {{{vocabulary.set(kind)}, {vocabulary.set(kind)}}} :"
        return Shape("under", (head,), (inner,), frozenset({sets}), tall=self._tall())

    def _guarded(self, depth: int, scope: Mapping[str, Kind]) -> Shape:
        vocabulary = self._vocabulary(scope)
        parts = [self.shape(depth + 1, scope)]
        for _ in range(self._draw.choice((1, 1, 2))):
            if self._draw.random() < 0.75:
                parts.insert(0, guard(vocabulary.condition()))
            else:
                parts.append(guard(vocabulary.condition(primed=True)))
        return Shape("and", (), tuple(parts), tall=self._tall())

    def _case(self, depth: int, scope: Mapping[str, Kind]) -> Shape:
        condition = self._vocabulary(scope).condition()
        parts = tuple([self.shape(depth + 2, scope) for _ in range(2)])
        return Shape("case", (condition,), parts, tall=self._tall())

    def _let(self, depth: int, scope: Mapping[str, Kind]) -> Shape:
        vocabulary = self._vocabulary(scope)
        name = self._fresh()
        if self._draw.random() < 0.5:
            kind = vocabulary.kind()
            body = self.shape(depth + 1, {**scope, name: kind})
            head = f"LET {name} == {vocabulary.expression(kind)} IN"
            return Shape("under", (head,), (body,), frozenset({name}), tall=self._tall())
        parameter, kind = self._fresh(), vocabulary.kind()
        called = self._call({**scope, parameter: kind}).texts[0]
        chosen = self._fresh()
        head = f"LET {name}({parameter}) == {called} IN"
        quantifier = f"\\E {chosen} \\in {vocabulary.set(kind)} :"
        body = Shape("under", (quantifier,), (leaf(f"{name}({chosen})"),), frozenset({chosen}))
        return Shape("under", (head,), (body,), frozenset({name}), tall=self._tall())

    def _operator(self, depth: int, scope: Mapping[str, Kind]) -> Shape:
        """Draw an operator of the module, and call it; or call one that is there."""
        vocabulary = self._vocabulary(scope)
        kinds = [vocabulary.kind() for _ in range(self._draw.choice((0, 1, 1, 2)))]
        parameters = {self._fresh(): kind for kind in kinds}
        body = self.shape(depth + 1, parameters)
        name = f"{self._name}Op{len(self.operators) + 1}"
        self.operators.append(Operator(name, tuple(parameters), body))
        arguments = [vocabulary.expression(kind) for kind in kinds]
        return leaf(name + (f"({', '.join(arguments)})" if arguments else ""))

    def _argument(self, scope: Mapping[str, Kind]) -> Shape:
        """Draw an operator that is given an action, and calls it."""
        fitting = [a for a in self._actions if len(a.kinds) == 1 and a.role != "inner"]
        if not fitting:
            return self._call(scope)
        action = self._draw.choice(fitting)
        name, given, chosen = (
            f"{self._name}Op{len(self.operators) + 1}",
            self._fresh(),
            self._fresh(),
        )
        bound = self._vocabulary({}).set(action.kinds[0])
        quantifier = f"\\E {chosen} \\in {bound} :"
        body = Shape("under", (quantifier,), (leaf(f"{given}({chosen})"),), frozenset({chosen}))
        self.operators.append(Operator(name, (f"{given}(_)",), body))
        return leaf(f"{name}({action.name})")

    # ---- helpers ----

    def _vocabulary(self, scope: Mapping[str, Kind]) -> Vocabulary:
        return Vocabulary(self._draw, scope)

    def _fresh(self) -> str:
        self._bound += 1
        return f"v{self._bound}"

    def _tall(self) -> bool:
        return self._draw.random() < 0.4
