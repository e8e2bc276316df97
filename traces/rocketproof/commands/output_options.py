"""The option that shows more, the same for all commands that check much."""

from __future__ import annotations

from typing import Final

import click

__all__ = ["verbose_option"]

verbose_option: Final = click.option(
    "--verbose",
    is_flag=True,
    help="Show what is as expected in full, too: counterexamples, and a table at the end.",
)
