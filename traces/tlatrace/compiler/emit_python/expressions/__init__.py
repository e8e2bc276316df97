r"""Write expressions as Python: as values, as conditions, and as requirements.

`value` and `condition` return the text of a Python expression and write the statements that it
needs before it. `require` writes statements that go on if a boolean expression is TRUE and leave,
by the given statement, if it is not. What TLA+ evaluates only sometimes (the right of /\, a branch,
LET, an argument) is written into the branch that needs it: a name that LET defines is computed at
most once, where it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable

from tlatrace.compiler.emit_python.expressions.calls import Calls
from tlatrace.compiler.emit_python.expressions.conditions import Conditions
from tlatrace.compiler.emit_python.expressions.environment import Environment, Parameters, ready
from tlatrace.compiler.emit_python.expressions.names import Names
from tlatrace.compiler.emit_python.expressions.quantifiers import Quantifiers
from tlatrace.compiler.emit_python.expressions.values import Values
from tlatrace.compiler.emit_python.writer import Writer
from tlatrace.compiler.ir.nodes import Composed, Expr

__all__ = ["Environment", "Expressions", "Parameters", "ready"]


class Expressions:
    """Writes the expressions of one specification; its parts call one another through it."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.names = Names(self)
        self.values = Values(self)
        self.calls = Calls(self)
        self.quantifiers = Quantifiers(self)
        self.conditions = Conditions(self)
        self.enabled: Callable[[Expr, Parameters], str] = _nowhere
        """Writes whether an action can be taken: only who enumerates steps knows how."""
        self.composed: Callable[[Composed, Parameters], str] = _nowhere
        """Writes the states that a composition of actions leads to."""


def _nowhere(action: Expr | Composed, parameters: Parameters) -> str:
    raise AssertionError(action, parameters)
