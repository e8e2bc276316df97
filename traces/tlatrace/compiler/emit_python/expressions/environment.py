"""What the local names of an expression stand for while it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tlatrace.compiler.ir.nodes import (
    Definition,
    Expr,
    OperatorRef,
)

__all__ = [
    "Binding",
    "Environment",
    "Later",
    "Operator",
    "Parameters",
    "PythonFunction",
    "Ready",
    "all_ready",
    "parameters_of",
    "ready",
    "ready_text",
]


@dataclass(frozen=True, slots=True)
class Ready:
    text: str
    kind: str = "?"
    """The kind of the value where it is known: it makes the text simpler."""


@dataclass(frozen=True, slots=True)
class Later:
    """A value that is computed where it is needed; `name` holds it, None if it is used once."""

    expr: Expr
    environment: Environment
    name: str | None


@dataclass(frozen=True, slots=True)
class Operator:
    reference: OperatorRef
    environment: Environment


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A Python function: an operator that was passed to a recursive one."""

    text: str


Binding: TypeAlias = "Ready | Later | Operator | PythonFunction"
Environment: TypeAlias = Mapping[str, "Binding"]


Parameters: TypeAlias = Sequence[tuple[str, str]]
"""(name of the local, kind of its values) of each."""


def all_ready(names: tuple[str, ...], pythons: list[str], kind: str = "?") -> dict[str, Binding]:
    return {name: Ready(python, kind) for name, python in zip(names, pythons, strict=True)}


def parameters_of(
    definition: Definition, pythons: list[str], kinds: tuple[str, ...] = ()
) -> dict[str, Binding]:
    kinds = kinds or ("?",) * len(pythons)
    return {
        name: PythonFunction(python)
        if name in definition.operator_parameters
        else Ready(python, kind)
        for name, python, kind in zip(definition.parameters, pythons, kinds, strict=True)
    }


def ready_text(binding: Binding) -> str:
    assert isinstance(binding, Ready)
    return binding.text


def ready(parameters: Parameters, pythons: list[str]) -> Environment:
    """Return the environment in which each parameter is a Python name."""
    return {
        name: Ready(python, kind) for (name, kind), python in zip(parameters, pythons, strict=True)
    }
