"""`validate --mutate`: how much of what can go wrong in traces does the specification notice?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from rocketproof.output import print_text
from rocketproof.trace_inputs import SpecChoice, TraceFile
from tlatrace.oracle import Model
from tlatrace.readings import differing_values
from tlatrace.tlc.traces import EMPTY_FILE
from tlatrace.trace import Trace
from tlatrace.trace_mutation import (
    Hole,
    MutationResult,
    Verdict,
    judge_mutations,
    measure,
    mutations_json,
    mutations_text,
    read_holes,
    write_holes,
)
from tlatrace.trace_mutation.measure import Progress

__all__ = ["Measuring", "print_mutations"]

_UNREADABLE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """How traces are corrupted, and which holes may be."""

    count: int
    seed: int
    baseline: Path | None = None
    """A file of holes that do not count."""
    write: Path | None = None
    """Where to write all holes that are found, and those of the baseline, as the next one."""
    most_percent: float = 0.0
    """So many of a hundred corruptions may be holes."""


def print_mutations(
    files: list[TraceFile], choice: SpecChoice, measuring: Measuring, *, as_json: bool
) -> int:
    """Corrupt the accepted traces, print what becomes of it, and return the exit code.

    0 new holes are few enough, 1 they are not, 2 a file is not a trace, 3 nothing was examined.

    Raises:
        SubsetError, SpecError, ModelGapError, ToolError: as `SpecChoice.model`, `read_holes`.
    """
    unreadable = [file for file in files if file.error is not None]
    for file in unreadable:
        print_text(f"{file.error}", err=True)
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
        differing = differing_values(model.values, header.constants)
        if differing:
            left_out[str(file.path)] = f"the configuration has another {differing[0]}"
        else:
            subjects.append((str(file.path), model, file.trace))
    with _progress() as on_progress:
        result = measure(subjects, measuring.count, seed=measuring.seed, on_progress=on_progress)
    result = replace(result, left_out={**left_out, **result.left_out})
    verdict = _judged(result, measuring, {model.module for _, model, _ in subjects})
    if as_json:
        click.echo(json.dumps(mutations_json(result, verdict), indent=2))
    else:
        print_text(mutations_text(result, verdict))
    return _UNREADABLE if unreadable else verdict.exit_code


def _judged(result: MutationResult, measuring: Measuring, modules: Collection[str]) -> Verdict:
    """Compare with the baseline, and write the next one."""
    known: frozenset[Hole] = frozenset()
    if (measuring.baseline or measuring.write) and len(modules) != 1:
        found = ", ".join(sorted(modules)) or "none"
        raise click.UsageError(f"a file of holes is for traces of one specification, not {found}")
    for module in modules:
        if measuring.baseline is not None:
            known = read_holes(measuring.baseline, module)
        if measuring.write is not None:
            write_holes(measuring.write, module, known | {one.hole for one in result.holes})
    return judge_mutations(result, known, most_percent=measuring.most_percent)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show how many corruptions are judged, on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("Traces are corrupted") as status:
        yield lambda done, total: status.update(f"{done:,} of {total:,} corruptions are judged")
