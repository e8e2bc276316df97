"""Constructs that bind names in sets: quantifiers, CHOOSE, set and function constructors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tlatrace.compiler.emit_python.expressions.environment import (
    Binding,
    Environment,
    Ready,
    all_ready,
    ready_text,
)
from tlatrace.compiler.emit_python.expressions.interface import ExpressionWriter, Search
from tlatrace.compiler.ir.analysis import (
    free_locals,
    kind_of,
    state_cells,
    weight,
)
from tlatrace.compiler.ir.nodes import (
    Apply,
    Expr,
    Literal,
    Local,
    Quantified,
    Recursive,
    unsupported,
)
from tlatrace.runtime.operators.ordering import order

__all__ = ["Quantifiers", "known_order"]

_REMEMBERED_BODY: Final = 15


class Quantifiers:
    """Writes loops and comprehensions."""

    def __init__(self, expressions: ExpressionWriter) -> None:
        self._x = expressions
        self._w = expressions.writer
        self.cells: Mapping[tuple[int, bool, str], str] = {}
        """(variable, prime, bound name) -> the parameter that has variable[bound name]."""

    def iterable(self, node: Expr, env: Environment) -> str:
        """Return the text of a Python iterable over the elements of a set."""
        match node:
            case Apply() if node.operator == "..":
                low, high = [self._x.values.part(item, env) for item in node.operands]
                return f"interval({low}, {high})"
            case Apply() if node.operator == "DOMAIN":
                return f"domain_values({self._x.values.part(node.operands[0], env)})"
            case Apply() if node.operator in ("images", "elements"):
                return f"images({self._x.values.part(node.operands[0], env)})"
            case Literal() if isinstance(node.value, frozenset):
                return self._w.literal(node.value)
            case _:
                text = self._x.values.value(node, env)
                return text if kind_of(node) == "set" else f"elements_of({text})"

    def loops(
        self, node: Quantified | Recursive, env: Environment
    ) -> tuple[list[tuple[str, str]], Environment]:
        """Bind the names of a quantifier; return (target, iterable) of each loop.

        Only for bounds whose sets do not need the names of other bounds, which TLA+ assures.
        """
        w = self._w
        inner = dict(env)
        loops: list[tuple[str, str]] = []
        for names, pattern, among in node.bounds:
            assert among is not None
            pythons = [w.fresh(name) for name in names]
            text = _against(pattern, among, self.iterable(among, env))
            element = "?" if pattern else self._x.names.element_kind(among, env)
            inner.update(all_ready(names, pythons, element))
            target = f"({', '.join(pythons)},)" if pattern else pythons[0]
            loops.append((target, text))
        return loops, inner

    def _comprehension(
        self, node: Quantified, env: Environment, item: Callable[[Environment], str]
    ) -> str:
        """Return the text of a list: one item for each choice of the bounds."""
        w = self._w
        if any(among is None for _, _, among in node.bounds):
            return f"stop({f'CHOOSE without a set has no value ({node.place})'!r})"
        loops, inner = self.loops(node, env)
        if len(loops) > 1:
            loops = [(target, w.atom(text, "set")) for target, text in loops]
            given, names = [among for _, among in loops], [w.fresh("set") for _ in loops]
            w.emit(f"{', '.join(names)} = few({', '.join(given)})")
            loops = [(target, name) for (target, _), name in zip(loops, names, strict=True)]
        with w.capture() as lines:
            text = item(inner)
        heads = " ".join([f"for {target} in {among}" for target, among in loops])
        if not lines:
            return f"[{text} {heads}]"
        result = w.fresh("list")
        w.emit(f"{result} = []")
        for target, among in loops:
            w.emit(f"for {target} in {among}:")
            w.enter()
        w.replay(lines, deeper=len(loops))
        w.emit(f"{result}.append({text})")
        for _ in loops:
            w.leave()
        return result

    def _filtered(self, node: Quantified, env: Environment) -> str:
        """Return the text of a list: the elements for which the body is TRUE."""
        w = self._w
        if any(among is None for _, _, among in node.bounds):
            return f"stop({f'CHOOSE without a set has no value ({node.place})'!r})"
        ((names, pattern, among),) = node.bounds
        assert among is not None
        text = _against(pattern, among, self.iterable(among, env))
        element = w.fresh("e")
        pythons = [w.fresh(name) for name in names] if pattern else [element]
        kind = "?" if pattern else self._x.names.element_kind(among, env)
        inner = {**env, **all_ready(names, pythons, kind)}
        with w.capture() as lines:
            condition = self._x.conditions.condition(node.body, inner)
        if not lines and not pattern:
            return f"[{element} for {element} in {text} if {condition}]"
        result = w.fresh("list")
        w.emit(f"{result} = []")
        w.emit(f"for {element} in {text}:")
        with w.block():
            if pattern:
                w.emit(f"({', '.join(pythons)},) = {element}")
            w.replay(lines, deeper=1)
            w.emit(f"if {condition}: {result}.append({element})")
        return result

    def quantified(self, node: Quantified, env: Environment) -> str:
        w = self._w
        match node.what:
            case "exists" | "forall":
                return f"(TRUE if {self._x.conditions.condition(node, env)} else FALSE)"
            case "map":
                found = self._comprehension(
                    node, env, lambda inner: self._x.values.value(node.body, inner)
                )
                return f"make_set({found})"
            case "filter":
                return f"frozenset({self._filtered(node, env)})"
            case "choose":
                extreme = _extreme(node)
                if extreme is not None:
                    among = node.bounds[0][2]
                    assert among is not None
                    return f"{extreme}({self._x.values.value(among, env)})"
                function = "choose_first" if node.choose_any else "choose"
                return f"{function}({self._filtered(node, env)}, {f'CHOOSE ({node.place})'!r})"
            case "function":
                return self._function(node, env)
            case _:
                raise AssertionError(node.what, w)

    def _function(self, node: Quantified, env: Environment) -> str:
        w = self._w
        if len(node.bounds) == 1 and _may_be_infinite(node.bounds[0][2]):
            return self._rule(node, env, None)
        if len(node.bounds) == 1 and not node.bounds[0][1]:
            ((names, _, among),) = node.bounds
            assert among is not None
            domain = w.atom(self.iterable(among, env), "domain")
            target = Ready(w.fresh(names[0]), self._x.names.element_kind(among, env))
            inner = {**env, names[0]: target}
            with w.capture() as lines:
                text = self._x.values.value(node.body, inner)
            if _is_no_sequence(among):
                return self._known_keys(domain, target.text, lines, text)
            if not lines:
                return f"function_over({domain}, [{text} for {target.text} in {domain}])"
            result = w.fresh("list")
            w.emit(f"{result} = []")
            w.emit(f"for {target.text} in {domain}:")
            w.replay(lines, deeper=1)
            with w.block():
                w.emit(f"{result}.append({text})")
            return f"function_over({domain}, {result})"

        def pair(inner: Environment) -> str:
            keys: list[str] = []
            for names, pattern, _ in node.bounds:
                texts = [ready_text(inner[name]) for name in names]
                keys.append(_tuple(texts) if pattern else texts[0])
            key = keys[0] if len(keys) == 1 else _tuple(keys)
            return f"({key}, {self._x.values.value(node.body, inner)})"

        return f"function_of(dict({self._comprehension(node, env, pair)}))"

    def _known_keys(self, domain: str, key: str, lines: list[tuple[int, str]], text: str) -> str:
        """Return the text of a function whose domain is a constant, and not 1..n."""
        w = self._w
        if not lines:
            return f"Fcn({{{key}: {text} for {key} in {domain}}})"
        result = w.fresh("images")
        w.emit(f"{result} = {{}}")
        w.emit(f"for {key} in {domain}:")
        w.replay(lines, deeper=1)
        with w.block():
            w.emit(f"{result}[{key}] = {text}")
        return f"Fcn({result})"

    def _rule(self, node: Quantified | Recursive, env: Environment, own: str | None) -> str:
        """Return a function that computes its values when it is applied."""
        w = self._w
        ((names, pattern, among),) = node.bounds
        assert among is not None
        domain = self._x.values.value(among, env)
        rule, argument, itself = w.fresh("rule"), w.fresh("x"), w.fresh("self")
        w.emit(f"def {rule}({itself}, {argument}):")
        with w.block():
            inner = dict(self._x.names.declare_again(self._x.names.afresh(node.body, env)))
            if pattern:
                pythons = [w.fresh(name) for name in names]
                one = _against(pattern, among, f"({argument},)")
                w.emit(f"(({', '.join(pythons)},),) = {one}")
                inner.update(all_ready(names, pythons))
            else:
                inner[names[0]] = Ready(argument)
            if own is not None:
                inner[own] = Ready(itself)
            w.emit(f"return {self._x.values.value(node.body, inner)}")
        return f"LazyFunction({domain}, {rule})"

    def recursive(self, node: Recursive, env: Environment) -> str:
        if len(node.bounds) == 1:
            return self._rule(node, env, node.name)
        names = tuple([name for part, _, _ in node.bounds for name in part])
        factors = tuple([among for _, _, among in node.bounds if among is not None])
        flat = all(not pattern for _, pattern, _ in node.bounds)
        if not flat:
            raise unsupported(node.place, "a recursive function over tuples of tuples")
        among = Apply("product", factors, node.place)
        return self._rule(
            Recursive(node.name, ((names, True, among),), node.body, node.place), env, node.name
        )

    def leaves_at_once(self, node: Quantified) -> bool:
        """Tell whether the first element for which the body is FALSE decides, as in TLC."""
        return all(known_order(among) for _, _, among in node.bounds)

    def every(self, node: Quantified, env: Environment) -> Search:
        """Bind the names of a quantifier for which nothing is FALSE, it is hoped."""

        def listed(among: Expr) -> str:
            if known_order(among) is False or _is_images(among):
                return self.iterable(among, env)
            return f"{self._arranged(among, env)}[0]"

        return self._search(node, env, listed)

    def _searched(self, node: Quantified, env: Environment) -> Search:
        """Bind the names of a quantifier that is left where it is decided."""
        w = self._w
        unsure: list[str] = []

        def listed(among: Expr) -> str:
            if known_order(among) is False:
                unsure.append("False")
                return self.iterable(among, env)
            text, sure = w.fresh("set"), w.fresh("sure")
            w.emit(f"{text}, {sure} = {self._arranged(among, env)}")
            unsure.append(sure)
            return text

        search = self._search(node, env, listed)
        sure = "False" if "False" in unsure else " and ".join(unsure)
        return Search(search.loops, search.environment, sure)

    def _search(self, node: Quantified, env: Environment, listed: Callable[[Expr], str]) -> Search:
        """Bind names; TLC goes through the first one's set fastest: its loop is the innermost."""
        w = self._w
        inner = dict(env)
        loops: list[tuple[str, str]] = []
        for names, pattern, among in node.bounds:
            assert among is not None
            pythons = [w.fresh(name) for name in names]
            element = "?" if pattern else self._x.names.element_kind(among, env)
            inner.update(all_ready(names, pythons, element))
            text = self._known(among, env) if known_order(among) else listed(among)
            text = _against(pattern, among, text)
            loops.append((f"({', '.join(pythons)},)" if pattern else pythons[0], text))
        if len(loops) > 1:
            loops = [(target, w.atom(text, "set")) for target, text in loops[::-1]]
        return Search(loops, inner)

    def _known(self, among: Expr, env: Environment) -> str:
        """Return the text of an iterable over a set whose order is known, in that order."""
        match among:
            case Literal() if isinstance(among.value, frozenset):
                return self._w.literal(tuple(sorted(among.value, key=order)))
            case Apply() if among.operator == "BOOLEAN":
                return "(FALSE, TRUE)"
            case _:
                return self.iterable(among, env)

    def _arranged(self, among: Expr, env: Environment) -> str:
        """Return the text of a pair: what a set holds, and whether that is TLC's order."""
        if _is_images(among) or (isinstance(among, Apply) and among.operator == "DOMAIN"):
            return f"arranged_parts({self.iterable(among, env)})"
        text = self._x.values.value(among, env)
        return self._x.values.computed_once(among, f"arranged({text})")

    def loop_to(self, node: Quantified, env: Environment, result: str) -> None:
        """Write loops that leave TRUE or FALSE of a quantifier in a Python name.

        They end with the deciding element where TLC's order is known, else with the last one.
        """
        w = self._w
        exists = node.what == "exists"
        search = self._searched(node, env)
        done = w.fresh("done")
        w.emit(f"{result} = {not exists}")
        if search.asks:
            w.emit(f"{done} = False")
        for target, among in search.loops:
            w.emit(f"for {target} in {among}:")
            w.enter()
            if search.asks:
                w.emit(f"if {done}: break")
        decided = f"{result} = {exists}"
        if search.asks:
            decided += f"; {done} = {search.sure}; continue"
        else:
            decided += "; continue" if search.sure else "; break"
        if exists:
            self.require_body(node.body, search.environment, "continue")
            w.emit(decided)
        else:
            self.require_body(node.body, search.environment, decided)
        for position in range(len(search.loops)):
            w.leave()
            if not search.sure and position < len(search.loops) - 1:
                w.emit(f"if {result if exists else 'not ' + result}: break")

    def require_body(self, body: Expr, env: Environment, otherwise: str) -> None:
        """Require the body of a quantifier, perhaps by a function that remembers its answers."""
        w = self._w
        text = self._remembered(body, env)
        start = len(w.function.lines)
        if text is None:
            self._x.conditions.require(body, env, otherwise)
        else:
            w.emit(f"if not {text}: {otherwise}")
        if len(w.function.lines) == start:
            w.emit("pass")

    def _remembered(self, body: Expr, env: Environment) -> str | None:
        r"""Return a call that stands for a body such as P(log[a], log[b]); None if it is none.

        A body that looks at the state only through `variable[bound name]` has the same answer
        while those parts are the same, and from step to step most of them are.
        """
        w = self._w
        if self.cells or w.function.assigned is not None or weight(body) < _REMEMBERED_BODY:
            return None
        cells = state_cells(body)
        bindings = {name: env.get(name) for name in sorted(free_locals(body))}
        if cells is None or not all(isinstance(item, Ready) for item in bindings.values()):
            return None
        if not all(local.name in bindings for _, local in cells):
            return None  # a name that the body itself binds
        arguments = [item.text for item in bindings.values() if isinstance(item, Ready)]
        inner: dict[str, Binding] = {}
        parameters: list[str] = []
        for name, binding in bindings.items():
            assert isinstance(binding, Ready)
            parameters.append(w.fresh(name))
            inner[name] = Ready(parameters[-1], binding.kind)
        taken: dict[tuple[int, bool, str], str] = {}
        for variable, local in cells:
            parameters.append(w.fresh("cell"))
            taken[variable.index, variable.primed, local.name] = parameters[-1]
            arguments.append(
                f"cell({self._x.names.variable(variable)}, {self._x.names.local(local, env)})"
            )
        name = w.fresh("body")

        def answer() -> None:
            self._x.conditions.require(body, inner, "return False")
            w.emit("return True")

        self.cells = taken
        w.answer(name, ", ".join(parameters), answer, "@remembered\n")
        self.cells = {}
        return f"{name}({', '.join(arguments)})"


def known_order(among: Expr | None) -> bool | None:
    """Tell whether TLC's order of a set is known; None if only its elements tell."""
    match among:
        case Literal() if isinstance(among.value, frozenset):
            return len(among.value) < 2 or {kind_of(Literal(e)) for e in among.value} in (
                {"int"},
                {"bool"},
            )
        case Apply() if among.operator in ("..", "BOOLEAN", "elements"):
            return True
        case _:
            return None


def _against(pattern: bool, among: Expr, text: str) -> str:
    """Return the text of what is looked through, which a tuple pattern must fit."""
    plain = not pattern or (isinstance(among, Apply) and among.operator == "product")
    return text if plain else f"tuples({text})"


def _is_no_sequence(among: Expr) -> bool:
    """Tell whether a function over this set is surely none over 1..n, `()` included."""
    if not isinstance(among, Literal) or not isinstance(among.value, frozenset):
        return False
    return bool(among.value) and 1 not in among.value


def _is_images(among: Expr) -> bool:
    return isinstance(among, Apply) and among.operator == "images"


def _may_be_infinite(node: Expr | None) -> bool:
    match node:
        case Apply():
            return node.operator in ("Nat", "Int", "STRING", "Seq", "functions", "SUBSET")
        case _:
            return False


def _extreme(node: Quantified) -> str | None:
    r"""Recognise CHOOSE x \in S : \A y \in S : y <= x, and its mirror images."""
    ((names, pattern, among),) = node.bounds
    every = node.body
    if pattern or not isinstance(among, Local) or not isinstance(every, Quantified):
        return None
    if every.what != "forall" or len(every.bounds) != 1:
        return None
    ((others, other_pattern, other_among),) = every.bounds
    if other_pattern or not isinstance(other_among, Local) or other_among.name != among.name:
        return None
    order = every.body
    if not isinstance(order, Apply) or order.operator not in ("<=", ">="):
        return None
    sides = [item.name if isinstance(item, Local) else "" for item in order.operands]
    if sides == [others[0], names[0]]:
        return "largest" if order.operator == "<=" else "smallest"
    if sides == [names[0], others[0]]:
        return "smallest" if order.operator == "<=" else "largest"
    return None


def _tuple(texts: list[str]) -> str:
    return "(" + ", ".join(texts) + ("," if len(texts) == 1 else "") + ")"
