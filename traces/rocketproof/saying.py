"""What commands print: lines that obey nobody but us."""

from __future__ import annotations

import shlex
from typing import Final

import click

from tlatrace.harmless import harmless_lines

__all__ = ["TYPED", "say", "typed_with"]

TYPED: Final = "rocketproof.typed"
"""Where a click context keeps the words that were typed behind the program's name."""


def say(text: str, *, err: bool = False) -> None:
    """Print lines, made harmless: names, values and messages of strangers may be in them."""
    click.echo(harmless_lines(text), err=err)


def typed_with(option: str) -> str:
    """Return the command that is running, with one option more."""
    words = click.get_current_context().meta.get(TYPED, ())
    return shlex.join(["rocketproof", *words, option])
