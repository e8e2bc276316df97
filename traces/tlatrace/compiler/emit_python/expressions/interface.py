"""What the parts of `Expressions` ask of one another, which are recursive as expressions are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tlatrace.compiler.emit_python.expressions.environment import Binding, Environment, Parameters
from tlatrace.compiler.emit_python.writer import Writer
from tlatrace.compiler.ir.nodes import (
    Apply,
    Call,
    Composed,
    Enabled,
    Expr,
    Let,
    Local,
    Operand,
    OperatorCall,
    Quantified,
    Recursive,
    Variable,
)

__all__ = ["ExpressionWriter", "Search"]


@dataclass(frozen=True, slots=True)
class Search:
    """The loops of a quantifier that is left where it is decided."""

    loops: list[tuple[str, str]]
    """(target, iterable), the outermost first."""
    environment: Environment
    sure: str = ""
    """The text of a Python bool, whether this is TLC's order; "" if it surely is."""

    @property
    def asks(self) -> bool:
        """Whether that is known only when the model runs."""
        return self.sure not in ("", "False")


class _Names(Protocol):
    """See `names`."""

    def variable(self, node: Variable) -> str: ...

    def state_after(self, node: Composed) -> str: ...

    def local(self, node: Local, env: Environment) -> str: ...

    def bind(self, node: Let, env: Environment) -> Environment: ...

    def binding(self, name: str, expr: Operand, env: Environment, body: Expr) -> Binding: ...

    def kind(self, node: Operand, env: Environment) -> str: ...

    def element_kind(self, among: Expr, env: Environment) -> str: ...

    def afresh(self, node: Operand, env: Environment) -> Environment: ...

    def declare_again(self, env: Environment) -> Environment: ...


class _Values(Protocol):
    """See `values`."""

    def value(self, node: Expr, env: Environment) -> str: ...

    def computed_once(self, node: Expr, text: str) -> str: ...

    def apply(self, node: Apply, env: Environment) -> str: ...

    def message(self, node: Operand, env: Environment) -> str: ...

    def part(self, node: Operand, env: Environment) -> str: ...

    def either(
        self,
        condition: str,
        yes: tuple[list[tuple[int, str]], str],
        no: tuple[list[tuple[int, str]], str],
        name: str,
    ) -> None: ...


class _Conditions(Protocol):
    """See `conditions`."""

    def condition(self, node: Expr, env: Environment) -> str: ...

    def require(self, node: Expr, env: Environment, otherwise: str) -> None: ...


class _Calls(Protocol):
    """See `calls`."""

    inlining: int

    def python_function(self, node: Operand, env: Environment, *, as_condition: bool) -> str: ...

    def call(self, node: Call, env: Environment, *, as_condition: bool) -> str: ...

    def enabled(self, node: Enabled, env: Environment) -> str: ...

    def composed(self, node: Composed, env: Environment) -> str: ...

    def is_inlined(self, node: Call, env: Environment) -> bool: ...

    def bind_arguments(self, node: Call, env: Environment) -> Environment: ...

    def operator_call(self, node: OperatorCall, env: Environment, *, as_condition: bool) -> str: ...

    def entered(self, node: OperatorCall, env: Environment) -> tuple[Expr, Environment]: ...


class _Quantifiers(Protocol):
    """See `quantifiers`."""

    @property
    def cells(self) -> Mapping[tuple[int, bool, str], str]: ...

    def quantified(self, node: Quantified, env: Environment) -> str: ...

    def recursive(self, node: Recursive, env: Environment) -> str: ...

    def leaves_at_once(self, node: Quantified) -> bool: ...

    def every(self, node: Quantified, env: Environment) -> Search: ...

    def loop_to(self, node: Quantified, env: Environment, result: str) -> None: ...

    def require_body(self, body: Expr, env: Environment, otherwise: str) -> None: ...


class ExpressionWriter(Protocol):
    """`Expressions`, as its parts know it."""

    @property
    def writer(self) -> Writer: ...

    @property
    def names(self) -> _Names: ...

    @property
    def values(self) -> _Values: ...

    @property
    def conditions(self) -> _Conditions: ...

    @property
    def calls(self) -> _Calls: ...

    @property
    def quantifiers(self) -> _Quantifiers: ...

    def enabled(self, action: Expr, parameters: Parameters, /) -> str: ...

    def composed(self, node: Composed, parameters: Parameters, /) -> str: ...
