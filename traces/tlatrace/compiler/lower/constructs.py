"""The constructs of the language: quantifiers, EXCEPT, CASE, UNCHANGED and so on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Composed,
    Enabled,
    Except,
    Expr,
    If,
    Literal,
    Operand,
    OperatorRef,
    Quantified,
    Recursive,
    Update,
    Variable,
)
from tlatrace.compiler.lower.arguments import Arguments
from tlatrace.compiler.lower.builtin import OF_LANGUAGE, REFUSED
from tlatrace.compiler.lower.reading import TreeReader
from tlatrace.compiler.lower.scope import Meaning, Rigid, Scope
from tlatrace.runtime.values import FALSE, TRUE
from tlatrace.tla.sany_nodes import Element, Location, location_of, text_of, uid_of

__all__ = ["Constructs"]

_QUANTIFIERS: Final = {
    "$BoundedExists": "exists",
    "$BoundedForall": "forall",
    "$SetOfAll": "map",
    "$SubsetOf": "filter",
    "$FcnConstructor": "function",
    "$BoundedChoose": "choose",
    "$UnboundedChoose": "choose",
}


class Constructs:
    """The constructs of the language."""

    def __init__(self, reader: TreeReader, arguments: Arguments) -> None:
        self._r = reader
        self._arguments = arguments

    def builtin(self, node: Element, name: str, operands: list[Element], scope: Scope) -> Expr:
        place = location_of(node)
        if name in ("\\land", "\\lor", "$ConjList", "$DisjList"):
            key = OF_LANGUAGE[name]
            parts = [self._r.expr(item, scope) for item in self._flat(operands, key)]
            return parts[0] if len(parts) == 1 else Apply(key, tuple(parts), place)
        key_of = OF_LANGUAGE.get(name)
        if key_of in ("TRUE", "FALSE"):
            return Literal(TRUE if key_of == "TRUE" else FALSE, place)
        if key_of is not None:
            return Apply(
                key_of, tuple([self._arguments.operand(item, scope) for item in operands]), place
            )
        if name in _QUANTIFIERS:
            return self._quantified(node, _QUANTIFIERS[name], operands, scope)
        match name:
            case "$Nop":  # Op!1, a part of a definition
                return self._r.expr(operands[0], scope)
            case "'":
                return self._r.expr(operands[0], replace(scope, primed=True))
            case "UNCHANGED":
                return self.unchanged(operands[0], scope, node)
            case "ENABLED":
                if scope.primed:
                    raise self._r.sources.refusal(node, "ENABLED of the state after a step")
                return Enabled(self._r.expr(operands[0], scope), place)
            case "\\cdot":
                first, second = [self._r.expr(item, scope) for item in operands]
                return Composed(first, second, len(self._r.variables), place)
            case "$SquareAct" | "$AngleAct":
                return self._box(name, operands, scope, node)
            case "$IfThenElse":
                condition, yes, no = [self._r.expr(item, scope) for item in operands]
                return If(condition, yes, no, place)
            case "$Case":
                return self._case(operands, scope, place)
            case "$Except":
                return self._except(operands, scope, place)
            case "$RcdSelect":
                record = self._r.expr(operands[0], scope)
                field_ = Literal(text_of(operands[1], "StringValue"), place)
                return Apply("select", (record, field_), place)
            case "$RcdConstructor" | "$SetOfRcds":
                key = "record" if name == "$RcdConstructor" else "records"
                parts_: list[Operand] = []
                for pair in operands:
                    label, value = pair.findall("operands/*")
                    parts_.append(Literal(text_of(label, "StringValue"), place))
                    parts_.append(self._r.expr(value, scope))
                return Apply(key, tuple(parts_), place)
            case "$RecursiveFcnSpec" | "$NonRecursiveFcnSpec":
                return self._recursive_function(node, operands, scope)
            case _:
                raise self._r.sources.refusal(node, REFUSED.get(name, f"{name} is not evaluated"))

    def _flat(self, operands: Iterable[Element], key: str) -> list[Element]:
        """Return the parts of a chain of conjunctions or disjunctions, without recursion."""
        found: list[Element] = []
        waiting = list(operands)[::-1]
        while waiting:
            node = waiting.pop()
            ref = node.find("operator/BuiltInKindRef") if node.tag == "OpApplNode" else None
            name = text_of(self._r.nodes[uid_of(ref)], "uniquename") if ref is not None else ""
            if name in ("\\land", "\\lor", "$ConjList", "$DisjList") and OF_LANGUAGE[name] == key:
                waiting += node.findall("operands/*")[::-1]
            else:
                found.append(node)
        return found

    def _case(self, operands: list[Element], scope: Scope, place: Location | None) -> Expr:
        arms: list[tuple[Expr, Expr]] = []
        other: Expr | None = None
        for pair in operands:
            guard, value = pair.findall("operands/*")
            if guard.tag == "StringNode" and guard.find("StringValue") is None:
                other = self._r.expr(value, scope)  # SANY writes OTHER as a string without a value
            else:
                arms.append((self._r.expr(guard, scope), self._r.expr(value, scope)))
        return Case(tuple(arms), other, place)

    def _except(self, operands: list[Element], scope: Scope, place: Location | None) -> Expr:
        function = self._r.expr(operands[0], scope)
        updates: list[Update] = []
        for pair in operands[1:]:
            path_node, value_node = pair.findall("operands/*")
            path = tuple([self._r.expr(item, scope) for item in path_node.findall("operands/*")])
            old = self._r.local("at")
            value = self._r.expr(value_node, replace(scope, at=old))
            updates.append(Update(path, value, old))
        return Except(function, tuple(updates), place)

    def _bounds(
        self, node: Element, scope: Scope
    ) -> tuple[tuple[tuple[tuple[str, ...], bool, Expr | None], ...], dict[str, Meaning]]:
        bounds: list[tuple[tuple[str, ...], bool, Expr | None]] = []
        meanings: dict[str, Meaning] = {}
        for bound in node.iterfind("boundSymbols/*"):
            uids = [uid_of(ref) for ref in bound.iterfind("FormalParamNodeRef")]
            names = [self._r.local(text_of(self._r.nodes[uid], "uniquename")) for uid in uids]
            meanings.update({uid: Rigid(name) for uid, name in zip(uids, names, strict=True)})
            pattern = bound.find("tuple") is not None
            among = None if bound.tag == "unbound" else self._r.expr(bound[-1], scope)
            if pattern:
                bounds.append((tuple(names), True, among))
            else:
                bounds += [((name,), False, among) for name in names]
        return tuple(bounds), meanings

    def _quantified(self, node: Element, what: str, operands: list[Element], scope: Scope) -> Expr:
        bounds, meanings = self._bounds(node, scope)
        body = self._r.expr(operands[0], scope.with_names(meanings))
        return Quantified(what, bounds, body, location_of(node), scope.choose_any)

    def _recursive_function(self, node: Element, operands: list[Element], scope: Scope) -> Expr:
        unbound = node.find("boundSymbols/unbound/FormalParamNodeRef")
        bounds, meanings = self._bounds(node, scope)
        name = ""
        if unbound is not None:
            meaning = meanings[uid_of(unbound)]
            assert isinstance(meaning, Rigid)
            name = meaning.local
            bounds = tuple([item for item in bounds if item[2] is not None])
        body = self._r.expr(operands[0], scope.with_names(meanings))
        if not name:
            return Quantified("function", bounds, body, location_of(node), scope.choose_any)
        return Recursive(name, bounds, body, location_of(node))

    def _box(self, name: str, operands: list[Element], scope: Scope, node: Element) -> Expr:
        """Read [A]_v and <<A>>_v; as conjunctions: TLC looks for no names of actions in them."""
        action = self._r.expr(operands[0], scope)
        same = self.unchanged(operands[1], scope, node)
        place = location_of(node)
        if name == "$AngleAct":
            return Apply("and", (action, Apply("not", (same,), place)), place)
        return Apply("and", (Apply("or", (action, same), place),), place)

    def unchanged(self, node: Element, scope: Scope, whole: Element) -> Expr:
        before = self._r.expr(node, scope)
        after = self._r.expr(node, replace(scope, primed=True))
        parts = list(_unchanged_parts(before, after, location_of(whole)))
        return parts[0] if len(parts) == 1 else Apply("and", tuple(parts), location_of(whole))


def _unchanged_parts(before: Expr, after: Expr, place: Location | None) -> Iterable[Expr]:
    match before, after:
        case Variable(), Variable():
            yield Apply("unchanged", (after, before), place)
        case Apply(), Apply() if before.operator == "tuple":
            for old, new in zip(before.operands, after.operands, strict=True):
                assert not isinstance(old, OperatorRef)
                assert not isinstance(new, OperatorRef)
                yield from _unchanged_parts(old, new, place)
        case Call(), Call() if not before.arguments and not before.definition.recursive:
            old_body, new_body = before.definition.expression, after.definition.expression
            if _is_tuple_of_variables(old_body):
                yield from _unchanged_parts(old_body, new_body, place)
            else:
                yield Apply("unchanged", (after, before), place)
        case _:
            yield Apply("unchanged", (after, before), place)


def _is_tuple_of_variables(node: Operand) -> bool:
    match node:
        case Variable():
            return True
        case Apply() if node.operator == "tuple":
            return all(_is_tuple_of_variables(item) for item in node.operands)
        case Call() if not node.arguments and not node.definition.recursive:
            return _is_tuple_of_variables(node.definition.expression)
        case _:
            return False
