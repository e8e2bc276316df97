"""Read SANY's XML into the closed tree of `tlatrace.compiler.ir.nodes`.

Three things are resolved on the way, so that no generator has to know of them:

* **Configuration**: a constant with a value becomes a literal; a name with `<-` another definition.
* **INSTANCE**: SANY writes `B!Op` as the body of Op with a substitution. The definitions that the
  body calls are read again under the same substitution; a definition is known by its unique id,
  its substitution and its prime, never by its name.
* **Prime**: `Op(x)'` reads Op once more with primed variables. Bound names are rigid; a parameter
  below a prime becomes a second parameter that takes the primed argument.

Source: tla2sany/xml/sany.xsd of the TLC jar.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from tlatrace.compiler.ir.analysis import free_locals
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Definition,
    Expr,
    Let,
    Literal,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Variable,
    unsupported,
)
from tlatrace.compiler.lower.arguments import Arguments
from tlatrace.compiler.lower.behaviours import Behaviours
from tlatrace.compiler.lower.constructs import Constructs
from tlatrace.compiler.lower.modules import Modules
from tlatrace.compiler.lower.scope import (
    MAX_DEPTH,
    ByName,
    Frame,
    LetName,
    Meaning,
    Parameter,
    Part,
    Redirect,
    Rigid,
    Scope,
    origin_of,
)
from tlatrace.errors import SpecError
from tlatrace.runtime.values import RuntimeValue
from tlatrace.tla.sany_nodes import (
    SUBSTITUTIONS,
    Element,
    Location,
    identifier,
    is_known_in,
    is_told,
    location_of,
    text_of,
    uid_of,
)
from tlatrace.tla.sany_tree import SanyTree
from tlatrace.tla.sources import Sources

__all__ = ["Reader"]


class Reader:
    """Reads one exported specification under one configuration.

    `overrides` maps the names of constants and definitions to a value or to the name of a
    definition of the root module; `module_overrides` does the same for (module, name). With
    `choose_any`, CHOOSE takes the first of several witnesses everywhere, not in definitions that
    ask for it only.
    """

    def __init__(
        self,
        tree: SanyTree,
        folders: Sequence[Path],
        overrides: Mapping[str, RuntimeValue | Redirect],
        module_overrides: Mapping[tuple[str, str], RuntimeValue | Redirect],
        *,
        choose_any: bool = False,
    ) -> None:
        self.choose_any = choose_any
        self.nodes, self.module = tree.nodes, tree.module
        self.by_name, self.constants = tree.operators, tree.constants
        self._root = tree.root
        self.variables = tuple(sorted(tree.variables))
        self._variable_index = {tree.variables[name]: at for at, name in enumerate(self.variables)}
        self.fresh: Iterator[int] = count(1)
        self.depth = 0
        self._read: dict[tuple[str, int, bool], Definition] = {}
        self.parts_of: dict[str, list[Part]] = {}
        self._kept: list[Mapping[str, Meaning]] = []  # so that the ids in `_read` stay theirs
        self.overridden: dict[str, RuntimeValue | Redirect] = {}
        self._configure(overrides, module_overrides)
        self.sources = Sources(self.module, folders)
        self.modules = Modules(self.sources)
        self.arguments = Arguments(self)
        self.constructs = Constructs(self, self.arguments)
        self.behaviours = Behaviours(self, self.constructs)

    def _configure(
        self,
        overrides: Mapping[str, RuntimeValue | Redirect],
        module_overrides: Mapping[tuple[str, str], RuntimeValue | Redirect],
    ) -> None:
        for name, replacement in overrides.items():
            uid = self.constants.get(name) or self.by_name.get(name)
            if uid is None and not isinstance(replacement, Redirect):
                continue  # TLC does not mind: it may be a model value that others mention
            if uid is None:
                raise SpecError(self.module, f"the configuration names {name}, which is not there")
            self._override(uid, replacement)
        for (module, name), target in module_overrides.items():
            found = [
                uid
                for uid, node in self.nodes.items()
                if node.tag in ("UserDefinedOpKind", "OpDeclNode")
                and is_known_in(node, name, module)
            ]
            if not found:
                raise SpecError(self.module, f"the configuration names {name} of {module}")
            for uid in found:
                self._override(uid, target)

    def _override(self, uid: str, replacement: RuntimeValue | Redirect) -> None:
        if isinstance(replacement, Redirect):
            target = self.by_name.get(replacement.name) or self.constants.get(replacement.name)
            if target is None:
                reason = f"the configuration names {replacement.name}, which is not defined"
                raise SpecError(self.module, reason)
            self.overridden[uid] = Redirect(target)
        else:
            self.overridden[uid] = replacement

    def operators(self) -> dict[str, tuple[int, int]]:
        """Return the operators of the root module: name -> (arity, level)."""
        found: dict[str, tuple[int, int]] = {}
        for name, uid in self.by_name.items():
            node = self.nodes[uid]
            found[name] = int(text_of(node, "arity")), int(text_of(node, "level"))
        return found

    def definition(self, name: str, *, primed: bool = False) -> Definition:
        """Read an operator of the root module, with a prime if asked for.

        Raises:
            SubsetError: it uses TLA+ outside the subset.
            SpecError: there is no such operator.
        """
        if name in self.parts_of:
            return self.behaviours.of_parts(name, primed)
        uid = self.by_name.get(name)
        if uid is None:
            raise SpecError(self.module, f"there is no operator {name}")
        replacement = self.overridden.get(uid)
        if isinstance(replacement, Redirect):
            uid = replacement.name
        return self.read_definition(uid, Scope({}, None, primed))

    def assumed(self) -> list[Element]:
        """Return the ASSUMEs of the root module and of those that it extends, without AXIOMs."""
        found = [self.nodes[uid_of(ref)] for ref in self._root.iterfind("AssumeNodeRef")]
        return [node for node in found if not self.sources.is_axiom(location_of(node))]

    def read_definition(self, uid: str, scope: Scope) -> Definition:
        """Read a definition of a module under the substitution and the prime of `scope`."""
        key = (uid, id(scope.instance), scope.primed)
        known = self._read.get(key)
        if known is not None:
            if known.body is None:
                known.recursive = True
            return known
        if scope.instance is not None:
            self._kept.append(scope.instance)
        node = self.nodes[uid]
        inner = Scope(dict(scope.instance or {}), scope.instance, scope.primed)
        definition, parameters = self._declare(node, inner.primed, scope.instance)
        self._read[key] = definition
        self._body(definition, node, inner.with_names(parameters), parameters)
        return definition

    def _declare(
        self, node: Element, primed: bool, instance: Mapping[str, Meaning] | None = None
    ) -> tuple[Definition, dict[str, Meaning]]:
        name = text_of(node, "uniquename")
        meanings: dict[str, Meaning] = {}
        locals_: list[str] = []
        operators: set[str] = set()
        for position, ref in enumerate(node.iterfind("params/*/FormalParamNodeRef")):
            uid = uid_of(ref)
            formal = self.nodes[uid]
            local = self.local(text_of(formal, "uniquename"))
            arity = int(text_of(formal, "arity") or 0)
            meanings[uid] = Parameter(local, primed, position, arity)
            locals_.append(local)
            if arity:
                operators.add(local)
        place = location_of(node)
        definition = Definition(
            name=name,
            key=f"{identifier(name)}_{next(self.fresh)}",
            parameters=tuple(locals_),
            operator_parameters=frozenset(operators),
            place=place,
            choose_any=self.choose_any or self.sources.says_choose_any(place),
            instanced=node.find("body/*/substs/Subst") is not None,
            origin=origin_of(node, instance),
        )
        return definition, meanings

    def _body(
        self,
        definition: Definition,
        node: Element,
        scope: Scope,
        parameters: Mapping[str, Meaning],
    ) -> None:
        body = node.find("body/*")
        if body is None:
            raise self.sources.refusal(node, f"{definition.name} has no body")
        read = self.expr(body, replace(scope, choose_any=definition.choose_any))
        extra = [item for item in parameters.values() if isinstance(item, Parameter)]
        primed = [item for item in extra if item.primed_local is not None]
        if primed and definition.recursive:
            raise self.sources.refusal(node, "a recursive operator with a parameter below a prime")
        definition.parameters += tuple(
            [item.primed_local for item in primed if item.primed_local is not None]
        )
        definition.primed_positions = tuple([item.position for item in primed])
        definition.body = read
        definition.free = frozenset(free_locals(read) - set(definition.parameters))
        definition.local = bool(definition.free)

    def local(self, name: str) -> str:
        return f"{identifier(name)}_{next(self.fresh)}"

    def expr(self, node: Element, scope: Scope) -> Expr:
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                raise self.sources.refusal(node, f"expressions are nested deeper than {MAX_DEPTH}")
            return self._read_expr(node, scope)
        finally:
            self.depth -= 1

    def _read_expr(self, node: Element, scope: Scope) -> Expr:
        match node.tag:
            case "OpApplNode":
                return self._application(node, scope)
            case "NumeralNode":
                text = text_of(node, "IntValue")
                if len(text) > 1000:
                    raise self.sources.refusal(node, "a number of more than 1000 digits")
                return Literal(int(text), location_of(node))
            case "StringNode":
                return Literal(text_of(node, "StringValue"), location_of(node))
            case "LetInNode":
                return self._let(node, scope)
            case tag if tag in SUBSTITUTIONS:
                return self._substituted(node, scope)
            case "AtNode":
                if scope.at is None:
                    raise self.sources.refusal(node, "@ outside EXCEPT")
                return Local(scope.at, location_of(node))
            case "LabelNode":
                body = node.find("body/*")
                assert body is not None
                return self.expr(body, scope)
            case _:
                raise self.sources.refusal(node, f"{node.tag} is not evaluated")

    def _application(self, node: Element, scope: Scope) -> Expr:
        ref = node.find("operator/*")
        if ref is None:
            raise self.sources.refusal(node, "an application without an operator")
        uid = uid_of(ref)
        operator = self.nodes.get(uid)
        operands = node.findall("operands/*")
        if operator is None:
            raise self.sources.refusal(node, "an operator that SANY does not describe")
        match ref.tag:
            case "BuiltInKindRef":
                return self.constructs.builtin(
                    node, text_of(operator, "uniquename"), operands, scope
                )
            case "FormalParamNodeRef":
                return self._named(node, uid, operands, scope)
            case "OpDeclNodeRef":
                return self._declared(node, uid, operands, scope)
            case "UserDefinedOpKindRef":
                return self._defined(node, uid, operands, scope)
            case "AssumeDefRef" | "TheoremDefRef" if is_told(operator, operands):
                return self._defined(node, uid, [], scope)
            case _:
                raise self.sources.refusal(
                    node, f"{text_of(operator, 'uniquename')} is not evaluated"
                )

    def _named(self, node: Element, uid: str, operands: list[Element], scope: Scope) -> Expr:
        meaning = scope.names.get(uid)
        place = location_of(node)
        match meaning:
            case Rigid():
                return Local(meaning.local, place)
            case Parameter():
                local = meaning.local
                if scope.primed and not meaning.ambient:
                    if meaning.primed_local is None:
                        meaning.primed_local = self.local(meaning.local + "_primed")
                    local = meaning.primed_local
                if meaning.arity:
                    arguments = tuple([self.arguments.operand(item, scope) for item in operands])
                    return OperatorCall(local, arguments, place)
                return Local(local, place)
            case ByName():
                return self._by_name_of(meaning, operands, scope, node)
            case LetName():
                return self._let_use(meaning, operands, scope, node)
            case _:
                name = text_of(self.nodes[uid], "uniquename")
                raise self.sources.refusal(node, f"the name {name} is not bound here")

    def _declared(self, node: Element, uid: str, operands: list[Element], scope: Scope) -> Expr:
        meaning = scope.names.get(uid)
        place = location_of(node)
        if isinstance(meaning, ByName):
            return self._by_name_of(meaning, operands, scope, node)
        if uid in self._variable_index:
            index = self._variable_index[uid]
            return Variable(index, self.variables[index], scope.primed, place)
        replacement = self.overridden.get(uid)
        if isinstance(replacement, Redirect):
            return self._defined(node, replacement.name, operands, scope)
        if replacement is not None:
            return Literal(replacement, place)
        name = text_of(self.nodes[uid], "uniquename")
        raise SpecError(self.module, f"no value for the constant {name}: give a configuration")

    def _by_name_of(
        self, meaning: ByName, operands: list[Element], scope: Scope, node: Element
    ) -> Expr:
        inner = replace(meaning.scope, primed=meaning.scope.primed or scope.primed)
        if meaning.node.tag == "OpArgNode":
            operator = self.arguments.operator_argument(meaning.node, inner)
            arguments = tuple([self.arguments.operand(item, scope) for item in operands])
            return _called(operator, arguments, location_of(node))
        return self.expr(meaning.node, inner)

    def _defined(self, node: Element, uid: str, operands: list[Element], scope: Scope) -> Expr:
        place = location_of(node)
        meaning = scope.names.get(uid)
        if isinstance(meaning, LetName):
            return self._let_use(meaning, operands, scope, node)
        replacement = self.overridden.get(uid)
        if isinstance(replacement, Redirect):
            uid = replacement.name
        elif replacement is not None:
            return Literal(replacement, place)
        definition_node = self.nodes[uid]
        key = self.modules.key(definition_node)
        if key is not None:
            operands_read = tuple([self.arguments.operand(item, scope) for item in operands])
            return Apply(key, operands_read, place)
        reason = self.modules.reason_against(definition_node)
        if reason is not None:
            raise self.sources.refusal(node, reason)
        definition = self.read_definition(uid, scope)
        return self._call(definition, operands, scope, place)

    def _call(
        self,
        definition: Definition,
        operands: list[Element],
        scope: Scope,
        place: Location | None,
    ) -> Call:
        arguments = [self.arguments.operand(item, scope) for item in operands]
        primed = replace(scope, primed=True)
        arguments += [
            self.arguments.operand(operands[at], primed) for at in definition.primed_positions
        ]
        return Call(definition, tuple(arguments), place)

    def _let(self, node: Element, scope: Scope) -> Expr:
        frame = Frame()
        names: dict[str, Meaning] = {}
        for ref in node.iterfind("opDefs/*"):
            uid = uid_of(ref)
            if ref.tag == "UserDefinedOpKindRef":
                names[uid] = LetName(self.nodes[uid], frame)
        inner = scope.with_names(names)
        frame.scope = inner
        body_node = node.find("body/*")
        assert body_node is not None
        body = self.expr(body_node, inner)
        if not frame.bindings:
            return body
        return Let(tuple(frame.bindings), body, location_of(node))

    def _let_use(
        self, meaning: LetName, operands: list[Element], scope: Scope, node: Element
    ) -> Expr:
        place = location_of(node)
        if operands or text_of(meaning.node, "arity") not in ("", "0"):
            definition = self.let_definition(meaning, scope)
            return self._call(definition, operands, scope, place)
        frame_scope = meaning.frame.scope
        assert frame_scope is not None
        primed = frame_scope.primed or scope.primed
        known = meaning.values.get(primed)
        if known is None:
            known = meaning.values[primed] = self.local(text_of(meaning.node, "uniquename"))
            body_node = meaning.node.find("body/*")
            assert body_node is not None
            any_ = self.sources.says_choose_any(location_of(meaning.node)) or scope.choose_any
            inner = replace(frame_scope, primed=primed, choose_any=any_)
            meaning.frame.bindings.append((known, self.expr(body_node, inner)))
        return Local(known, place)

    def let_definition(self, meaning: LetName, scope: Scope) -> Definition:
        frame_scope = meaning.frame.scope
        assert frame_scope is not None
        primed = frame_scope.primed or scope.primed
        known = meaning.definitions.get(primed)
        if known is not None:
            if known.body is None:
                known.recursive = True
            return known
        definition, parameters = self._declare(meaning.node, primed)
        meaning.definitions[primed] = definition
        inner = replace(frame_scope, primed=primed, at=frame_scope.at)
        self._body(definition, meaning.node, inner.with_names(parameters), parameters)
        definition.local = True
        return definition

    def _substituted(self, node: Element, scope: Scope) -> Expr:
        body = node.find("body/*")
        assert body is not None
        return self.expr(body, self.instanced(node, scope))

    def instanced(self, node: Element, scope: Scope) -> Scope:
        names: dict[str, Meaning] = {}
        for subst in node.iterfind("substs/Subst"):
            ref = subst.find("OpDeclNodeRef")
            value = subst[-1]
            if ref is None:
                raise self.sources.refusal(
                    node, "a substitution for something that is not declared"
                )
            names[uid_of(ref)] = ByName(value, scope)
        instance = {**(scope.instance or {}), **names}
        return replace(scope, names={**scope.names, **names}, instance=instance)


def _called(operator: OperatorRef, arguments: tuple[Operand, ...], place: Location | None) -> Expr:
    """Apply an operator that is known here: its parameters become names of a LET."""
    bindings: list[tuple[str, Expr]] = []
    for name, argument in zip(operator.parameters, arguments, strict=True):
        if isinstance(argument, OperatorRef):
            raise unsupported(place, "an operator argument of an operator argument")
        bindings.append((name, argument))
    return Let(tuple(bindings), operator.body, place) if bindings else operator.body
