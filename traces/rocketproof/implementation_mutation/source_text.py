"""The text of a module, by the places of its syntax tree."""

from __future__ import annotations

import ast
from itertools import accumulate

__all__ = ["SourceText"]


class SourceText:
    """A module's text; places count bytes, as `ast` does."""

    def __init__(self, text: str) -> None:
        """Take the text of a module."""
        self._data = text.encode()
        lines = self._data.splitlines(keepends=True)
        self._starts = (0, *accumulate(map(len, lines)))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        assert isinstance(node, ast.expr | ast.stmt | ast.keyword)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = self._starts[node.lineno - 1] + node.col_offset
        return begin, self._starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.AST) -> str:
        """Return the text of a node."""
        return self.between(*self.span(node))

    def between(self, begin: int, end: int) -> str:
        """Return the text between two places."""
        return self._data[begin:end].decode()

    def replaced(self, begin: int, end: int, by: str) -> str:
        """Return the whole text with something else between two places."""
        return (self._data[:begin] + by.encode() + self._data[end:]).decode()

    def line_at(self, place: int) -> int:
        """Return the line of a place, from 1."""
        return sum(start <= place for start in self._starts[:-1])
