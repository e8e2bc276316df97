"""What the local names of a tree stand for while it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tlatrace.compiler.ir.nodes import Expr, OperatorRef

__all__ = ["Binding", "Environment", "Later", "Operator", "Word"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that is known, by its text."""

    text: str
    is_sure: bool = True
    """Whether it is none that may be BAD, and is looked at where it is needed."""


@dataclass(frozen=True, slots=True)
class Later:
    """An expression that is evaluated where it is needed, each time."""

    expr: Expr
    environment: Environment


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that was passed."""

    reference: OperatorRef
    environment: Environment


Binding: TypeAlias = Word | Later | Operator
Environment: TypeAlias = Mapping[str, Binding]
