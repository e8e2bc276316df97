"""Who checks the entries of the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import click

from rocketproof.entry_display import ENGINES
from rocketproof.output import print_text
from tlatrace.tools.check import CheckRow, Engine

__all__ = ["engine_option", "tell_engines"]

engine_option: Final = click.option(
    "--engine",
    type=click.Choice(["tlc", "native"]),
    default="tlc",
    show_default=True,
    help="Who is asked first: machine code confirms what has no liveness, TLC does the rest.",
)


def tell_engines(engine: Engine, rows: Sequence[CheckRow]) -> None:
    """Say how many entries each engine checked, where machine code was asked."""
    if engine == "native":
        counts = Counter(row.engine for row in rows)
        print_text(", ".join([f"{counts[one]} by {name}" for one, name in ENGINES.items()]))
