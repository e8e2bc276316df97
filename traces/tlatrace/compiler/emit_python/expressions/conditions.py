r"""Boolean expressions: as Python bools, and as statements that go on or leave.

What TLA+ evaluates only sometimes, the right of /\\ or a branch, is written where it is evaluated.
"""

from __future__ import annotations

from typing import Final

from tlatrace.compiler.emit_python.expressions.environment import (
    Environment,
    Later,
    Ready,
)
from tlatrace.compiler.emit_python.expressions.interface import ExpressionWriter
from tlatrace.compiler.ir.analysis import is_closed
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Case,
    Composed,
    Enabled,
    Expr,
    If,
    Let,
    Literal,
    Local,
    OperatorCall,
    OperatorRef,
    Quantified,
    Variable,
)
from tlatrace.compiler.passes.membership import expand_member, expand_settled, settle
from tlatrace.runtime.values import FALSE, TRUE

__all__ = ["Conditions"]

_CONDITIONS: Final = {
    "subseteq": "subset",
    "IsFiniteSet": "is_finite",
    "is_nat": "is_nat",
    "is_int": "is_int",
    "is_string": "is_string",
    "is_sequence": "is_sequence",
    "has_domain": "has_domain",
    "has_length": "has_length",
    "in_interval": "in_interval",
    "in_domain": "in_domain",
}
_ORDER: Final = {"<": ("<", "less"), "<=": ("<=", "less_equal")}
_MIRRORED: Final = {">": "<", ">=": "<="}


class Conditions:
    """Writes conditions and requirements."""

    def __init__(self, expressions: ExpressionWriter) -> None:
        self._x = expressions
        self._w = expressions.writer

    def condition(self, node: Expr, env: Environment) -> str:
        """Return the text of a Python bool."""
        w = self._w
        match node:
            case Literal() if node.value is TRUE or node.value is FALSE:
                return str(node.value is TRUE)
            case Apply() if node.operator in ("and", "or"):
                return self._junction(node, env)
            case Apply():
                return self._apply_condition(node, env)
            case Call():
                return self._x.calls.call(node, env, as_condition=True)
            case OperatorCall():
                return self._x.calls.operator_call(node, env, as_condition=True)
            case Let():
                return self.condition(node.body, self._x.names.bind(node, env))
            case Enabled():
                return self._x.calls.enabled(node, env)
            case Composed():
                return f"{self._x.names.state_after(node)} in {self._x.calls.composed(node, env)}"
            case Quantified() if node.what in ("exists", "forall"):
                result = w.fresh("q")
                self._x.quantifiers.loop_to(node, env, result)
                return result
            case If() if node.taken is not None:
                return self.condition(node.taken, env)
            case If():
                return self._if_condition(node, env)
            case Local():
                binding = env[node.name]
                if isinstance(binding, Later) and binding.name is None:
                    return self.condition(binding.expr, binding.environment)
                return f"truth({self._x.names.local(node, env)})"
            case _:
                return f"truth({self._x.values.value(node, env)})"

    def _if_condition(self, node: If, env: Environment) -> str:
        w = self._w
        test = self.condition(node.condition, env)
        with w.capture() as yes_lines:
            yes = self.condition(node.yes, env)
        with w.capture() as no_lines:
            no = self.condition(node.no, env)
        if not yes_lines and not no_lines:
            return f"({yes} if {test} else {no})"
        result = w.fresh("q")
        self._x.values.either(test, (yes_lines, yes), (no_lines, no), result)
        return result

    def _junction(self, node: Apply, env: Environment) -> str:
        w = self._w
        items = [item for item in node.operands if not isinstance(item, OperatorRef)]
        found: list[tuple[list[tuple[int, str]], str]] = []
        for item in items:
            with w.capture() as lines:
                text = self.condition(item, env)
            if not found:  # the first is evaluated in any case
                w.replay(lines)
                lines = []
            found.append((lines, text))
        if not any(lines for lines, _ in found):
            return "(" + f" {node.operator} ".join([text for _, text in found]) + ")"
        result = w.fresh("q")
        w.emit(f"{result} = {node.operator == 'or'}")
        w.emit("for _ in ONCE:")
        for lines, text in found:
            w.replay(lines, deeper=1)
            with w.block():
                w.emit(f"if {'not ' if node.operator == 'and' else ''}{text}: break")
        with w.block():
            w.emit(f"{result} = {node.operator == 'and'}")
        return result

    def _apply_condition(self, node: Apply, env: Environment) -> str:
        operator = node.operator
        operands = [item for item in node.operands if not isinstance(item, OperatorRef)]
        match operator:
            case "unchanged":  # TLC compares the old value with the new one
                new, old = [self._x.values.value(item, env) for item in operands]
                same = f"{new} is {old} or " if new.isidentifier() and old.isidentifier() else ""
                return f"({same}eq({old}, {new}))"
            case "=":
                return self._equal(operands[0], operands[1], env)
            case "#":
                return f"not {self._equal(operands[0], operands[1], env)}"
            case "not":
                return f"(not {self.condition(operands[0], env)})"
            case "=>":
                left = Apply("not", (operands[0],), node.place)
                return self._junction(Apply("or", (left, operands[1]), node.place), env)
            case "<=>":
                left_text = self.condition(operands[0], env)
                return f"({left_text} is {self.condition(operands[1], env)})"
            case "in":
                return self._member(operands[0], operands[1], env, node)
            case "notin":
                return f"(not {self._member(operands[0], operands[1], env, node)})"
            case "<" | "<=" | ">" | ">=":
                return self._ordered(operator, operands, env)
            case "Assert":
                held = self.condition(operands[0], env)
                broken = f"stop({f'Assert is violated ({node.place})'!r})"
                if isinstance(operands[1], Literal):
                    return f"({held} or {broken})"
                return f"(said({self._x.values.message(operands[1], env)}, {held}) or {broken})"
            case "PrintT" if isinstance(operands[0], Literal):
                return "True"
            case "PrintT":
                return f"said({self._x.values.message(operands[0], env)}, True)"
            case "unknown":
                (reason,) = operands
                assert isinstance(reason, Literal)
                return f"stop({reason.value!r})"
            case "evaluated":
                texts = [self._x.values.value(item, env) for item in operands]
                return f"said(({', '.join(texts)},), True)"
            case "every":
                return "(" + " & ".join([f"({self.condition(o, env)})" for o in operands]) + ")"
            case "has_fields" | "shares_fields":
                names = ", ".join([self._x.values.value(item, env) for item in operands[1:]])
                return f"{operator}({self._x.values.value(operands[0], env)}, ({names},))"
            case "in_lazy":
                item, among = [self._x.values.value(operand, env) for operand in operands]
                return f"member({item}, {among})"
            case "subseteq":
                return self._subset(operands[0], operands[1], env)
            case _ if operator in _CONDITIONS:
                texts = [self._x.values.value(item, env) for item in operands]
                return f"{_CONDITIONS[operator]}({', '.join(texts)})"
            case _:
                return f"truth({self._x.values.apply(node, env)})"

    def _ordered(self, operator: str, operands: list[Expr], env: Environment) -> str:
        if operator in _MIRRORED:
            operator, operands = _MIRRORED[operator], operands[::-1]
        symbol, function = _ORDER[operator]
        left, right = [self._x.values.value(item, env) for item in operands]
        if "int" in (self._x.names.kind(operands[0], env), self._x.names.kind(operands[1], env)):
            return f"({left} {symbol} {right})"
        return f"{function}({left}, {right})"

    def _equal(self, left: Expr, right: Expr, env: Environment) -> str:
        kinds = (self._x.names.kind(left, env), self._x.names.kind(right, env))
        if kinds == ("bool", "bool"):
            return f"({self.condition(left, env)} is {self.condition(right, env)})"
        texts = self._x.values.value(left, env), self._x.values.value(right, env)
        if kinds[0] == kinds[1] and kinds[0] in ("int", "string"):
            return f"({texts[0]} == {texts[1]})"
        return f"eq({texts[0]}, {texts[1]})"

    def _member(self, item: Expr, among: Expr, env: Environment, node: Apply) -> str:
        if isinstance(among, Literal):
            text, known = self._x.values.value(item, env), self._w.literal(among.value)
            if isinstance(among.value, frozenset) and text.isidentifier():
                return f"({text} in {known} or member({text}, {known}))"
            return f"member({text}, {known})"
        opened = self._opened_membership(Apply("in", (item, among), node.place), env)
        if opened is not None:
            return self.condition(*opened)
        return f"member({self._x.values.value(item, env)}, {self._x.values.value(among, env)})"

    def _opened_membership(self, node: Apply, env: Environment) -> tuple[Expr, Environment] | None:
        r"""Return the condition on x that stands for `x \in S`; None if S has to be evaluated."""
        if node.operator != "in":
            return None
        item, among = node.operands
        assert not isinstance(item, OperatorRef)
        assert not isinstance(among, OperatorRef)
        if isinstance(among, Literal):
            return None
        if not isinstance(item, Local | Literal | Variable):
            if expand_member(Local("probe"), among, lambda stem: stem) is None:
                return None
            name = self._w.fresh("item")
            env = {**env, name: Ready(self._w.atom(self._x.values.value(item, env)))}
            constant, item = is_closed(item), Local(name, node.place)
            expanded = expand_member(item, among, self._w.fresh)
            # A constant is evaluated where it is used first: in an empty set, nowhere.
            if expanded is not None and constant:
                looked_at = Apply("evaluated", (item,), node.place)
                expanded = Apply("and", (looked_at, expanded), node.place)
        else:
            expanded = expand_member(item, among, self._w.fresh)
        return None if expanded is None else (expanded, env)

    def _subset(self, left: Expr, right: Expr, env: Environment) -> str:
        name = self._w.fresh("element")
        settled = settle(right, self._w.fresh)
        inside = expand_settled(Local(name, left.place), settled.among, self._w.fresh)
        if inside is None or isinstance(right, Literal):
            return f"subset({self._x.values.value(left, env)}, {self._x.values.value(right, env)})"
        every = Quantified("forall", (((name,), False, left),), inside, left.place)
        return self.condition(settled.around(every), env)

    def require(self, node: Expr, env: Environment, otherwise: str) -> None:
        """Write statements that go on if the expression is TRUE, and else do `otherwise`."""
        w = self._w
        match node:
            case Literal() if node.value is TRUE:
                return
            case Apply() if node.operator == "and":
                for item in node.operands:
                    assert not isinstance(item, OperatorRef)
                    self.require(item, env, otherwise)
            case Let():
                self.require(node.body, self._x.names.bind(node, env), otherwise)
            case If() if node.taken is not None:
                self.require(node.taken, env, otherwise)
            case If():
                w.emit(f"if {self.condition(node.condition, env)}:")
                with w.block():
                    self.require(node.yes, env, otherwise)
                w.emit("else:")
                with w.block():
                    self.require(node.no, env, otherwise)
            case Case():
                self._require_case(node, env, otherwise)
            case Call() if self._x.calls.is_inlined(node, env) and self._x.calls.inlining < 100:
                self._x.calls.inlining += 1
                inner = self._x.calls.bind_arguments(node, env)
                self.require(node.definition.expression, inner, otherwise)
                self._x.calls.inlining -= 1
            case Quantified() if node.what == "forall" and self._may_return(node, otherwise):
                if not self._x.quantifiers.leaves_at_once(node):
                    w.function.asks_again = True
                    otherwise = f"return {w.function.again}"
                search = self._x.quantifiers.every(node, env)
                for target, among in search.loops:
                    w.emit(f"for {target} in {among}:")
                    w.enter()
                self._x.quantifiers.require_body(node.body, search.environment, otherwise)
                for _ in search.loops:
                    w.leave()
            case Apply() if (opened := self._opened_membership(node, env)) is not None:
                self.require(*opened, otherwise)
            case Apply() if node.operator == "=" and self._is_plain_equation(node, env):
                left, right = [self._x.values.part(item, env) for item in node.operands]
                left, right = w.atom(left), w.atom(right)
                w.emit(f"if {left} != {right} and not eq({left}, {right}):")
                w.function.depth += 1
                w.emit(otherwise)
                w.function.depth -= 1
            case _:
                text = self.condition(node, env)
                if text == "True":
                    return
                w.emit(f"if {text[4:]}:" if text.startswith("not ") else f"if not {text}:")
                w.function.depth += 1
                w.emit(otherwise)
                w.function.depth -= 1

    def _may_return(self, node: Quantified, otherwise: str) -> bool:
        """Tell whether an element for which the body is FALSE may end the function, or its twin."""
        if not otherwise.startswith("return"):
            return False
        return bool(self._w.function.again) or self._x.quantifiers.leaves_at_once(node)

    def _is_plain_equation(self, node: Apply, env: Environment) -> bool:
        """Tell whether an equation needs `eq` for unequal sides only."""
        left, right = node.operands
        kinds = {self._x.names.kind(left, env), self._x.names.kind(right, env)}
        return not kinds & {"bool", "int", "string"}

    def _require_case(self, node: Case, env: Environment, otherwise: str) -> None:
        w = self._w
        depth = 0
        for guard, value in node.arms:
            w.emit(f"if {self.condition(guard, env)}:")
            with w.block():
                self.require(value, env, otherwise)
            w.emit("else:")
            w.enter()
            depth += 1
        start = len(w.function.lines)
        if node.other is None:
            w.emit(f"stop({f'no arm of CASE holds ({node.place})'!r})")
        else:
            self.require(node.other, env, otherwise)
        if len(w.function.lines) == start:
            w.emit("pass")
        for _ in range(depth):
            w.leave()
