"""What the parts of the reader of SANY's tree ask of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tlatrace.compiler.ir.nodes import Definition, Expr
from tlatrace.compiler.lower.modules import Modules
from tlatrace.compiler.lower.scope import LetName, Part, Redirect, Scope
from tlatrace.runtime.values import RuntimeValue
from tlatrace.tla.sany_nodes import Element
from tlatrace.tla.sources import Sources

__all__ = ["TreeReader"]


class TreeReader(Protocol):
    """Reads the expressions and the definitions of one specification."""

    module: str
    nodes: dict[str, Element]
    by_name: dict[str, str]
    """Name of an operator of the root module -> its unique id."""
    variables: tuple[str, ...]
    overridden: dict[str, RuntimeValue | Redirect]
    parts_of: dict[str, list[Part]]
    """Names that a formula's Init and Next have got -> what they consist of."""
    fresh: Iterator[int]
    depth: int
    sources: Sources
    modules: Modules

    def expr(self, node: Element, scope: Scope) -> Expr:
        """Read an expression."""

    def read_definition(self, uid: str, scope: Scope) -> Definition:
        """Read a definition of a module."""

    def let_definition(self, meaning: LetName, scope: Scope) -> Definition:
        """Read a definition of a LET."""

    def instanced(self, node: Element, scope: Scope) -> Scope:
        """Return the scope below a substitution."""

    def local(self, name: str) -> str:
        """Return a local name that no other has."""
