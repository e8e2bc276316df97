"""States and steps of a compiled specification, as its functions take and give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tlatrace.runtime.values import RuntimeValue

__all__ = ["ModelState", "Step"]

ModelState: TypeAlias = tuple[RuntimeValue, ...]
"""The values of `Model.variables`, in that order."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step that the specification allows from a state."""

    action: str
    """As TLC labels it."""
    params: tuple[RuntimeValue, ...]
    post: ModelState
