"""What toys of an `Oracle` have in common."""

from __future__ import annotations

from tlatrace.oracle import ModelState
from tlatrace.runtime.values import RuntimeValue, to_runtime
from tlatrace.values import Value

__all__ = ["Unconstrained"]


class Unconstrained:
    """A model without constraints, and with variables that are read as any value is."""

    __slots__ = ()

    def adopt_variable(self, _name: str, value: Value) -> RuntimeValue:
        return to_runtime(value)

    def within(self, _state: ModelState) -> bool:
        return True

    def within_step(self, _pre: ModelState, _post: ModelState) -> bool:
        return True
