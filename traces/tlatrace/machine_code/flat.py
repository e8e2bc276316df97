r"""Flat Python: functions over 64-bit words, an array of them and a text, written as Python.

What is written in it can be read, run by Python as it is, and translated into machine code.

    LIMIT = 4                                 a constant

    def push(word: int) -> int:               words in, one word out
        at = mem[LIMIT]                       `mem` is the array
        if at >= mem[LIMIT + 1] or word < 0:  comparisons are 1 or 0; and, or, not end early
            return 0
        while at > 8: ...                     while, break, continue, pass, if, elif, else
        mem[at] = word; at += 1               + - * // % & | ^ << >>, as Python has them
        return call(at, text[word])           `text` is the text: its bytes are read only

What a machine does better than a loop is given (`GIVEN`): Python has it as a function, too.

A result must fit into a word, whatever comes in: the translation wraps where Python does not. So
what is multiplied for a hash is masked at once, and numbers are compared with limits before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["GIVEN", "FlatError", "FlatFunction", "FlatModule", "assigned_in", "parse"]

GIVEN: Final[Mapping[str, int]] = {"compare_text": 3, "hash_text": 2}
"""Functions that are not translated, with how many words they take.

`compare_text(left, right, count)` compares so many bytes of the text at two places: -1, 0 or 1.
`hash_text(at, count)` gives a number for so many bytes of it; equal bytes have the same.
"""

_OPERATORS: Final = (
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.FloorDiv,
    ast.Mod,
    ast.BitAnd,
    ast.BitOr,
    ast.BitXor,
    ast.LShift,
    ast.RShift,
)
_COMPARISONS: Final = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_WORD: Final = range(-(2**63), 2**63)


class FlatError(Exception):
    """A text that is no flat Python, which is a mistake of whoever wrote it."""


@dataclass(frozen=True, slots=True)
class FlatFunction:
    """A function, checked."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[ast.stmt, ...]


@dataclass(frozen=True, slots=True)
class FlatModule:
    """The functions of some texts, and the constants that they name."""

    functions: Mapping[str, FlatFunction]
    constants: Mapping[str, int]


def parse(*texts: str) -> FlatModule:
    """Read texts whose functions may call one another.

    Raises:
        FlatError: a text is no flat Python, or calls what there is not.
    """
    functions: dict[str, FlatFunction] = {}
    constants: dict[str, int] = {}
    for text in texts:
        for node in ast.parse(text).body:
            match node:
                case ast.FunctionDef(name=name) if name in GIVEN:
                    pass
                case ast.FunctionDef(name=name, args=ast.arguments(args=args)):
                    if name in functions:
                        raise FlatError(f"{name} is defined twice")
                    parameters = tuple([arg.arg for arg in args])
                    functions[name] = FlatFunction(name, parameters, tuple(_body_of(node)))
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ) if (word := _constant(value)) is not None:
                    if constants.setdefault(name, word) != word:
                        raise FlatError(f"{name} is {constants[name]}, and {word}")
                case _:
                    pass  # imports, docstrings, __all__: what Python needs, and nobody else
    for function in functions.values():
        _Checker(function, functions, constants).check()
    return FlatModule(functions, constants)


def _body_of(node: ast.FunctionDef) -> Iterator[ast.stmt]:
    for statement in node.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text:
            yield statement


def _constant(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int() as value) if type(value) is int and value in _WORD:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case _:
            return None


class _Checker:
    """Looks whether a function is flat."""

    def __init__(
        self,
        function: FlatFunction,
        functions: Mapping[str, FlatFunction],
        constants: Mapping[str, int],
    ) -> None:
        self._function, self._functions = function, functions
        self._names = {*function.parameters, *constants}

    def check(self) -> None:
        self._names.update(assigned_in(self._function.body))
        for statement in self._function.body:
            self._statement(statement)

    def _refuse(self, node: ast.AST) -> FlatError:
        return FlatError(f"{self._function.name}: {ast.unparse(node)}")

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
                self._target(target)
                self._expression(value)
            case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                self._target(target)
                self._operator(op, node)
                self._expression(value)
            case ast.If(test=test, body=body, orelse=otherwise):
                self._expression(test)
                for one in (*body, *otherwise):
                    self._statement(one)
            case ast.While(test=test, body=body, orelse=[]):
                self._expression(test)
                for one in body:
                    self._statement(one)
            case ast.Return(value=ast.expr() as value) | ast.Expr(value=ast.Call() as value):
                self._expression(value)
            case ast.Break() | ast.Continue() | ast.Pass():
                pass
            case _:
                raise self._refuse(node)

    def _target(self, node: ast.expr) -> None:
        match node:
            case ast.Subscript(value=ast.Name(id="mem")):
                self._expression(node)
            case ast.Subscript():
                raise self._refuse(node)
            case _:
                pass

    def _operator(self, operator: ast.operator, node: ast.AST) -> None:
        if not isinstance(operator, _OPERATORS):
            raise self._refuse(node)

    def _expression(self, node: ast.expr) -> None:
        match node:
            case ast.Constant() if _constant(node) is not None:
                pass
            case ast.Name(id=name) if name in self._names:
                pass
            case ast.BinOp(left=left, op=operator, right=right):
                self._operator(operator, node)
                self._expression(left)
                self._expression(right)
            case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
                self._expression(operand)
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if isinstance(
                operator, _COMPARISONS
            ):
                self._expression(left)
                self._expression(right)
            case ast.BoolOp(values=values):
                for value in values:
                    self._expression(value)
            case ast.Subscript(value=ast.Name(id="mem" | "text"), slice=at):
                self._expression(at)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                known = self._functions.get(name)
                wanted = GIVEN.get(name) if known is None else len(known.parameters)
                if wanted != len(arguments):
                    raise self._refuse(node)
                for argument in arguments:
                    self._expression(argument)
            case _:
                raise self._refuse(node)


def assigned_in(body: tuple[ast.stmt, ...]) -> set[str]:
    """Return the names that statements assign."""
    return {
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
