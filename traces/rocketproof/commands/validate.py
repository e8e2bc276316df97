"""`rocketproof validate`: hold recorded runs against the TLA+ text."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
from rich.console import Console

from rocketproof import __version__
from rocketproof.commands.mutation_options import mutation_options
from rocketproof.commands.spec_options import map_option, spec_options
from rocketproof.engines import ENGINES, Judged, Judges
from rocketproof.output import print_text
from rocketproof.trace_inputs import SpecChoice, TraceFile, read_trace_files
from rocketproof.trace_mutation import Measuring, print_mutations
from tlatrace.errors import ModelGapError, SpecError
from tlatrace.harmless import harmless
from tlatrace.heartbeat import heartbeat
from tlatrace.judgement.verdict import Diverges, Undecided, combine, exit_code
from tlatrace.matching import DEFAULT_BUDGET, Budget
from tlatrace.report.github import github_annotations
from tlatrace.report.junit import junit_xml
from tlatrace.report.markdown import markdown_summary
from tlatrace.report.results import TraceResult
from tlatrace.report.sarif import sarif_text
from tlatrace.tlc.judge import DEFAULT_BATCH
from tlatrace.tlc.traces import EMPTY_FILE, HEADER_ONLY
from tlatrace.trace import Header, Trace
from tlatrace.trace.lines import DEFAULT_LIMITS, Limits

__all__ = ["command"]

_EXIT_UNREADABLE = 2
_PATH = click.Path(path_type=Path)


@click.command(epilog="Example:  rocketproof validate run.ndjson --junit verdicts.xml")
@click.argument("traces", nargs=-1, required=True, type=_PATH, metavar="TRACE...")
@spec_options
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="Compiled model, TLC, or TLC where the specification does not compile.",
)
@map_option
@click.option(
    "--max-states",
    type=click.IntRange(1),
    default=DEFAULT_BUDGET.states,
    show_default=True,
    help="Candidates to try for what a trace does not show.",
)
@mutation_options
@click.option("--strict", is_flag=True, help="Refuse traces of another text of the specification.")
@click.option("--junit", type=_PATH, metavar="FILE", help="Write JUnit XML.")
@click.option("--sarif", type=_PATH, metavar="FILE", help="Write SARIF 2.1.0.")
@click.option("--summary", type=_PATH, metavar="FILE", help="Append a Markdown summary.")
@click.option("--github", is_flag=True, help="Print annotations for GitHub Actions.")
@click.option("--json", "as_json", is_flag=True, help="Print the machine's answer only.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default=True,
    help="Seconds for a batch of TLC, and for the search of a trace.",
)
@click.option("--batch", "batch_size", type=click.IntRange(1), default=DEFAULT_BATCH, hidden=True)
@click.option("--workers", type=click.IntRange(1), help="TLC processes at a time.")
@click.option(
    "--max-line-bytes",
    type=click.IntRange(1),
    default=DEFAULT_LIMITS.line_bytes,
    show_default=True,
    help="Longest line of a trace file.",
)
@click.option(
    "--max-events",
    type=click.IntRange(1),
    default=DEFAULT_LIMITS.events,
    show_default=True,
    help="Most events of a trace.",
)
def command(
    choice: SpecChoice,
    *,
    traces: tuple[Path, ...],
    engine: str,
    map_file: Path | None,
    max_states: int,
    measuring: Measuring | None,
    strict: bool,
    junit: Path | None,
    sarif: Path | None,
    summary: Path | None,
    github: bool,
    as_json: bool,
    timeout_s: float,
    batch_size: int,
    workers: int | None,
    max_line_bytes: int,
    max_events: int,
) -> None:
    """Hold recorded runs against the TLA+ text; a folder stands for the traces in it.

    Without --spec, the specification is found below the spec root by the name in the trace's
    header, and its constants are those of the header. Without --config and --invariant, the
    invariants are those of the small model beside it. With --map, the files are logs of another
    system, which the mapping makes traces. With --mutate, the compiled model judges corruptions of
    the accepted traces instead, and the exit code is 1 if more than --max-holes of them are
    accepted that should not be; those that a --baseline lists do not count.

    Exit codes, the worst of all traces: 0 conforms, 1 diverges, 3 undecided; 2 when a file is not
    a trace or a tool fails.
    """
    started = time.monotonic()
    limits = Limits(line_bytes=max_line_bytes, events=max_events)
    files = read_trace_files(traces, map_file, limits)
    if measuring is not None:
        if engine == "tlc" or strict or github or junit or sarif or summary:
            raise click.UsageError("--mutate is for the compiled engine, and reports by --json.")
        sys.exit(print_mutations(files, choice, measuring, as_json=as_json))
    with _progress() as on_progress:
        judges = Judges(
            choice=choice,
            engine=engine,
            budget=Budget(states=max_states, seconds=timeout_s),
            batch_size=batch_size,
            timeout_s=timeout_s,
            workers=workers,
            on_progress=on_progress,
        )
        results = _results(files, choice, strict=strict, judge=judges.judge)
    seconds = time.monotonic() - started
    if junit is not None:
        _write(junit, junit_xml(results, seconds=seconds), "w")
    if sarif is not None:
        _write(sarif, sarif_text(results, version=__version__), "w")
    if summary is not None:
        _write(summary, markdown_summary(results), "a")
    _print(results, as_json)
    if github and not as_json:
        click.echo(github_annotations(results), nl=False)
    sys.exit(_exit_code(results))


def _results(
    files: list[TraceFile],
    choice: SpecChoice,
    *,
    strict: bool,
    judge: Callable[[Header, list[Trace]], Judged],
) -> list[TraceResult]:
    """Judge the files, the traces of each specification together; the order stays."""
    results: dict[int, TraceResult] = {}
    groups: dict[tuple[Path, str], list[int]] = {}
    for at, file in enumerate(files):
        early = _early(file)
        if early is not None:
            results[at] = early
        elif file.trace is not None and file.trace.header is not None:
            groups.setdefault(choice.key(file.trace.header), []).append(at)
    for (module, _), members in groups.items():
        warnings: dict[int, tuple[str, ...]] = {}
        group: list[Trace] = []
        for at in members:
            trace = files[at].trace
            assert trace is not None
            assert trace.header is not None
            warnings[at] = _warnings(trace.header, choice, module)
            if strict and warnings[at]:
                raise SpecError(module, f"{files[at].path}: {warnings[at][0]}")
            group.append(trace)
        header = group[0].header
        assert header is not None
        try:
            judged = judge(header, group)
        except ModelGapError as error:
            judged = Judged(verdicts=[Undecided(error.reason)] * len(group))
        for position, (at, verdict) in enumerate(zip(members, judged.verdicts, strict=True)):
            results[at] = TraceResult(
                path=str(files[at].path),
                spec=header.spec,
                outcome=verdict,
                line=files[at].line_of(verdict.step) if isinstance(verdict, Diverges) else None,
                log=files[at].log_of(verdict.step) if isinstance(verdict, Diverges) else None,
                counts=files[at].counts,
                warnings=(*warnings[at], *judged.warnings),
                failing_conjunct=judged.failing_conjuncts.get(position),
                logged=judged.logged[position] if judged.logged else None,
            )
    return [results[at] for at in range(len(files))]


def _early(file: TraceFile) -> TraceResult | None:
    """Answer for a file that no specification has to be asked about."""
    path = str(file.path)
    if file.trace is None:
        assert file.error is not None
        text = f"{file.error.reason}"
        if file.error.column is not None:
            text = f"column {file.error.column}: {text}"
        own = str(file.error.path)
        log = None if own == path else own
        return TraceResult(path=path, spec=None, outcome=text, line=file.error.line, log=log)
    if file.trace.header is None:
        return TraceResult(path=path, spec=None, outcome=Undecided(EMPTY_FILE))
    if not file.trace.events:
        spec = file.trace.header.spec
        return TraceResult(path=path, spec=spec, outcome=Undecided(HEADER_ONLY), counts=file.counts)
    return None


def _warnings(header: Header, choice: SpecChoice, module: Path) -> tuple[str, ...]:
    warnings = []
    if choice.hash_differs(header):
        warnings.append(f"the trace was recorded for another text of {module.name}")
    if header.ignored:
        warnings.append(f"unknown keys in the header: {', '.join(header.ignored)}")
    return tuple(warnings)


def _print(results: list[TraceResult], as_json: bool) -> None:
    if as_json:
        answer = {"traces": [result.to_json() for result in results]}
        click.echo(json.dumps(answer, indent=2))
        return
    for result in results:
        path = harmless(result.path)
        for warning in result.warnings:
            print_text(f"{path}: warning: {harmless(warning)}", err=True)
        print_text(result.summary, err=result.status == "unreadable")
        if result.counts is not None:
            print_text(f"    {harmless(result.counts.text())}")


def _exit_code(results: list[TraceResult]) -> int:
    verdicts = [result.outcome for result in results if not isinstance(result.outcome, str)]
    if len(verdicts) < len(results):
        return _EXIT_UNREADABLE
    return exit_code(combine(verdicts))


def _write(path: Path, text: str, mode: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise click.FileError(str(path), error.strerror or "") from error


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """Show how many steps are judged: on a terminal, and in a log now and then."""
    console = Console(stderr=True)
    doing = "The steps are judged"
    with heartbeat(doing) as tell, ExitStack() as stack:
        status = stack.enter_context(console.status(doing)) if console.is_terminal else None

        def show(done: int, total: int) -> None:
            progress = f"{done:,} of {total:,} steps are judged"
            tell(progress)
            if status is not None:
                status.update(progress)

        yield show
