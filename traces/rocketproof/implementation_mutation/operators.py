"""All mutations of a module: one small change each, as its author could have slipped.

What only speaks of the code stays as it is: assertions, what is raised, annotations, decorators,
members of enums, texts.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from rocketproof.implementation_mutation.effects import EffectSites, is_sync
from rocketproof.implementation_mutation.mutation import Kind, Mutation
from rocketproof.implementation_mutation.source_text import SourceText

__all__ = ["mutations_of"]

_COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ORDER: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_FORGETS: Final = frozenset({"clear", "discard", "pop", "popleft", "remove"})
_REMEMBERS: Final = frozenset({"add", "append", "appendleft", "extend", "setdefault", "update"})
_EMPTY: Final = frozenset(
    {"None", "False", "0", "()", "[]", "{}", "frozenset()", "set()", "dict()"}
)
_TIME: Final = re.compile(r"_ms\b", re.IGNORECASE)
_ONLY_NAMES: Final = frozenset({"strict", "kw_only", "slots", "frozen", "repr"})
"""Keywords whose values are no part of what a core does."""


def mutations_of(module: str, path: Path, text: str, effects: frozenset[str]) -> list[Mutation]:
    """List all mutations of a module, in the order of its text; `effects` are names of classes.

    Each makes another program of the module, which is Python.
    """
    finder = _Finder(module, path, SourceText(text), effects)
    finder.visit(ast.parse(text))
    seen: Counter[str] = Counter()
    found = []
    for one in sorted(finder.found, key=lambda one: (one.begin, one.end, one.kind, one.after)):
        found.append(replace(one, number=seen[one.id]))
        seen[one.id] += 1
    return found


class _Finder(ast.NodeVisitor):
    """Walks through a module, and notes what can be mutated."""

    def __init__(self, module: str, path: Path, text: SourceText, effects: frozenset[str]) -> None:
        self._module, self._path, self._text = module, path, text
        self._sites = EffectSites(text, effects)
        self._within: list[str] = []
        self._around: list[ast.AST] = []
        self._pairs: set[ast.AST] = set()
        """Tuples that a function returns as several values, each of a kind of its own."""
        self.found: list[Mutation] = []

    def _note(
        self, kind: Kind, begin: int, end: int, after: str, *, moves_timer: bool = False
    ) -> None:
        returns_time = bool(self._within) and self._within[-1].endswith("_ms")
        first, last = self._text.line_at(begin), self._text.line_at(max(begin, end - 1))
        self.found.append(
            Mutation(
                module=self._module,
                path=self._path,
                function=".".join(self._within) or "<module>",
                kind=kind,
                before=self._text.between(begin, end),
                after=after,
                begin=begin,
                end=end,
                lines=range(first, last + 1),
                moves_timer=moves_timer or (returns_time and kind is Kind.CONSTANT),
            )
        )

    def _replace(self, kind: Kind, node: ast.AST, after: str, *, moves_timer: bool = False) -> None:
        self._note(kind, *self._text.span(node), after, moves_timer=moves_timer)

    # ---- where it goes ----

    def visit(self, node: ast.AST) -> None:
        """Visit a node, and know what is around it."""
        self._around.append(node)
        super().visit(node)
        self._around.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Go into defaults and body, not into annotations or decorators."""
        self._within.append(node.name)
        self._pairs |= set(_returned_pairs(node))
        for given in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(given)
        self._body(node.body)
        self._within.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Go into the body, but for enums."""
        if any("Enum" in ast.unparse(base) for base in node.bases):
            return
        self._within.append(node.name)
        self._body(node.body)
        self._within.pop()

    def _pass_by(self, node: ast.AST) -> None:
        del node

    visit_Assert = visit_Raise = visit_JoinedStr = _pass_by
    visit_Import = visit_ImportFrom = visit_Pass = _pass_by

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Go into the value, unless it is a type."""
        if node.value is not None and "TypeAlias" not in ast.unparse(node.annotation):
            self.visit(node.value)

    def visit_Module(self, node: ast.Module) -> None:
        """Go into the body."""
        self._body(node.body)

    def visit_keyword(self, node: ast.keyword) -> None:
        """Go into the value of a keyword that says what is done."""
        if node.arg not in _ONLY_NAMES:
            self.visit(node.value)

    def _body(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self.visit(node)
            self._statement(node)
        for node, following in pairwise(body):
            if self._sites.adds(node) and self._sites.adds(following):
                begin, middle = self._text.span(node)
                third, end = self._text.span(following)
                between = self._text.between(middle, third)
                swapped = f"{self._text.of(following)}{between}{self._text.of(node)}"
                self._note(Kind.SWAPPED_EFFECTS, begin, end, swapped)

    # ---- statements ----

    def _statement(self, node: ast.stmt) -> None:
        kind = self._sites.adds(node) or self._kind_of(node)
        if kind is not None:
            self._replace(kind, node, "pass")

    def _kind_of(self, node: ast.stmt) -> Kind | None:
        """Return what it is to leave out a statement that changes something, or None."""
        match node:
            case ast.Expr(value=ast.Call() as call) if is_sync(call):
                return Kind.UNSYNCED_WRITE
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr))) if attr in _FORGETS:
                return Kind.MISSING_RESET
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr))) if attr in _REMEMBERS:
                return Kind.STALE_FIELD
            case ast.Delete(targets=[ast.Attribute() | ast.Subscript()]):
                return Kind.MISSING_RESET
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()], value=value):
                if self._within[-1:] == ["__init__"]:
                    return None
                return Kind.MISSING_RESET if self._is_empty(value) else Kind.STALE_FIELD
            case ast.AugAssign(target=ast.Attribute() | ast.Subscript()):
                return Kind.STALE_FIELD
            case _:
                return None

    def _is_empty(self, node: ast.expr) -> bool:
        text = self._text.of(node)
        inner = re.fullmatch(r"MappingProxyType\((.*)\)", text)
        return (inner[1] if inner else text) in _EMPTY

    def visit_If(self, node: ast.If) -> None:
        """Have a condition hold always, or never."""
        if self._text.of(node.test) != "TYPE_CHECKING":
            self._condition(node.test)
            self.visit(node.test)
            self._body(node.body)
            self._body(node.orelse)

    def visit_For(self, node: ast.For) -> None:
        """Go into what is gone through, and the body."""
        self.visit(node.iter)
        self._body(node.body)
        self._body(node.orelse)

    def visit_While(self, node: ast.While) -> None:
        """Go into the condition and the body."""
        self.visit(node.test)
        self._body(node.body)

    def visit_With(self, node: ast.With) -> None:
        """Go into the body."""
        for item in node.items:
            self.visit(item.context_expr)
        self._body(node.body)

    def visit_Try(self, node: ast.Try) -> None:
        """Go into all bodies."""
        handled = (handler.body for handler in node.handlers)
        for body in (node.body, *handled, node.orelse, node.finalbody):
            self._body(body)

    def visit_match_case(self, node: ast.match_case) -> None:
        """Have a guard hold always, or never; a pattern stays."""
        if node.guard is not None:
            self._condition(node.guard)
            self.visit(node.guard)
        self._body(node.body)

    # ---- conditions ----

    def _condition(self, test: ast.expr) -> None:
        for after in ("True", "False"):
            self._replace(Kind.GUARD, test, after)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Have a condition hold always, or never."""
        self._condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Have a condition hold always."""
        for test in node.ifs:
            self._replace(Kind.GUARD, test, "True")
            self.visit(test)
        self.visit(node.iter)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Leave out a part."""
        word = " and " if isinstance(node.op, ast.And) else " or "
        for one in node.values:
            left = [f"({self._text.of(other)})" for other in node.values if other is not one]
            self._replace(Kind.GUARD, node, word.join(left))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Leave out a `not`."""
        if isinstance(node.op, ast.Not):
            self._replace(Kind.GUARD, node, f"({self._text.of(node.operand)})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Move a border by one, or ask the opposite."""
        sides = (node.left, *node.comparators)
        for at, op in enumerate(node.ops):
            old, new = _COMPARISONS[type(op)]
            begin, end = self._text.span(sides[at])[1], self._text.span(sides[at + 1])[0]
            between = self._text.between(begin, end)
            between = re.sub(rf"(?<=[\s)]){old}(?=[\s(])", new, between, count=1)
            whole, over = self._text.span(node)
            after = self._text.between(whole, begin) + between + self._text.between(end, over)
            is_time = isinstance(op, _ORDER) and _TIME.search(self._text.of(node)) is not None
            self._replace(Kind.COMPARISON, node, after, moves_timer=is_time)
        self.generic_visit(node)

    # ---- values ----

    def visit_Constant(self, node: ast.Constant) -> None:
        """Take one more and one less, or the other truth value."""
        match node.value:
            case bool(value):
                self._replace(Kind.CONSTANT, node, str(not value))
            case int(value):
                for after in (value - 1, value + 1):
                    text = f"({after})" if after < 0 else str(after)
                    self._replace(Kind.CONSTANT, node, text, moves_timer=self._in_time())
            case _:
                pass

    def _in_time(self) -> bool:
        """Tell whether a number is part of a time: of a sum, an assignment, or a keyword."""
        for node in reversed(self._around[:-1]):
            if isinstance(node, ast.BinOp | ast.Compare | ast.keyword | ast.AnnAssign | ast.Assign):
                return _TIME.search(ast.unparse(node)) is not None
        return False

    def visit_Call(self, node: ast.Call) -> None:
        """Keep an old value of a field, or drop the effects that are handed on."""
        is_replace = isinstance(node.func, ast.Name) and node.func.id == "replace"
        named = [one for one in node.keywords if one.arg is not None]
        for one in named if is_replace else ():
            kind = Kind.MISSING_RESET if self._is_empty(one.value) else Kind.STALE_FIELD
            kept = [self._text.of(o) for o in (*node.args, *node.keywords) if o is not one]
            self._replace(kind, node, f"replace({', '.join(kept)})")
        self._effects(self._sites.of_call(node))
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """Drop or swap effects; a pair of a state and an effect is no sequence of effects."""
        if node not in self._pairs:
            self._effects(self._sites.of_sequence(node))
        self.generic_visit(node)

    def visit_List(self, node: ast.List) -> None:
        """Drop or swap effects."""
        self._effects(self._sites.of_sequence(node))
        self.generic_visit(node)

    def _effects(self, sites: Iterator[tuple[Kind, ast.expr, str]]) -> None:
        for kind, node, after in sites:
            self._replace(kind, node, after)


def _returned_pairs(function: ast.FunctionDef) -> Iterator[ast.Tuple]:
    """Yield what a function returns that is annotated as a tuple of so many: `tuple[A, B]`."""
    match function.returns:
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=kinds)) if not any(
            isinstance(kind, ast.Constant) and kind.value is ... for kind in kinds
        ):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
                    yield node.value
        case _:
            pass
