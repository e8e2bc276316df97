"""The text of a model, written again so that it says why an expression has no value.

The text itself leaves it to Python to stop: f["x"] and n + 1 cost least as they are, and most of
them have a value. Where one has none, the model is asked once more in this form, which also goes
through sets in the same order in every process.
"""

from __future__ import annotations

import ast
from typing import Final

__all__ = ["with_reasons"]

_ARITHMETIC: Final[dict[type[ast.operator], str]] = {ast.Add: "add", ast.Sub: "subtract"}
_ORDER: Final[dict[type[ast.cmpop], str]] = {ast.Lt: "less", ast.LtE: "less_equal"}


def with_reasons(text: str) -> ast.Module:
    """Write a model's text again.

    Raises: as `ast.parse`.
    """
    tree = ast.parse(text)
    _WithReasons().visit(tree)
    return ast.fix_missing_locations(tree)


class _WithReasons(ast.NodeTransformer):
    """Makes loops go through `each(...)`, and operators of TLA+ be functions of ours."""

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.iter = _elements(node)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = _elements(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            if node.func.id == "function_over":
                # its images come from a loop over the same
                node.args[0] = _called("each", node.args[0])
            elif node.func.id == "apply":
                node.func.id = "applied"
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        at = node.slice
        of_state = isinstance(at, ast.Constant) and type(at.value) is int
        if of_state or isinstance(at, ast.Slice) or not isinstance(node.ctx, ast.Load):
            return node  # what the writer takes apart: no function of TLA+ is written so
        return _called("applied", node.value, at)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = _ARITHMETIC.get(type(node.op))
        if name is None:
            return node
        return _called(name, _called("seen", node.left), _called("seen", node.right))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        name = _ORDER.get(type(node.ops[0]))
        if name is None or len(node.ops) > 1:
            return node
        return _called(name, _called("seen", node.left), _called("seen", node.comparators[0]))


def _elements(loop: ast.For | ast.comprehension) -> ast.Call:
    """Write what a loop goes through; where it takes tuples apart, they have to be as long."""
    each = _called("each", loop.iter)
    if not isinstance(loop.target, ast.Tuple):
        return each
    return _called("of_length", each, ast.Constant(len(loop.target.elts)))


def _called(name: str, *arguments: ast.expr) -> ast.Call:
    call = ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(arguments), keywords=[])
    return ast.copy_location(call, arguments[0])
