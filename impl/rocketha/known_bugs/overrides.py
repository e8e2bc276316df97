"""A bug is an override of a core's rules, as a mutant is one of a specification's operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from rocketha.known_bugs.bug import Bug, Bugs

__all__ = ["Override", "overridden"]

R = TypeVar("R")

Override: TypeAlias = Callable[[R], R]
"""Rules in, rules out; it may go on asking those that it was given."""


def overridden(rules: R, overrides: Mapping[Bug, Override[R]], bugs: Bugs) -> R:
    """Put bugs into rules, in the order of the table; those that it does not have are no matter."""
    for bug, override in overrides.items():
        if bug in bugs:
            rules = override(rules)
    return rules
