"""Who checks the entries of the manifest."""

from __future__ import annotations

from typing import Final, Literal

import click

from rocketproof.output import print_text

__all__ = ["Engine", "engine_option", "tell_natively"]

Engine = Literal["tlc", "native"]

engine_option: Final = click.option(
    "--engine",
    type=click.Choice(["tlc", "native"]),
    default="tlc",
    show_default=True,
    help="Who is asked first: machine code confirms what has no liveness, TLC does the rest.",
)


def tell_natively(engine: Engine, natively: int, rows: int) -> None:
    """Say how many entries machine code confirmed, where it was asked."""
    if engine == "native":
        print_text(f"{natively} of {rows} by machine code, the rest by TLC")
