"""`rocketproof view`: what runs look like at a higher level, as traces of that specification."""

from __future__ import annotations

from pathlib import Path

import click

from rocketproof.commands.spec_options import map_option, spec_options
from rocketproof.output import print_text
from rocketproof.trace_inputs import SpecChoice, TraceFile, read_trace_files
from tlatrace.errors import ModelGapError, SpecError, ToolError
from tlatrace.harmless import harmless
from tlatrace.judgement.specification import module_sha256
from tlatrace.matching.view import View, view_trace
from tlatrace.oracle import Model
from tlatrace.tla.declarations import read_declarations
from tlatrace.trace import Header, Trace
from tlatrace.trace.itf import write_itf
from tlatrace.trace.ndjson import write_trace

__all__ = ["command"]

_PATH = click.Path(path_type=Path)


@click.command(
    epilog="Example:  rocketproof view run.ndjson --operator UserView --as AckedLog --out build"
)
@click.argument("traces", nargs=-1, required=True, type=_PATH, metavar="TRACE...")
@spec_options
@map_option
@click.option(
    "--operator",
    metavar="NAME",
    help="State operator of the traces' specification; a record with the variables of the other.",
)
@click.option(
    "--as",
    "higher",
    metavar="MODULE",
    help="The other specification: a file, or a module beside the traces' own.",
)
@click.option(
    "--itf",
    is_flag=True,
    help="Write ITF, as Apalache and Quint do; without --operator, the runs as they are.",
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR"
)
def command(
    choice: SpecChoice,
    *,
    traces: tuple[Path, ...],
    map_file: Path | None,
    operator: str | None,
    higher: str | None,
    itf: bool,
    out: Path,
) -> None:
    """Write what runs are for a higher specification, which theirs claims to implement.

    Each state becomes the value of the operator there; a step that does not change it is left out.
    `rocketproof validate DIR` then holds the new traces against the higher specification.

    With --itf, the traces are written in the Informal Trace Format, those of the runs themselves
    without --operator and --as.

    Exit codes: 0 all traces are written, 2 a file is no trace, shows no whole states, or the
    operator does not fit.
    """
    files = read_trace_files(traces, map_file)
    targets = {file.path: out / _name(file.path, itf) for file in files}
    if len(set(targets.values())) < len(targets):
        raise click.UsageError("two of the traces have the same name")
    if (operator is None) is not (higher is None):
        raise click.UsageError("--operator and --as go together")
    if operator is None or higher is None:
        if not itf:
            raise click.UsageError("say --operator and --as, or --itf for the runs as they are")
        for file in files:
            trace, _ = _readable(file)
            _write(targets[file.path], trace, itf=True)
            print_text(f"{harmless(str(targets[file.path]))}: {len(trace.events)} states")
        return
    models: dict[tuple[Path, str], tuple[Model, View]] = {}
    for file in files:
        trace, header = _readable(file)
        key = choice.key(header)
        if key not in models:
            models[key] = (
                choice.model(header, expressions=(operator,)),
                _view(choice, header, operator, higher),
            )
        model, view = models[key]
        try:
            seen = view_trace(model, trace, view)
        except ModelGapError as error:
            raise ModelGapError(f"{file.path}: {error}") from error
        _write(targets[file.path], seen, itf=itf)
        steps = len(seen.events) - 1
        target = harmless(str(targets[file.path]))
        print_text(f"{target}: {len(trace.events) - 1} steps are {steps} of {view.spec}")


def _write(target: Path, trace: Trace, *, itf: bool) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if itf:
            write_itf(target, trace)
        else:
            write_trace(target, trace)
    except OSError as error:
        raise ToolError("view", f"cannot write {error.filename}: {error.strerror}") from None


def _readable(file: TraceFile) -> tuple[Trace, Header]:
    if file.error is not None:
        raise file.error
    trace = file.trace
    if trace is None or trace.header is None or not trace.events:
        raise ToolError("view", f"{file.path} has no events")
    return trace, trace.header


def _view(choice: SpecChoice, header: Header, operator: str, higher: str) -> View:
    own = choice.module_of(header)
    module = Path(higher) if higher.endswith(".tla") else own.with_name(f"{higher}.tla")
    if not module.is_file():
        raise SpecError(module, "there is no such module")
    declared = read_declarations(module, choice.folders_of(header))
    return View(
        operator=operator,
        spec=declared.module,
        spec_sha256=module_sha256(module),
        variables=frozenset(declared.variables),
        constants=frozenset(declared.constants),
    )


def _name(path: Path, itf: bool) -> str:
    name = path.name
    for suffix in (".ndjson.gz", ".ndjson", ".itf.json", ".jsonl.gz", ".jsonl", ".log.gz", ".log"):
        name = name.removesuffix(suffix)
    return f"{name}.itf.json" if itf else f"{name}.ndjson"
