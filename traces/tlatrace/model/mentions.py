"""The strings and the model values that a specification and its configuration mention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tlatrace.model.builtin import STANDARD_MODULES
from tlatrace.model.domain import Atom, D, Fcn
from tlatrace.model.sany_nodes import Element, text_of

__all__ = ["Strings", "model_values_of", "strings_of"]


@dataclass(frozen=True, slots=True)
class Strings:
    """The strings in the text of a specification and of its configuration."""

    known: frozenset[str]
    any: bool
    """Whether STRING or ToString stands in it: then there are others."""

    def among(self, names: frozenset[str]) -> frozenset[str] | None:
        """Return those of the names that may be strings; None: all of them."""
        return None if self.any else self.known & names


def strings_of(root: Element, values: Iterable[D]) -> Strings:
    """Find the strings of SANY's document, field names included, and of a configuration."""
    known = {text_of(node, "StringValue") for node in root.iter("StringNode") if _is_own(node)}
    waiting = [*values]
    while waiting:
        match waiting.pop():
            case str() as text:
                known.add(text)
            case Fcn() as function:
                waiting += [*function, *function.values()]
            case tuple() | frozenset() as some:
                waiting += some
            case _:
                pass
    makers = {
        entry.findtext("UID")
        for entry in root.iterfind("context/entry")
        if entry[1].findtext("uniquename") in ("STRING", "ToString")
    }
    used = {
        ref.findtext("UID")
        for node in root.iter("OpApplNode")
        if _is_own(node)
        for ref in node.iterfind("operator/*")
    }
    return Strings(frozenset(known), bool(makers & used))


def _is_own(node: Element) -> bool:
    """Tell whether it stands outside of the standard modules, whose text is never evaluated."""
    return text_of(node, "location/filename") not in STANDARD_MODULES


def model_values_of(values: Iterable[D]) -> frozenset[str]:
    """Collect the names of the model values in values of a configuration."""
    found: set[str] = set()
    waiting = [*values]
    while waiting:
        match waiting.pop():
            case Atom() as atom:
                found.add(atom.name)
            case Fcn() as function:
                waiting += [*function, *function.values()]
            case tuple() | frozenset() as some:
                waiting += some
            case _:
                pass
    return frozenset(found)
