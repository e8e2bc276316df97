"""The option that names the file of a run's trace, and the files where a run is several traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from tlatrace.trace import Trace

__all__ = ["numbered_files", "out_option"]

_SUFFIXES: Final = (".ndjson", ".ndjson.gz")


def _out(_context: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and not path.name.endswith(_SUFFIXES):
        raise click.BadParameter(f"{path.name!r} does not end with {' or '.join(_SUFFIXES)}.")
    return path


out_option: Final[Callable[[Callable[..., Any]], Callable[..., Any]]] = click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_out,
    metavar="FILE",
    help="Write the trace to FILE, which ends with .ndjson or .ndjson.gz; of several master epochs"
    " to FILE-1, FILE-2, ...",
)


def numbered_files(out: Path, traces: Sequence[Trace]) -> dict[Path, Trace]:
    """Name the files of the master epochs of a run: run-1.ndjson, run-2.ndjson, ..."""
    (suffix,) = [end for end in _SUFFIXES if out.name.endswith(end)]
    stem = out.name.removesuffix(suffix)
    return {out.with_name(f"{stem}-{at}{suffix}"): t for at, t in enumerate(traces, start=1)}
