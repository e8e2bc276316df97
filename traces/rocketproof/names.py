"""Names on the command line: who misspells one reads which it may have been."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

import click

__all__ = ["Named", "did_you_mean"]

_SHOWN: Final = 3
_ZEROS: Final = re.compile(r"(?<![0-9])0+(?=[0-9])")
_LISTED: Final = 20
"""More names than these are not listed in a message."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question about the names that are like this one; nothing if none is."""
    by_key = {_key(one): one for one in known}
    wanted = _key(name)
    close = [wanted] if wanted in by_key else get_close_matches(wanted, by_key, n=_SHOWN)
    if not close:
        return ""
    return f"; did you mean {' or '.join(repr(by_key[one]) for one in close)}?"


def _key(name: str) -> str:
    """Leave out what is easily left out or wrong: large letters, and the 0 of B05."""
    return _ZEROS.sub("", name.lower())


class Named(click.Choice[str]):
    """A choice among names: says which one may be meant, and lists them if they are few.

    click asks the type of an option what a value is, hence the inheritance.
    """

    def __init__(self, names: Iterable[str], *, listed_by: str = "--help") -> None:
        """Take any of `names`; a command or an option lists them where they are many."""
        super().__init__(list(names))
        self._listed_by = listed_by

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name. Raises: click.BadParameter"""
        names = list(self.choices)
        if value in names:
            return value
        few = ", ".join(names) if len(names) <= _LISTED else f"see {self._listed_by}"
        return self.fail(f"no such name: {value!r}{did_you_mean(value, names)} ({few})", param, ctx)
