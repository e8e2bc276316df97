"""Values as words, in flat Python: what native models compute with (see `layout`)."""

from __future__ import annotations

from inspect import getsource

from tlatrace.runtime.words import (
    columns,
    comparing,
    contents,
    functions,
    layout,
    numbers,
    questions,
    searching,
    sets,
    steps,
    texts,
)

__all__ = ["MODULES", "flat_text", "search_text"]

MODULES = (layout, contents, comparing, sets, functions, numbers, questions, steps, texts, columns)


def flat_text() -> str:
    """Return the text of all of it, as flat Python."""
    return "\n".join([getsource(module) for module in MODULES])


def search_text() -> str:
    """Return the text of a search, which calls what `asked` has for a model."""
    return getsource(searching)
