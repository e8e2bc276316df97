"""The steps from a state as flat Python: next values are assigned from left to right, as TLC does.

The state before is read at `s`; what is assigned stands at `t`, where primed variables are read.
Each step is written out as a label, its arguments and the state after it (see
`runtime.words.steps`). Where something has no sure value, or a next value is read before it is
assigned, there are no sure steps.

Source: as `tlatrace.compiler.emit_python.actions`, which has the same cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tlatrace.compiler.emit_native.environment import Binding, Environment, Later, Operator
from tlatrace.compiler.emit_native.expressions import Expressions
from tlatrace.compiler.emit_native.writer import FlatWriter, Unlowered
from tlatrace.compiler.ir.analysis import free_locals, reads, strict
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Definition,
    Expr,
    If,
    Let,
    Local,
    Operand,
    OperatorCall,
    OperatorRef,
    Quantified,
    Variable,
)

__all__ = ["Label", "Steps"]

Then: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Label:
    """What a step is named after, and how many arguments it has."""

    name: str
    arity: int


@dataclass(frozen=True, slots=True)
class _Named:
    """A label with the texts of its arguments."""

    name: str
    arguments: tuple[str, ...] = ()


class Steps:
    """Writes functions that list steps."""

    def __init__(self, writer: FlatWriter, expressions: Expressions, variables: int) -> None:
        self._w, self._x, self._variables = writer, expressions, variables
        self._assigned: frozenset[int] = frozenset()
        self.labels: list[Label] = []
        """What the numbers of labels mean."""

    def listing(self, name: str, definition: Definition) -> None:
        """Write `def name(s, t, p)`, which answers 1, or 2 where not all steps are sure.

        Raises:
            Unlowered: it cannot be written.
        """
        w, label = self._w, _Named(definition.name)
        self._assigned = frozenset()
        with w.function(name, ("s", "t", "p"), "2"):
            if definition.instanced:
                self._act(definition.expression, {}, lambda: self._found(label))
            else:
                self._walk(definition.expression, {}, label)
            w.emit("return 1")

    def starting(self, name: str, definition: Definition) -> None:
        """Write the same for initial states; the definition is read with a prime."""
        with self._w.function(name, ("s", "t", "p"), "2"):
            self._assigned = frozenset()
            self._act(definition.expression, {}, lambda: self._found(_Named("Init")))
            self._w.emit("return 1")

    # ---- labels ----

    def _walk(self, node: Expr, env: Environment, label: _Named) -> None:
        match node:
            case Apply(operator="or"):
                for item in _expressions(node):
                    with self._branch():
                        self._walk(item, env, label)
            case Quantified(what="exists") if _is_constant(node):
                self._each(node, env, lambda inner: self._walk(node.body, inner, label))
            case Let():
                self._walk(node.body, self._bound(node, env), label)
            case Call() if not node.definition.recursive:
                self._walk_call(node, env)
            case _:
                self._act(node, env, lambda: self._found(label))

    def _walk_call(self, node: Call, env: Environment) -> None:
        definition = node.definition
        inner = self._entered(node, env)
        if all(
            not isinstance(item, OperatorRef) and reads(item).constant for item in node.arguments
        ):
            label = self._label(node, env)
            if not definition.instanced:
                self._walk(definition.expression, inner, label)
                return
        elif all(
            not isinstance(item, OperatorRef)
            and not reads(item).primed
            and strict(definition.expression, parameter)
            for item, parameter in zip(node.arguments, definition.parameters, strict=True)
        ):
            label = self._label(node, env)
        else:
            label = _Named(definition.name)
        self._act(definition.expression, inner, lambda: self._found(label))

    def _label(self, node: Call, env: Environment) -> _Named:
        written = node.arguments[: len(node.arguments) - len(node.definition.primed_positions)]
        texts = [self._w.kept(self._value(item, env)) for item in written]
        return _Named(node.definition.name, tuple(texts))

    def _found(self, named: _Named) -> None:
        w = self._w
        if len(self._assigned) < self._variables:
            raise Unlowered(f"{named.name} does not say what all variables will be", None)
        label = Label(named.name, len(named.arguments))
        if label not in self.labels:
            self.labels.append(label)
        w.emit(f"list_word({self.labels.index(label)})")
        for text in named.arguments:
            w.emit(f"list_word({text})")
        w.emit(f"list_state(t, {self._variables})")

    # ---- blocks ----

    @contextmanager
    def _branch(self) -> Iterator[None]:
        """Write something that may be left early; what it assigns is not assigned after it."""
        kept, once = self._assigned, self._w.fresh("once")
        self._w.emit(f"{once} = 0")
        with self._w.block(f"while {once} == 0:"):
            self._w.emit(f"{once} = 1")
            yield
        self._assigned = kept

    def _each(
        self, node: Quantified, env: Environment, body: Callable[[Environment], None]
    ) -> None:
        kept = self._assigned
        sets = [among for _, _, among in node.bounds if among is not None]
        self._require_settled(sets, env)
        with self._x.elements.choices(node, env) as (inner, _):
            body(inner)
        self._assigned = kept

    # ---- values ----

    def _is_unsettled(self, node: Operand, env: Environment) -> bool:
        """Tell whether a value depends on what is still to be assigned."""
        if reads(node).primed - self._assigned:
            return True
        for name in free_locals(node):
            match env.get(name):
                case Later(expr, environment) if self._is_unsettled(expr, environment):
                    return True
                case Operator(reference, environment) if self._is_unsettled(reference, environment):
                    return True
                case _:
                    pass
        return False

    def _require_settled(self, nodes: list[Expr], env: Environment) -> None:
        for node in nodes:
            if self._is_unsettled(node, env):
                raise Unlowered("a next value that is read before it is known", node.place)

    def _opened(self, node: Operand, env: Environment) -> tuple[Operand, Environment]:
        """Return what a name stands for that was passed as it is."""
        while isinstance(node, Local) and isinstance(later := env.get(node.name), Later):
            node, env = later.expr, later.environment
        return node, env

    def _value(self, node: Operand, env: Environment) -> str:
        assert not isinstance(node, OperatorRef)
        self._require_settled([node], env)
        return self._x.value(node, env)

    def _bound(self, node: Let, env: Environment) -> Environment:
        """Bind names of values; one that is not known yet may be what is to be assigned."""
        inner = dict(env)
        for name, value in node.bindings:
            inner |= self._arguments(node.body, [name], [value], dict(inner))
        return inner

    def _entered(self, node: Call, env: Environment) -> Environment:
        """Bind the parameters of a definition, whose body becomes a part of the action.

        An argument may be an action, or speak of next values that are not known yet.
        """
        definition = node.definition
        outer = {name: env[name] for name in sorted(definition.free) if name in env}
        body = definition.expression
        return {
            **outer,
            **self._arguments(body, definition.parameters, node.arguments, env),
        }

    def _arguments(
        self, body: Expr, names: Sequence[str], arguments: Sequence[Operand], env: Environment
    ) -> dict[str, Binding]:
        inner: dict[str, Binding] = {}
        for name, argument in zip(names, arguments, strict=True):
            if isinstance(argument, OperatorRef) or not self._is_unsettled(argument, env):
                needed = strict(body, name)
                inner[name] = self._x.argument(argument, env, is_needed=needed)
            else:
                inner[name] = Later(argument, env)
        return inner

    # ---- actions ----

    def _act(self, node: Expr, env: Environment, then: Then) -> None:
        """Write the ways in which an action can be taken, and `then` after each."""
        w = self._w
        match node:
            case Apply(operator="and"):
                self._act_all(list(_expressions(node)), env, then)
            case Apply(operator="or") if self._is_unsettled(node, env):
                for item in _expressions(node):
                    with self._branch():
                        self._act(item, env, then)
            case Apply(operator="=" | "unchanged") if self._target(node, env) is not None:
                at = self._target(node, env)
                text = self._value(node.operands[1], env)
                w.emit(f"mem[t + {at}] = {text}")
                kept = self._assigned
                self._assigned = kept | {at or 0}
                then()
                self._assigned = kept
            case Apply(operator="in") if self._target(node, env) is not None:
                self._act_member(node, env, then)
            case If() if node.taken is not None:
                self._act(node.taken, env, then)
            case If() | Case() if self._is_unsettled(node, env):
                self._act_choice(node, env, then)
            case Let() if self._is_unsettled(node, env):
                self._act(node.body, self._bound(node, env), then)
            case Quantified(what="exists") if self._is_unsettled(node, env):
                self._each(node, env, lambda inner: self._act(node.body, inner, then))
            case Call() if not node.definition.recursive and self._is_unsettled(node, env):
                self._act(node.definition.expression, self._entered(node, env), then)
            case Local() if isinstance(env.get(node.name), Later):
                opened, inner = self._opened(node, env)
                assert not isinstance(opened, OperatorRef)
                self._act(opened, inner, then)
            case OperatorCall() if self._is_unsettled(node, env):
                operator = env.get(node.name)
                if not isinstance(operator, Operator):
                    raise Unlowered(f"the operator {node.name}", node.place)
                body, names = operator.reference.body, operator.reference.parameters
                inner = self._arguments(body, names, node.arguments, env)
                self._act(body, {**operator.environment, **inner}, then)
            case _:
                self._require_settled([node], env)
                asked = self._x.condition(node, env)
                with w.block(f"if not {asked}:"):
                    w.emit("continue" if w.in_loop else "return 1")
                then()

    def _act_all(self, items: list[Expr], env: Environment, then: Then) -> None:
        if not items:
            then()
            return
        self._act(items[0], env, lambda: self._act_all(items[1:], env, then))

    def _act_member(self, node: Apply, env: Environment, then: Then) -> None:
        at, kept = self._target(node, env), self._assigned
        among = node.operands[1]
        assert not isinstance(among, OperatorRef)
        self._require_settled([among], env)
        with self._x.elements.each(among, env) as element:
            self._w.emit(f"mem[t + {at}] = {element}")
            self._assigned = kept | {at or 0}
            then()
        self._assigned = kept

    def _act_choice(self, node: If | Case, env: Environment, then: Then) -> None:
        """Write each branch where its guard is TRUE, and those before it are FALSE."""
        w = self._w
        arms = [(node.condition, node.yes)] if isinstance(node, If) else list(node.arms)
        other = node.no if isinstance(node, If) else node.other
        with self._branch():
            for guard, value in arms:
                self._require_settled([guard], env)
                asked = w.kept(self._x.condition(guard, env))
                with self._branch():
                    with w.block(f"if not {asked}:"):
                        w.emit("continue")
                    self._act(value, env, then)
                with w.block(f"if {asked}:"):
                    w.emit("continue")
            if other is None:
                w.fail()
            else:
                self._act(other, env, then)

    # ---- what a node does ----

    def _target(self, node: Apply, env: Environment) -> int | None:
        """Return the variable that an equation or a membership assigns, if it does."""
        target, _ = self._opened(node.operands[0], env)
        if isinstance(target, Variable) and target.primed and target.index not in self._assigned:
            return target.index
        return None


def _expressions(node: Apply) -> list[Expr]:
    return [item for item in node.operands if not isinstance(item, OperatorRef)]


def _is_constant(node: Quantified) -> bool:
    return all(among is not None and reads(among).constant for _, _, among in node.bounds)
