"""The options of `validate --mutate`: how traces are corrupted, and which holes may be."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Final, TypeVar

import click

from rocketproof.trace_mutation import Measuring

__all__ = ["mutation_options"]

R = TypeVar("R")

_PATH: Final = click.Path(path_type=Path)
_OPTIONS: Final = (
    click.option("--mutate", type=click.IntRange(1), metavar="N", help="Corrupt traces N times."),
    click.option("--seed", type=int, default=0, show_default=True, help="Draws the corruptions."),
    click.option("--baseline", type=_PATH, metavar="FILE", help="Holes that do not count."),
    click.option("--write-baseline", type=_PATH, metavar="FILE", help="Write the holes there."),
    click.option(
        "--max-holes",
        type=click.FloatRange(0, 100),
        default=0.0,
        show_default=True,
        metavar="PERCENT",
        help="So many corruptions may be holes.",
    ),
)


def mutation_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options, and hand them over as `measuring`; None without --mutate."""

    @wraps(command)
    def chosen(
        *arguments: object,
        mutate: int | None,
        seed: int,
        baseline: Path | None,
        write_baseline: Path | None,
        max_holes: float,
        **rest: object,
    ) -> R:
        measuring = None
        if mutate is not None:
            measuring = Measuring(
                count=mutate,
                seed=seed,
                baseline=baseline,
                write=write_baseline,
                most_percent=max_holes,
            )
        elif baseline or write_baseline or max_holes:
            reason = "--baseline, --write-baseline and --max-holes go with --mutate"
            raise click.UsageError(reason)
        return command(*arguments, measuring=measuring, **rest)

    decorated: Callable[..., R] = chosen
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
