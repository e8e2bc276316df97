"""What commands print: lines that obey nobody but us."""

from __future__ import annotations

import shlex
from typing import Final

import click

from tlatrace.harmless import harmless_lines

__all__ = ["TYPED", "command_with", "print_text"]

TYPED: Final = "rocketproof.typed"
"""Where a click context keeps the arguments that were typed behind the program's name."""


def print_text(text: str, *, err: bool = False) -> None:
    """Print lines, made harmless: names, values and messages of strangers may be in them."""
    click.echo(harmless_lines(text), err=err)


def command_with(option: str) -> str:
    """Return the command that is running, with one option more."""
    arguments = click.get_current_context().meta.get(TYPED, ())
    return shlex.join(["rocketproof", *arguments, option])
