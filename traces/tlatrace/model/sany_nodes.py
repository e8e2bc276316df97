"""The nodes of SANY's XML: texts, unique ids and places."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import TypeAlias

from tlatrace.model.tree import (
    Place,
)

__all__ = ["Element", "identifier", "is_known_in", "place_of", "text_of", "uid_of"]

Element: TypeAlias = ElementTree.Element


def identifier(name: str) -> str:
    """Return a text that is fit for a Python name; it need not be unique."""
    kept = "".join([char if char.isascii() and char.isalnum() else "_" for char in name])
    return f"v_{kept[:40]}"


def place_of(node: Element) -> Place | None:
    location = node.find("location")
    if location is None:
        return None
    return Place(
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
    while body is not None and body.tag == "SubstInNode":
        body = body.find("body/*")
    if body is None or own.rpartition("!")[2] != name:
        return False
    return text_of(body, "location/filename") == module


def text_of(node: Element, path: str) -> str:
    return node.findtext(path, "")


def uid_of(ref: Element) -> str:
    return text_of(ref, "UID")
