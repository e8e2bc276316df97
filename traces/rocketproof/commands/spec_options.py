"""The options that say which specification traces are held against, and how traces are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Final, TypeVar

import click

from rocketproof.trace_inputs import SpecChoice

__all__ = ["map_option", "spec_options"]

R = TypeVar("R")

_PATH: Final = click.Path(path_type=Path)
_OPTIONS: Final = (
    click.option("--spec", "module", type=_PATH, metavar="FILE.tla", help="The specification."),
    click.option(
        "--config", type=_PATH, metavar="FILE.cfg", help="TLC configuration with constants."
    ),
    click.option(
        "--library",
        "libraries",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        multiple=True,
        metavar="DIR",
        help="Look for modules here, too.",
    ),
    click.option("--invariant", "invariants", multiple=True, metavar="NAME", help="Check it, too."),
    click.option(
        "--no-stuttering",
        "stuttering",
        flag_value=False,
        default=True,
        help="A step without an action has to be one of Next, not of [Next]_v.",
    ),
    click.option(
        "--choose-any", is_flag=True, help="CHOOSE may take any: the compiled model does."
    ),
    click.option("--spec-root", type=_PATH, help="Folder of specifications."),
)

map_option: Final = click.option(
    "--map", "map_file", type=_PATH, metavar="FILE.toml", help="Read logs of another system by it."
)
"""The mapping with which the traces are logs of another system."""


def spec_options(command: Callable[..., R]) -> Callable[..., R]:
    """Give a command the options, and hand their choice over as its first argument."""

    @wraps(command)
    def chosen(
        *,
        module: Path | None,
        config: Path | None,
        libraries: tuple[Path, ...],
        invariants: tuple[str, ...],
        stuttering: bool,
        spec_root: Path | None,
        choose_any: bool,
        **rest: object,
    ) -> R:
        choice = SpecChoice(
            module=module,
            config=config,
            libraries=libraries,
            invariants=invariants,
            spec_root=spec_root,
            stuttering=stuttering,
            choose_any=choose_any,
        )
        return command(choice, **rest)

    decorated: Callable[..., R] = chosen
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
