"""Ranges of seeds, as commands take them."""

from __future__ import annotations

import click

__all__ = ["seed_range"]


def seed_range(text: str) -> range:
    """Read `A..B`, both included, or one number. Raises: click.BadParameter"""
    first, dots, last = text.partition("..")
    try:
        begin, end = int(first), int(last if dots else first)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no A..B.", param_hint="--seeds") from None
    if end < begin or begin < 0:
        raise click.BadParameter(f"{text!r} has no seeds.", param_hint="--seeds")
    return range(begin, end + 1)
