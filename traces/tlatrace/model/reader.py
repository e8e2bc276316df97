"""Read SANY's XML into the closed tree of `tlatrace.model.tree`.

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

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias

from tlatrace.errors import SpecError, SubsetError
from tlatrace.model.builtin import IN_JAVA, OF_LANGUAGE, OF_MODULES, REFUSED, STANDARD_MODULES
from tlatrace.model.domain import FALSE, TRUE, D
from tlatrace.model.tree import (
    Apply,
    Call,
    Case,
    Definition,
    Except,
    Expr,
    If,
    Let,
    Literal,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Place,
    Quantified,
    Recursive,
    Update,
    Variable,
    children,
)

__all__ = ["Reader", "Redirect", "free_locals"]

_Element: TypeAlias = ElementTree.Element

MAX_DEPTH: Final = 400
_VARIABLE_KIND, _CONSTANT_KIND = "3", "2"
_QUANTIFIERS: Final = {
    "$BoundedExists": "exists",
    "$BoundedForall": "forall",
    "$SetOfAll": "map",
    "$SubsetOf": "filter",
    "$FcnConstructor": "function",
    "$BoundedChoose": "choose",
    "$UnboundedChoose": "choose",
}
_CHOOSE_ANY: Final = "CHOOSE ANY"
_STATE_LEVEL: Final = 1
_TEMPORAL_LEVEL: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class _Rigid:
    """A bound name: a prime does not change it."""

    local: str


@dataclass(slots=True, eq=False)
class _Parameter:
    """A parameter of a definition; `primed_local` exists once the body needs it."""

    local: str
    ambient: bool
    """The prime under which the definition is read."""
    position: int
    arity: int
    primed_local: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _ByName:
    """An expression that stands for a constant or variable of an instanced module."""

    node: _Element
    scope: _Scope


@dataclass(slots=True, eq=False)
class _LetName:
    """An operator that LET defines; its readings by prime."""

    node: _Element
    frame: _Frame
    values: dict[bool, str] = field(default_factory=dict)
    definitions: dict[bool, Definition] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class _Frame:
    """One LET: where its names are read, and the values that it binds, in order."""

    scope: _Scope | None = None
    bindings: list[tuple[str, Expr]] = field(default_factory=list)


_Part: TypeAlias = tuple[_Element, "_Scope"]
"""A part of a formula, and where it is read."""


_Meaning: TypeAlias = _Rigid | _Parameter | _ByName | _LetName


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    names: Mapping[str, _Meaning]
    """By SANY's unique id."""
    instance: Mapping[str, _Meaning] | None
    """The substitutions in force, which definitions that are called see, too."""
    primed: bool = False
    at: str | None = None
    """The local that @ stands for."""
    choose_any: bool = False

    def with_names(self, names: Mapping[str, _Meaning]) -> _Scope:
        return replace(self, names={**self.names, **names})


@dataclass(frozen=True, slots=True)
class Redirect:
    """The configuration's `<-`: the name, inside the reader the unique id, of a definition."""

    name: str


class Reader:
    """Reads one exported specification under one configuration.

    `overrides` maps the names of constants and definitions to a value or to the name of a
    definition of the root module; `module_overrides` does the same for (module, name).
    """

    def __init__(
        self,
        root: _Element,
        folders: Sequence[Path],
        overrides: Mapping[str, D | Redirect],
        module_overrides: Mapping[tuple[str, str], D | Redirect],
    ) -> None:
        self._folders = folders
        self._nodes: dict[str, _Element] = {
            _text(entry, "UID"): entry[1] for entry in root.iterfind("context/entry")
        }
        self.module = _text(root, "RootModule")
        modules = {
            _text(node, "uniquename"): node
            for node in self._nodes.values()
            if node.tag == "ModuleNode"
        }
        if self.module not in modules:
            raise SpecError(self.module, "SANY's XML does not have the root module")
        self._root = modules[self.module]
        references = [_uid(ref) for ref in self._root.iterfind("UserDefinedOpKindRef")]
        self._by_name = {
            _text(self._nodes[uid], "uniquename"): uid
            for uid in references
            if self._nodes[uid].tag == "UserDefinedOpKind"
        }
        declared = [_uid(ref) for ref in self._root.iterfind("OpDeclNodeRef")]
        kinds = {uid: _text(self._nodes[uid], "kind") for uid in declared}
        names = {uid: _text(self._nodes[uid], "uniquename") for uid in declared}
        variables = sorted(names[uid] for uid in declared if kinds[uid] == _VARIABLE_KIND)
        self.variables = tuple(variables)
        self._variable_index = {
            uid: variables.index(names[uid]) for uid in declared if kinds[uid] == _VARIABLE_KIND
        }
        self.constants = {names[uid]: uid for uid in declared if kinds[uid] == _CONSTANT_KIND}
        self._fresh = count(1)
        self._depth = 0
        self._read: dict[tuple[str, int, bool], Definition] = {}
        self._behaviour: dict[str, list[_Part]] = {}
        self._kept: list[Mapping[str, _Meaning]] = []  # so that the ids in `_read` stay theirs
        self._sources: dict[str, list[str]] = {}
        self._overridden: dict[str, D | Redirect] = {}
        self._configure(overrides, module_overrides)

    # ---- configuration ----

    def _configure(
        self,
        overrides: Mapping[str, D | Redirect],
        module_overrides: Mapping[tuple[str, str], D | Redirect],
    ) -> None:
        for name, replacement in overrides.items():
            uid = self.constants.get(name) or self._by_name.get(name)
            if uid is None and not isinstance(replacement, Redirect):
                continue  # TLC does not mind: it may be a model value that others mention
            if uid is None:
                raise SpecError(self.module, f"the configuration names {name}, which is not there")
            self._override(uid, replacement)
        for (module, name), target in module_overrides.items():
            found = [
                uid
                for uid, node in self._nodes.items()
                if node.tag in ("UserDefinedOpKind", "OpDeclNode")
                and _text(node, "uniquename").rpartition("!")[2] == name
                and _module_of(node) == module
            ]
            if not found:
                raise SpecError(self.module, f"the configuration names {name} of {module}")
            for uid in found:
                self._override(uid, target)

    def _override(self, uid: str, replacement: D | Redirect) -> None:
        if isinstance(replacement, Redirect):
            target = self._by_name.get(replacement.name)
            if target is None:
                reason = f"the configuration names {replacement.name}, which is not defined"
                raise SpecError(self.module, reason)
            self._overridden[uid] = Redirect(target)
        else:
            self._overridden[uid] = replacement

    # ---- roots ----

    def operators(self) -> dict[str, tuple[int, int]]:
        """Return the operators of the root module: name -> (arity, level)."""
        found: dict[str, tuple[int, int]] = {}
        for name, uid in self._by_name.items():
            node = self._nodes[uid]
            found[name] = int(_text(node, "arity")), int(_text(node, "level"))
        return found

    def definition(self, name: str, *, primed: bool = False) -> Definition:
        """Read an operator of the root module, with a prime if asked for.

        Raises:
            SubsetError: it uses TLA+ outside the subset.
            SpecError: there is no such operator.
        """
        if name in self._behaviour:
            return self._of_parts(name, primed)
        uid = self._by_name.get(name)
        if uid is None:
            raise SpecError(self.module, f"there is no operator {name}")
        replacement = self._overridden.get(uid)
        if isinstance(replacement, Redirect):
            uid = replacement.name
        return self._definition(uid, _Scope({}, None, primed))

    def behaviour(self, name: str) -> tuple[str, str]:
        """Return the names by which `definition` knows the Init and the Next of a formula.

        Raises:
            SpecError: it is not of the form Init /\\ [][Next]_v, with fairness or without.
        """
        if name not in self._by_name:
            raise SpecError(self.module, f"there is no operator {name}")
        initial: list[_Part] = []
        steps: list[_Part] = []
        body = self._nodes[self._by_name[name]].find("body/*")
        if body is not None:
            self._take_apart(body, _Scope({}, None), initial, steps)
        if not initial or len(steps) != 1:
            reason = f"SPECIFICATION {name} is not of the form Init /\\ [][Next]_v"
            raise SpecError(self.module, reason)
        self._behaviour = {"Init": initial, "Next": steps}
        return "Init", "Next"

    def _take_apart(
        self, node: _Element, scope: _Scope, initial: list[_Part], steps: list[_Part]
    ) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._refusal(node, f"expressions are nested deeper than {MAX_DEPTH}")
        ref = node.find("operator/*")
        operator = self._nodes[_uid(ref)] if ref is not None else node
        name, operands = _text(operator, "uniquename"), node.findall("operands/*")
        if node.tag == "SubstInNode":
            body = node.find("body/*")
            assert body is not None
            self._take_apart(body, self._instanced(node, scope), initial, steps)
        elif name in OF_LANGUAGE and OF_LANGUAGE[name] == "and":
            for operand in operands:
                self._take_apart(operand, scope, initial, steps)
        elif int(_text(node, "level") or 0) <= _STATE_LEVEL:
            initial.append((node, scope))
        elif operator.tag == "UserDefinedOpKind" and _text(operator, "level") == "3":
            body = operator.find("body/*")
            if body is None or operands:
                raise self._refusal(node, "a specification with parameters")
            inner = _Scope(dict(scope.instance or {}), scope.instance)
            self._take_apart(body, inner, initial, steps)
        elif name == "[]" and self._is_square(operands[0]):
            steps.append((operands[0].findall("operands/*")[0], scope))
        elif int(_text(node, "level")) != _TEMPORAL_LEVEL:
            raise self._refusal(node, "an action outside of [][Next]_v")
        self._depth -= 1

    def _is_square(self, node: _Element) -> bool:
        ref = node.find("operator/BuiltInKindRef")
        return ref is not None and _text(self._nodes[_uid(ref)], "uniquename") == "$SquareAct"

    def _of_parts(self, name: str, primed: bool) -> Definition:
        parts = self._behaviour[name]
        node, scope = parts[0]
        ref = node.find("operator/UserDefinedOpKindRef") if node.tag == "OpApplNode" else None
        if len(parts) == 1 and ref is not None and not node.findall("operands/*"):
            replacement = self._overridden.get(_uid(ref))
            uid = replacement.name if isinstance(replacement, Redirect) else _uid(ref)
            return self._definition(uid, replace(scope, primed=primed))
        read = [self._expr(node, replace(scope, primed=primed)) for node, scope in parts]
        body = read[0] if len(read) == 1 else Apply("and", tuple(read), _place(node))
        key = f"{_identifier(name)}_{next(self._fresh)}"
        return Definition(name, key, (), frozenset(), body, place=_place(node))

    # ---- definitions ----

    def _definition(self, uid: str, scope: _Scope) -> Definition:
        """Read a definition of a module under the substitution and the prime of `scope`."""
        key = (uid, id(scope.instance), scope.primed)
        known = self._read.get(key)
        if known is not None:
            if known.body is None:
                known.recursive = True
            return known
        if scope.instance is not None:
            self._kept.append(scope.instance)
        node = self._nodes[uid]
        inner = _Scope(dict(scope.instance or {}), scope.instance, scope.primed)
        definition, parameters = self._declare(node, inner.primed)
        self._read[key] = definition
        self._body(definition, node, inner.with_names(parameters), parameters)
        return definition

    def _declare(self, node: _Element, primed: bool) -> tuple[Definition, dict[str, _Meaning]]:
        name = _text(node, "uniquename")
        meanings: dict[str, _Meaning] = {}
        locals_: list[str] = []
        operators: set[str] = set()
        for position, ref in enumerate(node.iterfind("params/*/FormalParamNodeRef")):
            uid = _uid(ref)
            formal = self._nodes[uid]
            local = self._local(_text(formal, "uniquename"))
            arity = int(_text(formal, "arity") or 0)
            meanings[uid] = _Parameter(local, primed, position, arity)
            locals_.append(local)
            if arity:
                operators.add(local)
        place = _place(node)
        definition = Definition(
            name=name,
            key=f"{_identifier(name)}_{next(self._fresh)}",
            parameters=tuple(locals_),
            operator_parameters=frozenset(operators),
            place=place,
            choose_any=self._says_choose_any(place),
        )
        return definition, meanings

    def _body(
        self,
        definition: Definition,
        node: _Element,
        scope: _Scope,
        parameters: Mapping[str, _Meaning],
    ) -> None:
        body = node.find("body/*")
        if body is None:
            raise self._refusal(node, f"{definition.name} has no body")
        read = self._expr(body, replace(scope, choose_any=definition.choose_any))
        extra = [item for item in parameters.values() if isinstance(item, _Parameter)]
        primed = [item for item in extra if item.primed_local is not None]
        if primed and definition.recursive:
            raise self._refusal(node, "a recursive operator with a parameter below a prime")
        definition.parameters += tuple(
            [item.primed_local for item in primed if item.primed_local is not None]
        )
        definition.primed_positions = tuple([item.position for item in primed])
        definition.body = read
        definition.free = frozenset(free_locals(read) - set(definition.parameters))
        definition.local = bool(definition.free)

    def _local(self, name: str) -> str:
        return f"{_identifier(name)}_{next(self._fresh)}"

    # ---- expressions ----

    def _expr(self, node: _Element, scope: _Scope) -> Expr:
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise self._refusal(node, f"expressions are nested deeper than {MAX_DEPTH}")
            return self._read_expr(node, scope)
        finally:
            self._depth -= 1

    def _read_expr(self, node: _Element, scope: _Scope) -> Expr:
        match node.tag:
            case "OpApplNode":
                return self._application(node, scope)
            case "NumeralNode":
                text = _text(node, "IntValue")
                if len(text) > 1000:
                    raise self._refusal(node, "a number of more than 1000 digits")
                return Literal(int(text), _place(node))
            case "StringNode":
                return Literal(_text(node, "StringValue"), _place(node))
            case "LetInNode":
                return self._let(node, scope)
            case "SubstInNode":
                return self._substituted(node, scope)
            case "AtNode":
                if scope.at is None:
                    raise self._refusal(node, "@ outside EXCEPT")
                return Local(scope.at, _place(node))
            case "LabelNode":
                body = node.find("body/*")
                assert body is not None
                return self._expr(body, scope)
            case _:
                raise self._refusal(node, f"{node.tag} is not evaluated")

    def _application(self, node: _Element, scope: _Scope) -> Expr:
        ref = node.find("operator/*")
        if ref is None:
            raise self._refusal(node, "an application without an operator")
        uid = _uid(ref)
        operator = self._nodes.get(uid)
        operands = node.findall("operands/*")
        if operator is None:
            raise self._refusal(node, "an operator that SANY does not describe")
        match ref.tag:
            case "BuiltInKindRef":
                return self._builtin(node, _text(operator, "uniquename"), operands, scope)
            case "FormalParamNodeRef":
                return self._named(node, uid, operands, scope)
            case "OpDeclNodeRef":
                return self._declared(node, uid, operands, scope)
            case "UserDefinedOpKindRef":
                return self._defined(node, uid, operands, scope)
            case _:
                raise self._refusal(node, f"{_text(operator, 'uniquename')} is not evaluated")

    def _named(self, node: _Element, uid: str, operands: list[_Element], scope: _Scope) -> Expr:
        meaning = scope.names.get(uid)
        place = _place(node)
        match meaning:
            case _Rigid():
                return Local(meaning.local, place)
            case _Parameter():
                local = meaning.local
                if scope.primed and not meaning.ambient:
                    if meaning.primed_local is None:
                        meaning.primed_local = self._local(meaning.local + "_primed")
                    local = meaning.primed_local
                if meaning.arity:
                    arguments = tuple([self._operand(item, scope) for item in operands])
                    return OperatorCall(local, arguments, place)
                return Local(local, place)
            case _ByName():
                return self._by_name_of(meaning, operands, scope, node)
            case _LetName():
                return self._let_use(meaning, operands, scope, node)
            case _:
                name = _text(self._nodes[uid], "uniquename")
                raise self._refusal(node, f"the name {name} is not bound here")

    def _declared(self, node: _Element, uid: str, operands: list[_Element], scope: _Scope) -> Expr:
        meaning = scope.names.get(uid)
        place = _place(node)
        if isinstance(meaning, _ByName):
            return self._by_name_of(meaning, operands, scope, node)
        if uid in self._variable_index:
            index = self._variable_index[uid]
            return Variable(index, self.variables[index], scope.primed, place)
        replacement = self._overridden.get(uid)
        if isinstance(replacement, Redirect):
            return self._defined(node, replacement.name, operands, scope)
        if replacement is not None:
            return Literal(replacement, place)
        name = _text(self._nodes[uid], "uniquename")
        raise SpecError(self.module, f"no value for the constant {name}: give a configuration")

    def _by_name_of(
        self, meaning: _ByName, operands: list[_Element], scope: _Scope, node: _Element
    ) -> Expr:
        inner = replace(meaning.scope, primed=meaning.scope.primed or scope.primed)
        if meaning.node.tag == "OpArgNode":
            operator = self._operator_argument(meaning.node, inner)
            arguments = tuple([self._operand(item, scope) for item in operands])
            return _called(operator, arguments, _place(node))
        return self._expr(meaning.node, inner)

    def _defined(self, node: _Element, uid: str, operands: list[_Element], scope: _Scope) -> Expr:
        place = _place(node)
        meaning = scope.names.get(uid)
        if isinstance(meaning, _LetName):
            return self._let_use(meaning, operands, scope, node)
        replacement = self._overridden.get(uid)
        if isinstance(replacement, Redirect):
            uid = replacement.name
        elif replacement is not None:
            return Literal(replacement, place)
        definition_node = self._nodes[uid]
        name = _text(definition_node, "uniquename")
        if self._is_standard(definition_node):
            key = OF_MODULES.get(name)
            if key is None:
                reason = REFUSED.get(name, f"{name} is not evaluated")
                raise self._refusal(node, reason)
            operands_read = tuple([self._operand(item, scope) for item in operands])
            return Apply(key, operands_read, place)
        module = _text(definition_node, "body/*/location/filename")
        if name in REFUSED and module == "Reals":
            raise self._refusal(node, REFUSED[name])
        if module in IN_JAVA:
            raise self._refusal(node, f"{name} of {module} is a part of TLC, in Java")
        definition = self._definition(uid, scope)
        return self._call(definition, operands, scope, place)

    def _call(
        self,
        definition: Definition,
        operands: list[_Element],
        scope: _Scope,
        place: Place | None,
    ) -> Call:
        arguments = [self._operand(item, scope) for item in operands]
        primed = replace(scope, primed=True)
        arguments += [self._operand(operands[at], primed) for at in definition.primed_positions]
        return Call(definition, tuple(arguments), place)

    def _is_standard(self, node: _Element) -> bool:
        body = node.find("body/*")
        return (
            body is not None
            and _text(body, "location/filename") in STANDARD_MODULES
            and (_text(node, "uniquename") in OF_MODULES or _text(node, "uniquename") in REFUSED)
        )

    def _operand(self, node: _Element, scope: _Scope) -> Operand:
        if node.tag == "OpArgNode":
            return self._operator_argument(node, scope)
        return self._expr(node, scope)

    def _operator_argument(self, node: _Element, scope: _Scope) -> OperatorRef:
        ref = node.find("argument/*")
        assert ref is not None
        uid = _uid(ref)
        operator = self._nodes[uid]
        place = _place(node)
        arity = int(_text(operator, "arity") or 0)
        names = tuple([self._local("a") for _ in range(arity)])
        arguments: tuple[Operand, ...] = tuple([Local(name, place) for name in names])
        if ref.tag == "FormalParamNodeRef":
            meaning = scope.names.get(uid)
            if isinstance(meaning, _Parameter):
                return OperatorRef(names, OperatorCall(meaning.local, arguments, place), place)
            raise self._refusal(node, "an operator that is not bound here")
        if ref.tag == "OpDeclNodeRef":
            meaning = scope.names.get(uid)
            if isinstance(meaning, _ByName) and meaning.node.tag == "OpArgNode":
                return self._operator_argument(meaning.node, meaning.scope)
            replacement = self._overridden.get(uid)
            if not isinstance(replacement, Redirect):
                raise self._refusal(
                    node, f"no operator is given for {_text(operator, 'uniquename')}"
                )
            uid, operator = replacement.name, self._nodes[replacement.name]
        if ref.tag == "BuiltInKindRef":
            key = OF_LANGUAGE.get(_text(operator, "uniquename"))
            if key is None:
                raise self._refusal(node, f"{_text(operator, 'uniquename')} as an argument")
            return OperatorRef(names, Apply(key, arguments, place), place)
        let_name = scope.names.get(uid)
        if isinstance(let_name, _LetName):
            return self._as_argument(self._let_definition(let_name, scope), names, node)
        replacement = self._overridden.get(uid)
        if isinstance(replacement, Redirect):
            uid, operator = replacement.name, self._nodes[replacement.name]
        if self._is_standard(operator):
            key = OF_MODULES.get(_text(operator, "uniquename"))
            if key is None:
                raise self._refusal(node, f"{_text(operator, 'uniquename')} as an argument")
            return OperatorRef(names, Apply(key, arguments, place), place)
        if _text(operator, "uniquename") == "LAMBDA":
            return self._lambda(operator, scope, place)
        return self._as_argument(self._definition(uid, scope), names, node)

    def _as_argument(
        self, definition: Definition, names: tuple[str, ...], node: _Element
    ) -> OperatorRef:
        if definition.primed_positions:
            raise self._refusal(node, f"{definition.name} primes a parameter: it is no argument")
        place = _place(node)
        arguments = tuple([Local(name, place) for name in names])
        return OperatorRef(names, Call(definition, arguments, place), place)

    def _lambda(self, node: _Element, scope: _Scope, place: Place | None) -> OperatorRef:
        names: list[str] = []
        meanings: dict[str, _Meaning] = {}
        for ref in node.iterfind("params/*/FormalParamNodeRef"):
            uid = _uid(ref)
            local = self._local(_text(self._nodes[uid], "uniquename"))
            meanings[uid] = _Rigid(local)
            names.append(local)
        body = node.find("body/*")
        assert body is not None
        return OperatorRef(tuple(names), self._expr(body, scope.with_names(meanings)), place)

    # ---- LET and INSTANCE ----

    def _let(self, node: _Element, scope: _Scope) -> Expr:
        frame = _Frame()
        names: dict[str, _Meaning] = {}
        for ref in node.iterfind("opDefs/*"):
            uid = _uid(ref)
            if ref.tag == "UserDefinedOpKindRef":
                names[uid] = _LetName(self._nodes[uid], frame)
        inner = scope.with_names(names)
        frame.scope = inner
        body_node = node.find("body/*")
        assert body_node is not None
        body = self._expr(body_node, inner)
        if not frame.bindings:
            return body
        return Let(tuple(frame.bindings), body, _place(node))

    def _let_use(
        self, meaning: _LetName, operands: list[_Element], scope: _Scope, node: _Element
    ) -> Expr:
        place = _place(node)
        if operands or _text(meaning.node, "arity") not in ("", "0"):
            definition = self._let_definition(meaning, scope)
            return self._call(definition, operands, scope, place)
        frame_scope = meaning.frame.scope
        assert frame_scope is not None
        primed = frame_scope.primed or scope.primed
        known = meaning.values.get(primed)
        if known is None:
            known = meaning.values[primed] = self._local(_text(meaning.node, "uniquename"))
            body_node = meaning.node.find("body/*")
            assert body_node is not None
            any_ = self._says_choose_any(_place(meaning.node)) or scope.choose_any
            inner = replace(frame_scope, primed=primed, choose_any=any_)
            meaning.frame.bindings.append((known, self._expr(body_node, inner)))
        return Local(known, place)

    def _let_definition(self, meaning: _LetName, scope: _Scope) -> Definition:
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

    def _substituted(self, node: _Element, scope: _Scope) -> Expr:
        body = node.find("body/*")
        assert body is not None
        return self._expr(body, self._instanced(node, scope))

    def _instanced(self, node: _Element, scope: _Scope) -> _Scope:
        names: dict[str, _Meaning] = {}
        for subst in node.iterfind("substs/Subst"):
            ref = subst.find("OpDeclNodeRef")
            value = subst[-1]
            if ref is None:
                raise self._refusal(node, "a substitution for something that is not declared")
            names[_uid(ref)] = _ByName(value, scope)
        instance = {**(scope.instance or {}), **names}
        return replace(scope, names={**scope.names, **names}, instance=instance)

    # ---- constructs of the language ----

    def _builtin(self, node: _Element, name: str, operands: list[_Element], scope: _Scope) -> Expr:
        place = _place(node)
        if name in ("\\land", "\\lor", "$ConjList", "$DisjList"):
            key = OF_LANGUAGE[name]
            parts = [self._expr(item, scope) for item in self._flat(operands, key)]
            return parts[0] if len(parts) == 1 else Apply(key, tuple(parts), place)
        key_of = OF_LANGUAGE.get(name)
        if key_of in ("TRUE", "FALSE"):
            return Literal(TRUE if key_of == "TRUE" else FALSE, place)
        if key_of is not None:
            return Apply(key_of, tuple([self._operand(item, scope) for item in operands]), place)
        if name in _QUANTIFIERS:
            return self._quantified(node, _QUANTIFIERS[name], operands, scope)
        match name:
            case "$Nop":  # Op!1, a part of a definition
                return self._expr(operands[0], scope)
            case "'":
                return self._expr(operands[0], replace(scope, primed=True))
            case "UNCHANGED":
                return self._unchanged(operands[0], scope, node)
            case "$IfThenElse":
                condition, yes, no = [self._expr(item, scope) for item in operands]
                return If(condition, yes, no, place)
            case "$Case":
                return self._case(operands, scope, place)
            case "$Except":
                return self._except(operands, scope, place)
            case "$RcdSelect":
                record = self._expr(operands[0], scope)
                field_ = Literal(_text(operands[1], "StringValue"), place)
                return Apply("select", (record, field_), place)
            case "$RcdConstructor" | "$SetOfRcds":
                key = "record" if name == "$RcdConstructor" else "records"
                parts_: list[Operand] = []
                for pair in operands:
                    label, value = pair.findall("operands/*")
                    parts_.append(Literal(_text(label, "StringValue"), place))
                    parts_.append(self._expr(value, scope))
                return Apply(key, tuple(parts_), place)
            case "$RecursiveFcnSpec" | "$NonRecursiveFcnSpec":
                return self._recursive_function(node, operands, scope)
            case _:
                raise self._refusal(node, REFUSED.get(name, f"{name} is not evaluated"))

    def _flat(self, operands: Iterable[_Element], key: str) -> list[_Element]:
        """Return the parts of a chain of conjunctions or disjunctions, without recursion."""
        found: list[_Element] = []
        waiting = list(operands)[::-1]
        while waiting:
            node = waiting.pop()
            ref = node.find("operator/BuiltInKindRef") if node.tag == "OpApplNode" else None
            name = _text(self._nodes[_uid(ref)], "uniquename") if ref is not None else ""
            if name in ("\\land", "\\lor", "$ConjList", "$DisjList") and OF_LANGUAGE[name] == key:
                waiting += node.findall("operands/*")[::-1]
            else:
                found.append(node)
        return found

    def _case(self, operands: list[_Element], scope: _Scope, place: Place | None) -> Expr:
        arms: list[tuple[Expr, Expr]] = []
        other: Expr | None = None
        for pair in operands:
            guard, value = pair.findall("operands/*")
            if guard.tag == "StringNode" and guard.find("StringValue") is None:
                other = self._expr(value, scope)  # SANY writes OTHER as a string without a value
            else:
                arms.append((self._expr(guard, scope), self._expr(value, scope)))
        return Case(tuple(arms), other, place)

    def _except(self, operands: list[_Element], scope: _Scope, place: Place | None) -> Expr:
        function = self._expr(operands[0], scope)
        updates: list[Update] = []
        for pair in operands[1:]:
            path_node, value_node = pair.findall("operands/*")
            path = tuple([self._expr(item, scope) for item in path_node.findall("operands/*")])
            old = self._local("at")
            value = self._expr(value_node, replace(scope, at=old))
            updates.append(Update(path, value, old))
        return Except(function, tuple(updates), place)

    def _bounds(
        self, node: _Element, scope: _Scope
    ) -> tuple[tuple[tuple[tuple[str, ...], bool, Expr | None], ...], dict[str, _Meaning]]:
        bounds: list[tuple[tuple[str, ...], bool, Expr | None]] = []
        meanings: dict[str, _Meaning] = {}
        for bound in node.iterfind("boundSymbols/*"):
            uids = [_uid(ref) for ref in bound.iterfind("FormalParamNodeRef")]
            names = [self._local(_text(self._nodes[uid], "uniquename")) for uid in uids]
            meanings.update({uid: _Rigid(name) for uid, name in zip(uids, names, strict=True)})
            pattern = bound.find("tuple") is not None
            among = None if bound.tag == "unbound" else self._expr(bound[-1], scope)
            if pattern:
                bounds.append((tuple(names), True, among))
            else:
                bounds += [((name,), False, among) for name in names]
        return tuple(bounds), meanings

    def _quantified(
        self, node: _Element, what: str, operands: list[_Element], scope: _Scope
    ) -> Expr:
        bounds, meanings = self._bounds(node, scope)
        body = self._expr(operands[0], scope.with_names(meanings))
        return Quantified(what, bounds, body, _place(node), scope.choose_any)

    def _recursive_function(self, node: _Element, operands: list[_Element], scope: _Scope) -> Expr:
        unbound = node.find("boundSymbols/unbound/FormalParamNodeRef")
        bounds, meanings = self._bounds(node, scope)
        name = ""
        if unbound is not None:
            meaning = meanings[_uid(unbound)]
            assert isinstance(meaning, _Rigid)
            name = meaning.local
            bounds = tuple([item for item in bounds if item[2] is not None])
        body = self._expr(operands[0], scope.with_names(meanings))
        if not name:
            return Quantified("function", bounds, body, _place(node), scope.choose_any)
        return Recursive(name, bounds, body, _place(node))

    def _unchanged(self, node: _Element, scope: _Scope, whole: _Element) -> Expr:
        before = self._expr(node, scope)
        after = self._expr(node, replace(scope, primed=True))
        parts = list(_unchanged_parts(before, after, _place(whole)))
        return parts[0] if len(parts) == 1 else Apply("and", tuple(parts), _place(whole))

    # ---- places and sources ----

    def _says_choose_any(self, place: Place | None) -> bool:
        if place is None:
            return False
        lines = self._source(place.module)
        if place.module == "Bags" and lines == [""]:  # the jar's own: it adds up in any order
            return True
        return any(
            _CHOOSE_ANY in line.partition("\\*")[2]
            for line in lines[max(place.line - 2, 0) : place.end_line]
        )

    def _source(self, module: str) -> list[str]:
        if module not in self._sources:
            paths = [folder / f"{module}.tla" for folder in self._folders]
            found = [path for path in paths if path.is_file()]
            text = found[0].read_text("utf-8", errors="replace") if found else ""
            self._sources[module] = text.split("\n")
        return self._sources[module]

    def _refusal(self, node: _Element, reason: str) -> SubsetError:
        place = _place(node)
        if place is None:
            return SubsetError(self.module, reason)
        lines = self._source(place.module)
        excerpt = ""
        if 0 < place.line <= len(lines):
            width = 1
            if place.end_line == place.line:
                width = max(place.end_column - place.column + 1, 1)
            line = lines[place.line - 1]
            excerpt = f"{line}\n{' ' * (place.column - 1)}{'^' * width}"
        return SubsetError(f"{place.module}.tla", reason, place.line, place.column, excerpt)


def free_locals(node: Operand, bound: frozenset[str] = frozenset()) -> set[str]:
    """Return the local names that a tree uses and does not bind."""
    match node:
        case Local():
            return set() if node.name in bound else {node.name}
        case OperatorCall():
            found = set() if node.name in bound else {node.name}
            return found.union(*[free_locals(item, bound) for item in node.arguments])
        case OperatorRef():
            return free_locals(node.body, bound | set(node.parameters))
        case Call():
            found = set(node.definition.free - bound)
            return found.union(*[free_locals(item, bound) for item in node.arguments])
        case Quantified() | Recursive():
            names = {name for part, _, _ in node.bounds for name in part}
            if isinstance(node, Recursive):
                names.add(node.name)
            found = free_locals(node.body, bound | names)
            sets = [among for _, _, among in node.bounds if among is not None]
            return found.union(*[free_locals(among, bound) for among in sets])
        case Let():
            inner = bound | {name for name, _ in node.bindings}
            found = free_locals(node.body, inner)
            return found.union(*[free_locals(value, inner) for _, value in node.bindings])
        case Except():
            found = free_locals(node.function, bound)
            for update in node.updates:
                found |= free_locals(update.value, bound | {update.old})
                found = found.union(*[free_locals(item, bound) for item in update.path])
            return found
        case _:
            return set().union(*[free_locals(item, bound) for item in children(node)])


def _called(operator: OperatorRef, arguments: tuple[Operand, ...], place: Place | None) -> Expr:
    """Apply an operator that is known here: its parameters become names of a LET."""
    bindings: list[tuple[str, Expr]] = []
    for name, argument in zip(operator.parameters, arguments, strict=True):
        if isinstance(argument, OperatorRef):
            raise SubsetError(str(place), "an operator argument of an operator argument")
        bindings.append((name, argument))
    return Let(tuple(bindings), operator.body, place) if bindings else operator.body


def _unchanged_parts(before: Expr, after: Expr, place: Place | None) -> Iterable[Expr]:
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


def _identifier(name: str) -> str:
    """Return a text that is fit for a Python name; it need not be unique."""
    kept = "".join([char if char.isascii() and char.isalnum() else "_" for char in name])
    return f"v_{kept[:40]}"


def _place(node: _Element) -> Place | None:
    location = node.find("location")
    if location is None:
        return None
    return Place(
        module=_text(location, "filename"),
        line=int(_text(location, "line/begin")),
        column=int(_text(location, "column/begin")),
        end_line=int(_text(location, "line/end")),
        end_column=int(_text(location, "column/end")),
    )


def _module_of(node: _Element) -> str:
    """Return where a symbol is from; for the `I!Op` of an INSTANCE that is where Op is."""
    body = node.find("body/*")
    while body is not None and body.tag == "SubstInNode":
        body = body.find("body/*")
    return _text(node if body is None else body, "location/filename")


def _text(node: _Element, path: str) -> str:
    return node.findtext(path, "")


def _uid(ref: _Element) -> str:
    return _text(ref, "UID")
