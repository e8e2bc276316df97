"""Which definitions of modules are built in, and which are refused."""

from __future__ import annotations

from tlatrace.compiler.lower.builtin import (
    IN_JAVA,
    NOT_DONE,
    OF_COMMUNITY,
    OF_MODULES,
    REFUSED,
    STANDARD_MODULES,
    UNSETTLED,
    WITH_A_VALUE,
)
from tlatrace.tla.sany_nodes import SUBSTITUTIONS, Element, text_of
from tlatrace.tla.sources import Sources

__all__ = ["Modules"]


class Modules:
    """Knows the standard modules, and the community modules in our own text."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def key(self, node: Element) -> str | None:
        """Return the key of an operator that is built in; None if its text is what it means."""
        name = text_of(node, "uniquename")
        if _own_module(node) in STANDARD_MODULES and name in OF_MODULES:
            return OF_MODULES[name]
        origin = _origin(node)
        if origin in OF_COMMUNITY and self._sources.is_ours(origin[0]):
            return origin[1]
        return None

    def reason_against(self, node: Element) -> str | None:
        """Say why an operator that is not built in is refused, if it is."""
        name, own = text_of(node, "uniquename"), _own_module(node)
        if name in REFUSED and (own in STANDARD_MODULES or own == "Reals"):
            return REFUSED[name]
        module, bare = _origin(node)
        reason = None if bare in WITH_A_VALUE else IN_JAVA.get(module)
        if reason is None and self._sources.is_ours(module):
            reason = UNSETTLED.get((module, bare), NOT_DONE.get(module))
        return reason and f"{bare} of {module} is not evaluated: {reason}"


def _own_module(node: Element) -> str:
    return text_of(node, "body/*/location/filename")


def _origin(node: Element) -> tuple[str, str]:
    """Return the module whose text a definition is, and its name there, without `I!`."""
    body = node.find("body/*")
    while body is not None and body.tag in SUBSTITUTIONS:
        body = body.find("body/*")
    module = "" if body is None else text_of(body, "location/filename")
    return module, text_of(node, "uniquename").rpartition("!")[2]
