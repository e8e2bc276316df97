r"""Write the enumeration of successors: primed variables get their values from left to right.

`x' = e` assigns if x' has no value yet and compares if it has; `x' \in S` tries each element; a
disjunction tries each side; everything else is a guard. Where TLC labels a step, this does: the
label is the innermost operator that is reached from Next through disjunctions, quantifiers over
constant sets, and calls with constant arguments, but not into the module of an INSTANCE.

Source: Specifying Systems, section 14.2.6; `getActions` and `getNextStates` of tlc2.tool.Tool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tlatrace.compiler.emit_python.expressions import Environment, Expressions, Parameters, ready
from tlatrace.compiler.emit_python.expressions.quantifiers import known_order
from tlatrace.compiler.emit_python.writer import Function, Writer
from tlatrace.compiler.ir.analysis import kind_of, reads, strict
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Composed,
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
    children,
    unsupported,
)
from tlatrace.compiler.passes.paths import Path

__all__ = ["Enumerations"]

Continue = Callable[[], None]


@dataclass(slots=True)
class _Label:
    """The operator that a step is named after, and the texts of its arguments."""

    name: str
    arguments: list[str] = field(default_factory=list)


class Enumerations:
    """Writes functions that append (label, arguments, state after) of each step to a list."""

    def __init__(
        self, writer: Writer, expressions: Expressions, variables: tuple[str, ...]
    ) -> None:
        self._w = writer
        self._x = expressions
        self._variables = variables
        self._left = "return"
        self._towards: Call | None = None
        """The call that a path leads to, while that is written."""
        self._taken = _Label("")
        """What the steps of a path are named after."""
        self._found_one = ""
        """Inside ENABLED: the Python name that tells whether a state has been found."""
        self._asks_all = False
        """Whether this stands in a loop over a set in whose order TLC's answer may depend."""
        expressions.enabled = self.enabled
        expressions.composed = self.composed

    # ---- functions ----

    def initial(self, definition: Definition) -> str:
        """Write the enumeration of initial states; the definition is read with a prime."""
        return self._write(definition, lambda: self._leaf(definition.expression, "Init"))

    def steps(self, definition: Definition) -> str:
        """Write the enumeration of all steps, labelled as TLC labels them."""
        body = definition.expression
        label = _Label(definition.name)
        if definition.instanced:
            return self._write(definition, lambda: self._act(body, {}, lambda: self._found(label)))
        return self._write(definition, lambda: self._walk(body, {}, label))

    def steps_of(self, definition: Definition, paths: Sequence[Path]) -> str:
        """Write the enumeration of the steps along paths to an action, with its arguments."""

        def body() -> None:
            for path in paths:
                self._branch(partial(self._along, path))

        return self._write(definition, body)

    def _along(self, path: Path) -> None:
        """Write the steps along a path; they are named after its call, where that is reached."""
        leaf = replace(path.call)
        self._towards = leaf
        tree = path.build(leaf, {})
        self._act(tree, {}, lambda: self._found(self._taken))
        self._towards = None

    def bound_steps(self, definition: Definition, parameters: Parameters, formula: Expr) -> str:
        """Write `def f(s, out, p)`: the steps that make `formula` TRUE, its parameters being p."""
        name = self._w.fresh(f"bound_{definition.key}")
        return self._enumerate(name, definition.name, formula, parameters)

    def _enumerate(self, name: str, label: str, formula: Expr, parameters: Parameters) -> str:
        """Write `def name(s, out, p)`: the steps that make a formula TRUE."""
        w, left, kept = self._w, self._left, (self._found_one, self._asks_all)
        function = Function(assigned={})
        with w.begin(function):
            self._left, self._found_one, self._asks_all = "return", "", False
            pythons = [w.fresh("p") for _ in parameters]
            if pythons:
                w.emit(f"({', '.join(pythons)},) = p")
            named = _Label(label, pythons)
            self._act(formula, ready(parameters, pythons), lambda: self._found(named))
        self._left, (self._found_one, self._asks_all) = left, kept
        w.finish(f"def {name}(s, out, p):", function)
        return name

    def enabled(self, action: Expr, parameters: Parameters) -> str:
        """Write `def f(s, p)`: is there a state after s for which the action is TRUE?

        The first one is enough, and it need not say what every variable will be.
        """
        w = self._w
        name, left = w.fresh("enabled"), self._left
        function = Function(assigned={})
        with w.begin(function):
            self._left = "return False"
            pythons = [w.fresh("p") for _ in parameters]
            if pythons:
                w.emit(f"({', '.join(pythons)},) = p")
            kept = self._found_one, self._asks_all
            self._found_one, self._asks_all = w.fresh("found"), False
            w.emit(f"{self._found_one} = False")
            self._act(action, ready(parameters, pythons), self._enough)
            w.emit("return False")
            self._found_one, self._asks_all = kept
        self._left = left
        w.finish(f"def {name}(s, p):", function)
        return name

    def composed(self, node: Composed, parameters: Parameters) -> str:
        """Write `def f(s, p)`: the states after a step of the first and one of the second."""
        w = self._w
        first, second = [
            self._enumerate(w.fresh(stem), stem, item, parameters)
            for stem, item in (("first", node.first), ("second", node.second))
        ]
        name, function = w.fresh("composed"), Function()
        with w.begin(function):
            w.emit("between, found = [], []")
            w.emit(f"{first}(s, between, p)")
            w.emit("for _, _, u in dict.fromkeys(between):")
            w.enter()
            w.emit(f"{second}(u, found, p)")
            w.leave()
            w.emit("return tuple(dict.fromkeys([step[2] for step in found]))")
        w.finish(f"def {name}(s, p):", function)
        return name

    def _enough(self) -> None:
        """Write that there is such a state; other elements of a set may have no value."""
        self._w.emit(f"{self._found_one} = True" if self._asks_all else "return True")

    def _write(self, definition: Definition, body: Continue) -> str:
        w = self._w
        name = w.fresh(f"steps_{definition.key}")
        function = Function(assigned={})
        with w.begin(function):
            self._left = "return"
            body()
        w.finish(f"def {name}(s, out):", function)
        return name

    # ---- labels ----

    def _walk(self, node: Expr, env: Environment, label: _Label) -> None:
        match node:
            case Apply() if node.operator == "or":
                for item in _expressions(node):
                    self._branch(partial(self._walk, item, env, label))
            case Quantified() if node.what == "exists" and _is_constant(node):
                self._exists(node, env, lambda inner: self._walk(node.body, inner, label))
            case Let():
                inner = self._x.names.bind(node, env)
                self._walk(node.body, inner, label)
            case Call() if not node.definition.recursive:
                self._walk_call(node, env)
            case _:
                self._act(node, env, lambda: self._found(label))

    def _walk_call(self, node: Call, env: Environment) -> None:
        definition = node.definition
        inner = self._x.calls.bind_arguments(node, env)
        if any(
            isinstance(item, OperatorRef) or not reads(item).constant for item in node.arguments
        ):
            # TLC gives the step this name and looks no further
            surely = all(
                not isinstance(item, OperatorRef)
                and not reads(item).primed
                and strict(definition.expression, parameter)
                for item, parameter in zip(node.arguments, definition.parameters, strict=True)
            )

            def found() -> None:
                self._found(self._label(node, env) if surely else _Label(definition.name))

            self._act(definition.expression, inner, found)
            return
        label = self._label(node, env)
        if definition.instanced:
            self._act(definition.expression, inner, lambda: self._found(label))
        else:
            self._walk(definition.expression, inner, label)

    def _label(self, node: Call, env: Environment) -> _Label:
        texts = []
        for item in node.arguments[: len(node.arguments) - len(node.definition.primed_positions)]:
            assert not isinstance(item, OperatorRef)
            texts.append(self._w.atom(self._x.values.value(item, env), "p"))
        return _Label(node.definition.name, texts)

    def _leaf(self, node: Expr, name: str) -> None:
        self._act(node, {}, lambda: self._found(_Label(name)))

    def _found(self, label: _Label) -> None:
        w = self._w
        assigned = w.function.assigned
        assert assigned is not None
        missing = [name for at, name in enumerate(self._variables) if at not in assigned]
        if missing:
            reason = f"{label.name} does not say what {', '.join(missing)} will be"
            w.emit(f"stop({reason!r})")
            return
        state = ", ".join([assigned[at] for at in range(len(self._variables))])
        comma = "," if len(self._variables) == 1 else ""
        arguments = "".join([f"{text}, " for text in label.arguments])
        w.emit(f"out.append(({label.name!r}, ({arguments}), ({state}{comma})))")

    # ---- blocks ----

    def _branch(self, body: Continue) -> None:
        """Write something that may be left early; what it assigns is not assigned after it."""
        w = self._w
        function = w.function
        assert function.assigned is not None
        kept, left = dict(function.assigned), self._left
        w.emit("for _ in ONCE:")
        with w.block():
            self._left = "continue"
            body()
        function.assigned = kept
        self._left = left

    def _loop(self, head: str, body: Continue, among: Expr | None) -> None:
        """Write a loop over a set; inside ENABLED it is left early in TLC's order only."""
        w = self._w
        if self._found_one and not self._asks_all and not known_order(among):
            self._asks_all = True
            self._loop(head, body, among)
            self._asks_all = False
            w.emit(f"if {self._found_one}: return True")
            return
        function = w.function
        assert function.assigned is not None
        kept, left = dict(function.assigned), self._left
        w.emit(head)
        with w.block():
            self._left = "continue"
            body()
        function.assigned = kept
        self._left = left

    def _exists(
        self, node: Quantified, env: Environment, body: Callable[[Environment], None]
    ) -> None:
        heads, inner = self._x.quantifiers.loops(node, env)
        if len(heads) > 1:
            heads = [(target, self._w.atom(among, "set")) for target, among in heads]

        def nest(position: int) -> None:
            if position == len(heads):
                body(inner)
            else:
                target, among = heads[position]
                bound = node.bounds[position][2]
                self._loop(f"for {target} in {among}:", lambda: nest(position + 1), bound)

        nest(0)

    # ---- actions ----

    def _act(self, node: Expr, env: Environment, then: Continue) -> None:
        """Write the ways in which an action can be taken, and `then` after each."""
        w = self._w
        assigned = w.function.assigned
        assert assigned is not None
        match node:
            case Apply() if node.operator == "and":
                self._act_all(list(node.operands), env, then)
            case Apply() if node.operator == "or" and self._assigns(node, env):
                for item in _expressions(node):
                    self._branch(partial(self._act, item, env, then))
            case Apply() if (
                node.operator in ("=", "unchanged") and (at := self._target(node, env)) is not None
            ):
                value = node.operands[1]
                assert not isinstance(value, OperatorRef)
                text = self._x.values.value(value, env)
                if kind_of(value) not in ("int", "string", "bool"):
                    text = f"whole({text})"
                name = w.fresh(f"n{at}")
                w.emit(f"{name} = {text}")
                kept = dict(assigned)
                assigned[at] = name
                then()
                w.function.assigned = kept
            case Apply() if node.operator == "in" and (at := self._target(node, env)) is not None:
                among = node.operands[1]
                assert not isinstance(among, OperatorRef)
                name = w.fresh(f"n{at}")

                def assign() -> None:
                    assert w.function.assigned is not None
                    w.function.assigned[at] = name
                    then()

                text = self._x.quantifiers.iterable(among, env)
                self._loop(f"for {name} in {text}:", assign, among)
            case Composed() if self._assigns(node, env):
                self._act_composed(node, env, then)
            case If() if node.taken is not None:
                self._act(node.taken, env, then)
            case If() if self._assigns(node, env):
                self._act_if(node, env, then)
            case Case() if self._assigns(node, env):
                self._act_case(node, env, then)
            case Let() if self._assigns(node, env):
                self._act(node.body, self._x.names.bind(node, env), then)
            case Quantified() if node.what == "exists" and self._assigns(node, env):
                self._exists(node, env, lambda inner: self._act(node.body, inner, then))
            case Call() if node is self._towards:
                self._taken = self._label(node, env)
                inner = self._x.calls.bind_arguments(node, env)
                self._act(node.definition.expression, inner, then)
            case Call() if not node.definition.recursive and self._assigns(node, env):
                inner = self._x.calls.bind_arguments(node, env)
                self._act(node.definition.expression, inner, then)
            case Local() | OperatorCall() if self._assigns(node, env):
                opened, inner = self._x.names.opened(node, env)
                if opened is node:
                    raise unsupported(node.place, "an action where a value is needed")
                self._act(opened, inner, then)
            case _:
                self._x.conditions.require(node, env, self._left)
                then()

    def _act_all(self, items: list[Operand], env: Environment, then: Continue) -> None:
        if not items:
            then()
            return
        first, rest = items[0], items[1:]
        assert not isinstance(first, OperatorRef)
        self._act(first, env, lambda: self._act_all(rest, env, then))

    def _act_composed(self, node: Composed, env: Environment, then: Continue) -> None:
        w = self._w
        after = w.fresh("after")

        def assign() -> None:
            assigned = w.function.assigned
            assert assigned is not None
            for at in range(len(self._variables)):
                if at in assigned:
                    w.emit(f"if {assigned[at]} != {after}[{at}]: continue")
                else:
                    assigned[at] = w.fresh(f"n{at}")
                    w.emit(f"{assigned[at]} = {after}[{at}]")
            then()

        self._loop(f"for {after} in {self._x.calls.composed(node, env)}:", assign, None)

    def _act_if(self, node: If, env: Environment, then: Continue) -> None:
        w = self._w
        test = w.atom(self._x.conditions.condition(node.condition, env), "if")
        yes, no = node.yes, node.no

        def one(unless: str, taken: Expr) -> None:
            w.emit(f"if {unless}: continue")
            self._act(taken, env, then)

        self._branch(lambda: one(f"not {test}", yes))
        self._branch(lambda: one(test, no))

    def _act_case(self, node: Case, env: Environment, then: Continue) -> None:
        w = self._w
        taken = w.fresh("taken")
        w.emit(f"{taken} = False")
        for guard, value in node.arms:

            def arm(guard: Expr = guard, value: Expr = value) -> None:
                w.emit(f"if {taken}: continue")
                self._x.conditions.require(guard, env, "continue")
                w.emit(f"{taken} = True")
                self._act(value, env, then)

            self._branch(arm)
        other = node.other

        def last() -> None:
            w.emit(f"if {taken}: continue")
            if other is None:
                w.emit(f"stop({f'no arm of CASE holds ({node.place})'!r})")
            else:
                self._act(other, env, then)

        self._branch(last)

    def _target(self, node: Apply, env: Environment) -> int | None:
        """Return the index of the variable that `x' = e` gives its value, None if it compares."""
        left = node.operands[0]
        assigned = self._w.function.assigned
        assert assigned is not None
        assert not isinstance(left, OperatorRef)
        left, _ = self._x.names.opened(left, env)
        if isinstance(left, Variable) and left.primed and left.index not in assigned:
            return left.index
        return None

    def _assigns(self, node: Operand, env: Environment) -> bool:
        """Tell whether a tree reads a primed variable that has no value yet, or is on the path."""
        if self._towards is not None and _holds(node, self._towards):
            return True
        return self._x.names.is_unsettled(node, env)


def _expressions(node: Apply) -> list[Expr]:
    return [item for item in node.operands if not isinstance(item, OperatorRef)]


def _holds(node: Operand, call: Call) -> bool:
    """Tell whether a path to the call goes through a tree."""
    waiting = [node]
    while waiting:
        item = waiting.pop()
        if item is call:
            return True
        if isinstance(item, Call) and item.definition.on_path:
            waiting.append(item.definition.expression)
        waiting += children(item)
    return False


def _is_constant(node: Quantified) -> bool:
    return all(among is not None and reads(among).constant for _, _, among in node.bounds)
