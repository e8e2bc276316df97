"""An operator that a module can name, and how it is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["ACTION_LEVEL", "Operator", "why_no_invariant"]

ACTION_LEVEL: Final = 2


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that the module can name."""

    arity: int
    level: int
    """0 constant, 1 state, 2 action, 3 temporal."""
    module: str
    """Where it is defined."""
    of_instance: int = 0
    """So many of the first parameters are those of its INSTANCE: `I(k)!Add(i)` is `I!Add` of 2."""

    def call(self, name: str, arguments: Sequence[str]) -> str:
        """Write a call of the operator, which the module knows by this name."""
        own = arguments[self.of_instance :]
        if self.of_instance:
            instance, _, operator = name.rpartition("!")
            name = f"{instance}({', '.join(arguments[: self.of_instance])})!{operator}"
        return name + (f"({', '.join(own)})" if own else "")

    @property
    def is_action(self) -> bool:
        """Whether it relates two states."""
        return self.level == ACTION_LEVEL


def why_no_invariant(arity: int | None, level: int) -> str | None:
    """Say why an operator is no state invariant, if it is none; `arity` None: there is none."""
    if arity is None:
        return "there is no such operator"
    if arity:
        return "it has parameters"
    if level < ACTION_LEVEL:
        return None
    return "it has primes" if level == ACTION_LEVEL else "it is a temporal formula"
