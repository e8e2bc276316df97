"""The strings and the model values that a specification and its configuration mention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tlatrace.compiler.lower.builtin import STANDARD_MODULES
from tlatrace.runtime.values import Atom, Fcn, RuntimeValue
from tlatrace.tla.sany_nodes import Element, text_of, uid_of
from tlatrace.tla.sany_tree import SanyTree

__all__ = ["Strings", "model_values_of", "strings_of"]


@dataclass(frozen=True, slots=True)
class Strings:
    """The strings in the text of a specification and of its configuration."""

    known: frozenset[str]
    any: bool
    """Whether STRING or ToString stands in it: then there are others."""
    joined: bool = False
    """Whether \\o stands in it: then there are those that are made of them."""

    def among(self, names: frozenset[str]) -> frozenset[str] | None:
        """Return those of the names that may be strings; None: all of them."""
        if self.any:
            return None
        if self.joined:
            return frozenset([name for name in names if self._makes(name)])
        return self.known & names

    def _makes(self, name: str) -> bool:
        """Tell whether a name is one of the strings, or some of them one behind another."""
        ends = [True] + [False] * len(name)
        for end in range(1, len(name) + 1):
            ends[end] = any(ends[at] and name[at:end] in self.known for at in range(end))
        return ends[-1]


def strings_of(tree: SanyTree, values: Iterable[RuntimeValue]) -> Strings:
    """Find the strings of SANY's document, field names included, and of a configuration."""
    known = {
        text_of(node, "StringValue") for node in tree.document.iter("StringNode") if _is_own(node)
    }
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
    used = {
        uid_of(ref)
        for node in tree.document.iter("OpApplNode")
        if _is_own(node)
        for ref in node.iterfind("operator/*")
    }
    operators = {text_of(tree.nodes[uid], "uniquename") for uid in used if uid in tree.nodes}
    return Strings(
        frozenset(known), bool(operators & {"STRING", "ToString"}), joined="\\o" in operators
    )


def _is_own(node: Element) -> bool:
    """Tell whether it stands outside of the standard modules, whose text is never evaluated."""
    return text_of(node, "location/filename") not in STANDARD_MODULES


def model_values_of(values: Iterable[RuntimeValue]) -> frozenset[str]:
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
