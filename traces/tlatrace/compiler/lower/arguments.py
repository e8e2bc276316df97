"""Arguments of operators: expressions, definitions, LAMBDA, built-in operators."""

from __future__ import annotations

from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Definition,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
)
from tlatrace.compiler.lower.builtin import OF_LANGUAGE
from tlatrace.compiler.lower.reading import TreeReader
from tlatrace.compiler.lower.scope import (
    ByName,
    LetName,
    Meaning,
    Parameter,
    Redirect,
    Rigid,
    Scope,
)
from tlatrace.tla.sany_nodes import Element, Location, location_of, text_of, uid_of

__all__ = ["Arguments"]


class Arguments:
    """Arguments of operators."""

    def __init__(self, reader: TreeReader) -> None:
        self._r = reader

    def operand(self, node: Element, scope: Scope) -> Operand:
        if node.tag == "OpArgNode":
            return self.operator_argument(node, scope)
        return self._r.expr(node, scope)

    def operator_argument(self, node: Element, scope: Scope) -> OperatorRef:
        ref = node.find("argument/*")
        assert ref is not None
        uid = uid_of(ref)
        operator = self._r.nodes[uid]
        place = location_of(node)
        arity = int(text_of(operator, "arity") or 0)
        names = tuple([self._r.local("a") for _ in range(arity)])
        arguments: tuple[Operand, ...] = tuple([Local(name, place) for name in names])
        if ref.tag == "FormalParamNodeRef":
            meaning = scope.names.get(uid)
            if isinstance(meaning, Parameter):
                return OperatorRef(names, OperatorCall(meaning.local, arguments, place), place)
            raise self._r.sources.refusal(node, "an operator that is not bound here")
        if ref.tag == "OpDeclNodeRef":
            meaning = scope.names.get(uid)
            if isinstance(meaning, ByName) and meaning.node.tag == "OpArgNode":
                return self.operator_argument(meaning.node, meaning.scope)
            replacement = self._r.overridden.get(uid)
            if not isinstance(replacement, Redirect):
                raise self._r.sources.refusal(
                    node, f"no operator is given for {text_of(operator, 'uniquename')}"
                )
            uid, operator = replacement.name, self._r.nodes[replacement.name]
        if ref.tag == "BuiltInKindRef":
            key = OF_LANGUAGE.get(text_of(operator, "uniquename"))
            if key is None:
                raise self._r.sources.refusal(
                    node, f"{text_of(operator, 'uniquename')} as an argument"
                )
            return OperatorRef(names, Apply(key, arguments, place), place)
        let_name = scope.names.get(uid)
        if isinstance(let_name, LetName):
            return self._as_argument(self._r.let_definition(let_name, scope), names, node)
        replacement = self._r.overridden.get(uid)
        if isinstance(replacement, Redirect):
            uid, operator = replacement.name, self._r.nodes[replacement.name]
        key = self._r.modules.key(operator)
        if key is not None:
            return OperatorRef(names, Apply(key, arguments, place), place)
        reason = self._r.modules.reason_against(operator)
        if reason is not None:
            raise self._r.sources.refusal(node, reason)
        if text_of(operator, "uniquename") == "LAMBDA":
            return self._lambda(operator, scope, place)
        return self._as_argument(self._r.read_definition(uid, scope), names, node)

    def _as_argument(
        self, definition: Definition, names: tuple[str, ...], node: Element
    ) -> OperatorRef:
        if definition.primed_positions:
            raise self._r.sources.refusal(
                node, f"{definition.name} primes a parameter: it is no argument"
            )
        place = location_of(node)
        arguments = tuple([Local(name, place) for name in names])
        return OperatorRef(names, Call(definition, arguments, place), place)

    def _lambda(self, node: Element, scope: Scope, place: Location | None) -> OperatorRef:
        names: list[str] = []
        meanings: dict[str, Meaning] = {}
        for ref in node.iterfind("params/*/FormalParamNodeRef"):
            uid = uid_of(ref)
            local = self._r.local(text_of(self._r.nodes[uid], "uniquename"))
            meanings[uid] = Rigid(local)
            names.append(local)
        body = node.find("body/*")
        assert body is not None
        return OperatorRef(tuple(names), self._r.expr(body, scope.with_names(meanings)), place)
