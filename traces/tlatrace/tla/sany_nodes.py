"""The nodes of SANY's XML: texts, unique ids and places."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

__all__ = [
    "SUBSTITUTIONS",
    "Element",
    "Location",
    "identifier",
    "is_known_in",
    "is_told",
    "location_of",
    "nodes_of",
    "text_of",
    "uid_of",
]

Element: TypeAlias = ElementTree.Element

SUBSTITUTIONS: Final = ("SubstInNode", "APSubstInNode")
"""What an INSTANCE makes of a definition, and of a named formula."""

_FACTS: Final = ("AssumeDef", "TheoremDefNode")
"""The formulas to which an ASSUME, an AXIOM or a THEOREM gives a name: `ASSUME Some == N > 0`."""

_STATE_LEVEL: Final = 1


@dataclass(frozen=True, slots=True)
class Location:
    """Where something stands in a `.tla`: 1-based lines and columns, ends included."""

    module: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.module}.tla:{self.line}:{self.column}"


def nodes_of(root: Element) -> dict[str, Element]:
    """Return what SANY's XML describes, by unique id; a named formula as a definition has it."""
    entries = {text_of(entry, "UID"): entry[1] for entry in root.iterfind("context/entry")}
    return {uid: _defined(node) if node.tag in _FACTS else node for uid, node in entries.items()}


def _defined(fact: Element) -> Element:
    """Return a named formula with its formula as the body, as that of an operator is."""
    found = ElementTree.Element(fact.tag)
    body = ElementTree.Element("body")
    body.append(fact[-1])
    found.extend([*fact[:-1], body])
    return found


def identifier(name: str) -> str:
    """Return a text that is fit for a Python name; it need not be unique."""
    kept = "".join([char if char.isascii() and char.isalnum() else "_" for char in name])
    return f"v_{kept[:40]}"


def location_of(node: Element) -> Location | None:
    location = node.find("location")
    if location is None:
        return None
    return Location(
        module=text_of(location, "filename"),
        line=int(text_of(location, "line/begin")),
        column=int(text_of(location, "column/begin")),
        end_line=int(text_of(location, "line/end")),
        end_column=int(text_of(location, "column/end")),
    )


def is_known_in(node: Element, name: str, module: str) -> bool:
    """Tell whether a module knows a symbol by a name: it defines it, or has it by an INSTANCE.

    What it defines may be seen elsewhere as `I!Op`; the innermost body says where that is from.
    """
    own = text_of(node, "uniquename")
    if own == name and text_of(node, "location/filename") == module:
        return True
    body = node.find("body/*")
    while body is not None and body.tag in SUBSTITUTIONS:
        body = body.find("body/*")
    if body is None or own.rpartition("!")[2] != name:
        return False
    return text_of(body, "location/filename") == module


def is_told(fact: Element, operands: Sequence[Element]) -> bool:
    """Tell whether SANY tells all of a named formula, and it is no part of a step.

    The parameters of one that a K(n) == INSTANCE brings are not in the XML, and a step by such a
    name has no name of its own with TLC.
    """
    return not operands and int(text_of(fact, "level")) <= _STATE_LEVEL


def text_of(node: Element, path: str) -> str:
    return node.findtext(path, "")


def uid_of(ref: Element) -> str:
    return text_of(ref, "UID")
