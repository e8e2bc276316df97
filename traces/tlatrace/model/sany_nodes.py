"""The nodes of SANY's XML: texts, unique ids and places."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import TypeAlias

from tlatrace.model.tree import (
    Place,
)

__all__ = ["Element", "identifier", "module_of", "place_of", "text_of", "uid_of"]

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


def module_of(node: Element) -> str:
    """Return where a symbol is from; for the `I!Op` of an INSTANCE that is where Op is."""
    body = node.find("body/*")
    while body is not None and body.tag == "SubstInNode":
        body = body.find("body/*")
    return text_of(node if body is None else body, "location/filename")


def text_of(node: Element, path: str) -> str:
    return node.findtext(path, "")


def uid_of(ref: Element) -> str:
    return text_of(ref, "UID")
