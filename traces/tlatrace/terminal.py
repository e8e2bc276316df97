"""How wide what is printed may be: as the terminal is, and elsewhere as wide as it has to be.

A log has no width, and who copies a path or a command from it wants it in one piece: nothing is cut
or broken there. On a terminal only tables are fitted; other lines the terminal itself breaks, so
that they can be copied, too. COLUMNS says otherwise, as it does to other programs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from typing import Final, TextIO

from rich.console import Console
from rich.table import Table

__all__ = ["columns", "open_console", "open_table"]

_BOUNDLESS: Final = 100_000
"""Columns for rich where nobody limits them: tables are as wide as what is in them."""
_LINES: Final = 25
"""No matter: but rich takes a width for what it is only together with a height."""


def columns(stream: TextIO | None = None) -> int | None:
    """Say how many columns there are where a stream (standard output) goes; None: no limit."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isascii() and columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size((stream or sys.stdout).fileno()).columns or None
    except (AttributeError, OSError, ValueError):  # a file, a pipe, or something in its place
        return None


def open_console() -> Console:
    """Return what prints tables and lines to standard output."""
    width = columns() or _BOUNDLESS
    return Console(width=width, height=_LINES, highlight=False, soft_wrap=True)


def open_table(title: str, *names: str, right: Collection[str] = ()) -> Table:
    """Begin a table of which nothing is cut; the columns in `right` are set to the right."""
    table = Table(title=title, title_justify="left")
    for name in names:
        table.add_column(name, overflow="fold", justify="right" if name in right else "left")
    return table
