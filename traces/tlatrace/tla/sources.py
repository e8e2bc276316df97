"""The text of the modules: excerpts for refusals, and annotations in comments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tlatrace.errors import SubsetError
from tlatrace.tla.sany_nodes import Element, Location, location_of
from tlatrace.tools.module_folders import COMMUNITY

__all__ = ["Sources"]

_CHOOSE_ANY: Final = "CHOOSE ANY"
_AXIOM: Final = "AXIOM"


class Sources:
    """The text of the modules."""

    def __init__(self, module: str, folders: Sequence[Path]) -> None:
        self._module = module
        self._folders = folders
        self._sources: dict[str, list[str]] = {}

    def says_choose_any(self, place: Location | None) -> bool:
        if place is None:
            return False
        lines = self._source(place.module)
        if place.module == "Bags" and lines == [""]:  # the jar's own: it adds up in any order
            return True
        return any(
            _CHOOSE_ANY in line.partition("\\*")[2]
            for line in lines[max(place.line - 2, 0) : place.end_line]
        )

    def is_axiom(self, place: Location | None) -> bool:
        """Tell whether an AXIOM stands at a place: TLC does not evaluate it, and SANY's XML calls
        it an ASSUME.
        """
        if place is None:
            return False
        lines = self._source(place.module)
        line = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
        columns = line.expandtabs()  # as SANY counts them
        return columns[place.column - 1 :].startswith(_AXIOM)

    def is_ours(self, module: str) -> bool:
        """Tell whether a module is a community module in our own text."""
        path = self._path(module)
        return path is not None and path.parent == COMMUNITY

    def _path(self, module: str) -> Path | None:
        paths = [folder / f"{module}.tla" for folder in self._folders]
        return next((path for path in paths if path.is_file()), None)

    def _source(self, module: str) -> list[str]:
        if module not in self._sources:
            path = self._path(module)
            text = path.read_text("utf-8", errors="replace") if path is not None else ""
            self._sources[module] = text.split("\n")
        return self._sources[module]

    def refusal(self, node: Element, reason: str) -> SubsetError:
        place = location_of(node)
        if place is None:
            return SubsetError(self._module, reason)
        width = place.end_column - place.column + 1 if place.end_line == place.line else 1
        excerpt = self._excerpt(place.module, place.line, place.column, width)
        return SubsetError(f"{place.module}.tla", reason, place.line, place.column, excerpt)

    def shown(self, error: SubsetError) -> SubsetError:
        """Return a refusal with the text of its line, if it names one and does not show it."""
        if error.excerpt or error.line is None or error.column is None:
            return error
        module = str(error.path).removesuffix(".tla")
        excerpt = self._excerpt(module, error.line, error.column, 1)
        return SubsetError(error.path, error.reason, error.line, error.column, excerpt)

    def _excerpt(self, module: str, line: int, column: int, width: int) -> str:
        lines = self._source(module)
        if not 0 < line <= len(lines):
            return ""
        return f"{lines[line - 1]}\n{' ' * (column - 1)}{'^' * max(width, 1)}"
