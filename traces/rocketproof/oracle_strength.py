"""`validate --mutate`: how much of what can go wrong in traces does the specification notice?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import click
from rich.console import Console

from rocketproof.trace_inputs import SpecChoice, TraceFile
from tlatrace.model import Model
from tlatrace.strength import Outcome, Strength, measure, strength_json, strength_text
from tlatrace.strength.measure import Progress
from tlatrace.trace import Trace
from tlatrace.validate.spec import differing_values
from tlatrace.validate.traces import EMPTY_FILE

__all__ = ["print_strength"]

_UNREADABLE: Final = 2
_NOTHING: Final = 3


def print_strength(
    files: list[TraceFile], choice: SpecChoice, *, count: int, seed: int, as_json: bool
) -> int:
    """Corrupt the accepted traces, print what becomes of it, and return the exit code.

    0 nothing wrong is accepted, 1 there is a hole, 2 a file is not a trace, 3 nothing was examined.

    Raises:
        SubsetError, SpecError, ModelGapError, ToolError: as `SpecChoice.model`.
    """
    unreadable = [file for file in files if file.error is not None]
    for file in unreadable:
        click.echo(f"{file.error}", err=True)
    subjects: list[tuple[str, Model, Trace]] = []
    left_out: dict[str, str] = {}
    models: dict[object, Model] = {}
    for file in files:
        if file.trace is None:
            continue
        header = file.trace.header
        if header is None:
            left_out[str(file.path)] = EMPTY_FILE
            continue
        key = choice.key(header)
        if key not in models:
            models[key] = choice.model(header)
        model = models[key]
        differing = differing_values(model.values, model.model_values, header.constants)
        if differing:
            left_out[str(file.path)] = f"the configuration has another {differing[0]}"
        else:
            subjects.append((str(file.path), model, file.trace))
    with _progress() as on_progress:
        strength = measure(subjects, count, seed=seed, on_progress=on_progress)
    strength = replace(strength, left_out={**left_out, **strength.left_out})
    if as_json:
        click.echo(json.dumps(strength_json(strength), indent=2))
    else:
        click.echo(strength_text(strength))
    return _UNREADABLE if unreadable else _exit_code(strength)


def _exit_code(strength: Strength) -> int:
    if strength.holes:
        return 1
    decided = strength.count(None, None) - strength.count(None, Outcome.UNDECIDED)
    return 0 if decided else _NOTHING


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show how many corruptions are judged, on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("Traces are corrupted") as status:
        yield lambda done, total: status.update(f"{done:,} of {total:,} corruptions are judged")
