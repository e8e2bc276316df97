"""Cut expressions out of a specification, to be read once more by a module that extends it.

There a name has to mean what it means where the expression stands. A module that is extended may
have LOCAL names, which another module of the specification uses for something else, and an
instanced one names of its own: an expression with such a name is not cut out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tlatrace.tla.sany_nodes import Element, uid_of

__all__ = ["Excerpts"]


class Excerpts:
    """Cuts expressions out of the modules in some folders."""

    def __init__(
        self, nodes: Mapping[str, Element], root: Element, folders: tuple[Path, ...]
    ) -> None:
        self._nodes = nodes
        self._folders = folders
        self._known = {
            uid_of(ref)
            for kind in ("UserDefinedOpKindRef", "OpDeclNodeRef")
            for ref in root.iterfind(kind)
        }

    def slice(self, node: Element) -> str | None:
        """Cut out an expression; None if it has local names or does not fit a line."""
        lines = self.lines(node)
        if lines is None or len(lines) > 1 or "\t" in lines[0]:
            return None
        return f"({lines[0].strip()})"

    def lines(self, node: Element, *, closed: bool = False) -> tuple[str, ...] | None:
        """Cut out the lines of an expression without local names; what stands before is blank.

        Where the expression is known to be closed, it binds all its local names.
        """
        inner = ("FormalParamNodeRef", "LetInNode")
        if not closed and any(True for tag in inner for _ in node.iter(tag)):
            return None
        location = node.find("location")
        if location is None or not self._means_the_same(node):
            return None
        file = f"{node.findtext('location/filename')}.tla"
        paths = [folder / file for folder in self._folders if (folder / file).is_file()]
        if not paths:
            return None
        first, last, begin, end = [
            int(location.findtext(path, ""))
            for path in ("line/begin", "line/end", "column/begin", "column/end")
        ]
        lines = paths[0].read_text("utf-8").split("\n")[first - 1 : last]
        if not lines or "\t" in "".join(lines[:-1]) + lines[-1][:end]:
            return None
        lines[-1] = lines[-1][:end]
        lines[0] = " " * (begin - 1) + lines[0][begin - 1 :]
        return tuple(lines)

    def _means_the_same(self, node: Element) -> bool:
        """Tell whether the root module knows what an expression calls, or LET defines it there."""
        own: set[str] = set()
        used: set[str] = set()
        waiting = [node]
        while waiting:
            for item in waiting.pop().iter():
                if item.tag == "OpDeclNodeRef":
                    used.add(uid_of(item))
                elif item.tag == "UserDefinedOpKindRef":
                    uid = uid_of(item)
                    used.add(uid)
                    definition = self._nodes[uid]
                    is_own = definition.findtext("uniquename") == "LAMBDA"
                    if is_own and uid not in own:
                        own.add(uid)
                        waiting.append(definition)
                elif item.tag == "LetInNode":
                    new = {uid_of(ref) for ref in item.iterfind("opDefs/*")} - own
                    own |= new
                    waiting += [self._nodes[uid] for uid in new]
        return used - own <= self._known
