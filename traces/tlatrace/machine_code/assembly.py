"""Flat Python as LLVM's assembly: each name a slot on the stack, which LLVM makes a register.

Source: the language reference of LLVM; floor division as Python's language reference has it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Final

from tlatrace.machine_code.flat import FlatFunction, FlatModule, assigned_in

__all__ = ["assembly_of"]

_PLAIN: Final[Mapping[type[ast.operator], str]] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}
_COMPARED: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "slt",
    ast.LtE: "sle",
    ast.Gt: "sgt",
    ast.GtE: "sge",
}
_GIVEN: Final = """declare i32 @memcmp(ptr, ptr, i64)

define internal i64 @compare_text(ptr %mem, ptr %text, i64 %left, i64 %right, i64 %count) {
  %one = getelementptr i8, ptr %text, i64 %left
  %other = getelementptr i8, ptr %text, i64 %right
  %found = call i32 @memcmp(ptr %one, ptr %other, i64 %count)
  %more = icmp sgt i32 %found, 0
  %less = icmp slt i32 %found, 0
  %up = zext i1 %more to i64
  %down = zext i1 %less to i64
  %sign = sub i64 %up, %down
  ret i64 %sign
}

define internal i64 @hash_text(ptr %mem, ptr %text, i64 %at, i64 %count) {
begin:
  %bytes = getelementptr i8, ptr %text, i64 %at
  %whole = and i64 %count, -8
  br label %words
words:
  %index = phi i64 [0, %begin], [%next, %word]
  %found = phi i64 [%count, %begin], [%mixed, %word]
  %more = icmp slt i64 %index, %whole
  br i1 %more, label %word, label %rest
word:
  %place = getelementptr i8, ptr %bytes, i64 %index
  %eight = load i64, ptr %place, align 1
  %both = xor i64 %found, %eight
  %product = mul i64 %both, 7046029254386353131
  %high = lshr i64 %product, 32
  %mixed = xor i64 %product, %high
  %next = add i64 %index, 8
  br label %words
rest:
  %at_byte = phi i64 [%whole, %words], [%next_byte, %byte]
  %known = phi i64 [%found, %words], [%mixed_byte, %byte]
  %left = icmp slt i64 %at_byte, %count
  br i1 %left, label %byte, label %end
byte:
  %place_byte = getelementptr i8, ptr %bytes, i64 %at_byte
  %one = load i8, ptr %place_byte
  %wide = zext i8 %one to i64
  %both_byte = xor i64 %known, %wide
  %product_byte = mul i64 %both_byte, 7046029254386353131
  %high_byte = lshr i64 %product_byte, 32
  %mixed_byte = xor i64 %product_byte, %high_byte
  %next_byte = add i64 %at_byte, 1
  br label %rest
end:
  ret i64 %known
}
"""


def assembly_of(module: FlatModule, exported: Collection[str]) -> str:
    """Translate a module; functions that are not exported may be lost in others.

    Each takes the array of words, and the text, before its own parameters.
    """
    return "\n".join(
        [
            _GIVEN,
            *[
                _Function(function, module.constants).text(is_exported=function.name in exported)
                for function in module.functions.values()
            ],
        ]
    )


class _Function:
    """Writes one function."""

    def __init__(self, function: FlatFunction, constants: Mapping[str, int]) -> None:
        self._function, self._constants = function, constants
        self._lines: list[str] = []
        self._count = 0
        self._loops: list[tuple[str, str]] = []
        """(where continue goes, where break goes) of the loops around."""
        self._locals = {*function.parameters, *assigned_in(function.body)}

    def text(self, *, is_exported: bool) -> str:
        names = "".join([f", i64 %a.{name}" for name in self._function.parameters])
        linkage = "" if is_exported else "internal "
        arrays = "ptr noalias %mem, ptr noalias readonly %text"
        head = f"define {linkage}i64 @{self._function.name}({arrays}"
        slots = [f"  %v.{name} = alloca i64" for name in sorted(self._locals)]
        for name in self._function.parameters:
            self._emit(f"store i64 %a.{name}, ptr %v.{name}")
        for statement in self._function.body:
            self._statement(statement)
        self._emit("ret i64 0")
        return "\n".join([f"{head}{names}) {{", "entry:", *slots, *self._lines, "}", ""])

    # ---- lines ----

    def _emit(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def _fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def _computed(self, text: str) -> str:
        name = f"%{self._fresh('r')}"
        self._emit(f"{name} = {text}")
        return name

    def _begin(self, label: str) -> None:
        self._lines.append(f"{label}:")

    def _leave_for(self, label: str) -> None:
        """Go to a block; what follows without a label of its own is reached by nobody."""
        self._emit(f"br label %{label}")

    # ---- statements ----

    def _block(self, body: list[ast.stmt], then: str) -> None:
        for statement in body:
            self._statement(statement)
        self._leave_for(then)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._emit(f"store i64 {self._value(value)}, ptr %v.{name}")
            case ast.Assign(targets=[ast.Subscript(slice=at)], value=value):
                word = self._value(value)
                self._emit(f"store i64 {word}, ptr {self._place(at)}")
            case ast.AugAssign(target=ast.Name(id=name) as target, op=operator, value=value):
                old = self._value(ast.Name(target.id, ast.Load()))
                new = self._binary(operator, old, self._value(value))
                self._emit(f"store i64 {new}, ptr %v.{name}")
            case ast.If(test=test, body=body, orelse=otherwise):
                yes, no, end = self._fresh("yes"), self._fresh("no"), self._fresh("end")
                self._branch(test, yes, no if otherwise else end)
                self._begin(yes)
                self._block(body, end)
                if otherwise:
                    self._begin(no)
                    self._block(otherwise, end)
                self._begin(end)
            case ast.While(test=test, body=body):
                head, inside, end = self._fresh("head"), self._fresh("in"), self._fresh("end")
                self._leave_for(head)
                self._begin(head)
                self._branch(test, inside, end)
                self._begin(inside)
                self._loops.append((head, end))
                self._block(body, head)
                self._loops.pop()
                self._begin(end)
            case ast.Return(value=ast.expr() as value):
                self._emit(f"ret i64 {self._value(value)}")
                self._begin(self._fresh("after"))
            case ast.Expr(value=value):
                self._value(value)
            case ast.Break() | ast.Continue():
                head, end = self._loops[-1]
                self._leave_for(end if isinstance(node, ast.Break) else head)
                self._begin(self._fresh("after"))
            case _:
                pass

    def _branch(self, test: ast.expr, yes: str, no: str) -> None:
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._branch(operand, no, yes)
            case ast.BoolOp(op=operator, values=values):
                for value in values[:-1]:
                    more = self._fresh("more")
                    if isinstance(operator, ast.And):
                        self._branch(value, more, no)
                    else:
                        self._branch(value, yes, more)
                    self._begin(more)
                self._branch(values[-1], yes, no)
            case ast.Compare():
                self._emit(f"br i1 {self._compared(test)}, label %{yes}, label %{no}")
            case _:
                bit = self._computed(f"icmp ne i64 {self._value(test)}, 0")
                self._emit(f"br i1 {bit}, label %{yes}, label %{no}")

    # ---- expressions ----

    def _value(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=value):
                return str(value)
            case ast.Name(id=name) if name in self._locals:
                return self._computed(f"load i64, ptr %v.{name}")
            case ast.Name(id=name):
                return str(self._constants[name])
            case ast.BinOp(left=left, op=operator, right=right):
                return self._binary(operator, self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._computed(f"sub i64 0, {self._value(operand)}")
            case ast.Compare():
                return self._computed(f"zext i1 {self._compared(node)} to i64")
            case ast.Subscript(value=ast.Name(id="text"), slice=at):
                place = self._computed(f"getelementptr i8, ptr %text, i64 {self._value(at)}")
                byte = self._computed(f"load i8, ptr {place}")
                return self._computed(f"zext i8 {byte} to i64")
            case ast.Subscript(slice=at):
                return self._computed(f"load i64, ptr {self._place(at)}")
            case ast.Call(func=ast.Name(id=name), args=arguments):
                words = "".join([f", i64 {self._value(argument)}" for argument in arguments])
                return self._computed(f"call i64 @{name}(ptr %mem, ptr %text{words})")
            case _:
                return self._of_condition(node)

    def _of_condition(self, node: ast.expr) -> str:
        """Return 1 or 0, as and, or, not say."""
        yes, no, end = self._fresh("yes"), self._fresh("no"), self._fresh("end")
        self._branch(node, yes, no)
        self._begin(yes)
        self._leave_for(end)
        self._begin(no)
        self._leave_for(end)
        self._begin(end)
        return self._computed(f"phi i64 [ 1, %{yes} ], [ 0, %{no} ]")

    def _place(self, at: ast.expr) -> str:
        return self._computed(f"getelementptr i64, ptr %mem, i64 {self._value(at)}")

    def _compared(self, node: ast.Compare) -> str:
        left, right = self._value(node.left), self._value(node.comparators[0])
        return self._computed(f"icmp {_COMPARED[type(node.ops[0])]} i64 {left}, {right}")

    def _binary(self, operator: ast.operator, left: str, right: str) -> str:
        plain = _PLAIN.get(type(operator))
        if plain is not None:
            return self._computed(f"{plain} i64 {left}, {right}")
        rest = self._computed(f"srem i64 {left}, {right}")
        signs = self._computed(f"xor i64 {rest}, {right}")
        has_rest = self._computed(f"icmp ne i64 {rest}, 0")
        differ = self._computed(f"icmp slt i64 {signs}, 0")
        below = self._computed(f"and i1 {has_rest}, {differ}")
        if isinstance(operator, ast.FloorDiv):
            quotient = self._computed(f"sdiv i64 {left}, {right}")
            less = self._computed(f"sub i64 {quotient}, 1")
            return self._computed(f"select i1 {below}, i64 {less}, i64 {quotient}")
        more = self._computed(f"add i64 {rest}, {right}")
        return self._computed(f"select i1 {below}, i64 {more}, i64 {rest}")
