"""What commands print: lines that obey nobody but us."""

from __future__ import annotations

import click

from tlatrace.harmless import harmless_lines

__all__ = ["say"]


def say(text: str, *, err: bool = False) -> None:
    """Print lines, made harmless: names, values and messages of strangers may be in them."""
    click.echo(harmless_lines(text), err=err)
