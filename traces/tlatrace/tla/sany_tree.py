"""What SANY says of a module, found once: its nodes by unique id, what it declares and defines.

Source: tla2sany/xml/sany.xsd of the TLC jar.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from tlatrace.errors import ToolError
from tlatrace.tla.sany_nodes import Element, nodes_of, text_of, uid_of
from tlatrace.tools.sany import export_xml

__all__ = ["SanyTree", "read_sany"]

_CONSTANT, _VARIABLE = "2", "3"
_KEPT: Final = 2
"""Documents, as many as `export_xml` keeps."""


class SanyTree:
    """The exported document of a root module with all that it uses."""

    def __init__(self, root: Element) -> None:
        """Find the root module.

        Raises:
            ToolError: the document has none.
        """
        self.document = root
        self.nodes = nodes_of(root)
        self.module = text_of(root, "RootModule")
        modules = [
            node
            for node in self.nodes.values()
            if node.tag == "ModuleNode" and text_of(node, "uniquename") == self.module
        ]
        if not modules:
            raise ToolError("SANY", f"its XML has no module {self.module}")
        self.root = modules[0]
        self.operators = {
            name: uid
            for name, uid in self._named("UserDefinedOpKindRef")
            if self.nodes[uid].tag == "UserDefinedOpKind"
        }
        """Name of an operator -> its unique id, those of the modules that it extends, too."""
        declared = self._named("OpDeclNodeRef")
        kinds = {uid: text_of(self.nodes[uid], "kind") for _, uid in declared}
        self.constants = {name: uid for name, uid in declared if kinds[uid] == _CONSTANT}
        self.variables = {name: uid for name, uid in declared if kinds[uid] == _VARIABLE}

    def _named(self, tag: str) -> list[tuple[str, str]]:
        found = [uid_of(ref) for ref in self.root.iterfind(tag)]
        return [(text_of(self.nodes[uid], "uniquename"), uid) for uid in found]


def read_sany(module: Path, libraries: Sequence[Path] = ()) -> SanyTree:
    """Ask SANY about a module; asked once while no file at hand changes.

    Raises:
        SpecError: SANY refuses the module.
        ToolError: there is no Java or no jar, or its answer cannot be read.
    """
    return _tree_of(export_xml(module, libraries=tuple(libraries)))


@lru_cache(maxsize=_KEPT)
def _tree_of(document: Element) -> SanyTree:
    return SanyTree(document)
