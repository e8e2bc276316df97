r"""Formulas such as Init /\ [][Next]_v: which operators are Init and Next."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tlatrace.compiler.ir.nodes import (
    Apply,
    Definition,
    Expr,
)
from tlatrace.compiler.lower.builtin import OF_LANGUAGE
from tlatrace.compiler.lower.constructs import Constructs
from tlatrace.compiler.lower.reading import TreeReader
from tlatrace.compiler.lower.scope import MAX_DEPTH, Part, Redirect, Scope
from tlatrace.errors import SpecError, SubsetError
from tlatrace.tla.declarations import forbids_steps
from tlatrace.tla.sany_nodes import Element, identifier, location_of, text_of, uid_of

__all__ = ["Behaviours"]

_UNNAMED: Final = "UnnamedAction"
"""So TLC calls a next-state relation that the formula does not name."""
_STATE_LEVEL: Final = 1
_TEMPORAL_LEVEL: Final = 3


class Behaviours:
    r"""Formulas such as Init /\ [][Next]_v."""

    def __init__(self, reader: TreeReader, constructs: Constructs) -> None:
        self._r = reader
        self._constructs = constructs
        self._boxes: list[Part] = []
        self._always: list[Part] | None = None
        """What is said of every state, where it may be."""
        self._others: list[Element] = []
        """What is neither of initial states nor of steps, or is replaced by the configuration."""

    def behaviour(self, name: str) -> tuple[str, str]:
        """Return the names by which `definition` knows the Init and the Next of a formula.

        Raises:
            SpecError: it is not of the form Init /\\ [][Next]_v, with fairness or without.
        """
        if name not in self._r.by_name:
            raise SpecError(self._r.module, f"there is no operator {name}")
        initial: list[Part] = []
        steps: list[Part] = []
        self._boxes, self._others = [], []
        body = self._r.nodes[self._r.by_name[name]].find("body/*")
        if body is not None:
            self._take_apart(body, Scope({}, None), initial, steps)
        if not initial or len(steps) != 1:
            reason = f"SPECIFICATION {name} is not of the form Init /\\ [][Next]_v"
            raise SpecError(self._r.module, reason)
        self._r.parts_of = {}
        return self._named("Init", name, initial), self._named("Next", name, steps)

    def _named(self, usual: str, formula: str, parts: list[Part]) -> str:
        """Return the name of parts of a formula: their own, or one that no operator has."""
        node, scope = parts[0]
        ref = node.find("operator/UserDefinedOpKindRef") if node.tag == "OpApplNode" else None
        if ref is not None and len(parts) == 1 and not node.findall("operands/*"):
            own = text_of(self._r.nodes[uid_of(ref)], "uniquename")
            if not scope.instance and self._r.by_name.get(own) == uid_of(ref):
                return own
        name = usual if usual not in self._r.by_name else f"{usual} of {formula}"
        self._r.parts_of[name] = parts
        return name

    def unchanged(self) -> Expr:
        """Return that the v of the formula's [][Next]_v stays as it is; after `behaviour`."""
        ((node, scope),) = self._boxes
        return self._constructs.unchanged(node, scope, node)

    def property(self, name: str) -> tuple[list[Expr], list[Expr], list[Expr]] | None:
        """Return what a property says of each initial state, of each step, and of every state.

        None: it says more, such as what must happen at last, or it is not read.
        """
        uid = self._r.by_name.get(name)
        body = None if uid is None else self._r.nodes[uid].find("body/*")
        if body is None or uid in self._r.overridden:
            return None
        initial: list[Part] = []
        steps: list[Part] = []
        self._boxes, self._others, depth = [], [], self._r.depth
        self._always = always = list[Part]()
        try:
            self._take_apart(body, Scope({}, None), initial, steps)
            if self._others:
                return None
            said = [self._r.expr(node, scope) for node, scope in initial]
            kept = [self._r.expr(node, scope) for node, scope in always]
            boxes = [
                Apply(
                    "or",
                    (self._r.expr(*action), self._constructs.unchanged(*same, same[0])),
                    location_of(action[0]),
                )
                for action, same in zip(steps, self._boxes, strict=True)
            ]
        except SubsetError:
            self._r.depth = depth
            return None
        finally:
            self._always = None
        return said, list[Expr](boxes), kept

    def _take_apart(
        self, node: Element, scope: Scope, initial: list[Part], steps: list[Part]
    ) -> None:
        self._r.depth += 1
        if self._r.depth > MAX_DEPTH:
            raise self._r.sources.refusal(node, f"expressions are nested deeper than {MAX_DEPTH}")
        ref = node.find("operator/*")
        operator = self._r.nodes[uid_of(ref)] if ref is not None else node
        name, operands = text_of(operator, "uniquename"), node.findall("operands/*")
        if node.tag == "SubstInNode":
            body = node.find("body/*")
            assert body is not None
            self._take_apart(body, self._r.instanced(node, scope), initial, steps)
        elif name in OF_LANGUAGE and OF_LANGUAGE[name] == "and":
            for operand in operands:
                self._take_apart(operand, scope, initial, steps)
        elif int(text_of(node, "level") or 0) <= _STATE_LEVEL:
            initial.append((node, scope))
        elif operator.tag == "UserDefinedOpKind" and text_of(operator, "level") == "3":
            body = operator.find("body/*")
            if ref is not None and uid_of(ref) in self._r.overridden:
                self._others.append(node)
            if body is None or operands:
                raise self._r.sources.refusal(node, "a specification with parameters")
            inner = Scope(dict(scope.instance or {}), scope.instance)
            self._take_apart(body, inner, initial, steps)
        elif name == "[]" and self._is_square(operands[0]):
            action, subscript = operands[0].findall("operands/*")
            steps.append((action, scope))
            self._boxes.append((subscript, scope))
        elif self._always is not None and name == "[]" and _is_of_state(operands[0]):
            self._always.append((operands[0], scope))
        elif int(text_of(node, "level")) != _TEMPORAL_LEVEL:
            raise self._r.sources.refusal(node, "an action outside of [][Next]_v")
        elif forbids_steps(node, self._r.nodes):
            raise self._r.sources.refusal(node, "a formula that forbids steps, besides [][Next]_v")
        else:
            self._others.append(node)
        self._r.depth -= 1

    def _is_square(self, node: Element) -> bool:
        ref = node.find("operator/BuiltInKindRef")
        return ref is not None and text_of(self._r.nodes[uid_of(ref)], "uniquename") == "$SquareAct"

    def of_parts(self, name: str, primed: bool) -> Definition:
        parts = self._r.parts_of[name]
        node, scope = parts[0]
        instanced = bool(scope.instance)
        ref = node.find("operator/UserDefinedOpKindRef") if node.tag == "OpApplNode" else None
        if len(parts) == 1 and ref is not None and not node.findall("operands/*") and not instanced:
            replacement = self._r.overridden.get(uid_of(ref))
            uid = replacement.name if isinstance(replacement, Redirect) else uid_of(ref)
            return self._r.read_definition(uid, replace(scope, primed=primed))
        read = [self._r.expr(node, replace(scope, primed=primed)) for node, scope in parts]
        body = read[0] if len(read) == 1 else Apply("and", tuple(read), location_of(node))
        key = f"{identifier(name)}_{next(self._r.fresh)}"
        return Definition(
            _UNNAMED, key, (), frozenset(), body, instanced=instanced, place=location_of(node)
        )


def _is_of_state(node: Element) -> bool:
    return int(text_of(node, "level") or _TEMPORAL_LEVEL) <= _STATE_LEVEL
