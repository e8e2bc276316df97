"""What the names of a specification mean where an expression is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias
from xml.etree.ElementTree import tostring

from tlatrace.compiler.ir.nodes import (
    Definition,
    Expr,
    Origin,
)
from tlatrace.tla.sany_nodes import SUBSTITUTIONS, Element, location_of, uid_of

MAX_DEPTH: Final = 400
"""Nested expressions; deeper ones are refused."""

__all__ = [
    "MAX_DEPTH",
    "ByName",
    "Frame",
    "LetName",
    "Meaning",
    "Parameter",
    "Part",
    "Redirect",
    "Rigid",
    "Scope",
    "origin_of",
]


@dataclass(frozen=True, slots=True, eq=False)
class Rigid:
    """A bound name: a prime does not change it."""

    local: str


@dataclass(slots=True, eq=False)
class Parameter:
    """A parameter of a definition; `primed_local` exists once the body needs it."""

    local: str
    ambient: bool
    """The prime under which the definition is read."""
    position: int
    arity: int
    primed_local: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ByName:
    """An expression that stands for a constant or variable of an instanced module."""

    node: Element
    scope: Scope


@dataclass(slots=True, eq=False)
class LetName:
    """An operator that LET defines; its readings by prime."""

    node: Element
    frame: Frame
    values: dict[bool, str] = field(default_factory=dict)
    definitions: dict[bool, Definition] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Frame:
    """One LET: where its names are read, and the values that it binds, in order."""

    scope: Scope | None = None
    bindings: list[tuple[str, Expr]] = field(default_factory=list)


Part: TypeAlias = tuple[Element, "Scope"]
"""A part of a formula, and where it is read."""


Meaning: TypeAlias = Rigid | Parameter | ByName | LetName


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    names: Mapping[str, Meaning]
    """By SANY's unique id."""
    instance: Mapping[str, Meaning] | None
    """The substitutions in force, which definitions that are called see, too."""
    primed: bool = False
    at: str | None = None
    """The local that @ stands for."""
    choose_any: bool = False

    def with_names(self, names: Mapping[str, Meaning]) -> Scope:
        return replace(self, names={**self.names, **names})


@dataclass(frozen=True, slots=True)
class Redirect:
    """The configuration's `<-`: the name, inside the reader the unique id, of a definition."""

    name: str


def origin_of(node: Element, instance: Mapping[str, Meaning] | None) -> Origin | None:
    """Return where an operator that stands in an instance is from; None if it is in none."""
    put_in = {
        uid: tostring(meaning.node, "unicode")
        for uid, meaning in (instance or {}).items()
        if isinstance(meaning, ByName)
    }
    body = node.find("body/*")
    is_instanced = instance is not None
    while body is not None and body.tag in SUBSTITUTIONS:
        is_instanced = True
        for subst in body.iterfind("substs/Subst"):
            put_in[uid_of(subst[0])] = tostring(subst[-1], "unicode")
        body = body.find("body/*")
    if body is None or not is_instanced:
        return None
    return Origin(location_of(body), frozenset(put_in.items()))
