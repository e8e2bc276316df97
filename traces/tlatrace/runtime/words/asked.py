"""What a search asks of a model: the compiler writes these functions anew for each one.

These here are sure of nothing. `s` is where the parts of a state stand, `t` where those of the next
one do or will, `p` where arguments are.
"""

# ruff: noqa: ARG001

from __future__ import annotations

from tlatrace.runtime.words.layout import BAD

__all__ = [
    "asked_arity",
    "asked_constraints",
    "asked_initial_properties",
    "asked_initials",
    "asked_invariants",
    "asked_properties",
    "asked_step",
    "asked_steps",
    "asked_view",
]


def asked_initials(s: int, t: int, p: int) -> int:
    """List the initial states: 1, or 2."""
    return 2


def asked_steps(s: int, t: int, p: int) -> int:
    """List the steps from a state: 1, or 2."""
    return 2


def asked_arity(label: int) -> int:
    """Return how many arguments a label of a listed step has."""
    return 0


def asked_view(s: int, p: int) -> int:
    """Return the value of the VIEW; BAD where it is not sure."""
    return BAD


def asked_invariants(s: int, p: int) -> int:
    """Tell whether all invariants are TRUE; 2 where one is not sure, be another one FALSE."""
    return 2


def asked_constraints(s: int, p: int) -> int:
    """Tell whether all constraints are TRUE, up to the first that is not."""
    return 2


def asked_step(s: int, t: int, p: int) -> int:
    """Tell the same of the action constraints."""
    return 2


def asked_properties(s: int, t: int, p: int) -> int:
    """Tell whether a step breaks no property; 2 where one is not sure, be another one broken."""
    return 2


def asked_initial_properties(s: int, p: int) -> int:
    """Tell the same of an initial state."""
    return 2
