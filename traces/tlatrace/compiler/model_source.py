"""A compiled specification as text: what the compiler writes, and a `Model` executes.

It is plain text and values: it can be kept in a file, sent to a process without Java, and opened
there. Nothing of a trace ever gets into it.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from tlatrace.readings import NO_TYPES, Types
from tlatrace.tla.sany_nodes import Location

__all__ = ["Assumption", "Conjunct", "InstanceSource", "ModelSource", "NativeSource"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conjunct:
    """A part of an action that can be false."""

    place: Location | None
    relation: str
    """"=", "in", ... where both sides have values to show; else ""."""
    operators: tuple[str, ...]
    """The operators of the specification that it is made of, sorted."""
    within: tuple[str, ...]
    """The definitions that were entered to find it, from the outside."""


@dataclass(frozen=True, slots=True)
class InstanceSource:
    """An instance of a conjunct of an invariant, and what of the state it reads."""

    role: str
    arguments: tuple[str, ...]
    """Canonical JSON of the elements that its quantifiers range over."""
    reads: tuple[tuple[int, str | None], ...]
    """(position of a variable, canonical JSON of where in it; None: all of it)."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """An ASSUME."""

    place: str
    role: str | None
    """None: it does not compile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeSource:
    """What of a specification becomes machine code, as flat Python."""

    text: str
    functions: tuple[tuple[str, str], ...]
    """(role, flat function): "next", "action Crash", "invariant TypeOK" and so on."""
    constants: tuple[str, ...]
    """Canonical JSON of the values whose words stand in the array, one after the other."""
    labels: tuple[tuple[str, int], ...]
    """What the numbers of the labels of steps mean, with how many arguments each has."""
    unlowered: tuple[tuple[str, str], ...]
    """(role, why it stays Python's)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """A compiled specification as text."""

    module: str
    fingerprint: str
    variables: tuple[str, ...]
    actions: tuple[tuple[str, int], ...] = ()
    """Operators that a trace may name, with the number of their parameters."""
    invariants: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    """Those that say something of steps and of initial states, and nothing else."""
    init: str = ""
    next: str = ""
    """"" where there are no behaviours, and only ASSUMEs can be asked."""
    python: str
    literals: tuple[tuple[str, str], ...]
    """(global name, canonical JSON) of the values that the text refers to."""
    names: tuple[tuple[str, str], ...]
    """(role, Python function): "next", "steps Crash", "invariant TypeOK" and so on."""
    conjuncts: tuple[Conjunct, ...] = ()
    """What the functions of the roles "failing ..." number."""
    instances: tuple[InstanceSource, ...] = ()
    """What is TRUE wherever all invariants are."""
    assumptions: tuple[Assumption, ...] = ()
    """The ASSUMEs, if they were asked for."""
    values: tuple[tuple[str, str], ...]
    """(constant, canonical JSON) of the constants whose value is known."""
    types: Types = NO_TYPES
    """What may stand where, for whoever reads traces."""
    native: NativeSource | None = None
    """None where it was not asked for."""
    box: str = ""
    """"whole" or "part": what stays as it is in a step of [Next]_v that is none of Next; "": no
    such step is allowed."""

    def to_text(self) -> str:
        """Return it as JSON text."""
        return msgspec.json.encode(self).decode()

    @staticmethod
    def from_text(text: str) -> ModelSource:
        """Read what `to_text` wrote."""
        return msgspec.json.decode(text, type=ModelSource)
