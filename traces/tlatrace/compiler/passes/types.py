r"""What may stand where in the states of a specification: inferred from its text.

Whoever reads a trace has to know whether `"b1"` is a string or the model value b1 there. What is
assigned, compared or a member is of the kind of its other side: `s' = "idle"` says that the
variable s may be the string "idle", `v = [n \in Node |-> 0]` that v is a function over the model
values in Node. Strings and model values stand in the text and in the configuration only, so nothing
else can come to a place. An operator is walked through anew for each call, and once for all calls
if it is recursive, an action, or if there are too many.

What an invariant such as `TypeOK == s \in {"idle", "busy"}` declares is kept apart, and comes
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Composed,
    Definition,
    Enabled,
    Except,
    Expr,
    If,
    Let,
    Literal,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Quantified,
    Recursive,
    Variable,
)
from tlatrace.compiler.passes.kinds import Kind, as_types, joined, kind_of_value
from tlatrace.compiler.passes.mentions import Strings
from tlatrace.readings import Types

__all__ = ["infer", "unknown_types"]

_CLONED: Final = 200_000
"""Nodes that are walked through for calls of their own; then all calls share one walk."""
_DEEP: Final = 60
"""Calls of one recursive operator within each other, each with operators of its own."""

_JOINED: Final = frozenset(["=", "#", "unchanged", "subseteq"])
_SAME: Final = frozenset(["cap", "cup", "setminus", "concat", "@@"])
"""The result is of the kind of the operands."""
_FIRST: Final = frozenset(["Tail", "SubSeq", "TLCEval", "SelectSeq", "SortSeq"])
"""The result is of the kind of the first operand."""
_PLAIN: Final = frozenset(
    """TRUE FALSE BOOLEAN Nat Int not and or => <=> < > <= >= + - * ^ % div negate ..
    Len Cardinality IsFiniteSet PrintT Assert""".split()  # noqa: SIM905  # one a word
)
"""The result has neither strings nor model values."""


def unknown_types(
    names: frozenset[str], strings: Strings, variables: Iterable[str], actions: Mapping[str, int]
) -> Types:
    """Return what is known of a specification that is not read: only which strings there are."""
    unknown = Kind(unknown=True)
    return as_types(
        names,
        strings.among(names),
        {name: [unknown] for name in variables},
        {name: [[unknown]] * arity for name, arity in actions.items()},
    )


def infer(
    names: frozenset[str],
    strings: Strings,
    variables: Sequence[str],
    states: Sequence[Definition],
    actions: Mapping[str, tuple[Definition | None, int]],
    invariants: Sequence[Definition],
    expressions: Mapping[str, Definition],
) -> Types:
    """Infer what may stand where.

    `states` are Init and Next; `actions` what a trace may name, None where it cannot be read, with
    the number of parameters; `expressions` what is evaluated in states, beside the variables.
    """
    walk = _Walk(len(variables))
    walk.share([definition for definition, _ in actions.values() if definition is not None])
    for definition in states:
        walk.value(definition.expression, {})
    shown = {name: [walk.value(one.expression, {})] for name, one in expressions.items()}
    declared = _Walk(len(variables))
    for definition in invariants:
        declared.declare(definition.expression, {})
    declared.spread()
    walk.spread()
    found = [[declared.variables[at], walk.variables[at]] for at in range(len(variables))]
    return as_types(
        names,
        strings.among(names),
        dict(zip(variables, found, strict=True)) | shown,
        {
            name: [[kind] for kind in walk.parameters(definition, arity)]
            for name, (definition, arity) in actions.items()
        },
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Operator:
    """An operator that is an argument, and what its names are."""

    reference: OperatorRef
    env: _Env


_Bound: TypeAlias = "Kind | _Operator"
_Env: TypeAlias = "Mapping[str, _Bound]"


class _Walk:
    """One walk through a tree, which joins the kinds of what is assigned, compared or a member."""

    def __init__(self, variables: int) -> None:
        self.variables = [Kind() for _ in range(variables)]
        self._unknown: list[Kind] = []
        self._left = _CLONED
        self._shared: dict[tuple[int, ...], tuple[list[_Bound], _Env, Kind]] = {}
        self._kept: list[object] = []  # so that the ids in `_shared` stay theirs
        self._inside: dict[int, int] = {}

    def share(self, definitions: Iterable[Definition]) -> None:
        """Walk through definitions, each of which all its calls are to share."""
        known = [definition for definition in definitions if not definition.operator_parameters]
        for definition in known:
            formals: list[_Bound] = [Kind() for _ in definition.parameters]
            self._shared[id(definition),] = (formals, {}, Kind())
            self._kept.append(definition)
        for definition in known:
            formals, _, result = self._shared[id(definition),]
            env = dict(zip(definition.parameters, formals, strict=True))
            result.join(self.value(definition.expression, env))

    def parameters(self, definition: Definition | None, arity: int) -> list[Kind]:
        """Return the kinds of the first parameters of a definition that its calls share."""
        formals, _, _ = self._shared.get((id(definition),), ([], {}, None))
        found = [kind for kind in formals if isinstance(kind, Kind)]
        return found[:arity] if len(found) >= arity else [self._any() for _ in range(arity)]

    def spread(self) -> None:
        """Make the parts of what is unknown unknown, too."""
        waiting = [kind.whole for kind in self._unknown]
        seen: set[Kind] = set()
        while waiting:
            kind = waiting.pop()
            if kind not in seen:
                seen.add(kind)
                kind.unknown = True
                waiting += kind.parts().values()

    def _any(self) -> Kind:
        kind = Kind(unknown=True)
        self._unknown.append(kind)
        return kind

    # ---- what invariants declare ----

    def declare(self, node: Operand, env: _Env) -> None:
        r"""Note the kinds of variables of which an invariant says `v \in S` or `v \subseteq S`."""
        match node:
            case Apply(operator="and"):
                for part in node.operands:
                    self.declare(part, env)
            case Call() if not node.definition.recursive:
                self.declare(node.definition.expression, self._inner(node, env))
            case Quantified(what="forall"):
                self.declare(node.body, self._within(node.bounds, env)[0])
            case Let():
                self.declare(node.body, self._let(node, env))
            case Apply(operator="in" | "subseteq"):
                place = self._place(node.operands[0])
                if place is not None:
                    among = self.value(node.operands[1], env)
                    place.join(among.element if node.operator == "in" else among)
            case _:
                pass

    def _place(self, node: Operand) -> Kind | None:
        """Return the kind of a part of a variable: `v`, `v[n]`, `v.f`."""
        match node:
            case Variable(primed=False):
                return self.variables[node.index]
            case Apply(operator="apply" | "select"):
                function = self._place(node.operands[0])
                return None if function is None else _part(function, node.operands[1])
            case _:
                return None

    # ---- values ----

    def value(self, node: Operand, env: _Env) -> Kind:
        """Walk through an expression; return the kind of its value."""
        self._left -= 1
        match node:
            case Literal():
                return kind_of_value(node.value)
            case Variable():
                return self.variables[node.index]
            case Local():
                kind = env.get(node.name)
                return kind if isinstance(kind, Kind) else self._any()
            case Apply():
                return self._apply(node, env)
            case Call():
                return self._call(node, env)
            case OperatorCall():
                return self._operator_call(node, env)
            case If():
                self.value(node.condition, env)
                return joined([self.value(node.yes, env), self.value(node.no, env)])
            case Case():
                for guard, _ in node.arms:
                    self.value(guard, env)
                other = [] if node.other is None else [node.other]
                arms = [value for _, value in node.arms]
                return joined([self.value(value, env) for value in [*arms, *other]])
            case Quantified():
                return self._quantified(node, env)
            case Recursive():
                function = Kind()
                inner, keys = self._within(node.bounds, env)
                function.key.join(keys)
                function.image.join(self.value(node.body, {**inner, node.name: function}))
                return function
            case Let():
                return self.value(node.body, self._let(node, env))
            case Except():
                return self._except(node, env)
            case Enabled():
                self.value(node.action, env)
                return Kind()
            case Composed():
                self.value(node.first, env)
                self.value(node.second, env)
                return Kind()
            case OperatorRef():
                unknown = {name: self._any() for name in node.parameters}
                self.value(node.body, {**env, **unknown})
                return self._any()

    def _let(self, node: Let, env: _Env) -> _Env:
        inner = dict(env)
        for name, value in node.bindings:
            inner[name] = self.value(value, inner)
        return inner

    def _within(
        self, bounds: tuple[tuple[tuple[str, ...], bool, Expr | None], ...], env: _Env
    ) -> tuple[_Env, Kind]:
        """Bind names in sets; return the kind of what a function of them takes, too."""
        inner = dict(env)
        arguments: list[Kind] = []
        for names, is_pattern, among in bounds:
            element = Kind() if among is None else self.value(among, inner).element
            if is_pattern:
                arguments.append(element)
                inner.update({n: element.field(str(at)) for at, n in enumerate(names, start=1)})
            else:
                arguments += [element] * len(names)
                inner.update(dict.fromkeys(names, element))
        return inner, arguments[0] if len(arguments) == 1 else _tuple_of(arguments)

    def _quantified(self, node: Quantified, env: _Env) -> Kind:
        inner, keys = self._within(node.bounds, env)
        body = self.value(node.body, inner)
        kind = Kind()
        match node.what:
            case "map":
                kind.element.join(body)
            case "filter":
                kind.element.join(keys)
            case "choose":
                return keys
            case "function":
                kind.key.join(keys)
                kind.image.join(body)
            case _:
                pass
        return kind

    def _except(self, node: Except, env: _Env) -> Kind:
        function = self.value(node.function, env)
        for update in node.updates:
            target = function
            for step in update.path:
                _note_key(target, step, self.value(step, env))
                target = _part(target, step)
            target.join(self.value(update.value, {**env, update.old: target}))
        return function

    # ---- operators of the specification ----

    def _call(self, node: Call, env: _Env) -> Kind:
        definition = node.definition
        inner = self._inner(node, env)
        key = (id(definition),)
        if definition.recursive or self._left < 0 or key in self._shared:
            operators = [value for value in inner.values() if isinstance(value, _Operator)]
            return self._shared_call(definition, inner, (*key, *map(id, operators)))
        return self.value(definition.expression, inner)

    def _inner(self, node: Call, env: _Env) -> _Env:
        """Return what the names in the body of a definition are for a call."""
        definition = node.definition
        inner = {name: env[name] for name in sorted(definition.free) if name in env}
        for name, argument in zip(definition.parameters, node.arguments, strict=True):
            inner[name] = self._argument(argument, env)
        return inner

    def _argument(self, node: Operand, env: _Env) -> _Bound:
        if not isinstance(node, OperatorRef):
            return self.value(node, env)
        if isinstance(node.body, OperatorCall):  # an operator that is passed on as it is
            passed = env.get(node.body.name)
            names = [item.name for item in node.body.arguments if isinstance(item, Local)]
            if isinstance(passed, _Operator) and tuple(names) == node.parameters:
                return passed
        return _Operator(node, env)

    def _shared_call(self, definition: Definition, env: _Env, key: tuple[int, ...]) -> Kind:
        known = self._shared.get(key)
        if known is None:
            result = Kind()
            inside = self._inside.get(id(definition), 0)
            if inside > _DEEP:
                return self._any()
            self._shared[key] = ([], env, result)
            self._kept += [definition, env]
            self._inside[id(definition)] = inside + 1
            result.join(self.value(definition.expression, env))
            self._inside[id(definition)] = inside
            return result
        formals, names, result = known
        actuals = [env[name] for name in definition.parameters]
        pairs = [*zip(formals, actuals, strict=False)]
        pairs += [(names[name], value) for name, value in env.items() if name in names]
        for formal, actual in pairs:
            if isinstance(formal, Kind) and isinstance(actual, Kind):
                formal.join(actual)
        return result

    def _operator_call(self, node: OperatorCall, env: _Env) -> Kind:
        operator = env.get(node.name)
        arguments = [self._argument(argument, env) for argument in node.arguments]
        if not isinstance(operator, _Operator):
            return self._any()
        names = zip(operator.reference.parameters, arguments, strict=True)
        return self.value(operator.reference.body, {**operator.env, **dict(names)})

    # ---- operators of the language ----

    def _apply(self, node: Apply, env: _Env) -> Kind:
        operator = node.operator
        if operator in ("SelectSeq", "SortSeq"):
            return self._by_test(node, env)
        values = [self.value(operand, env) for operand in node.operands]
        if operator in _PLAIN:
            return Kind()
        if operator in _JOINED:
            joined(values)
            return Kind()
        if operator in _SAME:
            result = joined(values)
            result.whole.joins |= operator == "concat"
            return result
        if operator in _FIRST:
            return values[0]
        kind = Kind()
        match operator:
            case "in" | "notin":
                values[1].element.join(values[0])
            case "set":
                kind.element.join(joined(values))
            case "SUBSET":
                kind.element.join(values[0])
            case "UNION":
                return values[0].element
            case "DOMAIN":
                kind.element.join(values[0].key)
            case "images":
                kind.element.join(values[0].image)
            case "functions":
                kind.element.key.join(values[0].element)
                kind.element.image.join(values[1].element)
            case "product":
                kind.element.join(_tuple_of([value.element for value in values]))
            case "tuple":
                return _tuple_of(values)
            case "record":
                _fields(kind, node.operands[0::2], values[1::2])
            case "records":
                fields = [value.element for value in values[1::2]]
                _fields(kind.element, node.operands[0::2], fields)
            case "apply" | "select":
                _note_key(values[0], node.operands[1], values[1])
                return _part(values[0], node.operands[1])
            case "Head":
                return values[0].image
            case "Append":
                values[0].image.join(values[1])
                return values[0]
            case "Seq":
                kind.element.image.join(values[0].element)
            case ":>":
                kind.key.join(values[0])
                kind.image.join(values[1])
            case "Permutations":
                kind.element.key.join(values[0].element)
                kind.element.image.join(values[0].element)
            case "Print":
                return values[1]
            case "STRING":
                kind.element.any_string = True
            case "ToString":
                kind.any_string = True
            case _:
                return self._any()
        return kind

    def _by_test(self, node: Apply, env: _Env) -> Kind:
        sequence, test = self.value(node.operands[0], env), node.operands[1]
        if isinstance(test, OperatorRef):
            names = dict.fromkeys(test.parameters, sequence.image)
            self.value(test.body, {**env, **names})
        return sequence


def _tuple_of(kinds: Sequence[Kind]) -> Kind:
    kind = Kind()
    for at, part in enumerate(kinds, start=1):
        kind.field(str(at)).join(part)
    return kind


def _fields(kind: Kind, names: Sequence[Operand], values: Sequence[Kind]) -> None:
    for name, value in zip(names, values, strict=True):
        assert isinstance(name, Literal), "a field has a name"
        kind.key.strings.add(str(name.value))
        kind.field(str(name.value)).join(value)


def _part(function: Kind, key: Operand) -> Kind:
    """Return the kind of `function[key]`."""
    if isinstance(key, Literal) and isinstance(key.value, int | str):
        return function.field(str(key.value))
    return function.image


def _note_key(function: Kind, key: Operand, kind: Kind) -> None:
    if not (isinstance(key, Literal) and isinstance(key.value, int)):
        function.key.join(kind)
