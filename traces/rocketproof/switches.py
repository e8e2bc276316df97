"""What there is to switch on in the implementation: its bugs and its faults, with a line each.

The line is the first sentence of what stands below a member of the enumeration in its source, so
that nothing is said twice; at run time Python does not know it, hence the reading of the text.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Container, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Final

from rocketha.known_bugs import Bug
from rocketha.sim.engine.faults import Fault
from rocketproof.protocols import PROTOCOLS
from tlatrace.errors import ToolError

__all__ = ["Switch", "bug_switches", "fault_switches"]

_SENTENCE_ENDS: Final = (". ", ".\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A bug or a fault that a run may have."""

    name: str
    """As the command line takes it."""
    line: str
    """What it does."""
    protocols: tuple[str, ...]
    """Whose implementation has it."""


def bug_switches() -> tuple[Switch, ...]:
    """List the bugs that can be put into an implementation, in the order of their names.

    Raises: ToolError if the source is not at hand.
    """
    return _switches(Bug, {name: one.bugs for name, one in PROTOCOLS.items()})


def fault_switches() -> tuple[Switch, ...]:
    """List the faults that a run may have.

    Raises: ToolError if the source is not at hand.
    """
    return _switches(Fault, {name: one.faults for name, one in PROTOCOLS.items()})


def _switches(
    enumeration: type[StrEnum], of_protocols: Mapping[str, Container[StrEnum]]
) -> tuple[Switch, ...]:
    lines = _lines(enumeration)
    return tuple(
        Switch(
            name=member.value,
            line=lines[member.name],
            protocols=tuple(name for name, those in of_protocols.items() if member in those),
        )
        for member in enumeration
    )


@cache
def _lines(enumeration: type[StrEnum]) -> Mapping[str, str]:
    """Read the sentence below each member."""
    try:
        module = ast.parse(inspect.getsource(enumeration))
    except (OSError, SyntaxError) as error:
        raise ToolError("bugs", f"cannot read the source of {enumeration.__name__}") from error
    (body,) = [node.body for node in module.body if isinstance(node, ast.ClassDef)]
    lines = {}
    for member, below in pairwise(body):
        match member, below:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=text)):
                lines[name] = _sentence(str(text))
            case _:
                pass
    return lines


def _sentence(text: str) -> str:
    """Return the first sentence, in one line and without its full stop."""
    ends = [at for at in (text.find(end) for end in _SENTENCE_ENDS) if at >= 0]
    first = text[: min(ends)] if ends else text.rstrip().removesuffix(".")
    return " ".join(first.split())
